"""How Python calls an entry: arguments are put into one block of memory, whose address the function gets.

Numba writes the code that reads an array out of a Python object once for every array of every argument, and then passes
nine numbers for each to the function.  For kernels that take a hundred arrays in named tuples that was more code than
the kernels themselves.  Here reading a type is a function, written once and called for each argument of that type.

Arrays are borrowed from Python, which holds them during the call, unless the function may return them.
"""

from __future__ import annotations

from typing import Any

from llvmlite import ir
from numba import types
from numba.core import cgutils
from numba.core.callconv import CPUCallConv
from numba.core.callwrapper import PyCallWrapper
from numba.core.cpu import CPUContext
from numba.np import numpy_support

from pliant.lanes.arguments import WholeArguments, WholeLower
from pliant.lanes.host import CACHE_LINE

FAILED, DONE = cgutils.true_bit, cgutils.false_bit
UNOPTIMISED = {"noinline", "optnone"}  # reading arguments is calls of Python: LLVM's passes would find nothing to gain
NOT_AN_ARRAY = "can't unbox array from PyObject into native value.  The object maybe of a different type"


def block_of(kinds: Any) -> types.Type:
    """The tuple of all arguments."""
    return types.Tuple(tuple(kinds))


class BlockOfArguments(WholeArguments):
    """Arguments in a block of memory."""

    def __init__(self, models: Any, kinds: Any):
        super().__init__(models, kinds)
        self._block = models.lookup(block_of(kinds)).get_value_type()

    @property
    def argument_types(self) -> tuple:
        return (self._block.as_pointer(),)

    def as_arguments(self, builder, values) -> list:
        return list(values)  # the address

    def from_arguments(self, builder, arguments) -> list:
        (block,) = arguments
        copy = cgutils.alloca_once(builder, self._block)  # LLVM takes it apart, and reads what is used
        one = ir.Constant(ir.IntType(64), 1)
        cgutils.raw_memcpy(builder, copy, block, one, _size(builder, self._block))
        parts = enumerate(zip(self._models, self._counts, strict=True))
        return [
            builder.load(cgutils.gep_inbounds(builder, copy, 0, k)) if counts else model.from_argument(builder, ())
            for k, (model, counts) in parts
        ]

    def assign_names(self, arguments, names) -> None:
        arguments[0].name = "arguments"


def _size(builder, kind: ir.Type) -> ir.Value:
    return builder.ptrtoint(cgutils.gep(builder, ir.Constant(kind.as_pointer(), None), 1), ir.IntType(64))


class BlockConvention(CPUCallConv):
    """Numba's calling convention but for how arguments are passed."""

    def _get_arg_packer(self, argtypes):
        return BlockOfArguments(self.context.data_model_manager, argtypes)


class EntryContext(CPUContext):
    """Numba's context for an entry and its wrapper."""

    @property
    def call_conv(self):
        return BlockConvention(self)

    def create_cpython_wrapper(self, library, fndesc, env, call_helper, release_gil=False):
        module = self.create_module("wrapper")
        kind = self.call_conv.get_function_type(fndesc.restype, fndesc.argtypes)
        function = ir.Function(module, kind, fndesc.llvm_func_name)
        EntryWrapper(self, module, function, fndesc, env, call_helper, release_gil).build()
        for written in module.functions:
            if not written.is_declaration:
                written.attributes |= UNOPTIMISED
        library.add_ir_module(module)


class EntryLower(WholeLower):
    """Lowering of entries, which get their arguments in a block, and hand them on whole."""

    view = EntryContext

    def setup_function(self, fndesc):
        super().setup_function(fndesc)
        self.function.attributes.alignstack = CACHE_LINE  # no register that is kept there lies in two lines


class EntryWrapper(PyCallWrapper):
    """What Python calls."""

    def build_wrapper(self, api, builder, closure, args, kws):
        kind = block_of(self.fndesc.argtypes)
        is_counted = self.context.data_model_manager[self.fndesc.restype].contains_nrt_meminfo()
        block = cgutils.alloca_once(builder, self.context.get_value_type(kind), zfill=is_counted)

        def release():
            if is_counted:
                self.context.nrt.decref(builder, kind, builder.load(block))

        reader = Readers(self.context, self.module, is_counted).of(kind)
        with cgutils.if_unlikely(builder, builder.call(reader, [args, block])):
            release()
            builder.ret(api.get_null_object())
        environment = self.get_env(api, builder)
        thread = api.save_thread() if self.release_gil else None
        status, value = self.context.call_conv.call_function(
            builder, self.func, self.fndesc.restype, self.fndesc.argtypes, [block], attrs=("noinline",)
        )
        if thread is not None:
            api.restore_thread(thread)
        release()
        with builder.if_then(status.is_ok, likely=True):
            with builder.if_then(status.is_none):
                api.return_none()
            builder.ret(api.from_native_return(self._simplified_return_type(), value, environment))
        self.context.call_conv.raise_error(builder, api, status)
        builder.ret(api.get_null_object())


class Readers:
    """Functions that read Python objects into memory, one for each type. They return whether they failed."""

    def __init__(self, context: CPUContext, module: ir.Module, is_counted: bool):
        self.context, self.module, self.is_counted = context, module, is_counted
        self._made: dict[types.Type, ir.Function] = {}

    def of(self, kind: types.Type) -> ir.Function:
        if kind not in self._made:
            self._made[kind] = self._make(kind)
        return self._made[kind]

    def _make(self, kind: types.Type) -> ir.Function:
        place = self.context.get_value_type(kind).as_pointer()
        pyobject = self.context.get_argument_type(types.pyobject)
        function = ir.Function(
            self.module, ir.FunctionType(FAILED.type, [pyobject, place]), self.module.get_unique_name("read")
        )
        function.linkage = "internal"
        builder = ir.IRBuilder(function.append_basic_block())
        api = self.context.get_python_api(builder)
        if isinstance(kind, types.BaseTuple):
            self._read_tuple(kind, api, *function.args)
        elif isinstance(kind, types.Array):
            function.attributes.add("noinline")
            self._read_array(kind, api, *function.args)
        elif not isinstance(kind, types.Omitted | types.NoneType):
            native = api.to_native_value(kind, function.args[0])
            if native.cleanup is not None:
                raise TypeError(f"an entry takes numbers, arrays and tuples of them, not {kind}")
            builder.store(native.value, function.args[1])
            builder.ret(native.is_error)
        if not builder.block.is_terminated:
            builder.ret(DONE)
        return function

    def _read_tuple(self, kind: types.BaseTuple, api: Any, source: ir.Value, place: ir.Value) -> None:
        builder = api.builder
        size = api.tuple_size(source)
        with cgutils.if_unlikely(builder, builder.icmp_unsigned("!=", size, size.type(len(kind)))):
            expected = f"size mismatch for tuple, expected {len(kind)} element(s) but got %zd"
            api.err_format("PyExc_ValueError", expected, size)
            builder.ret(FAILED)
        for k, part in enumerate(kind):
            reading = [api.tuple_getitem(source, k), cgutils.gep_inbounds(builder, place, 0, k)]
            with cgutils.if_unlikely(builder, builder.call(self.of(part), reading)):
                builder.ret(FAILED)

    def _read_array(self, kind: types.Array, api: Any, source: ir.Value, place: ir.Value) -> None:
        builder = api.builder
        array = self.context.make_array(kind)(self.context, builder, ref=place)
        name = "NRT_adapt_ndarray_from_python" if self.is_counted else "numba_adapt_ndarray"
        adapt = api._get_function(ir.FunctionType(ir.IntType(32), [api.pyobj, api.voidptr]), name)
        code = builder.call(adapt, [source, builder.bitcast(place, api.voidptr)])
        size = array.itemsize
        is_other = builder.icmp_unsigned("!=", size, size.type(numpy_support.as_dtype(kind.dtype).itemsize))
        with cgutils.if_unlikely(builder, builder.or_(cgutils.is_not_null(builder, code), is_other)):
            api.err_set_string("PyExc_TypeError", NOT_AN_ARRAY)
            builder.ret(FAILED)

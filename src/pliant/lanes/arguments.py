"""How compiled functions hand their arguments to each other: whole.

Numba takes every array of every argument apart into its nine numbers (address, shape, strides, owner, ...) and puts it
together again in the function that is called.  A kernel hands a hundred arrays in named tuples down a tree of calls;
half of all instructions that Numba wrote for it were this, and inlining undid them again.  Here an argument is one LLVM
value, whatever it holds.  A call of a function that cannot fail, as most cannot, does not ask whether it has.

Functions of Numba's own kind are called in Numba's way: only functions that are lowered by `WholeLower` are not, and
their callers learn how to call them from `call_of`.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from copy import copy
from typing import Any

from llvmlite import ir
from numba import types
from numba.core import cgutils
from numba.core.callconv import RETCODE_OK, CPUCallConv
from numba.core.cpu import CPUContext
from numba.core.imputils import impl_ret_new_ref, user_function

from pliant.lanes.values import ValueLower

# LLVM's: a call that is inlined saves this for each argument.  One argument in place of a hundred would save less, and
# functions of many arrays would stay calls that copy them all.
COST_OF_ARGUMENT = 5


class WholeArguments:
    """Numba's ArgPacker, which takes nothing apart. Arguments without any content are left out, as there."""

    def __init__(self, models: Any, kinds: Any):
        self._models = [models.lookup(kind) for kind in kinds]
        self._counts = [model.get_argument_type() != () for model in self._models]

    @property
    def argument_types(self) -> tuple:
        return tuple(model.get_value_type() for model in self._chosen(self._models))

    def as_arguments(self, builder, values) -> list:
        pairs = zip(self._chosen(self._models), self._chosen(values), strict=True)
        return [_as_modelled(builder, model, value) for model, value in pairs]

    def from_arguments(self, builder, arguments) -> list:
        rest = iter(arguments)
        pairs = zip(self._models, self._counts, strict=True)
        return [next(rest) if counts else model.from_argument(builder, ()) for model, counts in pairs]

    def assign_names(self, arguments, names) -> None:
        for argument, name in zip(arguments, self._chosen(names), strict=True):
            argument.name = name

    def _chosen(self, values) -> list:
        return [value for value, counts in zip(values, self._counts, strict=True) if counts]


def _as_modelled(builder, model: Any, value: Any) -> Any:
    """A value of the type that the function expects; Numba packs *arguments into a type of its own."""
    if value.type == model.get_value_type():
        return value
    return model.from_argument(builder, model.as_argument(builder, value))


class WholeConvention(CPUCallConv):
    """Numba's calling convention but for how arguments are passed."""

    def _get_arg_packer(self, argtypes):
        return WholeArguments(self.context.data_model_manager, argtypes)


class WholeContext(CPUContext):
    """Numba's context for code that declares or calls a function with whole arguments."""

    @property
    def call_conv(self):
        return WholeConvention(self)


def seen_as(kind: type[CPUContext], context: CPUContext) -> CPUContext:
    view = copy(context)
    view.__class__ = kind
    return view


class WholeLower(ValueLower):
    """Numba's lowering for functions that take their arguments whole."""

    view: type[CPUContext] = WholeContext

    def setup_function(self, fndesc):
        with self._whole_arguments():
            super().setup_function(fndesc)
        parts = len(self.context.get_arg_packer(fndesc.argtypes).argument_types)
        bonus = COST_OF_ARGUMENT * (parts - len(WholeConvention(self.context).get_arguments(self.function)))
        if bonus > 0 and not fndesc.inline:
            set.add(self.function.attributes, f'"call-threshold-bonus"="{bonus}"')  # llvmlite knows no such attributes

    def extract_function_arguments(self):
        with self._whole_arguments():
            return super().extract_function_arguments()

    def create_cpython_wrapper(self, release_gil=False):
        with self._whole_arguments():
            super().create_cpython_wrapper(release_gil)

    @contextmanager
    def _whole_arguments(self) -> Iterator[None]:
        context = self.context
        self.context = seen_as(self.view, context)
        try:
            yield
        finally:
            self.context = context


def can_fail(function: ir.Function) -> bool:
    """Whether lowered code may return anything but success."""
    ends = (block.terminator for block in function.blocks)
    codes = [end.operands[0] for end in ends if isinstance(end, ir.Ret)]
    return any(not isinstance(code, ir.Constant) or code.constant != RETCODE_OK.constant for code in codes)


def call_of(fndesc: Any, library: Any, fails: bool, counted: bool) -> Callable:
    """What writes a call of a function that `WholeLower` has lowered, as Numba's `user_function` does.

    `counted`: whether the function counts references to arrays; a caller that does not would never free its result.
    """
    numbas = user_function(fndesc, [library])

    def checked(context, builder, signature, arguments):
        return numbas(seen_from(context), builder, signature, arguments)

    def sure(context, builder, signature, arguments):
        whole = seen_from(context)
        function = whole.declare_function(builder.module, fndesc)
        packer = WholeArguments(whole.data_model_manager, fndesc.argtypes)
        result, problem = (function.function_type.args[place].pointee for place in (0, 1))
        place = cgutils.alloca_once(builder, result)
        nowhere = ir.Constant(problem.as_pointer(), None)
        builder.call(function, [place, nowhere, *packer.as_arguments(builder, arguments)])
        value = whole.get_returned_value(builder, fndesc.restype, builder.load(place))
        return impl_ret_new_ref(context, builder, fndesc.restype, value)

    def seen_from(context):
        if counted and not context.enable_nrt and context.data_model_manager[fndesc.restype].contains_nrt_meminfo():
            raise TypeError(
                f"{fndesc.qualname} returns arrays to a function that does not free them: give it _nrt=True"
            )
        return seen_as(WholeContext, context)

    call = checked if fails or isinstance(fndesc.restype, types.Optional) else sure
    call.signature, call.libs = numbas.signature, numbas.libs
    return call

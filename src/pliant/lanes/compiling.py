"""What Numba does otherwise while Pliant compiles: the same code, written with less work.

Numba is not changed for anybody else: what stands here holds for the time of one compilation, under Numba's lock.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import AbstractContextManager, contextmanager, nullcontext
from functools import cache
from typing import Any

from llvmlite.binding import ffi
from numba.core import (
    analysis,
    base,
    cgutils,
    errors,
    interpreter,
    ir,
    itanium_mangler,
    lowering,
    transforms,
    typeinfer,
    utils,
)
from numba.core.base import BaseContext
from numba.core.byteflow import Flow
from numba.core.compiler import Compiler, DefaultPassBuilder
from numba.core.cpu import CPUContext
from numba.core.datamodel.manager import DataModelManager
from numba.core.postproc import PostProcessor, VariableLifetime
from numba.core.runtime.context import NRTContext
from numba.core.typed_passes import NativeLowering
from numba.core.types import Type, functions
from numba.core.typing.context import Context as TypingContext
from numba.np import arrayobj

from pliant.garbage import collected_rarely
from pliant.lanes.builder import place_on_stack
from pliant.lanes.cache import digest
from pliant.lanes.functions import LaneFunction
from pliant.lanes.inner import InnerFunction, SubroutineLowering
from pliant.lanes.pipeline import lean_passes
from pliant.lanes.proxies import array_proxy, value_proxy
from pliant.lanes.variables import uses_and_definitions, variables_in


def _plain(self: Any, message: str, color: Any = None, style: Any = None) -> str:
    """Numba's messages without colours: a look-up that fails makes one, and thousands fail before one is found."""
    return message


class ErrorContext:
    """In place of errors.new_error_context, a generator: what was done when an error came, for its message."""

    __slots__ = ("about", "message", "places")

    def __init__(self, fmt_: str, *places: Any, **about: Any):
        self.message, self.places, self.about = fmt_, places, about
        loc = about.get("loc")
        if loc is not None and not loc.filename.startswith(errors._numba_path):
            errors.loc_info.update(about)

    def __enter__(self) -> None:
        pass

    def __exit__(self, kind: Any, error: Any, trace: Any) -> None:
        if isinstance(error, errors.NumbaError):
            error.add_context(errors._format_msg(self.message, self.places, self.about))


def _known_registries(self: Any) -> None:
    """In place of load_additional_registries, which imports some thirty modules for each function: what is new in those
    registries that were loaded before the entry was compiled (lanes.entry).
    """
    for registry in tuple(self._registries):
        self.install_registry(registry)


OURS = (InnerFunction, LaneFunction)
_numbas_value_type = TypingContext.resolve_value_type


def _value_type(self: TypingContext, value: Any) -> Any:
    """The type of a constant. Numba asks whether it is a number, an array, ... before it asks the value itself."""
    return value._numba_type_ if isinstance(value, OURS) else _numbas_value_type(self, value)


@cache
def _takes_place(function: Any) -> bool:
    """In place of base._has_loc, which looks at the signature of a function whenever it is called."""
    return "loc" in utils.pysignature(function).parameters


def _subroutine_passes(self: Compiler) -> list:
    """Of functions of Numba's own that ours call (min, np.empty, x**2): no machine code of their own, as for ours."""
    whole = DefaultPassBuilder.define_nopython_pipeline(self.state)
    return [lean_passes(SubroutineLowering if step is NativeLowering else step for step, _ in whole.passes)]


def _meminfos(self: NRTContext, builder, kind, value) -> list:
    """Owners of arrays within a value. Numba takes all other parts out of it, too."""
    model = self._context.data_model_manager[kind]
    found = [(kind, model.get_nrt_meminfo(builder, value))] if model.has_nrt_meminfo() else []
    for part, get in model.traverse(builder):
        if self._context.data_model_manager[part].contains_nrt_meminfo():
            found += self.get_meminfos(builder, part, get(value))
    return found


_measured_size = BaseContext.get_abi_sizeof
_sizes: dict[str, int] = {}


def _size(context: BaseContext, kind: Any) -> int:
    """Bytes of an LLVM type. Numba writes and reads a module for each question."""
    text = str(kind)
    if text not in _sizes:
        _sizes[text] = _measured_size(context, kind)
    return _sizes[text]


_resolved = functions.BaseFunction.get_call_type
_signatures: dict[tuple, Any] = {}


def _call_type(self: functions.BaseFunction, context, args, kws) -> Any:
    """The signature of a call of an operator or a function that Numba implements.

    Numba tries some ten templates for each + of a text, and again for the same types in the next. A signature whose
    implementation is the function's own, not compiled for this caller, stays: templates that are added make a new type.
    """
    if kws:
        return _resolved(self, context, args, kws)
    key = (self._code, id(context), *(kind._code for kind in args))  # numbers that Numba gives to types, once each
    found = _signatures.get(key)
    if found is None:
        found = _resolved(self, context, args, kws)
        if self._impl_keys[found.args] is self.typing_key:
            _signatures[key] = found
    return found


def _name(self: BaseContext, name: str, kinds: Any, *, abi_tags: Any = (), uid: int | None = None) -> str:
    """What LLVM calls a function: Numba's name with a digest of the types in place of the types, which are kilobytes of
    text for named tuples of arrays, written again at every call.
    """
    return itanium_mangler.mangle(name, (), abi_tags=[digest(*abi_tags, *map(str, kinds))], uid=uid)


_numbas_postprocessing = PostProcessor.run


def _postprocess(self: PostProcessor, emit_dels: bool = False, extend_lifetimes: bool = False) -> None:
    """Numba finds again after every pass which variables live where; only object mode and generators read that."""
    function = self.func_ir
    if function.is_generator:
        _numbas_postprocessing(self, emit_dels, extend_lifetimes)
        return
    function.blocks = transforms.canonicalize_cfg(function.blocks)
    function.variable_lifetime = VariableLifetime(function.blocks)  # found when it is asked for
    function.generator_info = None
    if emit_dels:
        self._insert_var_dels(extend_lifetimes=extend_lifetimes)


_numbas_exits = interpreter.peep_hole_delete_with_exit


def _delete_exits(function: ir.FunctionIR) -> ir.FunctionIR:
    """What `with` leaves behind, where there is one."""
    statements = (statement for block in function.blocks.values() for statement in block.body)
    return _numbas_exits(function) if any(isinstance(part, ir.EnterWith) for part in statements) else function


_numbas_exceptions = Flow._run_handle_exception


def _handle_exception(self: Flow, runner: Any, state: Any) -> Any:
    """Whether a `try` begins or ends at an instruction, which Numba asks of each."""
    return _numbas_exceptions(self, runner, state) if self._bytecode.exception_entries else state.advance_pc()


_uncaught = nullcontext()


def _let_warnings_pass(self: Any, filename: str | None = None, lineno: int | None = None) -> AbstractContextManager:
    """Numba catches warnings around each constraint on types, to show each of them once, with the line in question."""
    return _uncaught


_hashes: dict[int, int] = {}


def _hash(self: Type) -> int:
    """Numba's hash of a type, found once: named tuples of arrays have long ones, and are looked up all the time."""
    number = self.__dict__.get("_code")  # each type has its own, once it is complete
    if number is None:
        return hash(self.key)
    if number not in _hashes:
        _hashes[number] = hash(self.key)
    return _hashes[number]


_numbas_model = DataModelManager.lookup


def _model(self: DataModelManager, kind: Type) -> Any:
    """How a type is kept in memory; Numba's table compares types."""
    models = self.__dict__.setdefault("_pliant_models", {})
    if kind._code not in models:
        models[kind._code] = _numbas_model(self, kind)
    return models[kind._code]


CHANGES: tuple[tuple[Any, str, Any], ...] = (
    *((scheme, "_markup", _plain) for scheme in [type(errors.termcolor())] if hasattr(scheme, "_markup")),
    (lowering, "new_error_context", ErrorContext),
    (typeinfer, "new_error_context", ErrorContext),
    (CPUContext, "load_additional_registries", _known_registries),
    (TypingContext, "load_additional_registries", _known_registries),
    (TypingContext, "resolve_value_type", _value_type),
    (base, "_has_loc", _takes_place),
    (ir.Inst, "_rec_list_vars", variables_in),
    (analysis, "compute_use_defs", uses_and_definitions),
    (lowering, "compute_use_defs", uses_and_definitions),
    (Compiler, "define_pipelines", _subroutine_passes),
    (NRTContext, "get_meminfos", _meminfos),
    (BaseContext, "get_abi_sizeof", _size),
    (BaseContext, "mangler", _name),
    (cgutils, "alloca_once", place_on_stack),
    (functions.BaseFunction, "get_call_type", _call_type),
    (cgutils, "create_struct_proxy", value_proxy),
    (arrayobj, "make_array", array_proxy),
    (PostProcessor, "run", _postprocess),
    (interpreter, "peep_hole_delete_with_exit", _delete_exits),
    (Flow, "_run_handle_exception", _handle_exception),
    (errors.WarningsFixer, "catch_warnings", _let_warnings_pass),
    (Type, "__hash__", _hash),
    (DataModelManager, "lookup", _model),
    (ffi.lib._lock, "_cblist", []),  # clocks of every call of LLVM
)


@contextmanager
def compiling_quickly() -> Iterator[None]:
    """With these changes, and with fewer searches for garbage. Under Numba's compiler lock."""
    before = [getattr(place, name) for place, name, _ in CHANGES]
    for place, name, value in CHANGES:
        setattr(place, name, value)
    try:
        with collected_rarely():
            yield
    finally:
        for (place, name, _), value in zip(CHANGES, before, strict=True):
            setattr(place, name, value)

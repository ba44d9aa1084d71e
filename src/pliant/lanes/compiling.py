"""What Numba does otherwise while Pliant compiles: the same code, written with less work.

Numba is not changed for anybody else: what stands here holds for the time of one compilation, under Numba's lock.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from numba.core import analysis, errors, ir, lowering, typeinfer
from numba.core.base import BaseContext
from numba.core.compiler import Compiler, DefaultPassBuilder
from numba.core.runtime.context import NRTContext
from numba.core.typed_passes import NativeLowering
from numba.core.types import functions

from pliant.garbage import collected_rarely
from pliant.lanes.inner import SubroutineLowering
from pliant.lanes.pipeline import lean_passes
from pliant.lanes.variables import uses_and_definitions, variables_in


class PlainText:
    """Numba's messages without colours: a look-up that fails makes one, and thousands fail before one is found."""

    def __getattr__(self, name: str) -> Any:
        return str


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


CHANGES: tuple[tuple[Any, str, Any], ...] = (
    (errors, "_termcolor_inst", PlainText()),
    (functions, "_termcolor", PlainText()),
    (typeinfer, "_termcolor", PlainText()),
    (ir.Inst, "_rec_list_vars", variables_in),
    (analysis, "compute_use_defs", uses_and_definitions),
    (lowering, "compute_use_defs", uses_and_definitions),
    (Compiler, "define_pipelines", _subroutine_passes),
    (NRTContext, "get_meminfos", _meminfos),
    (BaseContext, "get_abi_sizeof", _size),
    (functions.BaseFunction, "get_call_type", _call_type),
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

"""Parts of tuples and arrays as values, where Numba writes the whole to memory and reads the part.

Numba does so for every array that it indexes.  What is only read needs no place.
"""

from __future__ import annotations

from typing import Any

from llvmlite import ir
from numba import types
from numba.core import cgutils
from numba.np import arrayobj


class ValueProxy:
    """Parts of a value, which gets a place in memory only if something writes to it or asks for its address.

    Mixed into Numba's classes of that kind (cgutils.create_struct_proxy).
    """

    def __init__(self, context: Any, builder: Any, value: Any = None, ref: Any = None):
        if value is None or ref is not None:
            super().__init__(context, builder, value, ref)  # type: ignore[call-arg]
            return
        self._context, self._builder, self._whole = context, builder, value
        self._datamodel = context.data_model_manager[self._fe_type]  # type: ignore[attr-defined]
        self._be_type = self._datamodel.get_value_type()
        if value.type != self._be_type:
            raise AssertionError(f"bad value type: expected {self._be_type}, got {value.type}")
        self._block = builder.block
        self._last = self._block.instructions[-1] if self._block.instructions else None

    def _is_value(self) -> bool:
        return "_value" not in vars(self)

    def __getattr__(self, field: str) -> Any:
        if field in ("_value", "_outer_ref"):
            self._value = self._outer_ref = self._store()
            return self._value
        return super().__getattr__(field)  # type: ignore[misc]

    def __getitem__(self, index: int) -> Any:
        if self._is_value():
            return self._builder.extract_value(self._whole, index)
        return super().__getitem__(index)  # type: ignore[misc]

    def _getvalue(self) -> Any:
        return self._whole if self._is_value() else super()._getvalue()  # type: ignore[misc]

    def _store(self) -> ir.Instruction:
        """A place that holds the value from where it was taken on."""
        entry = self._block.function.entry_basic_block
        place = ir.AllocaInstr(entry, self._be_type, None, "")
        self._insert(entry, 0, place)
        after = 0
        if self._last is not None:
            after = 1 + next(k for k, part in enumerate(self._block.instructions) if part is self._last)
        elif self._block is entry:
            after = 1
        while after < len(self._block.instructions) and isinstance(self._block.instructions[after], ir.PhiInstr):
            after += 1
        store = ir.StoreInstr(self._block, self._whole, place)
        store.align = None
        self._insert(self._block, after, store)
        return place

    def _insert(self, block: ir.Block, where: int, instruction: ir.Instruction) -> None:
        block.instructions.insert(where, instruction)
        if self._builder.block is block and self._builder._anchor >= where:
            self._builder._anchor += 1


_numbas_proxy, _numbas_array = cgutils.create_struct_proxy, arrayobj.make_array
_proxies: dict[types.Type, type] = {}
_arrays: dict[types.Type, type] = {}


def value_proxy(fe_type: types.Type, kind: str = "value") -> type:
    """In place of cgutils.create_struct_proxy."""
    numbas = _numbas_proxy(fe_type, kind)
    if kind != "value":
        return numbas
    if fe_type not in _proxies:
        _proxies[fe_type] = type(numbas.__name__, (ValueProxy, numbas), {})
    return _proxies[fe_type]


def array_proxy(array_type: types.Type) -> type:
    """In place of arrayobj.make_array, which makes a class for each array that is looked into."""
    if type(array_type) is not types.Array:
        return _numbas_array(array_type)
    if array_type not in _arrays:
        _arrays[array_type] = _array_proxy(array_type)
    return _arrays[array_type]


def _array_proxy(array_type: types.Array) -> type:
    class ArrayProxy(value_proxy(array_type)):  # type: ignore[misc]
        @property
        def shape(self) -> Any:
            return self[self._datamodel.get_field_position("shape")]

    return ArrayProxy

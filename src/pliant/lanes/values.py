"""Variables as values, where Numba writes them to memory and reads them back.

Numba gives a place on the stack to every variable that more than one block of a function names.  Kernels hand a hundred
arrays around in named tuples: `rows.push[i, 0]` in a loop wrote and read all of them.  LLVM makes values of them again,
number by number, and that was a third of its time.  A variable that is assigned once needs no place.
"""

from __future__ import annotations

from collections import Counter
from typing import Any

from numba.core import ir
from numba.core.lowering import Lower

from pliant.lanes.builder import FoldingBuilder, drop_unused
from pliant.lanes.variables import uses_and_definitions


class ValueLower(Lower):
    """Numba's lowering with values in place of memory."""

    def _find_singly_assigned_variable(self) -> None:
        """Variables that are values: assigned once, and before all uses in the order of lowering.

        Numba has seen to it that the one assignment comes before a use on every way through the function.  Variables
        that hold arrays whose references are counted (lanes.counting) are values within one block, as with Numba.
        """
        self._blk_local_varmap: dict[str, Any] = {}
        self._singly_assigned_vars: set[str] = set()
        if self.func_ir.func_id.is_generator:
            return
        found = uses_and_definitions(self.blocks)
        known, late, shared = set[str](), set[str](), set[str]()
        for offset in sorted(self.blocks):
            shared |= found.usemap[offset]
            late |= found.usemap[offset] - known
            known |= found.defmap[offset]
        statements = (statement for block in self.blocks.values() for statement in block.body)
        counts = Counter(part.target.name for part in statements if isinstance(part, ir.Assign))
        self._singly_assigned_vars |= {
            name
            for name, count in counts.items()
            if count == 1 and name not in (shared if self._is_counted(name) else late)
        }

    def setup_function(self, fndesc: Any) -> None:
        super().setup_function(fndesc)
        self.builder = FoldingBuilder(self.entry_block, self.context.enable_nrt)

    def lower_normal_function(self, fndesc: Any) -> None:
        super().lower_normal_function(fndesc)
        drop_unused(self.function)

    def _is_counted(self, name: str) -> bool:
        context = self.context
        return context.enable_nrt and context.data_model_manager[self.typeof(name)].contains_nrt_meminfo()

    def storevar(self, value: Any, name: str, argidx: int | None = None) -> None:
        """Numba's, without reading the value before, which nobody counts."""
        if name in self._singly_assigned_vars or self._is_counted(name):
            super().storevar(value, name, argidx)
        else:
            self._alloca_var(name, self.typeof(name))
            self.builder.store(value, self.getvar(name))

    def delvar(self, name: str) -> None:
        if self._is_counted(name):
            super().delvar(name)

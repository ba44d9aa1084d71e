"""References to arrays are counted by functions that make arrays or return them, and by no others.

Numba counts every array of every tuple at every assignment.  A function that only reads and writes arrays borrows them
from its caller, who holds them; counting them is nothing but more code to compile and to run.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from numba import types
from numba.core import ir
from numba.core.cpu import CPUContext
from numba.core.errors import NumbaRuntimeError

# What gives arrays that are there already, whole or in part.
VIEWS = {"getattr", "getitem", "static_getitem", "typed_getitem", "build_tuple", "exhaust_iter", "getiter", "iternext"}
VIEWS |= {"pair_first", "pair_second", "cast", "phi", "null"}


def lowered(lower: Callable[[Any], bool], state: Any) -> bool:
    """What lowering gives, without counts if they are not needed."""
    counting = state.targetctx
    if counting.enable_nrt and not makes_arrays(state):
        state.targetctx = without_counts(counting)
        try:
            return lower(state)
        except NumbaRuntimeError:  # something of Numba's own makes arrays and keeps them to itself
            state.targetctx = counting
    return lower(state)


def without_counts(context: CPUContext) -> CPUContext:
    view = context.subtarget(enable_nrt=False)
    vars(view).pop("nrt", None)  # remembered by Numba, with counts
    return view


def makes_arrays(state: Any) -> bool:
    """Whether a function whose types are known may return what is counted, or make it by an operation or a call."""

    def is_counted(kind: types.Type) -> bool:
        return state.targetctx.data_model_manager[kind].contains_nrt_meminfo()

    def makes(statement: ir.Stmt) -> bool:
        if isinstance(statement, ir.SetItem | ir.StaticSetItem):
            return is_counted(state.typemap[statement.value.name])  # a copy of what may overlap
        if not isinstance(statement, ir.Assign) or not isinstance(statement.value, ir.Expr):
            return False
        made = statement.value
        is_view = made.op in VIEWS and (made.op != "getitem" or not is_counted(state.typemap[made.index.name]))
        return not is_view and is_counted(state.typemap[statement.target.name])

    if state.func_id.is_generator or is_counted(state.return_type):
        return True
    return any(makes(statement) for block in state.func_ir.blocks.values() for statement in block.body)

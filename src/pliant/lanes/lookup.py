"""Rows of a table at places that are themselves numbers: how splines find their coefficients.

A place is the number of a row, in floating point; its fraction is dropped.  It must lie in the table and not be NaN: no
bounds are checked.
"""

from __future__ import annotations

import numpy as np
from llvmlite import ir
from numba import types
from numba.extending import intrinsic

from pliant.lanes.inner import overload
from pliant.lanes.memory import _check_precision, _data
from pliant.lanes.rows import _load_four, _transpose_whole_rows
from pliant.lanes.traced import TracedTable
from pliant.lanes.types import Lanes

_I32, _I64 = ir.IntType(32), ir.IntType(64)


def row_at(table, place):
    """The four numbers of row `place` of a flat (rows, 4) table."""
    if isinstance(table, TracedTable):
        return table.row_at(place)
    rows = table.reshape(-1, 4)[np.asarray(place).astype(np.int64)]
    return tuple(np.moveaxis(rows, -1, 0))


@intrinsic
def _row_at(typingctx, table, place):
    _check_precision(table, place)

    def codegen(context, builder, signature, args):
        data = _data(context, builder, signature.args[0], args[0])
        if not isinstance(place, Lanes):
            start = builder.shl(builder.fptosi(args[1], _I64), _I64(2))
            four = [builder.load(builder.gep(data, [builder.add(start, _I64(k))])) for k in range(4)]
            return context.make_tuple(builder, signature.return_type, four)
        starts = builder.fptosi(args[1], ir.VectorType(_I32, place.width))
        rows = []
        for lane in range(place.width):
            start = builder.shl(builder.sext(builder.extract_element(starts, _I32(lane)), _I64), _I64(2))
            rows.append(_load_four(builder, builder.gep(data, [start]), place))
        return context.make_tuple(builder, signature.return_type, _transpose_whole_rows(builder, rows, place.width))

    return types.UniTuple(place, 4)(table, place), codegen


@overload(row_at)
def _row_at_overload(table, place):
    return lambda table, place: _row_at(table, place)

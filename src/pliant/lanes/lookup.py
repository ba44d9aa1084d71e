"""Rows of a table at places that are themselves numbers: how splines find their coefficients.

A place is the number of a row, in floating point; its fraction is dropped.  It must lie in the table and not be NaN: no
bounds are checked.

A bicubic polynomial is four rows: row k has the powers of one variable that belong to power k of the other, t.  The sum
over t is taken while the rows of a lane still lie side by side, so that only results are transposed.
"""

from __future__ import annotations

import numpy as np
from llvmlite import ir
from numba import types
from numba.extending import intrinsic

from pliant.lanes.arithmetic import FLAGS
from pliant.lanes.inner import overload
from pliant.lanes.memory import _check_precision, _data
from pliant.lanes.rows import _bundle_rows, _load_four, _transpose_bundles, _transpose_whole_rows
from pliant.lanes.traced import TracedTable
from pliant.lanes.types import Lanes, shuffle

_I32, _I64 = ir.IntType(32), ir.IntType(64)


def row_at(table, place):
    """The four numbers of row `place` of a flat (rows, 4) table."""
    if isinstance(table, TracedTable):
        return table.row_at(place)
    rows = table.reshape(-1, 4)[np.asarray(place).astype(np.int64)]
    return tuple(np.moveaxis(rows, -1, 0))


def cubic_at(table, place, t):
    """sum_k t^k row_k of the rows from `place` on: four numbers."""
    a, b, c, d = (row_at(table, place + float(k)) for k in range(4))
    return tuple(a[i] + t * (b[i] + t * (c[i] + t * d[i])) for i in range(4))


def expanded_cubic_at(table, place, t):
    """row_0, what cubic_at adds to it, its derivative by t and half of the second: four numbers each."""
    a, b, c, d = (row_at(table, place + float(k)) for k in range(4))
    second = tuple(c[i] + t * d[i] for i in range(4))
    first = tuple(b[i] + t * second[i] for i in range(4))
    curvature = tuple(second[i] + t * d[i] for i in range(4))
    slope = tuple(first[i] + t * curvature[i] for i in range(4))
    return a, tuple(t * first[i] for i in range(4)), slope, tuple(curvature[i] + t * d[i] for i in range(4))


def _addresses(builder, data, place, width):
    """Of the rows at the places of all lanes."""
    starts = builder.fptosi(place, ir.VectorType(_I32, width))
    lanes = [builder.extract_element(starts, _I32(lane)) for lane in range(width)]
    return [builder.gep(data, [builder.shl(builder.sext(start, _I64), _I64(2))]) for start in lanes]


@intrinsic
def _row_at(typingctx, table, place):
    _check_precision(table, place)

    def codegen(context, builder, signature, args):
        data = _data(context, builder, signature.args[0], args[0])
        if not isinstance(place, Lanes):
            start = builder.shl(builder.fptosi(args[1], _I64), _I64(2))
            four = [builder.load(builder.gep(data, [builder.add(start, _I64(k))])) for k in range(4)]
            return context.make_tuple(builder, signature.return_type, four)
        rows = [_load_four(builder, address, place) for address in _addresses(builder, data, args[1], place.width)]
        return context.make_tuple(builder, signature.return_type, _transpose_whole_rows(builder, rows, place.width))

    return types.UniTuple(place, 4)(table, place), codegen


class _Cubic:
    """Horner's rule on bundles of rows: coefficients of t^0 to t^3 of every lane."""

    def __init__(self, context, builder, signature, args):
        self.context, self.builder, self.kind = context, builder, signature.args[1]
        width = self.kind.width
        addresses = _addresses(builder, _data(context, builder, signature.args[0], args[0]), args[1], width)
        self.rows = [self._bundles(addresses, row) for row in range(4)]
        groups = range(width // 4)
        masks = [[4 * g + k for g in groups for _ in range(4)] for k in range(4)]
        self.t = [shuffle(builder, args[2], args[2], mask) for mask in masks]

    def _bundles(self, addresses, row):
        four = [_load_four(self.builder, self.builder.gep(a, [_I64(4 * row)]), self.kind) for a in addresses]
        return _bundle_rows(self.builder, four, self.kind.width)

    def times(self, bundles):
        """t times it."""
        return [self.builder.fmul(t, b, flags=FLAGS) for t, b in zip(self.t, bundles, strict=True)]

    def step(self, onto, bundles):
        """onto + t times it."""
        return [
            self.builder.fadd(a, b, flags=FLAGS) for a, b in zip(onto, self.times(bundles), strict=True)
        ]  # fmt: skip

    def numbers(self, bundles):
        """The four numbers of every lane."""
        four = _transpose_bundles(self.builder, bundles, self.kind.width)
        return self.context.make_tuple(self.builder, types.UniTuple(self.kind, 4), four)


@intrinsic
def _cubic_at(typingctx, table, place, t):
    _check_precision(table, place)

    def codegen(context, builder, signature, args):
        cubic = _Cubic(context, builder, signature, args)
        total = cubic.rows[3]
        for row in (2, 1, 0):
            total = cubic.step(cubic.rows[row], total)
        return cubic.numbers(total)

    return types.UniTuple(place, 4)(table, place, place), codegen


@intrinsic
def _expanded_cubic_at(typingctx, table, place, t):
    _check_precision(table, place)

    def codegen(context, builder, signature, args):
        cubic = _Cubic(context, builder, signature, args)
        a, b, c, d = cubic.rows
        second = cubic.step(c, d)
        first = cubic.step(b, second)
        curvature = cubic.step(second, d)
        slope = cubic.step(first, curvature)
        results = (a, cubic.times(first), slope, cubic.step(curvature, d))
        return context.make_tuple(builder, signature.return_type, [cubic.numbers(each) for each in results])

    return types.UniTuple(types.UniTuple(place, 4), 4)(table, place, place), codegen


@overload(row_at)
def _row_at_overload(table, place):
    return lambda table, place: _row_at(table, place)


@overload(cubic_at)
def _cubic_at_overload(table, place, t):
    return lambda table, place, t: _cubic_at(table, place, t)


@overload(expanded_cubic_at)
def _expanded_cubic_at_overload(table, place, t):
    return lambda table, place, t: _expanded_cubic_at(table, place, t)

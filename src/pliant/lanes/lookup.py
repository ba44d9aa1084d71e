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
from pliant.lanes.memory import _check_precision, _data, own_register
from pliant.lanes.rows import _load_four, _transpose_bundles, _transpose_whole_rows, two_rows
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
    """A function that gives the address of a lane's row.  Lanes leave the vector in pairs: that takes half as long."""
    numbers = ir.VectorType(_I32, width)
    data = own_register(builder, data)
    starts = builder.shl(builder.fptosi(place, numbers), ir.Constant(numbers, [2] * width))
    pairs = builder.bitcast(starts, ir.VectorType(_I64, width // 2))

    def address(lane):
        pair = builder.extract_element(pairs, _I32(lane // 2))
        start = builder.lshr(pair, _I64(32)) if lane % 2 else builder.and_(pair, _I64(0xFFFFFFFF))
        return builder.gep(data, [start])

    return address


@intrinsic
def _row_at(typingctx, table, place):
    _check_precision(table, place)

    def codegen(context, builder, signature, args):
        data = _data(context, builder, signature.args[0], args[0])
        if not isinstance(place, Lanes):
            start = builder.shl(builder.fptosi(args[1], _I64), _I64(2))
            four = [builder.load(builder.gep(data, [builder.add(start, _I64(k))])) for k in range(4)]
            return context.make_tuple(builder, signature.return_type, four)
        address = _addresses(builder, data, args[1], place.width)
        rows = [_load_four(builder, address(lane), place) for lane in range(place.width)]
        return context.make_tuple(builder, signature.return_type, _transpose_whole_rows(builder, rows, place.width))

    return types.UniTuple(place, 4)(table, place), codegen


def _cubic(context, builder, signature, args, formula):
    """What `formula` makes of t and the four rows of each lane: several times four numbers.

    A bundle, every fourth lane, is finished before the next begins, so that its addresses and rows fit in registers.
    """
    kind = signature.args[1]
    data = _data(context, builder, signature.args[0], args[0])
    address = _addresses(builder, data, args[1], kind.width)
    found = []
    for k in range(4):
        own = [address(lane) for lane in range(k, kind.width, 4)]
        rows = [*two_rows(builder, own, 0, kind), *two_rows(builder, own, 8, kind)]
        t = shuffle(builder, args[2], args[2], [lane for lane in range(k, kind.width, 4) for _ in range(4)])
        found.append(formula(_Horner(builder, t), *rows))
    return [_transposed(context, builder, list(bundles), kind) for bundles in zip(*found, strict=True)]


def _transposed(context, builder, bundles, kind):
    four = _transpose_bundles(builder, bundles, kind.width)
    return context.make_tuple(builder, types.UniTuple(kind, 4), four)


class _Horner:
    """One step of Horner's rule in t."""

    def __init__(self, builder, t):
        self.builder, self.t = builder, t

    def times(self, b):
        """t b."""
        return self.builder.fmul(self.t, b, flags=FLAGS)

    def step(self, a, b):
        """a + t b."""
        return self.builder.fadd(a, self.times(b), flags=FLAGS)


def _value(horner, a, b, c, d):
    return (horner.step(a, horner.step(b, horner.step(c, d))),)


def _expansion(horner, a, b, c, d):
    second = horner.step(c, d)
    first = horner.step(b, second)
    curvature = horner.step(second, d)
    return a, horner.times(first), horner.step(first, curvature), horner.step(curvature, d)


@intrinsic
def _cubic_at(typingctx, table, place, t):
    _check_precision(table, place)

    def codegen(context, builder, signature, args):
        return _cubic(context, builder, signature, args, _value)[0]

    return types.UniTuple(place, 4)(table, place, place), codegen


@intrinsic
def _expanded_cubic_at(typingctx, table, place, t):
    _check_precision(table, place)

    def codegen(context, builder, signature, args):
        parts = _cubic(context, builder, signature, args, _expansion)
        return context.make_tuple(builder, signature.return_type, parts)

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

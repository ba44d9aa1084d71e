"""Whole rows of an (n, 4) array at scattered places: three coordinates and one more number of each vertex.

An element reads the rows of its corners, corrects them and writes them back.  A row is known by where it starts, four
times its number: the CPU then needs no arithmetic to find it.  No two lanes may scatter to one row, unless they write
the same numbers; any may add to it, because they do so one after another.
"""

from __future__ import annotations

from llvmlite import ir
from numba import types
from numba.extending import intrinsic

from pliant.lanes.arithmetic import FLAGS
from pliant.lanes.memory import (
    _check_precision,
    _data,
    _interleave_rows,
    _transpose_patterns,
    llvm_size,
)
from pliant.lanes.types import Lanes, llvm_float, llvm_vector, shuffle

_I32, _I64 = ir.IntType(32), ir.IntType(64)


def _addresses(context, builder, signature, args, like):
    """Of the rows that begin at starts[first : first + width], for arguments rows, starts, first; one, if `like` is a
    number.
    """
    data, starts = (_data(context, builder, signature.args[k], args[k]) for k in range(2))
    width = like.width if isinstance(like, Lanes) else 1
    places = [builder.gep(starts, [builder.add(args[2], _I64(lane))]) for lane in range(width)]
    return [builder.gep(data, [builder.zext(builder.load(place), _I64)]) for place in places]


def _load_four(builder, address, like):
    """The four numbers of one row."""
    four = ir.VectorType(llvm_float(like.dtype), 4)
    return builder.load(builder.bitcast(address, four.as_pointer()), align=llvm_size(like))


def _rows_of(builder, bundles, width):
    """The four numbers of each lane, one lane after another, from what memory._interleave_rows makes."""
    for lane in range(width):
        group, k = divmod(lane, 4)
        yield shuffle(builder, bundles[k], bundles[k], [4 * group + i for i in range(4)])


def _bundle_rows(builder, rows, width):
    """Rows of `width` vertices as four vectors: bundle k holds row 4g + k in its group g of four elements."""
    return [_side_by_side(builder, [rows[4 * g + k] for g in range(width // 4)]) for k in range(4)]


def _side_by_side(builder, parts):
    """Vectors of one length as one vector."""
    while len(parts) > 1:
        size = 2 * parts[0].type.count
        parts = [shuffle(builder, a, b, list(range(size))) for a, b in zip(parts[::2], parts[1::2], strict=True)]
    return parts[0]


def two_rows(builder, addresses, further, like):
    """Two rows, one after another in memory, `further` numbers after each address: the first ones as one vector, the
    second ones as another.  Loading both at once and parting them takes fewer instructions than loading each.
    """
    eight = ir.VectorType(llvm_float(like.dtype), 8).as_pointer()
    places = [builder.bitcast(builder.gep(a, [_I64(further)]), eight) for a in addresses]
    both = _side_by_side(builder, [builder.load(place, align=llvm_size(like)) for place in places])
    starts = range(0, both.type.count, 8)
    return [shuffle(builder, both, both, [k + i for k in starts for i in range(first, first + 4)]) for first in (0, 4)]


def _transpose_bundles(builder, bundles, width):
    """Bundles of rows (x, y, z, w) to vectors of all x, all y, all z, all w: see memory._transpose_rows."""
    low, high, first, second = _transpose_patterns(width)
    xy = [shuffle(builder, bundles[k], bundles[k + 1], low) for k in (0, 2)]
    zw = [shuffle(builder, bundles[k], bundles[k + 1], high) for k in (0, 2)]
    return [shuffle(builder, *pair, pick) for pair in (xy, zw) for pick in (first, second)]


def _transpose_whole_rows(builder, rows, width):
    """Rows (x, y, z, w) of `width` vertices to vectors of all x, all y, all z, all w."""
    return _transpose_bundles(builder, _bundle_rows(builder, rows, width), width)


@intrinsic
def gather4(typingctx, rows, starts, first, like):
    """The rows that begin at starts[first : first + width] as (all x, all y, all z, all w)."""
    _check_precision(rows, like)

    def codegen(context, builder, signature, args):
        addresses = _addresses(context, builder, signature, args, like)
        if isinstance(like, Lanes):
            xyzw = _transpose_whole_rows(builder, [_load_four(builder, a, like) for a in addresses], like.width)
        else:
            xyzw = [builder.load(builder.gep(addresses[0], [_I64(k)])) for k in range(4)]
        return context.make_tuple(builder, signature.return_type, xyzw)

    return types.UniTuple(like, 4)(rows, starts, types.int64, like), codegen


@intrinsic
def prefetch_rows(typingctx, rows, starts, first, like):
    """Ask for the rows that begin at starts[first : first + width], so that they are near when they are gathered."""

    def codegen(context, builder, signature, args):
        pointer, number = ir.IntType(8).as_pointer(), ir.IntType(32)
        kind = ir.FunctionType(ir.VoidType(), (pointer, number, number, number))
        prefetch = builder.module.declare_intrinsic("llvm.prefetch", (pointer,), kind)
        for address in _addresses(context, builder, signature, args, like):
            builder.call(prefetch, [builder.bitcast(address, pointer), number(0), number(3), number(1)])
        return context.get_dummy_value()

    return types.void(rows, starts, types.int64, like), codegen


@intrinsic
def gather4_beyond(typingctx, rows, starts, first, further, like):
    """The rows that begin `further` numbers after starts[first : first + width] as (all x, all y, all z, all w)."""
    _check_precision(rows, like)

    def codegen(context, builder, signature, args):
        addresses = [builder.gep(a, [args[3]]) for a in _addresses(context, builder, signature, args, like)]
        if isinstance(like, Lanes):
            xyzw = _transpose_whole_rows(builder, [_load_four(builder, a, like) for a in addresses], like.width)
        else:
            xyzw = [builder.load(builder.gep(addresses[0], [_I64(k)])) for k in range(4)]
        return context.make_tuple(builder, signature.return_type, xyzw)

    return types.UniTuple(like, 4)(rows, starts, types.int64, types.int64, like), codegen


@intrinsic
def load4(typingctx, rows, start, step, like):
    """The rows that begin at start, start + step, ... as (all x, all y, all z, all w)."""
    _check_precision(rows, like)

    def codegen(context, builder, signature, args):
        data = _data(context, builder, signature.args[0], args[0])
        if not isinstance(like, Lanes):
            places = [builder.gep(data, [builder.add(args[1], _I64(k))]) for k in range(4)]
            return context.make_tuple(builder, signature.return_type, [builder.load(place) for place in places])
        starts = [builder.add(args[1], builder.mul(args[2], _I64(lane))) for lane in range(like.width)]
        four = [_load_four(builder, builder.gep(data, [first]), like) for first in starts]
        return context.make_tuple(builder, signature.return_type, _transpose_whole_rows(builder, four, like.width))

    return types.UniTuple(like, 4)(rows, types.int64, types.int64, like), codegen


@intrinsic
def store4(typingctx, rows, start, step, x, y, z, w):
    """Write rows that begin at start, start + step, ..."""
    if isinstance(x, Lanes):
        _check_precision(rows, x)

    def codegen(context, builder, signature, args):
        data, numbers = _data(context, builder, signature.args[0], args[0]), args[3:]
        if not isinstance(x, Lanes):
            for k, number in enumerate(numbers):
                builder.store(number, builder.gep(data, [builder.add(args[1], _I64(k))]))
            return context.get_dummy_value()
        bundles = _interleave_rows(builder, *numbers, x.width)
        for lane, row in enumerate(_rows_of(builder, bundles, x.width)):
            address = builder.gep(data, [builder.add(args[1], builder.mul(args[2], _I64(lane)))])
            builder.store(row, builder.bitcast(address, row.type.as_pointer()), align=llvm_size(x))
        return context.get_dummy_value()

    number = x if isinstance(x, Lanes) else rows.dtype
    return types.void(rows, types.int64, types.int64, number, number, number, number), codegen


@intrinsic
def gather4_of(typingctx, rows, starts, places, first, further, like):
    """The rows that begin at starts[places[first : first + width] + further] as (all x, all y, all z, all w)."""
    _check_precision(rows, like)

    def codegen(context, builder, signature, args):
        data, begin, place = (_data(context, builder, signature.args[k], args[k]) for k in range(3))
        whole_rows = []
        for lane in range(like.width):
            where = builder.load(builder.gep(place, [builder.add(args[3], _I64(lane))]))
            start = builder.load(builder.gep(begin, [builder.add(where, args[4])]))
            whole_rows.append(_load_four(builder, builder.gep(data, [builder.zext(start, _I64)]), like))
        xyzw = _transpose_whole_rows(builder, whole_rows, like.width)
        return context.make_tuple(builder, signature.return_type, xyzw)

    return types.UniTuple(like, 4)(rows, starts, places, types.int64, types.int64, like), codegen


@intrinsic
def scatter4(typingctx, rows, starts, first, x, y, z, w):
    """Write the rows that begin at starts[first : first + width]."""
    if isinstance(x, Lanes):
        _check_precision(rows, x)

    def codegen(context, builder, signature, args):
        addresses = _addresses(context, builder, signature, args, x)
        if not isinstance(x, Lanes):
            for k, number in enumerate(args[3:]):
                builder.store(number, builder.gep(addresses[0], [_I64(k)]))
            return context.get_dummy_value()
        bundles = _interleave_rows(builder, *args[3:], x.width)
        for address, row in zip(addresses, _rows_of(builder, bundles, x.width), strict=True):
            builder.store(row, builder.bitcast(address, row.type.as_pointer()), align=llvm_size(x))
        return context.get_dummy_value()

    number = x if isinstance(x, Lanes) else rows.dtype
    return types.void(rows, starts, types.int64, number, number, number, number), codegen


@intrinsic
def scatter3(typingctx, rows, starts, first, x, y, z):
    """Write the first three numbers of the rows that begin at starts[first : first + width]."""
    if isinstance(x, Lanes):
        _check_precision(rows, x)

    def codegen(context, builder, signature, args):
        addresses = _addresses(context, builder, signature, args, x)
        if not isinstance(x, Lanes):
            for k, number in enumerate(args[3:]):
                builder.store(number, builder.gep(addresses[0], [_I64(k)]))
            return context.get_dummy_value()
        bundles = _interleave_rows(builder, *args[3:], ir.Constant(args[3].type, None), x.width)
        for address, row in zip(addresses, _rows_of(builder, bundles, x.width), strict=True):
            two = shuffle(builder, row, row, [0, 1])
            builder.store(two, builder.bitcast(address, two.type.as_pointer()), align=llvm_size(x))
            builder.store(builder.extract_element(row, _I32(2)), builder.gep(address, [_I64(2)]))
        return context.get_dummy_value()

    number = x if isinstance(x, Lanes) else rows.dtype
    return types.void(rows, starts, types.int64, number, number, number), codegen


@intrinsic
def add_rows(typingctx, rows, starts, first, x, y, z):
    """Add x, y, z to the rows that begin at starts[first : first + width], lane by lane."""
    if isinstance(x, Lanes):
        _check_precision(rows, x)

    def codegen(context, builder, signature, args):
        addresses = _addresses(context, builder, signature, args, x)
        if not isinstance(x, Lanes):
            for k, number in enumerate(args[3:]):
                address = builder.gep(addresses[0], [_I64(k)])
                builder.store(builder.fadd(builder.load(address), number), address)
            return context.get_dummy_value()
        bundles = _interleave_rows(builder, *args[3:], ir.Constant(args[3].type, None), x.width)
        for address, row in zip(addresses, _rows_of(builder, bundles, x.width), strict=True):
            total = builder.fadd(_load_four(builder, address, x), row)
            builder.store(total, builder.bitcast(address, row.type.as_pointer()), align=llvm_size(x))
        return context.get_dummy_value()

    number = x if isinstance(x, Lanes) else rows.dtype
    return types.void(rows, starts, types.int64, number, number, number), codegen


def _row_at(builder, data, starts, place):
    """Address of the row that begins at starts[place]."""
    return builder.gep(data, [builder.zext(builder.load(builder.gep(starts, [place])), _I64)])


def _push_row(builder, address, push, sign, like):
    """Add to one row a push times the row's fourth number, or subtract it."""
    before = _load_four(builder, address, like)
    change = builder.fmul(shuffle(builder, before, before, [3, 3, 3, 3]), push, flags=FLAGS)
    after = (builder.fadd if sign > 0 else builder.fsub)(before, change, flags=FLAGS)
    builder.store(after, builder.bitcast(address, push.type.as_pointer()), align=llvm_size(like))


def _push_rows(builder, data, starts, sides, xyz, like):
    """Push the rows of all sides (first, sign), lane by lane: an address is asked for when its turn comes, so that few
    registers are in use.
    """
    zero = ir.Constant(xyz[0].type, None)
    for lane, push in enumerate(_rows_of(builder, _interleave_rows(builder, *xyz, zero, like.width), like.width)):
        for first, sign in sides:
            address = _row_at(builder, data, starts, builder.add(first, _I64(lane)))
            _push_row(builder, address, push, sign, like)


@intrinsic
def push_rows(typingctx, rows, starts, first, x, y, z):
    """Add x, y, z, times the fourth number of the row, to the rows that begin at starts[first : first + width], lane by
    lane.
    """
    _check_precision(rows, x)

    def codegen(context, builder, signature, args):
        data, begins = (_data(context, builder, signature.args[k], args[k]) for k in range(2))
        _push_rows(builder, data, begins, [(args[2], 1)], args[3:], x)
        return context.get_dummy_value()

    return types.void(rows, starts, types.int64, x, x, x), codegen


@intrinsic
def push_both_rows(typingctx, rows, starts, first, second, x, y, z):
    """The same, and subtract them from the rows that begin at starts[second : second + width]."""
    _check_precision(rows, x)

    def codegen(context, builder, signature, args):
        data, begins = (_data(context, builder, signature.args[k], args[k]) for k in range(2))
        _push_rows(builder, data, begins, [(args[2], 1), (args[3], -1)], args[4:], x)
        return context.get_dummy_value()

    return types.void(rows, starts, types.int64, types.int64, x, x, x), codegen


@intrinsic
def load_vectors(typingctx, vectors, first, like):
    """Rows first, first + 1, ... of an (n, 3) array, as many as there are lanes, as (all x, all y, all z)."""
    _check_precision(vectors, like)

    def codegen(context, builder, signature, args):
        places = _places_of_vectors(context, builder, signature, args, like)
        if not isinstance(like, Lanes):
            return context.make_tuple(builder, signature.return_type, [builder.load(place) for place in places[0]])
        xyz = [ir.Constant(llvm_vector(like), ir.Undefined)] * 3
        for lane, three in enumerate(places):
            xyz = [builder.insert_element(v, builder.load(p), _I32(lane)) for v, p in zip(xyz, three, strict=True)]
        return context.make_tuple(builder, signature.return_type, xyz)

    return types.UniTuple(like, 3)(vectors, types.int64, like), codegen


@intrinsic
def store_vectors(typingctx, vectors, first, x, y, z):
    """Write rows first, first + 1, ... of an (n, 3) array, as many as there are lanes."""
    if isinstance(x, Lanes):
        _check_precision(vectors, x)

    def codegen(context, builder, signature, args):
        for lane, three in enumerate(_places_of_vectors(context, builder, signature, args, x)):
            for value, place in zip(args[2:], three, strict=True):
                is_lanes = isinstance(x, Lanes)
                builder.store(builder.extract_element(value, _I32(lane)) if is_lanes else value, place)
        return context.get_dummy_value()

    number = x if isinstance(x, Lanes) else vectors.dtype
    return types.void(vectors, types.int64, number, number, number), codegen


def _places_of_vectors(context, builder, signature, args, like):
    """Of the three numbers of each lane's row, for arguments vectors, first."""
    data = _data(context, builder, signature.args[0], args[0])
    start = builder.mul(args[1], _I64(3))
    width = like.width if isinstance(like, Lanes) else 1
    return [[builder.gep(data, [builder.add(start, _I64(3 * lane + k))]) for k in range(3)] for lane in range(width)]

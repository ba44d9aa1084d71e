"""Rows of an (n, 3) array as lanes: consecutive rows, rows at scattered places, and numbers beside them.

Nothing beyond a row is read or written, so that threads may have neighbouring rows. `like` is a number of the wanted
type; a plain float makes each function the scalar operation. No bounds are checked.
"""

from __future__ import annotations

from llvmlite import ir
from numba import types
from numba.extending import intrinsic

from pliant.lanes.memory import _check_precision, _data, _interleave_rows, _load_row, _transpose_rows, llvm_size
from pliant.lanes.rows import _rows_of
from pliant.lanes.types import Lanes, llvm_float, shuffle

_I32, _I64 = ir.IntType(32), ir.IntType(64)


def _width(number: types.Type) -> int:
    return number.width if isinstance(number, Lanes) else 1


def _places(builder, indices, start, stride, width):
    """Numbers indices[start + stride * lane] as 64-bit values."""
    for lane in range(width):
        value = builder.load(builder.gep(indices, [builder.add(start, builder.mul(stride, _I64(lane)))]))
        yield builder.zext(value, _I64) if value.type.width < 64 else value


def _load_triple(builder, address, like):
    """Three numbers as the first of a vector of four."""
    scalar = llvm_float(like.dtype)
    two, four = ir.VectorType(scalar, 2), ir.VectorType(scalar, 4)
    xy = builder.load(builder.bitcast(address, two.as_pointer()), align=llvm_size(like))
    z = builder.load(builder.gep(address, [_I64(2)]))
    wide = shuffle(builder, xy, ir.Constant(two, ir.Undefined), [0, 1, 2, 3])
    assert wide.type == four
    return builder.insert_element(wide, z, _I32(2))


def _store_triple(builder, address, row, number):
    """The first three of a vector of four."""
    two = shuffle(builder, row, row, [0, 1])
    builder.store(two, builder.bitcast(address, two.type.as_pointer()), align=llvm_size(number))
    builder.store(builder.extract_element(row, _I32(2)), builder.gep(address, [_I64(2)]))


def _addresses(builder, data, places):
    return [builder.gep(data, [builder.mul(place, _I64(3))]) for place in places]


def _load_all(builder, addresses, like):
    """(all x, all y, all z) of rows."""
    if isinstance(like, Lanes):
        return _transpose_rows(builder, [_load_triple(builder, a, like) for a in addresses], like.width)
    return [builder.load(builder.gep(addresses[0], [_I64(k)])) for k in range(3)]


def _store_all(builder, addresses, xyz, number):
    """Write rows."""
    if not isinstance(number, Lanes):
        for k, value in enumerate(xyz):
            builder.store(value, builder.gep(addresses[0], [_I64(k)]))
        return
    x, y, z = xyz
    bundles = _interleave_rows(builder, x, y, z, ir.Constant(x.type, None), number.width)
    for address, row in zip(addresses, _rows_of(builder, bundles, number.width), strict=True):
        _store_triple(builder, address, row, number)


@intrinsic
def quad_of_zeros(typingctx, array):
    """Four zeros in one register, in the precision of an array."""
    lanes = Lanes(array.dtype, 4)

    def codegen(context, builder, signature, args):
        return ir.Constant(context.get_value_type(lanes), None)

    return lanes(array), codegen


@intrinsic
def load_quad(typingctx, array, i):
    """Row i of an (n, 4) array in one register."""
    lanes = Lanes(array.dtype, 4)

    def codegen(context, builder, signature, args):
        data = _data(context, builder, signature.args[0], args[0])
        return _load_row(builder, data, args[1], lanes)

    return lanes(array, types.int64), codegen


@intrinsic
def add_quad(typingctx, array, i, quad):
    """Add four numbers to row i of an (n, 4) array."""
    _check_precision(array, quad)

    def codegen(context, builder, signature, args):
        data = _data(context, builder, signature.args[0], args[0])
        address = builder.gep(data, [builder.shl(args[1], _I64(2))])
        total = builder.fadd(_load_row(builder, data, args[1], quad), args[2])
        builder.store(total, builder.bitcast(address, total.type.as_pointer()), align=llvm_size(quad))
        return context.get_dummy_value()

    return types.void(array, types.int64, quad), codegen


@intrinsic
def negated_if_odd(typingctx, quad, which):
    """Four numbers, or where an integer is odd their negatives: by their sign bits, without a multiplication."""

    def codegen(context, builder, signature, args):
        bits = 32 if quad.dtype == types.float32 else 64
        integer, whole = ir.IntType(bits), ir.VectorType(ir.IntType(bits), 4)
        odd = args[1]
        if odd.type.width != bits:
            odd = builder.trunc(odd, integer) if odd.type.width > bits else builder.zext(odd, integer)
        sign = builder.shl(odd, integer(bits - 1))
        lane = builder.insert_element(ir.Constant(whole, ir.Undefined), sign, _I32(0))
        signs = builder.shuffle_vector(lane, lane, ir.Constant(ir.VectorType(_I32, 4), [0, 0, 0, 0]))
        return builder.bitcast(builder.xor(builder.bitcast(args[0], whole), signs), args[0].type)

    return quad(quad, which), codegen


@intrinsic
def gather_quads(typingctx, array, indices, start, stride, like):
    """The first three of rows indices[start], indices[start + stride], ... of an (n, 4) array as (all x, all y,
    all z).
    """
    _check_precision(array, like)

    def codegen(context, builder, signature, args):
        data, index = (_data(context, builder, signature.args[k], args[k]) for k in range(2))
        places = list(_places(builder, index, args[2], args[3], _width(like)))
        if isinstance(like, Lanes):
            rows = [_load_row(builder, data, place, like) for place in places]
            xyz = _transpose_rows(builder, rows, like.width)
        else:
            start = builder.shl(places[0], _I64(2))
            xyz = [builder.load(builder.gep(data, [builder.add(start, _I64(k))])) for k in range(3)]
        return context.make_tuple(builder, signature.return_type, xyz)

    return types.UniTuple(like, 3)(array, indices, types.int64, types.int64, like), codegen


@intrinsic
def load_triples(typingctx, array, first, like):
    """Rows first, first + 1, ... as (all x, all y, all z)."""
    _check_precision(array, like)

    def codegen(context, builder, signature, args):
        data = _data(context, builder, signature.args[0], args[0])
        if not isinstance(like, Lanes):
            xyz = _load_all(builder, _addresses(builder, data, [args[1]]), like)
        else:
            whole = ir.VectorType(llvm_float(like.dtype), 3 * like.width)
            address = builder.bitcast(builder.gep(data, [builder.mul(args[1], _I64(3))]), whole.as_pointer())
            row = builder.load(address, align=llvm_size(like))
            xyz = [shuffle(builder, row, row, [3 * lane + k for lane in range(like.width)]) for k in range(3)]
        return context.make_tuple(builder, signature.return_type, xyz)

    return types.UniTuple(like, 3)(array, types.int64, like), codegen


@intrinsic
def store_triples(typingctx, array, first, x, y, z):
    """Write rows first, first + 1, ..."""
    if isinstance(x, Lanes):
        _check_precision(array, x)

    def codegen(context, builder, signature, args):
        data, xyz = _data(context, builder, signature.args[0], args[0]), args[2:]
        if not isinstance(x, Lanes):
            _store_all(builder, _addresses(builder, data, [args[1]]), xyz, x)
            return context.get_dummy_value()
        w = x.width
        xy = shuffle(builder, xyz[0], xyz[1], list(range(2 * w)))
        zz = shuffle(builder, xyz[2], xyz[2], [i % w for i in range(2 * w)])
        whole = shuffle(builder, xy, zz, [k * w + lane for lane in range(w) for k in range(3)])
        address = builder.bitcast(builder.gep(data, [builder.mul(args[1], _I64(3))]), whole.type.as_pointer())
        builder.store(whole, address, align=llvm_size(x))
        return context.get_dummy_value()

    number = x if isinstance(x, Lanes) else array.dtype
    return types.void(array, types.int64, number, number, number), codegen


@intrinsic
def gather_triples(typingctx, array, indices, start, stride, like):
    """Rows indices[start], indices[start + stride], ... as (all x, all y, all z)."""
    _check_precision(array, like)

    def codegen(context, builder, signature, args):
        data, index = (_data(context, builder, signature.args[k], args[k]) for k in range(2))
        places = _places(builder, index, args[2], args[3], _width(like))
        xyz = _load_all(builder, _addresses(builder, data, places), like)
        return context.make_tuple(builder, signature.return_type, xyz)

    return types.UniTuple(like, 3)(array, indices, types.int64, types.int64, like), codegen


@intrinsic
def scatter_triples(typingctx, array, indices, start, x, y, z):
    """Write rows indices[start], indices[start + 1], ...; no two lanes may have the same one."""
    if isinstance(x, Lanes):
        _check_precision(array, x)

    def codegen(context, builder, signature, args):
        data, index = (_data(context, builder, signature.args[k], args[k]) for k in range(2))
        places = _places(builder, index, args[2], _I64(1), _width(x))
        _store_all(builder, _addresses(builder, data, places), args[3:], x)
        return context.get_dummy_value()

    number = x if isinstance(x, Lanes) else array.dtype
    return types.void(array, indices, types.int64, number, number, number), codegen


@intrinsic
def gather_numbers(typingctx, array, indices, start, columns, column, like):
    """The number in one column of the rows indices[start], indices[start + 1], ... of an array with so many columns."""
    _check_precision(array, like)

    def codegen(context, builder, signature, args):
        data, index = (_data(context, builder, signature.args[k], args[k]) for k in range(2))
        places = [
            builder.add(builder.mul(place, args[3]), args[4])
            for place in _places(builder, index, args[2], _I64(1), _width(like))
        ]
        if not isinstance(like, Lanes):
            return builder.load(builder.gep(data, [places[0]]))
        result = ir.Constant(ir.VectorType(llvm_float(like.dtype), like.width), ir.Undefined)
        for lane, place in enumerate(places):
            result = builder.insert_element(result, builder.load(builder.gep(data, [place])), _I32(lane))
        return result

    return like(array, indices, types.int64, types.int64, types.int64, like), codegen


@intrinsic
def load_pairs(typingctx, array, first, like):
    """Rows first, first + 1, ... of an (n, 2) array as (all x, all y)."""
    _check_precision(array, like)

    def codegen(context, builder, signature, args):
        data = _data(context, builder, signature.args[0], args[0])
        address = builder.gep(data, [builder.shl(args[1], _I64(1))])
        if not isinstance(like, Lanes):
            both = [builder.load(builder.gep(address, [_I64(k)])) for k in range(2)]
        else:
            whole = ir.VectorType(llvm_float(like.dtype), 2 * like.width)
            row = builder.load(builder.bitcast(address, whole.as_pointer()), align=llvm_size(like))
            both = [shuffle(builder, row, row, [2 * lane + k for lane in range(like.width)]) for k in range(2)]
        return context.make_tuple(builder, signature.return_type, both)

    return types.UniTuple(like, 2)(array, types.int64, like), codegen

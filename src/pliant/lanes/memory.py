"""Loads, stores and gathers of lanes.

Arrays are flat and contiguous, or (n, 4) for positions: x, y, z and one unused number per vertex, so that a vertex is
one aligned load. `like` is any number of the wanted type; a plain float makes each function the scalar operation. No
bounds are checked."""

from __future__ import annotations

from llvmlite import ir
from numba import types
from numba.core.errors import TypingError
from numba.extending import intrinsic

from pliant.lanes.inner import overload
from pliant.lanes.types import Lanes, llvm_float, llvm_vector, shuffle

_I32, _I64 = ir.IntType(32), ir.IntType(64)


def width_of(like):
    """Number of lanes: 1 for a plain float."""
    return 1


@overload(width_of)
def _width_of(like):
    width = like.width if isinstance(like, Lanes) else 1
    return lambda like: width


def _check_precision(array, number) -> None:
    """Bits of one precision must not be read or written as another."""
    dtype = number.dtype if isinstance(number, Lanes) else number
    if array.dtype != dtype:
        raise TypingError(f"lanes of {dtype} cannot be loaded from or stored to an array of {array.dtype}")


def _data(context, builder, array_type, array):
    return context.make_array(array_type)(context, builder, array).data


def own_register(builder, address):
    """The same address, of which the compiler knows nothing: it is in a register of its own as long as it is used.

    Known ones are reloaded from the stack for each of many lanes where registers are few.
    """
    kind = ir.FunctionType(address.type, [address.type])
    return builder.call(ir.InlineAsm(kind, "", "=r,0", side_effect=True), [address], attrs=("nounwind", "readnone"))


@intrinsic
def load(typingctx, array, start, like):
    """array[start : start + width]."""
    _check_precision(array, like)

    def codegen(context, builder, signature, args):
        address = builder.gep(_data(context, builder, signature.args[0], args[0]), [args[1]])
        if not isinstance(like, Lanes):
            return builder.load(address)
        return builder.load(builder.bitcast(address, llvm_vector(like).as_pointer()), align=llvm_size(like))

    return like(array, types.int64, like), codegen


@intrinsic
def load_widened(typingctx, array, start, like):
    """array[start : start + width] in the precision of `like`, an array's own or a wider one."""
    own = Lanes(array.dtype, like.width)

    def codegen(context, builder, signature, args):
        address = builder.gep(_data(context, builder, signature.args[0], args[0]), [args[1]])
        found = builder.load(builder.bitcast(address, llvm_vector(own).as_pointer()), align=llvm_size(own))
        return found if own == like else builder.fpext(found, llvm_vector(like))

    return like(array, types.int64, like), codegen


@intrinsic
def store(typingctx, array, start, value):
    """array[start : start + width] = value."""
    if isinstance(value, Lanes):
        _check_precision(array, value)

    def codegen(context, builder, signature, args):
        address = builder.gep(_data(context, builder, signature.args[0], args[0]), [args[1]])
        if not isinstance(value, Lanes):
            builder.store(args[2], address)
        else:
            pointer = builder.bitcast(address, llvm_vector(value).as_pointer())
            builder.store(args[2], pointer, align=llvm_size(value))
        return context.get_dummy_value()

    # a literal in a scalar function may have made the value a double: it is stored in the array's precision
    return types.void(array, types.int64, value if isinstance(value, Lanes) else array.dtype), codegen


@intrinsic
def prefetch_row(typingctx, array, row):
    """Ask for array[row] of an (n, 4) array, so that it is near when it is read."""

    def codegen(context, builder, signature, args):
        start = builder.mul(args[1], _I64(4))
        address = builder.gep(_data(context, builder, signature.args[0], args[0]), [start])
        pointer = builder.bitcast(address, ir.IntType(8).as_pointer())
        kind = ir.FunctionType(ir.VoidType(), [pointer.type, _I32, _I32, _I32])
        prefetch = builder.module.declare_intrinsic("llvm.prefetch", (pointer.type,), kind)
        builder.call(prefetch, [pointer, _I32(0), _I32(3), _I32(1)])  # for reading, into the nearest cache, of data
        return context.get_dummy_value()

    return types.void(array, types.int64), codegen


def llvm_size(number) -> int:
    """Bytes of one lane: the alignment a NumPy array is sure to have."""
    dtype = number.dtype if isinstance(number, Lanes) else number
    return 4 if dtype == types.float32 else 8


def _transpose_rows(builder, rows, width):
    """Rows (x, y, z, w) of `width` vertices to vectors of all x, all y, all z.

    Row 4g + k goes to group g of bundle k; inside each group of four the 4x4 transpose is two rounds of interleaving,
    which every CPU does in a few shuffles.
    """
    bundles = []
    for k in range(4):
        parts = [rows[4 * g + k] for g in range(width // 4)]
        while len(parts) > 1:
            size = 2 * parts[0].type.count
            parts = [shuffle(builder, a, b, list(range(size))) for a, b in zip(parts[::2], parts[1::2], strict=True)]
        bundles.append(parts[0])

    low, high, first, second = _transpose_patterns(width)
    xy01, xy23 = shuffle(builder, bundles[0], bundles[1], low), shuffle(builder, bundles[2], bundles[3], low)
    zw01, zw23 = shuffle(builder, bundles[0], bundles[1], high), shuffle(builder, bundles[2], bundles[3], high)
    return [
        shuffle(builder, xy01, xy23, first),
        shuffle(builder, xy01, xy23, second),
        shuffle(builder, zw01, zw23, first),
    ]


def _interleave_rows(builder, x, y, z, w, width):
    """The way back: bundle k holds, in group g, the row (x, y, z, w) of vertex 4g + k."""
    low, high, first, second = _transpose_patterns(width)
    xy01, xy23 = shuffle(builder, x, y, low), shuffle(builder, x, y, high)
    zw01, zw23 = shuffle(builder, z, w, low), shuffle(builder, z, w, high)
    return [shuffle(builder, xy, zw, pick) for xy, zw in ((xy01, zw01), (xy23, zw23)) for pick in (first, second)]


def _transpose_patterns(width):
    """Shuffles that act on every group of four elements of two vectors alike."""

    def per_group(pattern):
        return [4 * g + i if i < 4 else width + 4 * g + i - 4 for g in range(width // 4) for i in pattern]

    return tuple(per_group(p) for p in ([0, 4, 1, 5], [2, 6, 3, 7], [0, 1, 4, 5], [2, 3, 6, 7]))


def _load_row(builder, positions, row, like):
    """The four numbers of one vertex."""
    address = builder.gep(positions, [builder.shl(row, _I64(2))])
    four = ir.VectorType(llvm_float(like.dtype), 4)
    return builder.load(builder.bitcast(address, four.as_pointer()), align=llvm_size(like))


def _load_three(builder, positions, row):
    """x, y, z of one vertex as scalars."""
    start = builder.shl(row, _I64(2))
    return [builder.load(builder.gep(positions, [builder.add(start, _I64(k))])) for k in range(3)]


@intrinsic
def gather3(typingctx, positions, indices, start, like):
    """Positions of the vertices indices[start : start + width], as (all x, all y, all z).

    One 128-bit load a vertex and a transpose beat the CPU's gather instruction.
    """
    _check_precision(positions, like)

    def codegen(context, builder, signature, args):
        data = _data(context, builder, signature.args[0], args[0])
        index = _data(context, builder, signature.args[1], args[1])

        def row(lane):
            i = builder.load(builder.gep(index, [builder.add(args[2], _I64(lane))]))
            return builder.zext(i, _I64)

        if isinstance(like, Lanes):
            rows = [_load_row(builder, data, row(lane), like) for lane in range(like.width)]
            xyz = _transpose_rows(builder, rows, like.width)
        else:
            xyz = _load_three(builder, data, row(0))
        return context.make_tuple(builder, signature.return_type, xyz)

    return types.UniTuple(like, 3)(positions, indices, types.int64, like), codegen


@intrinsic
def load3(typingctx, positions, first, like):
    """Positions of the vertices first, first + 1, ... as (all x, all y, all z)."""
    _check_precision(positions, like)

    def codegen(context, builder, signature, args):
        data = _data(context, builder, signature.args[0], args[0])
        if isinstance(like, Lanes):
            rows = [_load_row(builder, data, builder.add(args[1], _I64(k)), like) for k in range(like.width)]
            xyz = _transpose_rows(builder, rows, like.width)
        else:
            xyz = _load_three(builder, data, args[1])
        return context.make_tuple(builder, signature.return_type, xyz)

    return types.UniTuple(like, 3)(positions, types.int64, like), codegen


@intrinsic
def store3(typingctx, positions, first, x, y, z):
    """Write the positions of the vertices first, first + 1, ...; the unused fourth number becomes zero."""
    if isinstance(x, Lanes):
        _check_precision(positions, x)

    def codegen(context, builder, signature, args):
        data, first_row, xyz = _data(context, builder, signature.args[0], args[0]), args[1], args[2:]
        if not isinstance(x, Lanes):
            start = builder.shl(first_row, _I64(2))
            for k, number in enumerate([*xyz, ir.Constant(xyz[0].type, 0.0)]):
                builder.store(number, builder.gep(data, [builder.add(start, _I64(k))]))
            return context.get_dummy_value()
        bundles = _interleave_rows(builder, *xyz, ir.Constant(xyz[0].type, None), x.width)
        for lane in range(x.width):
            group, k = divmod(lane, 4)
            row = shuffle(builder, bundles[k], bundles[k], [4 * group + i for i in range(4)])
            address = builder.gep(data, [builder.shl(builder.add(first_row, _I64(lane)), _I64(2))])
            builder.store(row, builder.bitcast(address, row.type.as_pointer()), align=llvm_size(x))
        return context.get_dummy_value()

    number = x if isinstance(x, Lanes) else positions.dtype
    return types.void(positions, types.int64, number, number, number), codegen

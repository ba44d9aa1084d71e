"""Numbers of arrays that compiled code is given the address of, as a plain number in a row of others.

An address is below 2^53, so a double holds it exactly. Whoever makes the row keeps the array alive. No bounds are
checked.
"""

from __future__ import annotations

from llvmlite import ir
from numba import types
from numba.core import cgutils
from numba.extending import intrinsic

from pliant.lanes.types import Lanes


def _pointer(builder, address, kind):
    return builder.bitcast(builder.inttoptr(address, cgutils.voidptr_t), kind.as_pointer())


def _reader(number: types.Type):
    """An intrinsic (address, place) -> the number at that place of a contiguous array."""

    @intrinsic
    def read(typingctx, address, place):
        def codegen(context, builder, signature, args):
            pointer = _pointer(builder, args[0], context.get_data_type(number))
            return builder.load(builder.gep(pointer, [args[1]]))

        return number(types.int64, types.int64), codegen

    return read


@intrinsic
def four_at(typingctx, address, place):
    """Four floats in single precision from a place on, as lanes."""
    lanes = Lanes(types.float32, 4)

    def codegen(context, builder, signature, args):
        start = builder.gep(_pointer(builder, args[0], ir.FloatType()), [args[1]])
        four = builder.bitcast(start, context.get_value_type(lanes).as_pointer())
        return builder.load(four, align=4)

    return lanes(types.int64, types.int64), codegen


@intrinsic
def three_of(typingctx, lanes):
    """The first three of four lanes, in double precision."""

    def codegen(context, builder, signature, args):
        numbers = [builder.extract_element(args[0], ir.IntType(32)(k)) for k in range(3)]
        doubles = [builder.fpext(number, ir.DoubleType()) for number in numbers]
        return context.make_tuple(builder, signature.return_type, doubles)

    return types.UniTuple(types.float64, 3)(lanes), codegen


double_at = _reader(types.float64)
int_at = _reader(types.int32)

__all__ = ["double_at", "four_at", "int_at", "three_of"]

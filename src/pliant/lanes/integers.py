"""Whole numbers that are looked at several at a time."""

from __future__ import annotations

from llvmlite import ir
from numba import types
from numba.extending import intrinsic

from pliant.lanes.compiled import inlined
from pliant.lanes.masks import lowest_bit
from pliant.lanes.memory import _data
from pliant.lanes.types import broadcast

MARGIN = 16  # numbers that are looked at together: arrays have as many more, which may be anything
_I64 = ir.IntType(64)


@intrinsic
def equal_bits(typingctx, numbers, first, value):
    """In which of numbers[first : first + MARGIN], 32 bits each, a value is: as bits, the first one the lowest."""

    def codegen(context, builder, signature, args):
        vector = ir.VectorType(ir.IntType(32), MARGIN)
        address = builder.gep(_data(context, builder, signature.args[0], args[0]), [args[1]])
        found = builder.load(builder.bitcast(address, vector.as_pointer()), align=4)
        wanted = args[2] if args[2].type.width == 32 else builder.trunc(args[2], ir.IntType(32))
        is_equal = builder.icmp_signed("==", found, broadcast(builder, wanted, MARGIN))
        return builder.zext(builder.bitcast(is_equal, ir.IntType(MARGIN)), _I64)

    return types.int64(numbers, types.int64, value), codegen


@inlined
def find_number(numbers, first, last, value):
    """The first place from `first` to `last` with a value; -1 if there is none."""
    for place in range(first, last, MARGIN):
        bits = equal_bits(numbers, place, value)
        if last - place < MARGIN:
            bits &= (1 << (last - place)) - 1
        if bits != 0:
            return place + lowest_bit(bits)
    return -1

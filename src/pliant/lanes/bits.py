"""Bits of integers that compiled code asks the processor for in one instruction."""

from __future__ import annotations

from llvmlite import ir
from numba import types
from numba.extending import intrinsic


@intrinsic
def lowest_bit(typingctx, mask):
    """Number of the lowest bit that is set in an unsigned 64-bit integer, as an integer; 64 if none is."""

    def codegen(context, builder, signature, args):
        return builder.cttz(args[0], ir.Constant(ir.IntType(1), 0))

    return types.int64(types.uint64), codegen

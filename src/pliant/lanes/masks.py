"""Masks as whole numbers, for loops over the lanes in which they hold."""

from __future__ import annotations

from llvmlite import ir
from numba import types
from numba.extending import intrinsic


@intrinsic
def mask_bits(typingctx, mask):
    """A mask as a whole number, lane 0 the lowest bit."""

    def codegen(context, builder, signature, args):
        return builder.zext(builder.bitcast(args[0], ir.IntType(mask.width)), ir.IntType(64))

    return types.int64(mask), codegen


@intrinsic
def lowest_bit(typingctx, bits):
    """Number of the lowest bit that is set; bits are not zero."""

    def codegen(context, builder, signature, args):
        return builder.cttz(args[0], ir.IntType(1)(1))

    return types.int64(types.int64), codegen


@intrinsic
def count_bits(typingctx, bits):
    """How many bits are set."""

    def codegen(context, builder, signature, args):
        return builder.ctpop(args[0])

    return types.int64(types.int64), codegen

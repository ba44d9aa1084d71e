"""The inverse cube root, which laws that separate shape from volume need: J^(-1/3), and its powers.

In lanes it is a first guess from the bits of the number and a few steps of third order, without a division: a third of
the price of exp(-log(a) / 3).
"""

from __future__ import annotations

import numpy as np
from llvmlite import ir
from numba import types
from numba.extending import intrinsic

from pliant.lanes.inner import overload
from pliant.lanes.math import number, select
from pliant.lanes.traced import Traced
from pliant.lanes.types import Lanes, broadcast, llvm_vector

# A float's bits, as an integer, are nearly a logarithm: those of a^(-1/3) are nearly 4/3 of the bits of 1, less a third
# of those of a. The shift balances the error of the guess, 3.5 %.
GUESS_SHIFT = 0.06006  # of a binade
STEPS = {types.float32: 2, types.float64: 3}  # the error falls to 2e-4, 4e-11, below rounding
TINY = {types.float32: 2.0**-126, types.float64: 2.0**-1022}  # the smallest normal number: below, lanes count as zero


@intrinsic
def _guess(typingctx, a):
    """a^(-1/3) of normal positive a, within 3.5 %, from the upper 32 bits of each lane."""
    single = a.dtype == types.float32
    bias, fraction_bits = (127, 23) if single else (1023, 20)
    first = (4 * bias / 3 - GUESS_SHIFT) * 2**fraction_bits

    def codegen(context, builder, signature, args):
        word, vector = ir.VectorType(ir.IntType(32), a.width), llvm_vector(a)
        whole = word if single else ir.VectorType(ir.IntType(64), a.width)

        def constant(value):
            return broadcast(builder, vector.element(value), a.width)

        shift = broadcast(builder, whole.element(32), a.width)
        bits = builder.bitcast(args[0], whole)
        if not single:
            bits = builder.trunc(builder.lshr(bits, shift), word)
        guess = builder.fsub(constant(first), builder.fmul(builder.sitofp(bits, vector), constant(1 / 3)))
        guess = builder.fptosi(guess, word)
        if not single:
            guess = builder.shl(builder.zext(guess, whole), shift)
        return builder.bitcast(guess, vector)

    return a(a), codegen


def inverse_cube_root(a):
    """a^(-1/3): infinite at 0, NaN below, 0 at infinity."""
    if isinstance(a, Traced):
        return a.apply("inverse_cube_root", a)
    return np.where(np.less(a, 0), np.nan, 1 / np.cbrt(np.abs(a)))[()]


@overload(inverse_cube_root)
def _inverse_cube_root(a):
    if not isinstance(a, Lanes):
        return lambda a: number(1 / np.cbrt(abs(a)) if a >= 0 else np.nan, a)
    steps, tiny = STEPS[a.dtype], TINY[a.dtype]

    def inverse_cube_root_lanes(a):
        r = _guess(a)
        for _ in range(steps):
            e = 1.0 - (a * r) * (r * r)
            r = r + r * (e * (e * (2.0 / 9.0) + 1.0 / 3.0))
        r = select(a < np.inf, r, number(0.0, a))
        return select(a >= tiny, r, select(a >= 0.0, number(np.inf, a), number(np.nan, a)))

    return inverse_cube_root_lanes

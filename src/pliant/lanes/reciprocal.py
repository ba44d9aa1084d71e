"""1 / a and 1 / sqrt(a) without the CPU's divider, where it has an estimate to start from: kernels that wait for one
division or root after another gain by it.
"""

from __future__ import annotations

import numpy as np
from llvmlite import ir
from numba import types
from numba.core.cgutils import get_or_insert_function
from numba.extending import intrinsic

from pliant.lanes.host import cpu_features
from pliant.lanes.inner import overload
from pliant.lanes.math import number, sqrt
from pliant.lanes.traced import Traced
from pliant.lanes.types import Lanes


def _estimate(name):
    """An intrinsic of AVX-512 that is right to within 2^-14."""

    @intrinsic
    def estimate(typingctx, a):
        def codegen(context, builder, signature, args):
            vector, mask = args[0].type, ir.IntType(max(8, a.width))
            kind = ir.FunctionType(vector, [vector, vector, mask])
            function = get_or_insert_function(builder.module, kind, f"llvm.x86.avx512.{name}.ps.{32 * a.width}")
            return builder.call(function, [args[0], ir.Constant(vector, None), mask(-1)])

        return a(a), codegen

    return estimate


_near_reciprocal, _near_inverse_sqrt = _estimate("rcp14"), _estimate("rsqrt14")


def _is_estimated(a) -> bool:
    return isinstance(a, Lanes) and a.dtype == types.float32 and {"avx512f", "avx512vl"} <= cpu_features()


def reciprocal(a):
    """1 / a within two units in the last place, for normal a whose inverse is normal; at zero infinite or NaN."""
    return a.apply("reciprocal", a) if isinstance(a, Traced) else np.divide(1.0, a)


@overload(reciprocal)
def _reciprocal(a):
    if not _is_estimated(a):
        return lambda a: number(1.0, a) / a

    def by_newton(a):
        r = _near_reciprocal(a)
        return r + r * (1.0 - a * r)

    return by_newton


def inverse_sqrt(a):
    """1 / sqrt(a) within three units in the last place, for normal positive a."""
    return reciprocal(sqrt(a))


@overload(inverse_sqrt)
def _inverse_sqrt(a):
    if not _is_estimated(a):
        return lambda a: number(1.0, a) / sqrt(a)

    def by_newton(a):
        r = _near_inverse_sqrt(a)
        return r + (0.5 * r) * (1.0 - (a * r) * r)

    return by_newton

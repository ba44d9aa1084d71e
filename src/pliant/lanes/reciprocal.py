"""1 / a without the CPU's divider, where it has an estimate to start from: kernels that wait for one division after
another gain by it.
"""

from __future__ import annotations

import numpy as np
from llvmlite import ir
from numba import types
from numba.core.cgutils import get_or_insert_function
from numba.extending import intrinsic

from pliant.lanes.host import cpu_features
from pliant.lanes.inner import overload
from pliant.lanes.math import number
from pliant.lanes.traced import Traced
from pliant.lanes.types import Lanes


@intrinsic
def _estimate(typingctx, a):
    """1 / a within 2^-14 (AVX-512)."""

    def codegen(context, builder, signature, args):
        vector, mask = args[0].type, ir.IntType(max(8, a.width))
        kind = ir.FunctionType(vector, [vector, vector, mask])
        function = get_or_insert_function(builder.module, kind, f"llvm.x86.avx512.rcp14.ps.{32 * a.width}")
        return builder.call(function, [args[0], ir.Constant(vector, None), mask(-1)])

    return a(a), codegen


def reciprocal(a):
    """1 / a within two units in the last place, for normal a whose inverse is normal; at zero infinite or NaN."""
    return a.apply("reciprocal", a) if isinstance(a, Traced) else np.divide(1.0, a)


@overload(reciprocal)
def _reciprocal(a):
    if not isinstance(a, Lanes) or a.dtype != types.float32 or not {"avx512f", "avx512vl"} <= cpu_features():
        return lambda a: number(1.0, a) / a

    def by_newton(a):
        r = _estimate(a)
        return r + r * (1.0 - a * r)

    return by_newton

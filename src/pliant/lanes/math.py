"""Functions of numbers: the same name works on floats, on lanes and (uncompiled) on NumPy arrays and traced numbers.

`log` and `exp` of lanes are computed in lanes by series after an exact reduction of the argument (a call of the C
library for each lane would cost more than the rest of a vertex solve).  Their error is below two units in the last
place.
"""

from __future__ import annotations

import math

import numpy as np
from llvmlite import ir
from numba import types
from numba.core.cgutils import get_or_insert_function
from numba.core.errors import TypingError
from numba.extending import intrinsic

from pliant.lanes.inner import inner, overload
from pliant.lanes.traced import Traced, traced
from pliant.lanes.types import Lanes, Mask, broadcast, llvm_vector

# --- choices ----------------------------------------------------------------------------------------------------------


def select(mask, a, b):
    """a where mask holds, else b."""
    one = traced(mask, a, b)
    if one is not None:
        return one.apply("select", mask, a, b)
    return np.where(mask, a, b)[()]


@intrinsic
def _select_lanes(typingctx, mask, a, b):
    lanes = a if isinstance(a, Lanes) else b
    if not isinstance(lanes, Lanes):
        raise TypingError("select: with a mask of lanes, one of the two choices must be lanes")

    def codegen(context, builder, signature, args):
        return builder.select(*args)

    return lanes(mask, lanes, lanes), codegen


@overload(select)
def _select(mask, a, b):
    if isinstance(mask, Mask):
        return lambda mask, a, b: _select_lanes(mask, a, b)
    return lambda mask, a, b: a if mask else b


def minimum(a, b):
    """The smaller; b when either is NaN."""
    return select(a < b, a, b)


def maximum(a, b):
    """The larger; b when either is NaN."""
    return select(a > b, a, b)


@overload(minimum)
def _minimum(a, b):
    return lambda a, b: select(a < b, a, b)


@overload(maximum)
def _maximum(a, b):
    return lambda a, b: select(a > b, a, b)


def number(value, like):
    """A constant of the type of `like`, so that single precision stays single."""
    return value


@intrinsic
def _cast(typingctx, value, like):
    def codegen(context, builder, signature, args):
        return context.cast(builder, args[0], signature.args[0], signature.return_type)

    return like(value, like), codegen


@overload(number)
def _number(value, like):
    return lambda value, like: _cast(value, like)


# --- precision --------------------------------------------------------------------------------------------------------


def widen(a):
    """In double precision."""
    return a.apply("widen", a) if isinstance(a, Traced) else np.float64(a)


def narrow(a, like):
    """In the precision of `like`."""
    return a.apply("narrow", a) if isinstance(a, Traced) else a


@intrinsic
def _convert_lanes(typingctx, a, like):
    """Lanes of the precision of `like`, as many as in a."""
    target = Lanes(like.dtype if isinstance(like, Lanes) else like, a.width)

    def codegen(context, builder, signature, args):
        if target == a:
            return args[0]
        change = builder.fpext if target.dtype == types.float64 else builder.fptrunc
        return change(args[0], llvm_vector(target))

    return target(a, like), codegen


@overload(widen)
def _widen(a):
    return (lambda a: _convert_lanes(a, 1.0)) if isinstance(a, Lanes) else (lambda a: np.float64(a))


@overload(narrow)
def _narrow(a, like):
    return (lambda a, like: _convert_lanes(a, like)) if isinstance(a, Lanes) else (lambda a, like: _cast(a, like))


def rounding(like):
    """The machine epsilon of the precision of `like`."""
    return like.rounding if isinstance(like, Traced) else np.finfo(np.asarray(like).dtype).eps


@overload(rounding)
def _rounding(like):
    dtype = like.dtype if isinstance(like, Lanes) else like
    epsilon = float(np.finfo(np.float32 if dtype == types.float32 else np.float64).eps)
    return lambda like: epsilon


# --- square root and magnitude ----------------------------------------------------------------------------------------


def _vector_intrinsic(name: str):
    """A one-argument LLVM intrinsic on lanes."""

    @intrinsic
    def call(typingctx, a):
        def codegen(context, builder, signature, args):
            vector = args[0].type
            full_name = f"{name}.v{a.width}{a.dtype.name.replace('float', 'f')}"
            function = get_or_insert_function(builder.module, ir.FunctionType(vector, [vector]), full_name)
            return builder.call(function, args)

        return a(a), codegen

    return call


_sqrt_lanes = _vector_intrinsic("llvm.sqrt")
_abs_lanes = _vector_intrinsic("llvm.fabs")
_round_lanes = _vector_intrinsic("llvm.rint")


def sqrt(a):
    return a.apply("sqrt", a) if isinstance(a, Traced) else np.sqrt(a)


@overload(sqrt)
def _sqrt(a):
    return (lambda a: _sqrt_lanes(a)) if isinstance(a, Lanes) else (lambda a: math.sqrt(a))


def absolute(a):
    return a.apply("absolute", a) if isinstance(a, Traced) else np.abs(a)


@overload(absolute)
def _absolute(a):
    return (lambda a: _abs_lanes(a)) if isinstance(a, Lanes) else (lambda a: abs(a))


# --- logarithm and exponential ----------------------------------------------------------------------------------------


def _layout(lanes: Lanes):
    """Integer type, mantissa bits and exponent bias of the lanes' floats."""
    return (ir.IntType(32), 23, 127) if lanes.dtype == types.float32 else (ir.IntType(64), 52, 1023)


@intrinsic
def _split(typingctx, a):
    """A normal positive a = m 2^e with 1 <= m < 2: (m, e)."""

    def codegen(context, builder, signature, args):
        integer, mantissa_bits, bias = _layout(a)

        def constant(value):
            return broadcast(builder, integer(value), a.width)

        bits = builder.bitcast(args[0], ir.VectorType(integer, a.width))
        exponent = builder.sub(builder.lshr(bits, constant(mantissa_bits)), constant(bias))
        mantissa = builder.or_(builder.and_(bits, constant((1 << mantissa_bits) - 1)), constant(bias << mantissa_bits))
        pair = [builder.bitcast(mantissa, llvm_vector(a)), builder.sitofp(exponent, llvm_vector(a))]
        return context.make_tuple(builder, signature.return_type, pair)

    return types.UniTuple(a, 2)(a), codegen


@intrinsic
def _power_of_two(typingctx, n):
    """2^n for whole n in the range of normal numbers."""

    def codegen(context, builder, signature, args):
        integer, mantissa_bits, bias = _layout(n)
        whole = builder.fptosi(args[0], ir.VectorType(integer, n.width))
        shifted = builder.add(whole, broadcast(builder, integer(bias), n.width))
        bits = builder.shl(shifted, broadcast(builder, integer(mantissa_bits), n.width))
        return builder.bitcast(bits, llvm_vector(n))

    return n(n), codegen


# ln 2 as a number with few digits, whose whole multiples are exact, and the rest
LN2_HIGH = {types.float32: 0.693359375, types.float64: 0.693147180369123816490}
LN2_LOW = {
    dtype: float(np.longdouble("0.693147180559945309417232") - np.longdouble(high)) for dtype, high in LN2_HIGH.items()
}


def _log_reduced(terms):
    """log of m near 1: 2 artanh(s), s = (m - 1) / (m + 1), as a series in s^2 of the given length."""
    factors = tuple(2.0 / (2 * k + 1) for k in range(1, terms))
    last, rest = factors[-1], tuple(reversed(factors[:-1]))

    @inner()
    def log_reduced(m):
        f = m - 1.0
        s = f / (m + 1.0)
        z = s * s
        tail = number(last, m)
        for factor in rest:
            tail = tail * z + factor
        # 2 s = f - s f keeps the leading term exact
        return f - s * (f - z * tail)

    return log_reduced


def log(a):
    """Natural logarithm: -inf at 0, NaN below."""
    return a.apply("log", a) if isinstance(a, Traced) else np.log(a)


@overload(log)
def _log(a):
    if not isinstance(a, Lanes):
        return lambda a: math.log(a)
    single = a.dtype == types.float32
    tiny, lift, lift_bits = (1.17549435e-38, 33554432.0, 25.0) if single else (2.2250738585072014e-308, 2.0**54, 54.0)
    high, low = LN2_HIGH[a.dtype], LN2_LOW[a.dtype]
    log_reduced = _log_reduced(6 if single else 12)

    def log_lanes(a):
        small = a < tiny  # subnormal numbers are lifted into the normal range
        m, e = _split(select(small, a * lift, a))
        e = select(small, e - lift_bits, e)
        upper = m > 1.4142135623730951
        m, e = select(upper, m * 0.5, m), select(upper, e + 1.0, e)
        result = e * high + (log_reduced(m) + e * low)
        result = select(a < np.inf, result, a)
        result = select(a == 0.0, number(-np.inf, a), result)
        return select(a < 0.0, number(np.nan, a), result)

    return log_lanes


def _exp_reduced(terms):
    """exp of |r| < 0.35 by its series, in pairs of terms: half as long a chain of operations as one after another."""
    factors = tuple(1.0 / math.factorial(k) for k in range(2, terms + 1))
    pairs = tuple(zip(factors[::2], factors[1::2], strict=True))[::-1]

    @inner()
    def exp_reduced(r):
        rr = r * r
        tail = number(0.0, r)
        for even, odd in pairs:
            tail = tail * rr + (odd * r + even)
        return 1.0 + (r + rr * tail)

    return exp_reduced


def exp(a):
    """Exponential: inf on overflow, 0 on underflow."""
    return a.apply("exp", a) if isinstance(a, Traced) else np.exp(a)


@overload(exp)
def _exp(a):
    if not isinstance(a, Lanes):
        return lambda a: math.exp(a)
    single = a.dtype == types.float32
    largest, smallest = (89.0, -104.0) if single else (710.0, -746.0)
    high, low = LN2_HIGH[a.dtype], LN2_LOW[a.dtype]
    exp_reduced = _exp_reduced(7 if single else 13)

    def exp_lanes(a):
        b = minimum(maximum(a, number(smallest, a)), number(largest, a))
        n = _round_lanes(b * 1.4426950408889634)
        r = (b - n * high) - n * low
        half = _round_lanes(n * 0.5)  # in two steps, so that results near overflow and underflow are right
        result = exp_reduced(r) * _power_of_two(half) * _power_of_two(n - half)
        return select(a == a, result, a)

    return exp_lanes


# --- across lanes -----------------------------------------------------------------------------------------------------


def _across(combine):
    """A number in every lane, made from all lanes in order by an LLVM instruction or two."""

    @intrinsic
    def across(typingctx, a):
        def codegen(context, builder, signature, args):
            total = builder.extract_element(args[0], ir.IntType(32)(0))
            for lane in range(1, a.width):
                total = combine(builder, total, builder.extract_element(args[0], ir.IntType(32)(lane)))
            return broadcast(builder, total, a.width)

        return a(a), codegen

    return across


_sum_lanes = _across(lambda builder, a, b: builder.fadd(a, b))
_least_lane = _across(lambda builder, a, b: builder.select(builder.fcmp_ordered("<", b, a), b, a))


def lane_sum(a):
    """Sum over the lanes, in every lane; a plain float is its own sum."""
    return a


@overload(lane_sum)
def _lane_sum(a):
    return (lambda a: _sum_lanes(a)) if isinstance(a, Lanes) else (lambda a: a)


@intrinsic
def first_lane(typingctx, a):
    """The number in the first lane."""

    def codegen(context, builder, signature, args):
        return builder.extract_element(args[0], ir.IntType(32)(0))

    return a.dtype(a), codegen


def lane_least(a):
    """Smallest of the lanes, in every lane."""
    return a


@overload(lane_least)
def _lane_least(a):
    return (lambda a: _least_lane(a)) if isinstance(a, Lanes) else (lambda a: a)


def count(mask):
    """In how many lanes the mask holds."""
    return int(np.sum(mask))


@intrinsic
def _count_lanes(typingctx, mask):
    def codegen(context, builder, signature, args):
        bits = builder.bitcast(args[0], ir.IntType(mask.width))
        wide = builder.zext(bits, ir.IntType(64))
        return builder.ctpop(wide)

    return types.int64(mask), codegen


@overload(count)
def _count(mask):
    return (lambda mask: _count_lanes(mask)) if isinstance(mask, Mask) else (lambda mask: 1 if mask else 0)

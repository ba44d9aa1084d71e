"""+ - * / and comparisons of lanes, and & | ~ of masks, as single LLVM instructions.

Numba's low-level typing and lowering is used instead of `overload`: there is no wrapper function to compile for each
operation, which halves the compile time of a kernel.
"""

from __future__ import annotations

import operator

from llvmlite import ir
from numba import types
from numba.core.typing.templates import AbstractTemplate, infer_global, signature
from numba.extending import lower_builtin

from pliant.lanes.types import Lanes, Mask, is_lanes

# a*b + c may become one fused instruction and -0 may become 0. Nothing that assumes NaN or infinity away: a simulation
# that breaks must be seen to break.
FLAGS = ("contract", "nsz")

ARITHMETIC = {
    operator.add: "fadd",
    operator.sub: "fsub",
    operator.mul: "fmul",
    operator.truediv: "fdiv",
    operator.iadd: "fadd",
    operator.isub: "fsub",
    operator.imul: "fmul",
    operator.itruediv: "fdiv",
}
COMPARISONS = {
    operator.lt: "<",
    operator.le: "<=",
    operator.gt: ">",
    operator.ge: ">=",
    operator.eq: "==",
    operator.ne: "!=",
}
LOGIC = {operator.and_: "and_", operator.or_: "or_"}


def _lanes_of(args) -> Lanes | None:
    """The lane type two operands share; a plain number takes the type of the other."""
    if not is_lanes(*args):
        return None
    lanes = next(a for a in args if isinstance(a, Lanes))
    fits = all(a == lanes or isinstance(a, (types.Number, types.Literal)) for a in args)
    return lanes if fits else None


def _register_arithmetic(function, instruction):
    @infer_global(function)
    class Typing(AbstractTemplate):
        def generic(self, args, kws):
            lanes = _lanes_of(args)
            return signature(lanes, lanes, lanes) if lanes and len(args) == 2 else None

    @lower_builtin(function, Lanes, Lanes)
    def lower(context, builder, sig, args):
        return getattr(builder, instruction)(*args, flags=FLAGS)


def _register_comparison(function, symbol):
    @infer_global(function)
    class Typing(AbstractTemplate):
        def generic(self, args, kws):
            lanes = _lanes_of(args)
            return signature(Mask(lanes.width), lanes, lanes) if lanes and len(args) == 2 else None

    @lower_builtin(function, Lanes, Lanes)
    def lower(context, builder, sig, args):
        ordered = builder.fcmp_unordered if symbol == "!=" else builder.fcmp_ordered
        return ordered(symbol, *args)


def _register_logic(function, instruction):
    @infer_global(function)
    class Typing(AbstractTemplate):
        def generic(self, args, kws):
            return signature(args[0], *args) if all(isinstance(a, Mask) for a in args) else None

    @lower_builtin(function, Mask, Mask)
    def lower(context, builder, sig, args):
        return getattr(builder, instruction)(*args)


for _function, _instruction in ARITHMETIC.items():
    _register_arithmetic(_function, _instruction)
for _function, _symbol in COMPARISONS.items():
    _register_comparison(_function, _symbol)
for _function, _instruction in LOGIC.items():
    _register_logic(_function, _instruction)


@infer_global(operator.neg)
class _NegTyping(AbstractTemplate):
    def generic(self, args, kws):
        return signature(args[0], args[0]) if is_lanes(*args) else None


@lower_builtin(operator.neg, Lanes)
def _lower_neg(context, builder, sig, args):
    return builder.fneg(args[0], flags=FLAGS)


@infer_global(operator.invert)
class _InvertTyping(AbstractTemplate):
    def generic(self, args, kws):
        return signature(args[0], args[0]) if isinstance(args[0], Mask) else None


@lower_builtin(operator.invert, Mask)
def _lower_invert(context, builder, sig, args):
    ones = ir.Constant(args[0].type, [1] * sig.args[0].width)
    return builder.xor(args[0], ones)

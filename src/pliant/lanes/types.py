"""The SIMD number type: several floats that Numba treats as one.

A value of type `Lanes(float32, 8)` is one LLVM `<8 x float>`.  Plain arithmetic on it compiles to vector instructions,
so a physics function written for floats runs on 4, 8 or 16 vertices at a time without a change.  Numba's own
vectoriser cannot do that: a vertex solve gathers through index lists that may alias.

A comparison of lanes gives a `Mask`, one bit per lane; `select(mask, a, b)` takes the place of `if`.
"""

from __future__ import annotations

import numpy as np
from llvmlite import ir
from numba import types
from numba.core.typeconv import Conversion
from numba.extending import intrinsic, lower_cast, models, register_model

PRECISIONS = {"single": types.float32, "double": types.float64}
WIDTHS = (4, 8, 16)
DTYPES = {"single": np.float32, "double": np.float64}

_I32 = ir.IntType(32)


class Lanes(types.Type):
    """`width` floating-point numbers in one value."""

    def __init__(self, dtype: types.Float, width: int):
        self.dtype, self.width = dtype, width
        super().__init__(f"{dtype}x{width}")

    def can_convert_from(self, typingctx, other):
        """A plain number used with lanes stands in every lane."""
        return Conversion.safe if isinstance(other, (types.Number, types.Literal)) else None


class Mask(types.Type):
    """One truth value per lane."""

    def __init__(self, width: int):
        self.width = width
        super().__init__(f"maskx{width}")


@register_model(Lanes)
class _LanesModel(models.PrimitiveModel):
    def __init__(self, dmm, fe_type):
        super().__init__(dmm, fe_type, llvm_vector(fe_type))


@register_model(Mask)
class _MaskModel(models.PrimitiveModel):
    def __init__(self, dmm, fe_type):
        super().__init__(dmm, fe_type, ir.VectorType(ir.IntType(1), fe_type.width))


def llvm_float(dtype: types.Float) -> ir.Type:
    return ir.FloatType() if dtype == types.float32 else ir.DoubleType()


def llvm_vector(lanes: Lanes) -> ir.VectorType:
    return ir.VectorType(llvm_float(lanes.dtype), lanes.width)


def is_lanes(*numba_types) -> bool:
    return any(isinstance(t, Lanes) for t in numba_types)


def broadcast(builder, scalar, width: int):
    """One LLVM scalar in every element of a vector."""
    vector = ir.VectorType(scalar.type, width)
    first = builder.insert_element(ir.Constant(vector, ir.Undefined), scalar, _I32(0))
    return builder.shuffle_vector(first, first, ir.Constant(ir.VectorType(_I32, width), [0] * width))


def shuffle(builder, a, b, mask: list[int]):
    """Elements of a, then of b, picked by number."""
    return builder.shuffle_vector(a, b, ir.Constant(ir.VectorType(_I32, len(mask)), mask))


@lower_cast(types.Integer, Lanes)
@lower_cast(types.Float, Lanes)
@lower_cast(types.IntegerLiteral, Lanes)
def _number_to_lanes(context, builder, fromty, toty, value):
    return broadcast(builder, context.cast(builder, value, fromty, toty.dtype), toty.width)


def make_zero(precision: str, width: int):
    """A compiled function of no arguments that returns zero as lanes, or as a plain float when width is 1.

    Kernels are given this zero; everything else takes its type from it.
    """
    number = PRECISIONS[precision] if width == 1 else Lanes(PRECISIONS[precision], width)

    @intrinsic
    def zero(typingctx):
        def codegen(context, builder, signature, args):
            return ir.Constant(context.get_value_type(number), None)

        return number(), codegen

    return zero

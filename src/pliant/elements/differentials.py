"""Numbers that carry their derivatives: lane functions called with them give exact derivatives of their results."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from pliant.lanes import absolute, exp, inverse_cube_root, log, sqrt
from pliant.lanes.angles import atan2
from pliant.lanes.traced import Traced

Array = np.ndarray


class Dual(Traced):
    """Values (m,) and their derivatives (d, m) by d variables.

    Where a function has no derivative (the root of zero), it is taken as zero: elements that have collapsed to a point
    have no direction to resist in.
    """

    def __init__(self, value: Array, slopes: Array):
        self.value, self.slopes = value, slopes

    def apply(self, operation: str, *operands: Any) -> Any:
        values = [operand.value if isinstance(operand, Dual) else operand for operand in operands]
        slopes = [operand.slopes if isinstance(operand, Dual) else 0.0 for operand in operands]
        if operation in _LOGIC:
            return _LOGIC[operation](*values)
        with np.errstate(divide="ignore", invalid="ignore"):
            return Dual(*_CALCULUS[operation](*values, *slopes))

    def repeat(self, step: Callable, most: int, start: Any, constants: tuple[Any, ...]) -> Any:
        """The chain rule through all steps: where the value of a root has converged, its slopes have."""
        result = start
        for _ in range(most):
            result, goes_on = step(result, *constants)
            if not np.any(goes_on):
                break
        return result


def variables(corners: Array) -> tuple[tuple[Dual, Dual, Dual], ...]:
    """Positions (m, k, 3) as vectors of the 3 k variables they are."""
    m, k, _ = corners.shape
    slopes = np.broadcast_to(np.eye(3 * k)[:, :, None], (3 * k, 3 * k, m))
    numbers = [Dual(corners[:, i // 3, i % 3], slopes[i]) for i in range(3 * k)]
    return tuple((numbers[3 * i], numbers[3 * i + 1], numbers[3 * i + 2]) for i in range(k))


def jacobian(results: Sequence[Any], m: int, d: int) -> Array:
    """Derivatives (m, r, d) of r results by the d variables; of a plain number zero."""
    zero = np.zeros((d, m))
    return np.stack([result.slopes + zero if isinstance(result, Dual) else zero for result in results]).transpose(
        2, 0, 1
    )


def _finite(slope: Array) -> Array:
    return np.where(np.isfinite(slope), slope, 0.0)


def _atan2(y, x, dy, dx):
    return atan2(y, x), _finite((x * dy - y * dx) / (x * x + y * y))


def _inverse_cube_root(a, da):
    root = inverse_cube_root(a)
    return root, -(root / a / 3.0) * da


_LOGIC: dict[str, Callable] = {
    "lt": lambda a, b: a < b,
    "le": lambda a, b: a <= b,
    "gt": lambda a, b: a > b,
    "ge": lambda a, b: a >= b,
    "eq": lambda a, b: a == b,
    "ne": lambda a, b: a != b,
}

#: Value and slopes of a result, from the values and the slopes of the operands.
_CALCULUS: dict[str, Callable] = {
    "add": lambda a, b, da, db: (a + b, da + db),
    "sub": lambda a, b, da, db: (a - b, da - db),
    "mul": lambda a, b, da, db: (a * b, da * b + a * db),
    "truediv": lambda a, b, da, db: (a / b, (da - a / b * db) / b),
    "neg": lambda a, da: (-a, -da),
    "select": lambda mask, a, b, _, da, db: (np.where(mask, a, b), np.where(mask, da, db)),
    "sqrt": lambda a, da: (sqrt(a), _finite(0.5 * da / sqrt(a))),
    "absolute": lambda a, da: (absolute(a), np.sign(a) * da),
    "log": lambda a, da: (log(a), da / a),
    "exp": lambda a, da: (exp(a), exp(a) * da),
    "atan2": _atan2,
    "inverse_cube_root": _inverse_cube_root,
    "reciprocal": lambda a, da: (1.0 / a, -da / (a * a)),
}

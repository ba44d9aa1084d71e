"""Questions that every check of a user's argument may ask, whatever it was given: they answer, and raise nothing."""

from __future__ import annotations

import math
import numbers
from collections.abc import Collection
from typing import Any, TypeGuard

import numpy as np

#: What NumPy and float() raise on what is no number, or is none that a float can hold.
NO_NUMBER = (TypeError, ValueError, OverflowError)


def is_finite_number(value: Any) -> TypeGuard[float]:
    """Whether it is a real number that a float can hold; a bool is none."""
    if not isinstance(value, numbers.Real) or isinstance(value, bool):
        return False
    try:
        return math.isfinite(value)
    except OverflowError:  # a whole number of hundreds of digits
        return False


def as_numbers(value: Any) -> np.ndarray | None:
    """An array of real numbers as floats; None if it is none."""
    try:
        given = np.asarray(value)
        return given.astype(float) if given.dtype.kind in "iuf" else None
    except NO_NUMBER:
        return None


def as_indices(value: Any) -> np.ndarray:
    """An array of any kind; of what has no shape, such as rows of unequal length, an empty one of floats."""
    try:
        return np.asarray(value)
    except NO_NUMBER:
        return np.empty(0)


def is_one_of(value: Any, names: Collection[str]) -> TypeGuard[str]:
    """Whether it is one of the names."""
    return isinstance(value, str) and value in names


def is_flag(value: Any) -> TypeGuard[bool]:
    """Whether it is True or False."""
    return isinstance(value, bool | np.bool_)

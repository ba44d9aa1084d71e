"""Checks of what users pass to shapes: lengths that are positive, counts that are whole numbers."""

import math
import operator
from collections.abc import Sequence
from typing import Any

from pliant.errors import MeshError


def positive_length(shape: str, name: str, value: Any) -> float:
    """A finite length > 0 [m] as float, or MeshError."""
    try:
        length = float(value)
    except (TypeError, ValueError):
        length = math.nan
    if not (math.isfinite(length) and length > 0):
        raise MeshError(f"{shape} got {name}={value!r}; pass a positive finite length [m].")
    return length


def positive_lengths(shape: str, name: str, values: Any, count: int) -> list[float]:
    """`count` lengths > 0 [m], or MeshError."""
    return [positive_length(shape, f"{name}[{i}]", v) for i, v in enumerate(_listed(shape, name, values, count))]


def whole_number(shape: str, name: str, value: Any, least: int = 1) -> int:
    """A whole number >= least, or MeshError. Refuses 3.0 too: round computed counts on purpose."""
    try:
        number = least - 1 if isinstance(value, bool) else operator.index(value)
    except TypeError:
        number = least - 1
    if number < least:
        raise MeshError(f"{shape} got {name}={value!r}; pass a whole number of at least {least}.")
    return number


def whole_numbers(shape: str, name: str, values: Any, count: int) -> list[int]:
    """`count` whole numbers >= 1; one number stands for all. Or MeshError."""
    if isinstance(values, int) or getattr(values, "ndim", None) == 0:
        values = (values,) * count
    return [whole_number(shape, f"{name}[{i}]", v) for i, v in enumerate(_listed(shape, name, values, count))]


def _listed(shape: str, name: str, values: Any, count: int) -> Sequence[Any]:
    try:
        items = list(values)
    except TypeError:
        items = []
    if len(items) != count:
        raise MeshError(f"{shape} got {name}={values!r}; pass {count} numbers.")
    return items

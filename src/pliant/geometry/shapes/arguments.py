"""Checks of what users pass to shapes: lengths that are positive, counts that are whole numbers and fit in memory."""

import math
import operator
import os
from collections.abc import Sequence
from typing import Any

from pliant.arguments import NO_NUMBER
from pliant.errors import MeshError

SHORTEST, LONGEST = 1e-100, 1e100  # [m]: squares and volumes of these are numbers
#: Memory that making a shape takes at its peak [bytes per element]: measured for tets, a lower bound for the others.
BYTES = {"tets": 280, "triangles": 100, "edges": 50}


def positive_length(shape: str, name: str, value: Any) -> float:
    """A finite length > 0 [m] as float, or MeshError."""
    try:
        length = float(value)
    except NO_NUMBER:
        length = math.nan
    if not SHORTEST < length < LONGEST:
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


def check_fits(shape: str, count: int, elements: str) -> None:
    """MeshError if so many tets, triangles or edges need more memory than this computer has."""
    count = min(count, 10**99)  # more could not be said as a float
    needed, there = count * BYTES[elements], _memory()
    if needed > there:
        raise MeshError(
            f"{shape} would have {count:.3g} {elements} and need {needed / 1e9:.3g} GB, this computer has "
            f"{there / 1e9:.3g} GB; ask for fewer."
        )


def _memory() -> float:
    """Bytes of this computer's memory; infinity where the system does not say."""
    try:
        return float(os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES"))
    except (AttributeError, ValueError, OSError):  # Windows
        return math.inf


def _listed(shape: str, name: str, values: Any, count: int) -> Sequence[Any]:
    try:
        items = list(values)
    except TypeError:
        items = []
    if len(items) != count:
        raise MeshError(f"{shape} got {name}={values!r}; pass {count} numbers.")
    return items

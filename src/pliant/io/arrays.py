"""Arrays of a file, checked against what the scene expects before anything uses them."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from pliant.errors import FileError

NUMBERS = (np.dtype(np.float64), np.dtype(np.int64), np.dtype(bool))


class Expected(NamedTuple):
    """What an array of a file must be."""

    shape: tuple[int | None, ...]  # None: any length
    dtype: Any
    low: float = -np.inf  # the least value allowed
    high: float = np.inf  # values are below it
    is_ascending: bool = False  # each value is above the one before
    is_optional: bool = False
    is_unique: bool = False  # each value once


def like(array: np.ndarray, low: float = -np.inf, high: float = np.inf) -> Expected:
    """Shape and type of an array that the scene has."""
    return Expected(array.shape, array.dtype, low, high)


def indices(count: int | None, high: int, is_ascending: bool = False) -> Expected:
    """(count,) whole numbers from 0 to high - 1."""
    return Expected((count,), np.int64, 0, high, is_ascending)


def check_arrays(path: Path | str, arrays: Mapping[str, np.ndarray], expected: Mapping[str, Expected]) -> None:
    """Every array is expected, and every expected one is there and as it must be; else a FileError names the first that
    is not, its shape or value, and what was expected.
    """
    for name in arrays:
        if name not in expected:
            raise FileError(f"{path}: array {name} has no place in its scene: the file is damaged or made by hand.")
    for name, wanted in expected.items():
        if name in arrays:
            problem = _problem_of(arrays[name], wanted)
            if problem:
                raise FileError(f"{path}: array {name} {problem}: it does not fit the bodies of the file.")
        elif not wanted.is_optional:
            raise FileError(f"{path}: array {name}, of shape {_words(wanted.shape)}, is missing.")


def check_numbers(path: Path, name: str, arrays: Mapping[str, np.ndarray]) -> None:
    """An array that is there and holds finite numbers or truth values; its user checks its shape."""
    if name not in arrays:
        raise FileError(f"{path}: array {name} is missing.")
    array = arrays[name]
    dtype = array.dtype if array.dtype in NUMBERS else np.float64
    check_arrays(path, {name: array}, {name: Expected(array.shape, dtype)})


def _problem_of(array: np.ndarray, wanted: Expected) -> str:
    """What is wrong, as the end of a sentence; empty if nothing is."""
    fits = len(array.shape) == len(wanted.shape) and all(
        size in (None, own) for own, size in zip(array.shape, wanted.shape, strict=True)
    )
    if not fits:
        return f"has shape {array.shape} instead of {_words(wanted.shape)}"
    if array.dtype != wanted.dtype:
        return f"of shape {array.shape} holds {array.dtype} instead of {np.dtype(wanted.dtype)}"
    if array.dtype.kind == "f" and not np.isfinite(array).all():
        return f"of shape {array.shape} has the value {array[~np.isfinite(array)][0]} instead of a finite number"
    outside = (array < wanted.low) | (array >= wanted.high)
    if array.dtype.kind in "if" and outside.any():
        bounds = f"from {wanted.low:g} to below {wanted.high:g}"
        return f"of shape {array.shape} has the value {array[outside][0]} instead of one {bounds}"
    if wanted.is_ascending and not (np.diff(array) > 0).all():
        return f"of shape {array.shape} does not ascend"
    if wanted.is_unique and len(np.unique(array)) < array.size:
        return f"of shape {array.shape} has a value twice"
    return ""


def _words(shape: tuple[int | None, ...]) -> str:
    """A shape, as (n, 3) where a length is not given."""
    sizes = ["n" if size is None else str(size) for size in shape]
    return f"({sizes[0]},)" if len(sizes) == 1 else f"({', '.join(sizes)})"

"""Checks of what a user hands over. Each raises one sentence with the object, the index, the value and the remedy."""

from __future__ import annotations

import math
from numbers import Integral
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from pliant.arguments import NO_NUMBER, is_finite_number, is_flag, is_one_of
from pliant.errors import SceneError
from pliant.materials import SolidLaw

MOST_THREADS = 1024
SHORTEST, LONGEST = 1e-12, 1e6  # [s] of a step


def vectors(value: ArrayLike, count: int | None, what: str, unit: str) -> np.ndarray:
    """(count, 3) finite numbers, or (3,) if count is None."""
    shape = (3,) if count is None else (count, 3)
    try:
        given = np.asarray(value)
        if given.dtype.kind not in "iuf":
            raise TypeError(f"numbers of type {given.dtype}")
        array = np.array(given, dtype=float)
    except NO_NUMBER as error:
        raise SceneError(
            f"{what}: expected numbers [{unit}] of shape {shape}, got {type(value).__name__} ({error})."
        ) from None
    if array.shape != shape:
        raise SceneError(f"{what}: expected numbers [{unit}] of shape {shape}, got shape {array.shape}.")
    if not np.isfinite(array).all():
        index = np.argwhere(~np.isfinite(array))[0]
        where = f"entry {int(index[0])}" if count is None else f"vertex {int(index[0])}"
        raise SceneError(f"{what}: {where} is {array[index[0]].tolist()}; give finite numbers [{unit}].")
    return array


def points(value: ArrayLike, what: str, least: int = 2) -> np.ndarray:
    """(n, 3) finite coordinates [m], at least two, or `least`."""
    try:
        n = len(np.asarray(value))
    except NO_NUMBER:
        n = least  # the check below says what is wrong
    if n < least:
        raise SceneError(f"{what}: {n} given; give at least {least} of three coordinates each, (n, 3) [m].")
    return vectors(value, n, what, "m")


def edges(value: ArrayLike, n_vertices: int, what: str) -> np.ndarray:
    """(m, 2) vertices of springs: different ones, within range, no spring twice."""
    try:
        array = np.asarray(value)
    except ValueError as error:
        raise SceneError(f"{what}: give whole vertex indices (m, 2) ({error}).") from None
    if array.ndim != 2 or array.shape[1] != 2 or not np.issubdtype(array.dtype, np.integer) or len(array) == 0:
        raise SceneError(f"{what}: give whole vertex indices (m, 2), not {array.dtype} {array.shape}.")
    outside = np.flatnonzero(((array < 0) | (array >= n_vertices)).any(axis=1))
    if outside.size:
        raise SceneError(
            f"{what}: spring {outside[0]} is {array[outside[0]].tolist()}, but the points are 0 to {n_vertices - 1}."
        )
    loops = np.flatnonzero(array[:, 0] == array[:, 1])
    if loops.size:
        raise SceneError(f"{what}: spring {loops[0]} joins point {array[loops[0], 0]} to itself; leave it out.")
    _, inverse, counts = np.unique(np.sort(array, axis=1), axis=0, return_inverse=True, return_counts=True)
    twice = np.flatnonzero(counts[inverse.ravel()] > 1)
    if twice.size:
        raise SceneError(
            f"{what}: spring {twice[0]} {array[twice[0]].tolist()} is listed {counts[inverse.ravel()[twice[0]]]} "
            "times; list it once with the sum of the stiffnesses."
        )
    return array.astype(np.int64)


def numbers(value: ArrayLike, count: int, what: str, item: str, unit: str, *, positive: bool = False) -> np.ndarray:
    """(count,) numbers, from one for all or one each; above zero if `positive`, else not negative."""
    try:
        array = np.asarray(value, dtype=float)
    except NO_NUMBER:
        array = np.empty((0, 0))
    if array.shape not in ((), (count,)):
        raise SceneError(f"{what}: give one number [{unit}] or one per {item} ({count},), not {_shape_of(value)}.")
    array = np.broadcast_to(array, (count,)).copy()
    bad = np.flatnonzero(~np.isfinite(array) | (array < 0) | ((array == 0) if positive else False))
    if bad.size:
        bound = "positive" if positive else "zero or positive"
        raise SceneError(f"{what}: {item} {bad[0]} has {array[bad[0]]}: give a {bound} number [{unit}].")
    return array


def _shape_of(value: Any) -> str:
    try:
        return f"shape {np.shape(value)}"
    except ValueError:
        return "a ragged list"


def unit_vector(value: ArrayLike, what: str) -> np.ndarray:
    vector = vectors(value, None, what, "any length")
    length = np.linalg.norm(vector)
    if length == 0:
        raise SceneError(f"{what} is {vector.tolist()}: give a vector with a direction.")
    is_unit = (
        abs(length - 1) <= 4 * np.finfo(float).eps
    )  # dividing once more would change the bits of one kept in a file
    return vector if is_unit else vector / length


def number(value: object, what: str, unit: str, *, positive: bool = False) -> float:
    """A finite number, not negative; above zero if `positive`."""
    bound = "positive" if positive else "zero or positive"
    if not is_finite_number(value):
        raise SceneError(f"{what} is {value!r}: give a {bound} number [{unit}].")
    if value < 0 or (positive and value == 0):
        raise SceneError(f"{what} is {value!r}: it must be {bound} [{unit}].")
    return float(value)


def real(value: object, what: str, unit: str) -> float:
    """A finite number of any sign."""
    if not is_finite_number(value):
        raise SceneError(f"{what} is {value!r}: give a finite number [{unit}].")
    return float(value)


def flag(value: object, what: str) -> bool:
    """True or False."""
    if not is_flag(value):
        raise SceneError(f"{what} is {value!r}: give True or False.")
    return bool(value)


def count(value: object, what: str) -> int:
    """A whole number of at least 1."""
    if not isinstance(value, Integral) or isinstance(value, bool) or value < 1:
        raise SceneError(f"{what} is {value!r}: give a whole number of at least 1.")
    return int(value)


def seed(value: object, what: str) -> int:
    """A whole number from which random numbers are made."""
    if not isinstance(value, Integral) or isinstance(value, bool) or value < 0:
        raise SceneError(f"{what} is {value!r}: give a whole number of at least 0.")
    return int(value)


def is_infinite(value: object) -> bool:
    """Whether it is the number infinity, which stands for a hard constraint."""
    return isinstance(value, float) and value == math.inf


def selection(value: ArrayLike, n: int, what: str, one: str = "vertex", many: str = "vertices") -> np.ndarray:
    """Indices of a body's n vertices or other things, from indices or a boolean mask, in the order given."""
    try:
        array = np.atleast_1d(np.asarray(value))
    except ValueError as error:
        raise SceneError(
            f"{what}: give {one} indices (whole numbers, one dimension) or a boolean mask ({error})."
        ) from None
    if array.dtype == bool:
        if array.shape != (n,):
            raise SceneError(f"{what}: the mask has shape {array.shape}; the body has {n} {many}.")
        array = np.flatnonzero(array)
    if array.size == 0:
        raise SceneError(f"{what}: no {many} are selected. Check the condition that selects them.")
    if array.ndim != 1 or not np.issubdtype(array.dtype, np.integer):
        raise SceneError(
            f"{what}: give {one} indices (whole numbers, one dimension) or a boolean mask, "
            f"not {array.dtype} {array.shape}."
        )
    outside = (array < 0) | (array >= n)
    if outside.any():
        raise SceneError(f"{what}: {one} {int(array[outside][0])} does not exist; the body has {many} 0 to {n - 1}.")
    values, counts = np.unique(array, return_counts=True)
    if (counts > 1).any():
        raise SceneError(
            f"{what}: {one} {int(values[counts > 1][0])} is listed {int(counts.max())} times; list each once."
        )
    return array.astype(np.int64)


def instance(value: object, kind: type, what: str, wanted: str) -> None:
    """An object of a class."""
    if not isinstance(value, kind):
        raise SceneError(f"{what} is a {type(value).__name__}: give {wanted}.")


def law(value: object, name: str, count: int, elements: str) -> None:
    """An object of a law, not the class; where it varies, for `count` elements of a mesh."""
    if not isinstance(value, SolidLaw):
        shown = f"the class {value.__name__}, not an object of it" if isinstance(value, type) else repr(value)
        raise SceneError(
            f"{name}: the material is {shown}; give a law such as pl.StableNeoHookean.from_young(1e6, 0.45)."
        )
    if value.element_count not in (None, count):
        raise SceneError(
            f"{name}: the material is given for {value.element_count} elements, and the mesh has {count} {elements}: "
            "give one number for all of them, or one for each."
        )


def choice(value: str, choices: tuple[str, ...], what: str) -> str:
    """One of some words."""
    if not is_one_of(value, choices):
        raise SceneError(f"{what} is {value!r}: choose one of {', '.join(choices)}.")
    return value


def tear_limit(value: float | None, what: str) -> float | None:
    """A stretch, length over length at rest, above 1; None: never."""
    if value is None:
        return None
    limit = number(value, what, "1", positive=True)
    if limit <= 1:
        raise SceneError(f"{what} is {limit:g}: give the stretch, length over length at rest, above 1, or None.")
    return limit


def strain_limit(value: float | None, tear_at: float | None, what: str) -> float | None:
    """How far edges stretch at most, as part of their length at rest; None: there is no limit."""
    if value is None:
        return None
    if tear_at is not None:
        raise SceneError(f"{what} is {value!r}, but tear_at is {tear_at:g}: what cannot stretch further cannot tear.")
    return number(value, what, "1")


def stiffness(value: ArrayLike, n: int, what: str, item: str) -> np.ndarray:
    """(n,) stiffnesses [N/m] above zero, from one for all or one each; infinite ones are hard."""
    try:
        given = np.asarray(value, dtype=float)
    except NO_NUMBER:
        given = np.empty((0, 0))
    is_hard = np.isposinf(given)
    finite = numbers(np.where(is_hard, 1.0, given) if given.size else value, n, what, item, "N/m", positive=True)
    return np.where(is_hard, np.inf, finite)


def thread_count(threads: int | None, what: str) -> None:
    """Refuse a number of threads that is none; None is whatever is fastest."""
    if threads is not None and count(threads, what) > MOST_THREADS:
        raise SceneError(f"{what} is {threads}: give at most {MOST_THREADS}; more threads than cores are slower.")


def step_length(frame_rate: float, substeps: int) -> float:
    """h [s], if it is one that squares and quotients of can be computed with."""
    steps_per_second = frame_rate * substeps if substeps < 1 / SHORTEST else math.inf
    if not 1 / LONGEST <= steps_per_second <= 1 / SHORTEST:
        raise SceneError(
            f"Simulation: frame_rate is {frame_rate:g} [1/s] with {min(substeps, 10**15)} substeps: a step of "
            f"1 / (frame_rate * substeps) must be between {SHORTEST:g} and {LONGEST:g} s long."
        )
    return 1 / (frame_rate * substeps)

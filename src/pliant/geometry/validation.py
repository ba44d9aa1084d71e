"""Checks that every mesh passes when it is made. A failure says what, where, how much, what to do.

The order is from basic to subtle, so that the first problem reported is the one to fix first.
"""

from itertools import combinations
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from pliant.arguments import is_flag
from pliant.errors import MeshError
from pliant.geometry import quality

FloatArray = NDArray[np.float64]
IntArray = NDArray[np.int64]

#: An element is flat when its determinant is below this share of (longest edge)^dimension. Relative, so a
#: micrometre-sized tet is as good as a kilometre-sized one. Worst of the test meshes: 2e-4; rounding: 1e-16.
FLAT = 1e-10
#: Coordinates beyond this [m] overflow in squared areas.
LARGEST_COORDINATE = 1e75


def checked_points(name: str, points: ArrayLike) -> FloatArray:
    """A read-only float64 copy (n, 3) of finite points [m], or MeshError."""
    array = _as_array(name, "points", points)
    if array.size == 0:
        raise MeshError(f"{name} has no vertices: points has shape {array.shape}. Pass an (n, 3) array with n > 0.")
    if array.dtype.kind not in "fiu":
        raise MeshError(f"{name} points have type {array.dtype}; pass an (n, 3) array of real numbers [m].")
    if array.ndim != 2 or array.shape[1] != 3:
        raise MeshError(
            f"{name} points have shape {array.shape}; pass one row of three coordinates per vertex, (n, 3)."
            + (" Give planar points a third coordinate 0." if array.ndim == 2 and array.shape[1] == 2 else "")
        )
    result = array.astype(np.float64)
    bad = np.flatnonzero(~np.isfinite(result).all(axis=1))
    if bad.size:
        raise MeshError(
            f"{name} has {bad.size} of {len(result)} vertices that are not finite, the first is vertex "
            f"{bad[0]} = {_coordinates(result[bad[0]])}. Repair these coordinates, or remove the vertices "
            "and their elements."
        )
    bad = np.flatnonzero(np.abs(result).max(axis=1) > LARGEST_COORDINATE)
    if bad.size:
        raise MeshError(
            f"{name} vertex {bad[0]} = {_coordinates(result[bad[0]])} lies beyond {LARGEST_COORDINATE:g} m, "
            "where areas and volumes overflow. Check the unit and the file the points came from."
        )
    result.flags.writeable = False
    return result


def checked_elements(name: str, kind: str, elements: ArrayLike, size: int, n_vertices: int) -> IntArray:
    """A writeable int64 copy (m, size) whose indices exist, differ within an element and use every vertex."""
    array = _as_array(name, f"{kind}s", elements)
    if array.size == 0:
        raise MeshError(f"{name} has no {kind}s: the index array has shape {array.shape}. Pass (m, {size}), m > 0.")
    if array.dtype.kind not in "iu":
        raise MeshError(
            f"{name} {kind}s have type {array.dtype}; vertex indices must be whole numbers. "
            f"If they are, pass {kind}s.astype(int)."
        )
    if array.ndim != 2 or array.shape[1] != size:
        raise MeshError(
            f"{name} {kind}s have shape {array.shape}; pass one row of {size} vertex indices per {kind}, (m, {size})."
        )
    if array.min() < 0 or array.max() >= n_vertices:
        _report_range(name, kind, array, n_vertices)
    result = array.astype(np.int64)
    _check_repeats(name, kind, result)
    _check_duplicates(name, kind, result)
    _check_isolated(name, kind, result, n_vertices)
    return result


def _as_array(name: str, what: str, values: ArrayLike) -> NDArray[Any]:
    try:
        return np.asarray(values)
    except (ValueError, TypeError) as error:  # ragged rows
        raise MeshError(f"{name} {what} are not a rectangular array ({error}). Give every row equal length.") from error


def _report_range(name: str, kind: str, array: NDArray[Any], n_vertices: int) -> None:
    bad = np.argwhere((array < 0) | (array >= n_vertices))
    row, column = (int(i) for i in bad[0])
    rows = len(np.unique(bad[:, 0]))
    hint = " Indices count from 0; subtract 1 if yours count from 1." if array.min() > 0 else ""
    raise MeshError(
        f"{name} has {rows} of {len(array)} {kind}s with a vertex index outside 0 to {n_vertices - 1}, the "
        f"first is {kind} {row} with vertex {array[row, column]} at place {column}. Correct the index or "
        f"add the vertex.{hint}"
    )


def _check_repeats(name: str, kind: str, elements: IntArray) -> None:
    columns = np.ascontiguousarray(elements.T)
    repeated = np.zeros(len(elements), dtype=bool)
    for i, j in combinations(range(elements.shape[1]), 2):
        repeated |= columns[i] == columns[j]
    if repeated.any():
        bad = np.flatnonzero(repeated)
        raise MeshError(
            f"{name} has {bad.size} of {len(elements)} {kind}s that hold the same vertex twice, the first is "
            f"{kind} {bad[0]} = {_indices(elements[bad[0]])}. Remove these {kind}s or correct their indices."
        )


def _check_duplicates(name: str, kind: str, elements: IntArray) -> None:
    """No element twice, in whichever order its vertices are listed: its mass and stiffness would count twice."""
    ordered = np.sort(elements, axis=1)
    order = np.lexsort(ordered.T)
    same = (np.diff(ordered[order], axis=0) == 0).all(axis=1)
    if same.any():
        first = int(np.flatnonzero(same)[0])
        one, other = sorted((int(order[first]), int(order[first + 1])))
        raise MeshError(
            f"{name} has {int(same.sum())} of {len(elements)} {kind}s that repeat an earlier one, the first is {kind} "
            f"{other} = {_indices(elements[other])}, the same as {kind} {one}. Remove the duplicates."
        )


def _check_isolated(name: str, kind: str, elements: IntArray, n_vertices: int) -> None:
    used = np.zeros(n_vertices, dtype=bool)
    used[elements.ravel()] = True
    isolated = np.flatnonzero(~used)
    if isolated.size:
        first = ", ".join(str(i) for i in isolated[:5]) + (", ..." if isolated.size > 5 else "")
        raise MeshError(
            f"{name} has {isolated.size} of {n_vertices} vertices in no {kind} (vertex {first}). Remove them "
            f"with points, {kind}s, kept = pliant.geometry.drop_isolated_vertices(points, {kind}s)."
        )


def checked_orientation(name: str, points: FloatArray, tets: IntArray, orient: bool) -> IntArray:
    """The tets (m, 4), read-only, of positive volume: inverted ones are flipped if `orient`, else refused."""
    if not is_flag(orient):
        raise MeshError(f"{name}: orient is {orient!r}; pass True or False.")
    q = quality.corner_coordinates(points, tets)
    six_volumes = quality.determinants(q)
    bound = FLAT * quality.longest_squared_edges(q) ** 1.5
    flat = np.flatnonzero(np.abs(six_volumes) <= bound)
    if flat.size:
        first = flat[0]
        raise MeshError(
            f"{name} has {flat.size} of {len(tets)} tets that are flat, the first is tet {first} = "
            f"{_indices(tets[first])} of volume {six_volumes[first] / 6:.3g} m^3. Remove them or move "
            "their vertices."
        )
    inverted = np.flatnonzero(six_volumes < 0)
    if inverted.size and not orient:
        first = inverted[0]
        raise MeshError(
            f"{name} has {inverted.size} of {len(tets)} tets that are inverted, the first is tet {first} = "
            f"{_indices(tets[first])} of volume {six_volumes[first] / 6:.3g} m^3. "
            "Pass orient=True to swap two vertices of each."
        )
    if inverted.size:
        tets[inverted, 2:] = tets[inverted, :1:-1]
    tets.flags.writeable = False
    return tets


def checked_areas(name: str, points: FloatArray, triangles: IntArray) -> IntArray:
    """The triangles (m, 3), read-only, none of zero area, else MeshError."""
    areas = quality.triangle_areas(points, triangles)
    bound = 0.5 * FLAT * quality.longest_squared_edges(quality.corner_coordinates(points, triangles))
    flat = np.flatnonzero(areas <= bound)
    if flat.size:
        first = flat[0]
        raise MeshError(
            f"{name} has {flat.size} of {len(triangles)} triangles without area, the first is triangle "
            f"{first} = {_indices(triangles[first])} of area {areas[first]:.3g} m^2. Remove them or move "
            "their vertices."
        )
    triangles.flags.writeable = False
    return triangles


def _indices(row: IntArray) -> str:
    return "(" + ", ".join(str(int(i)) for i in row) + ")"


def _coordinates(row: FloatArray) -> str:
    return "(" + ", ".join(f"{value:.6g}" for value in row) + ")"

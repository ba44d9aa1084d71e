"""Ropes along a path, n-gons and spoked wheels: points and edges."""

from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from pliant.arguments import NO_NUMBER
from pliant.errors import MeshError
from pliant.geometry.shapes.arguments import check_fits, positive_length, whole_number

FloatArray = NDArray[np.float64]
IntArray = NDArray[np.int64]


def rope(path: ArrayLike = ((0.0, 0.0, 0.0), (1.0, 0.0, 0.0)), segments: int = 20) -> tuple[FloatArray, IntArray]:
    """A rope along a path: points (segments + 1, 3) [m] and edges (segments, 2), from its start to its end.

    path (k, 3): corners of a polyline, at least two [m]. Points lie on it at equal distances along it; where it turns
    within a segment, the edge cuts the corner.
    """
    corners = _path(path)
    count = whole_number("rope", "segments", segments)
    check_fits("rope", count, "edges")
    lengths = np.linalg.norm(np.diff(corners, axis=0), axis=1)
    still = np.flatnonzero(lengths == 0)
    if still.size:
        raise MeshError(
            f"rope got path[{still[0]}] = path[{still[0] + 1}] = {tuple(corners[still[0]].tolist())}; "
            "pass corners that differ from the one before."
        )
    along = np.concatenate(([0.0], np.cumsum(lengths)))
    wanted = np.linspace(0.0, along[-1], count + 1)
    points = np.stack([np.interp(wanted, along, corners[:, axis]) for axis in range(3)], axis=1)
    first = np.arange(count)
    return points, np.stack((first, first + 1), axis=1)


def polygon(radius: float = 0.5, sides: int = 6) -> tuple[FloatArray, IntArray]:
    """A regular n-gon in the xy plane around the origin: points (sides, 3) [m] and edges (sides, 2) around it.

    radius: from the centre to a corner [m]. Corner 0 lies on the x axis; the others follow counter-clockwise.
    """
    r = positive_length("polygon", "radius", radius)
    count = whole_number("polygon", "sides", sides, 3)
    check_fits("polygon", count, "edges")
    return _ring(r, count)


def wheel(radius: float = 0.5, spokes: int = 12) -> tuple[FloatArray, IntArray]:
    """A polygon with its centre joined to every corner: points (spokes + 1, 3), the hub last, edges (2 spokes, 2).

    radius: length of a spoke [m]. The first half of the edges is the rim, the second the spokes, from hub to corner.
    """
    r = positive_length("wheel", "radius", radius)
    count = whole_number("wheel", "spokes", spokes, 3)
    check_fits("wheel", 2 * count, "edges")
    rim, edges = _ring(r, count)
    spoke = np.stack((np.full(count, count), np.arange(count)), axis=1)
    return np.vstack((rim, np.zeros((1, 3)))), np.vstack((edges, spoke))


def _ring(radius: float, count: int) -> tuple[FloatArray, IntArray]:
    angle = 2.0 * np.pi * np.arange(count) / count
    points = radius * np.stack((np.cos(angle), np.sin(angle), np.zeros(count)), axis=1)
    first = np.arange(count)
    return points, np.stack((first, (first + 1) % count), axis=1)


def _path(path: Any) -> FloatArray:
    try:
        corners = np.asarray(path, dtype=float)
    except NO_NUMBER:
        corners = np.zeros(0)
    if corners.ndim != 2 or corners.shape[1] != 3 or len(corners) < 2 or not np.isfinite(corners).all():
        raise MeshError(f"rope got path={path!r}; pass at least two corners of three finite coordinates [m].")
    return corners

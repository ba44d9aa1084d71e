"""Surfaces of what is recorded."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
from numba import njit

from pliant.geometry.surface import boundary_faces
from pliant.io.results.result import BODY_COLOURS, Layout


class Part(NamedTuple):
    """A body's own cells: tets of a solid, triangles of a sheet, or edges of springs."""

    n_points: int
    triangles: np.ndarray  # (k, 3) of a sheet
    tets: np.ndarray  # (m, 4)
    edges: np.ndarray = np.empty((0, 2), np.int64)  # (e, 2)
    skin_tets: np.ndarray | None = (
        None  # (k,) the part's tet behind each triangle, if these are drawn in place of faces
    )


def layout_of_parts(parts: Sequence[Part], names: Sequence[str], frame_rate: float) -> Layout:
    """Of bodies whose points follow each other; tets in the order of the bodies."""
    start = np.concatenate([[0], np.cumsum([part.n_points for part in parts])]).astype(np.int64)
    sheets = _joined([part.triangles for part in parts], start, 3)
    tets = _joined([part.tets for part in parts], start, 4)
    edges = _joined([part.edges for part in parts], start, 2)
    faces, owners = boundary_faces(tets, int(start[-1])) if len(tets) else (sheets[:0], sheets[:0, 0])
    tet_start = np.cumsum([0, *(len(part.tets) for part in parts)])
    behind = [
        np.full(len(part.triangles), -1)
        if part.skin_tets is None
        else np.where(part.skin_tets >= 0, part.skin_tets + first, -1)
        for part, first in zip(parts, tet_start, strict=False)
    ]
    covered = np.array([part.skin_tets is not None for part in parts])
    shown = ~covered[np.searchsorted(start, faces[:, 0], side="right") - 1] if covered.any() else slice(None)
    triangles = np.concatenate([faces[shown], sheets])
    triangle_tets = np.concatenate([owners[shown], *behind]).astype(np.int64)
    order = np.argsort(np.searchsorted(start, triangles[:, 0], side="right"), kind="stable")  # bodies in turn
    colours = np.array([BODY_COLOURS[k % len(BODY_COLOURS)] for k in range(len(parts))])
    return Layout(
        int(start[-1]), triangles[order], tets, triangle_tets[order], tuple(names), start, colours, frame_rate, edges
    )


def frame_rate_of(times: np.ndarray) -> float:
    """Frames a second of times [s] that came without one."""
    step = float(np.median(np.diff(times))) if len(times) > 1 else 0.0
    return 1 / step if step > 0 else 30.0


def extent(points: np.ndarray) -> np.ndarray:
    """Least and greatest coordinates (2, 3) of points (n, 3)."""
    columns = np.ascontiguousarray(points.T)  # NumPy is far quicker along rows
    return np.stack([columns.min(axis=1), columns.max(axis=1)])


def vertex_normals(points: np.ndarray, triangles: np.ndarray) -> np.ndarray:
    """Unit normals (n, 3) of points (n, 3): the mean of their triangles', weighted by area; z where there is none."""
    normals = np.zeros((len(points), 3))
    _sum_normals(np.ascontiguousarray(points, float), np.ascontiguousarray(triangles, np.int64), normals)
    return normals


@njit(cache=True, nogil=True)
def _sum_normals(points, triangles, normals):
    for t in range(len(triangles)):
        i, j, k = triangles[t, 0], triangles[t, 1], triangles[t, 2]
        ax, ay, az = points[j, 0] - points[i, 0], points[j, 1] - points[i, 1], points[j, 2] - points[i, 2]
        bx, by, bz = points[k, 0] - points[i, 0], points[k, 1] - points[i, 1], points[k, 2] - points[i, 2]
        nx, ny, nz = ay * bz - az * by, az * bx - ax * bz, ax * by - ay * bx
        for corner in (i, j, k):
            normals[corner, 0] += nx
            normals[corner, 1] += ny
            normals[corner, 2] += nz
    for p in range(len(points)):
        length = math.sqrt(normals[p, 0] ** 2 + normals[p, 1] ** 2 + normals[p, 2] ** 2)
        if length > 0.0:
            normals[p, 0] /= length
            normals[p, 1] /= length
            normals[p, 2] /= length
        else:
            normals[p, 2] = 1.0


def _joined(parts: Sequence[np.ndarray], start: np.ndarray, width: int) -> np.ndarray:
    shifted = [np.reshape(part, (-1, width)) + first for part, first in zip(parts, start[:-1], strict=True)]
    return np.concatenate(shifted).astype(np.int64)

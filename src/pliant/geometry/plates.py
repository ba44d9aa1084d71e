"""Triangles of a sheet with their neighbours and the neighbours of these: what the curvature of a triangle depends on.

  10 - 4 - 9           Corners of the triangle: 0, 1, 2. Across its edges 01, 12, 20 the corners 3, 4, 5 of
    \\ / \\ /            its neighbours. Across the other two edges of a neighbour the corners of its own:
11 - 2 - 1 - 8         6 and 7, 8 and 9, 10 and 11. Where there is none, the triangle's first corner.
  \\ / \\ / \\ /
    5 - 0 - 3
     \\ / \\ /
      6   7
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from pliant.geometry.folds import hinge_corners, next_corner

IntArray = NDArray[np.int64]


def plate_corners(triangles: IntArray, n_vertices: int, reach: NDArray[np.bool_] | None = None) -> IntArray:
    """Corners 3 t + c of triangles (m, 3), as above, then the same vertices again as all triangles of the plate have
    them (m, 12 k): where one differs, the sheet is torn. reach (m, 6): which of the outer corners count; None: all.
    """
    m = len(triangles)
    own = 3 * np.arange(m)[:, None] + np.arange(3)
    across = _across(triangles, n_vertices)
    near = across[own]  # (m, 3) corners opposite the shared edges
    sides = np.stack((next_corner(near, 2), near), axis=2)  # first corners of the other two edges
    sides = np.where((near >= 0)[:, :, None], sides, -1)
    far = np.where(sides >= 0, across[sides], -1).reshape(m, 6)
    if reach is not None:
        far = np.where(reach, far, -1)
    first = np.concatenate((own, near, far), axis=1)
    of_plate = np.where(first[:, 3:] >= 0, first[:, 3:], own[:, :1]) // 3  # (m, 9) triangles
    every = np.concatenate((own, (3 * of_plate[:, :, None] + np.arange(3)).reshape(m, 27)), axis=1)
    first = np.where(first >= 0, first, own[:, :1])
    return np.concatenate((first, _again(first, every, triangles.ravel())), axis=1)


def _across(triangles: IntArray, n_vertices: int) -> IntArray:
    """(3 m,) the corner opposite the edge from each corner to the next, in the triangle across it; -1 at a rim."""
    sides = hinge_corners(triangles, n_vertices)
    across = np.full(3 * len(triangles), -1)
    across[next_corner(sides[:, 2])] = sides[:, 3]
    across[next_corner(sides[:, 3])] = sides[:, 2]
    return across


def _again(first: IntArray, every: IntArray, vertex: IntArray) -> IntArray:
    """Corners `every` (m, c) in groups of twelve, each in the place of the first of twelve that has its vertex."""
    m, k = first.shape
    place = np.argmax(vertex[first][:, None, :] == vertex[every][:, :, None], axis=2)
    turn = np.zeros_like(place)
    for i in range(1, every.shape[1]):
        turn[:, i] = (place[:, :i] == place[:, i : i + 1]).sum(axis=1)
    groups = int(turn.max(initial=-1)) + 1
    again = np.repeat(first[:, None], groups, axis=1)
    again[np.arange(m)[:, None], turn, place] = every
    return again.reshape(m, groups * k)

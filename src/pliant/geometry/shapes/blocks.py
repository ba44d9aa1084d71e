"""Boxes and beams of equal cells, each split in six tets."""

import math
from collections.abc import Sequence
from itertools import permutations

import numpy as np
from numpy.typing import NDArray

from pliant.geometry.mesh import TetMesh
from pliant.geometry.shapes.arguments import check_fits, positive_length, positive_lengths, whole_numbers


def box(size: Sequence[float] = (1.0, 1.0, 1.0), cells: int | Sequence[int] = (8, 8, 8)) -> TetMesh:
    """A box centred at the origin, from -size/2 to size/2 along x, y, z.

    size: three lengths [m]; cells: number of cells along each axis (one number: the same along all).
    Kuhn split: six tets a cell around its diagonal, dihedral angles 45, 60 and 90 degrees when cells are
    cubes.
    """
    lengths = positive_lengths("box", "size", size, 3)
    counts = whole_numbers("box", "cells", cells, 3)
    check_fits("box", 6 * math.prod(counts), "tets")
    axes = [np.linspace(-0.5 * length, 0.5 * length, count + 1) for length, count in zip(lengths, counts, strict=True)]
    points = np.stack(np.meshgrid(*axes, indexing="ij"), axis=-1).reshape(-1, 3)
    return TetMesh(points, _kuhn_tets(counts), orient=True)


def beam(
    length: float = 1.0, width: float = 0.25, height: float = 0.25, cells: int | Sequence[int] = (16, 4, 4)
) -> TetMesh:
    """A box, length along x, width along y, height along z [m], centred at the origin; cells as in `box`."""
    size = [
        positive_length("beam", name, value)
        for name, value in (("length", length), ("width", width), ("height", height))
    ]
    return box(size, whole_numbers("beam", "cells", cells, 3))


def _kuhn_tets(counts: Sequence[int]) -> NDArray[np.int64]:
    """Tets (6 cells, 4), cell by cell: every path of three axis steps from corner 000 to corner 111."""
    nx, ny, nz = counts
    vertex = np.arange((nx + 1) * (ny + 1) * (nz + 1)).reshape(nx + 1, ny + 1, nz + 1)
    tets = np.empty((nx * ny * nz, 6, 4), dtype=np.int64)
    for t, path in enumerate(permutations(range(3))):
        corner = [0, 0, 0]
        for k in range(4):
            if k > 0:
                corner[path[k - 1]] = 1
            i, j, l = corner
            tets[:, t, k] = vertex[i : nx + i, j : ny + j, l : nz + l].ravel()
    return tets.reshape(-1, 4)

"""Boxes and beams of equal cells, each split in tets in one of four ways."""

import math
from collections.abc import Sequence
from itertools import permutations

import numpy as np
from numpy.typing import NDArray

from pliant.arguments import is_one_of
from pliant.errors import MeshError
from pliant.geometry.mesh import TetMesh
from pliant.geometry.shapes.arguments import check_fits, positive_length, positive_lengths, whole_numbers

SPLITS = {"alternating": 5, "body-centred": 24, "centred": 12, "kuhn": 6}  # tets per cell at most


def box(
    size: Sequence[float] = (1.0, 1.0, 1.0), cells: int | Sequence[int] = (8, 8, 8), split: str | None = None
) -> TetMesh:
    """A box centred at the origin, from -size/2 to size/2 along x, y, z.

    size: three lengths [m]; cells: number of cells along each axis (one number: the same along all).
    split: how a cell is divided (decision 0082). "alternating": five tets, one inside and four at corners, mirrored
    from cell to cell, on the vertices of the grid. "body-centred": tets between the edges of faces and the middles of
    the two cells that share the face, or of a cell and of its face at the rim; vertices of the grid first. It has all
    symmetries of the box, and two to four times the tets. "centred": twelve tets around a vertex in the middle of the
    cell. "kuhn": six tets around the diagonal of the cell, dihedral angles 45, 60 and 90 degrees if cells are cubes;
    all cells have the same diagonal, so that a square beam bends differently along the two diagonals of its section.
    None: "body-centred" for a bar, a single cell across along two axes and more along the third; "alternating" for
    everything else. Sags along the diagonals of the section are then the same to rounding, with an odd number of cells
    across of three and more to 0.03 %.
    """
    lengths = positive_lengths("box", "size", size, 3)
    counts = whole_numbers("box", "cells", cells, 3)
    if split is None:
        split = "body-centred" if sorted(counts)[1] == 1 < max(counts) else "alternating"
    if not is_one_of(split, SPLITS):
        raise MeshError(f"box got split={split!r}; pass one of {', '.join(map(repr, SPLITS))}.")
    check_fits("box", SPLITS[split] * math.prod(counts), "tets")
    axes = [np.linspace(-0.5 * length, 0.5 * length, count + 1) for length, count in zip(lengths, counts, strict=True)]
    points = np.stack(np.meshgrid(*axes, indexing="ij"), axis=-1).reshape(-1, 3)
    if split == "kuhn":
        return TetMesh(points, _kuhn_tets(counts), orient=True)
    corners, is_even = _cells(counts)
    if split == "alternating":
        return TetMesh(points, _five_tets(corners, is_even), orient=True)
    if split == "body-centred":
        return TetMesh(*_body_centred(points, corners), orient=True)
    return TetMesh(
        np.concatenate([points, points[corners].mean(axis=1)]),
        _centred_tets(corners, is_even, len(points)),
        orient=True,
    )


def beam(
    length: float = 1.0,
    width: float = 0.25,
    height: float = 0.25,
    cells: int | Sequence[int] = (16, 4, 4),
    split: str | None = None,
) -> TetMesh:
    """A box, length along x, width along y, height along z [m], centred at the origin; cells and split as in `box`."""
    size = [
        positive_length("beam", name, value)
        for name, value in (("length", length), ("width", width), ("height", height))
    ]
    return box(size, whole_numbers("beam", "cells", cells, 3), split)


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


#: Corners of a cell are numbered by bits: 1 along x, 2 along y, 4 along z. Even ones, with 0 or 2 bits, and odd ones.
_EVEN, _ODD = (0, 3, 5, 6), (1, 2, 4, 7)
_FACES = ((0, 1, 3, 2), (4, 5, 7, 6), (0, 1, 5, 4), (2, 3, 7, 6), (0, 2, 6, 4), (1, 3, 7, 5))  # in a ring


def _cells(counts: Sequence[int]) -> tuple[NDArray[np.int64], NDArray[np.bool_]]:
    """Corners (cells, 8) of the cells, and (cells,) whether corner 0 is an even vertex: one with even i + j + k."""
    nx, ny, nz = counts
    vertex = np.arange((nx + 1) * (ny + 1) * (nz + 1)).reshape(nx + 1, ny + 1, nz + 1)
    corners = [
        vertex[i : nx + i, j : ny + j, l : nz + l].ravel()
        for i, j, l in ((c & 1, (c >> 1) & 1, (c >> 2) & 1) for c in range(8))
    ]
    return np.stack(corners, axis=1), np.indices(counts).sum(axis=0).ravel() % 2 == 0


def _five_tets(corners: NDArray[np.int64], is_even: NDArray[np.bool_]) -> NDArray[np.int64]:
    """Tets (5 cells, 4): one of the even vertices, and one for each odd vertex with its three neighbours. Diagonals of
    faces join even vertices, so that neighbours match.
    """
    tets = np.empty((len(corners), 5, 4), dtype=np.int64)
    for chosen, inner, outer in ((is_even, _EVEN, _ODD), (~is_even, _ODD, _EVEN)):
        own = corners[chosen]
        parts = [inner, *((c, c ^ 1, c ^ 2, c ^ 4) for c in outer)]
        tets[chosen] = np.stack([own[:, part] for part in parts], axis=1)
    return tets.reshape(-1, 4)


def _body_centred(
    points: NDArray[np.float64], corners: NDArray[np.int64]
) -> tuple[NDArray[np.float64], NDArray[np.int64]]:
    """Points, those of the middles of cells and of rim faces after those of the grid, and tets: four around the line
    between the middles of two cells that share a face, or of a cell and its face at the rim.
    """
    n, m = len(points), len(corners)
    faces = corners[:, _FACES].reshape(-1, 4)  # in a ring
    owner = n + np.repeat(np.arange(m), len(_FACES))
    _, group, count = np.unique(np.sort(faces, axis=1), axis=0, return_inverse=True, return_counts=True)
    order = np.argsort(group.ravel(), kind="stable")
    first = np.cumsum(count) - count
    is_rim = count == 1
    one, two = order[first], order[np.minimum(first + 1, len(order) - 1)]
    other = np.where(is_rim, n + m + np.cumsum(is_rim) - 1, owner[two])
    ring = faces[one]
    tets = np.stack([np.stack((owner[one], other, ring[:, k], ring[:, (k + 1) % 4]), axis=1) for k in range(4)], axis=1)
    middles = points[corners].mean(axis=1), points[ring[is_rim]].mean(axis=1)
    return np.concatenate([points, *middles]), tets.reshape(-1, 4)


def _centred_tets(corners: NDArray[np.int64], is_even: NDArray[np.bool_], first: int) -> NDArray[np.int64]:
    """Tets (12 cells, 4) between the halves of faces and the middle of the cell, vertex `first` + number of the cell.
    Diagonals of faces join even vertices.
    """
    tets = np.empty((len(corners), 12, 4), dtype=np.int64)
    tets[:, :, 3] = first + np.arange(len(corners))[:, None]
    for chosen, ends in ((is_even, _EVEN), (~is_even, _ODD)):
        halves = []
        for a, b, c, d in _FACES:
            halves += [(a, b, c), (a, c, d)] if a in ends else [(b, c, d), (b, d, a)]
        tets[chosen, :, :3] = np.stack([corners[chosen][:, half] for half in halves], axis=1)
    return tets.reshape(-1, 4)

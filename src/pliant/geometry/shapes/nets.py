"""Nets: squares of edges, with or without diagonals."""

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from pliant.arguments import is_flag
from pliant.errors import MeshError
from pliant.geometry.shapes.arguments import check_fits, positive_lengths, whole_numbers


def net(
    size: Sequence[float] = (1.0, 1.0), cells: int | Sequence[int] = (16, 16), diagonals: bool = False
) -> tuple[NDArray[np.float64], NDArray[np.int64]]:
    """A rectangular net in the xy plane, centred at the origin: points (n, 3) [m] and edges (k, 2).

    size: two lengths [m]; cells: number of meshes along x and y; diagonals: both diagonals of every mesh too, so that
    the net resists shear. Vertex (i, j) has index i * (cells[1] + 1) + j, as in `cloth`. Edges along x come first,
    then those along y, then diagonals.
    """
    lengths = positive_lengths("net", "size", size, 2)
    nx, ny = whole_numbers("net", "cells", cells, 2)
    if not is_flag(diagonals):
        raise MeshError(f"net got diagonals={diagonals!r}; pass True or False.")
    check_fits("net", 2 * nx * ny, "edges")
    points = np.zeros((nx + 1, ny + 1, 3))
    points[:, :, 0] = np.linspace(-0.5 * lengths[0], 0.5 * lengths[0], nx + 1)[:, None]
    points[:, :, 1] = np.linspace(-0.5 * lengths[1], 0.5 * lengths[1], ny + 1)
    vertex = np.arange((nx + 1) * (ny + 1)).reshape(nx + 1, ny + 1)
    pairs = [(vertex[:-1], vertex[1:]), (vertex[:, :-1], vertex[:, 1:])]
    if diagonals:
        pairs += [(vertex[:-1, :-1], vertex[1:, 1:]), (vertex[1:, :-1], vertex[:-1, 1:])]
    edges = [np.stack((start.ravel(), end.ravel()), axis=1) for start, end in pairs]
    return points.reshape(-1, 3), np.concatenate(edges)

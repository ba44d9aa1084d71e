"""Outer surfaces of solids, and cavities inside them."""

import numpy as np
from numpy.typing import NDArray

from pliant.geometry.components import connected_components
from pliant.geometry.surface import enclosed_volume

IntArray = NDArray[np.int64]


def connected_parts(triangles: IntArray, n_vertices: int) -> IntArray:
    """(k,) number of the connected part of a surface each triangle belongs to, from 0."""
    pairs = np.concatenate([triangles[:, :2], triangles[:, 1:]])
    _, part_of_vertex = connected_components(pairs, n_vertices)
    return np.unique(part_of_vertex[triangles[:, 0]], return_inverse=True)[1]


def outside_and_cavities(points: NDArray[np.float64], triangles: IntArray) -> tuple[IntArray, IntArray]:
    """A solid's boundary, taken apart: its outer surfaces, and the walls of its cavities, turned to face the solid.

    A cavity is a connected part of the boundary whose triangles face inwards: it encloses a negative volume.
    """
    part = connected_parts(triangles, len(points))
    volumes = [enclosed_volume(points, triangles[part == k]) for k in range(part.max() + 1)]
    is_wall = np.array(volumes)[part] < 0
    return triangles[~is_wall], triangles[is_wall, ::-1]

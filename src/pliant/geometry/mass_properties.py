"""Volume, centre and second moments of what a closed surface encloses, exactly."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np


class MassProperties(NamedTuple):
    """Of a body of density 1."""

    volume: float  # [m^3]
    centre: np.ndarray  # (3,) [m]
    moments: np.ndarray  # (3, 3) int r r^T dV about the centre [m^5]; the tensor of inertia is tr(J) - J


def mass_properties(points: np.ndarray, triangles: np.ndarray) -> MassProperties:
    """Inside a closed surface of outward triangles (m, 3), by the divergence theorem.

    Exact sums over the tets between its triangles and the mean of its points; negative if they face inwards.
    """
    middle = points.mean(axis=0)
    a, b, c = np.moveaxis(points[triangles] - middle, 1, 0)
    volumes = np.einsum("ma,ma->m", a, np.cross(b, c)) / 6
    volume = float(volumes.sum())
    if volume == 0.0:
        return MassProperties(volume, middle, np.zeros((3, 3)))
    total = a + b + c
    centre = np.einsum("m,ma->a", volumes, total) / (4 * volume)
    squares = sum(np.einsum("m,ma,mb->ab", volumes, v, v) for v in (a, b, c, total)) / 20
    return MassProperties(volume, middle + centre, squares - volume * np.outer(centre, centre))

"""Which vertex a click means."""

from __future__ import annotations

import numpy as np

RAY_WIDTH = 0.03  # of the distance to a vertex: what still counts as hit


def nearest_to_ray(points: np.ndarray, origin: np.ndarray, direction: np.ndarray) -> int:
    """The index of the point (n, 3) that a ray hits first: the nearest one within a narrow cone, else the one that is
    nearest to the ray.
    """
    arms = points - origin
    along = arms @ (direction / np.linalg.norm(direction))
    across = np.sqrt(np.maximum(np.einsum("na,na->n", arms, arms) - along**2, 0.0))
    angle = np.where(along > 0, across / np.maximum(along, 1e-30), np.inf)
    hit = np.flatnonzero(angle <= max(RAY_WIDTH, 1.5 * float(angle.min())))
    nearest = along[hit].min()
    close = hit[along[hit] <= nearest * (1 + RAY_WIDTH)]  # those in front, of which the best aimed at
    return int(close[np.argmin(angle[close])])

"""Springs as thin tubes, so that they can be drawn like surfaces."""

from __future__ import annotations

import numpy as np

SIDES = 9  # of a tube: less than 41 degrees between two, so that it is shaded as round
OVERLAP = 0.5  # of the radius, beyond each end: no gaps where springs meet at an angle


def tube_triangles(n_edges: int) -> np.ndarray:
    """(2 SIDES e, 3) corners, outward; point s of end k of edge e has the number (2 e + k) SIDES + s."""
    side = np.arange(SIDES)
    after = (side + 1) % SIDES
    one = np.concatenate(
        [np.column_stack([side, after, after + SIDES]), np.column_stack([side, after + SIDES, side + SIDES])]
    )
    return (one + 2 * SIDES * np.arange(n_edges)[:, None, None]).reshape(-1, 3)


def tube_points(ends: np.ndarray, radius: float) -> np.ndarray:
    """(2 SIDES e, 3) [m] around springs from ends[:, 0] to ends[:, 1], (e, 2, 3) [m]."""
    along = ends[:, 1] - ends[:, 0]
    along = along / np.maximum(np.linalg.norm(along, axis=1, keepdims=True), 1e-300)
    helper = np.eye(3)[np.argmin(np.abs(along), axis=1)]
    first = np.cross(helper, along)
    first /= np.maximum(np.linalg.norm(first, axis=1, keepdims=True), 1e-300)
    second = np.cross(along, first)
    angles = 2 * np.pi * np.arange(SIDES) / SIDES
    circle = np.cos(angles)[:, None] * first[:, None] + np.sin(angles)[:, None] * second[:, None]
    caps = ends + OVERLAP * radius * np.stack([-along, along], axis=1)
    return (caps[:, :, None] + radius * circle[:, None]).reshape(-1, 3)

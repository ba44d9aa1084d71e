"""Surfaces of boxes, balls, capsules and cylinders as triangles, around the origin and along z."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import product

import numpy as np

ROUND = 48  # corners of a circle

# Faces of a box whose corner 4 i + 2 j + k is at high where i, j, k are 1; counterclockwise from outside.
SQUARES = ((0, 1, 3, 2), (4, 6, 7, 5), (0, 4, 5, 1), (2, 3, 7, 6), (0, 2, 6, 4), (1, 5, 7, 3))

Surface = tuple[np.ndarray, np.ndarray]  # points (n, 3) [m], outward triangles (m, 3)


def box_surface(a: float, b: float, c: float) -> Surface:
    """Half its edges are a, b and c long [m]."""
    return block_surface((-a, -b, -c), (a, b, c))


def centred_box_surface(a: float, b: float, c: float) -> Surface:
    """The same box with a further point in the middle of each face: 24 triangles.

    Boxes that stand on each other with flush sides touch at corners that rounding puts inside or outside of the other's
    face from step to step; these points are always inside.
    """
    corners, _ = box_surface(a, b, c)
    points, triangles = [*corners], []
    for square in SQUARES:
        triangles += [(square[k], square[(k + 1) % 4], len(points)) for k in range(4)]
        points.append(corners[list(square)].mean(axis=0))
    return np.array(points), np.array(triangles)


def block_surface(low: Sequence[float], high: Sequence[float]) -> Surface:
    """Twelve triangles."""
    points = np.array([np.where(corner, high, low) for corner in product((0, 1), repeat=3)])
    return points, np.array([corners for p, q, r, s in SQUARES for corners in ((p, q, r), (p, r, s))])


def sphere_surface(radius: float, *_: float) -> Surface:
    """Rings around z."""
    return capsule_surface(radius, 0.0)


def capsule_surface(radius: float, half: float, *_: float) -> Surface:
    """Round ends at -half and half along z."""
    angles = np.linspace(-np.pi / 2, np.pi / 2, ROUND // 2 + 1)[1:-1]
    ends = np.where(angles < 0, -half, half)
    profile = np.column_stack([radius * np.cos(angles), ends + radius * np.sin(angles)])
    if half > 0:
        k = len(angles) // 2  # the ring of the widest angle is there at both ends
        profile = np.concatenate([profile[:k], [(radius, -half), (radius, half)], profile[k + 1 :]])
    return _revolved(profile, -half - radius, half + radius)


def cylinder_surface(radius: float, half: float, *_: float) -> Surface:
    """Flat ends at -half and half along z."""
    return _revolved(np.array([(radius, -half), (radius, half)]), -half, half)


def _revolved(profile: np.ndarray, bottom: float, top: float) -> Surface:
    """Rings of (radius, height) from below to above around z, closed by a point at each end."""
    angles = 2 * np.pi * np.arange(ROUND) / ROUND
    circle = np.column_stack([np.cos(angles), np.sin(angles), np.zeros(ROUND)])
    rings = [radius * circle + [0, 0, height] for radius, height in profile]
    points = np.concatenate([*rings, [(0, 0, bottom), (0, 0, top)]])
    here, after = np.arange(ROUND), np.roll(np.arange(ROUND), -1)
    first, last = len(points) - 2, len(points) - 1
    caps = [np.column_stack([after, here, np.full(ROUND, first)])]
    upper = (len(rings) - 1) * ROUND
    caps.append(np.column_stack([here + upper, after + upper, np.full(ROUND, last)]))
    sides = []
    for ring in range(len(rings) - 1):
        a, b = here + ring * ROUND, after + ring * ROUND
        sides += [np.column_stack([a, b, b + ROUND]), np.column_stack([a, b + ROUND, a + ROUND])]
    return points, np.concatenate([*caps, *sides])

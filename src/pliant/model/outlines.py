"""Obstacles with formulas as triangles: what pictures and results show of them. Nothing is computed with these."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from itertools import product

import numpy as np

from pliant.model.obstacles import BOX, CAPSULE, CONTAINER, CYLINDER, PLANE, SPHERE, Shape

ROUND = 48  # corners of a circle
REACH = 2.0  # of the bodies' size: half the side of the square that stands for a plane
RAIL = 0.02  # of a container's largest side: thickness of the rails along its edges and of its floor

Surface = tuple[np.ndarray, np.ndarray]  # points (n, 3) [m], outward triangles (m, 3)


@dataclass(frozen=True)
class Outline:
    """An obstacle's surface, in its own axes."""

    name: str
    shape: Shape
    points: np.ndarray  # (n, 3) [m]
    triangles: np.ndarray  # (m, 3) outward

    def pose(self, time: float) -> tuple[np.ndarray, np.ndarray]:
        """Position (3,) [m] and rotation (3, 3), own axes to world, at a time [s]."""
        row = self.shape.row(time)
        return row[:3], row[3:12].reshape(3, 3)

    def positions(self, time: float) -> np.ndarray:
        """(n, 3) [m] in the world at a time [s]."""
        return self.placed(self.shape.row(time))

    def placed(self, row: np.ndarray) -> np.ndarray:
        """(n, 3) [m] in the world where the shape's numbers (Shape.row) say it is."""
        return self.points @ row[3:12].reshape(3, 3).T + row[:3]


def outlines(shapes: Sequence[Shape], positions: np.ndarray) -> list[Outline]:
    """Surfaces of obstacles beside bodies whose vertices start at `positions` (n, 3) [m]: a plane, which has no end,
    becomes a square around them.
    """
    low, high = positions.min(axis=0), positions.max(axis=0)
    centre, reach = (low + high) / 2, REACH * float(np.linalg.norm(high - low))
    found = []
    for k, shape in enumerate(shapes):
        points, triangles = _SURFACES[shape.kind](*shape.sizes())
        if shape.kind == PLANE:
            position, axes = shape.frame()
            points = reach * points + ((centre - position) @ axes) * [1.0, 1.0, 0.0]
        found.append(Outline(f"{type(shape).__name__.lower()} {k}", shape, points, triangles))
    return found


def _square(*_: float) -> Surface:
    """Two triangles from -1 to 1, seen from +z."""
    return np.array([(-1.0, -1, 0), (1, -1, 0), (1, 1, 0), (-1, 1, 0)]), np.array([(0, 1, 2), (0, 2, 3)])


def _box(a: float, b: float, c: float) -> Surface:
    return _block((-a, -b, -c), (a, b, c))


def _block(low: Sequence[float], high: Sequence[float]) -> Surface:
    """Twelve triangles; corner 4 i + 2 j + k is at high where i, j, k are 1."""
    points = np.array([np.where(corner, high, low) for corner in product((0, 1), repeat=3)])
    squares = [(0, 1, 3, 2), (4, 6, 7, 5), (0, 4, 5, 1), (2, 3, 7, 6), (0, 2, 6, 4), (1, 5, 7, 3)]
    return points, np.array([corners for p, q, r, s in squares for corners in ((p, q, r), (p, r, s))])


def _container(a: float, b: float, c: float) -> Surface:
    """Its floor, its upright edges and its rim: walls would hide what is inside."""
    t = RAIL * 2 * max(a, b, c)
    parts = [_block((-a - t, -b - t, -c - t), (a + t, b + t, -c))]
    for x, y in product((-a - t, a), (-b - t, b)):
        parts.append(_block((x, y, -c), (x + t, y + t, c)))
    for y in (-b - t, b):
        parts.append(_block((-a, y, c - t), (a, y + t, c)))
    for x in (-a - t, a):
        parts.append(_block((x, -b, c - t), (x + t, b, c)))
    starts = np.cumsum([0] + [len(points) for points, _ in parts[:-1]])
    triangles = [own + start for (_, own), start in zip(parts, starts, strict=True)]
    return np.concatenate([points for points, _ in parts]), np.concatenate(triangles)


def _sphere(radius: float, *_: float) -> Surface:
    return _capsule(radius, 0.0)


def _capsule(radius: float, half: float, *_: float) -> Surface:
    """Round ends at -half and half along z."""
    angles = np.linspace(-np.pi / 2, np.pi / 2, ROUND // 2 + 1)[1:-1]
    ends = np.where(angles < 0, -half, half)
    profile = np.column_stack([radius * np.cos(angles), ends + radius * np.sin(angles)])
    if half > 0:
        k = len(angles) // 2  # the ring of the widest angle is there at both ends
        profile = np.concatenate([profile[:k], [(radius, -half), (radius, half)], profile[k + 1 :]])
    return _revolved(profile, -half - radius, half + radius)


def _cylinder(radius: float, half: float, *_: float) -> Surface:
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


_SURFACES: dict[int, Callable[..., Surface]] = {
    PLANE: _square,
    SPHERE: _sphere,
    BOX: _box,
    CAPSULE: _capsule,
    CYLINDER: _cylinder,
    CONTAINER: _container,
}

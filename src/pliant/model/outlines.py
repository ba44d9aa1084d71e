"""Obstacles with formulas as triangles: what pictures and results show of them. Nothing is computed with these."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from itertools import product

import numpy as np

from pliant.geometry.primitive_surfaces import (
    Surface,
    block_surface,
    box_surface,
    capsule_surface,
    cylinder_surface,
    sphere_surface,
)
from pliant.model.distance_field import DistanceField
from pliant.model.obstacles import BOX, CAPSULE, CONTAINER, CYLINDER, PLANE, SPHERE, TIME, Shape

REACH = 2.0  # of the bodies' size: half the side of the square that stands for a plane
RAIL = 0.02  # of a container's largest side: thickness of the rails along its edges and of its floor


@dataclass(frozen=True)
class Outline:
    """An obstacle's surface, in its own axes."""

    name: str
    shape: Shape
    points: np.ndarray  # (n, 3) [m]
    triangles: np.ndarray  # (m, 3) outward

    def pose(self, time: float) -> tuple[np.ndarray, np.ndarray]:
        """Position (3,) [m] and rotation (3, 3), own axes to world, at a time [s]."""
        (translation, rotation), (position, axes) = self.shape.pose(time), self.shape.frame()
        return rotation @ position + translation, rotation @ axes

    def positions(self, time: float) -> np.ndarray:
        """(n, 3) [m] in the world at a time [s]."""
        position, axes = self.pose(time)
        return self.shape.deformed(self.points, time) @ axes.T + position

    def placed(self, row: np.ndarray) -> np.ndarray:
        """(n, 3) [m] in the world where the shape's numbers (Shape.row) say it is."""
        return self.shape.deformed(self.points, row[TIME]) @ row[3:12].reshape(3, 3).T + row[:3]


def outlines(shapes: Sequence[Shape], positions: np.ndarray) -> list[Outline]:
    """Surfaces of obstacles beside bodies whose vertices start at `positions` (n, 3) [m]: a plane, which has no end,
    becomes a square around them.
    """
    low, high = positions.min(axis=0), positions.max(axis=0)
    centre, reach = (low + high) / 2, REACH * float(np.linalg.norm(high - low))
    found = []
    for k, shape in enumerate(shapes):
        if isinstance(shape, DistanceField):
            found.append(Outline(shape.name, shape, *shape.outline()))
            continue
        points, triangles = _SURFACES[shape.kind](*shape.sizes())
        if shape.kind == PLANE:
            position, axes = shape.frame()
            points = reach * points + ((centre - position) @ axes) * [1.0, 1.0, 0.0]
        found.append(Outline(f"{type(shape).__name__.lower()} {k}", shape, points, triangles))
    return found


def _square(*_: float) -> Surface:
    """Two triangles from -1 to 1, seen from +z."""
    return np.array([(-1.0, -1, 0), (1, -1, 0), (1, 1, 0), (-1, 1, 0)]), np.array([(0, 1, 2), (0, 2, 3)])


def _container(a: float, b: float, c: float) -> Surface:
    """Its floor, its upright edges and its rim: walls would hide what is inside."""
    t = RAIL * 2 * max(a, b, c)
    parts = [block_surface((-a - t, -b - t, -c - t), (a + t, b + t, -c))]
    for x, y in product((-a - t, a), (-b - t, b)):
        parts.append(block_surface((x, y, -c), (x + t, y + t, c)))
    for y in (-b - t, b):
        parts.append(block_surface((-a, y, c - t), (a, y + t, c)))
    for x in (-a - t, a):
        parts.append(block_surface((x, -b, c - t), (x + t, b, c)))
    starts = np.cumsum([0] + [len(points) for points, _ in parts[:-1]])
    triangles = [own + start for (_, own), start in zip(parts, starts, strict=True)]
    return np.concatenate([points for points, _ in parts]), np.concatenate(triangles)


_SURFACES: dict[int, Callable[..., Surface]] = {
    PLANE: _square,
    SPHERE: sphere_surface,
    BOX: box_surface,
    CAPSULE: capsule_surface,
    CYLINDER: cylinder_surface,
    CONTAINER: _container,
}

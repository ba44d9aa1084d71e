"""Particles in results: each sphere as a closed surface of 80 triangles, so that every format and viewer shows it."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cache

import numpy as np

from pliant.model import Model

SPHERE_POINTS = 42


@cache
def unit_sphere() -> tuple[np.ndarray, np.ndarray]:
    """Points (42, 3) on the unit sphere and triangles (80, 3), outward: an icosahedron, each face in four."""
    g = (1 + np.sqrt(5)) / 2
    corners = np.array([[0, a, b * g] for a in (-1, 1) for b in (-1, 1)], float)
    corners = np.concatenate([corners, np.roll(corners, 1, axis=1), np.roll(corners, 2, axis=1)])
    distance = np.linalg.norm(corners[:, None] - corners[None], axis=2)
    faces = [
        (i, j, k)
        for i in range(12)
        for j in range(i + 1, 12)
        for k in range(j + 1, 12)
        if max(distance[i, j], distance[j, k], distance[k, i]) < 2.01
    ]
    points, middle = [*corners], {}
    triangles = []
    for face in faces:
        i, j, k = face
        if np.dot(np.cross(corners[j] - corners[i], corners[k] - corners[i]), corners[i]) < 0:
            j, k = k, j
        ends = [tuple(sorted(pair)) for pair in ((i, j), (j, k), (k, i))]
        for pair in ends:
            if pair not in middle:
                middle[pair] = len(points)
                points.append(corners[pair[0]] + corners[pair[1]])
        a, b, c = (middle[pair] for pair in ends)
        triangles += [(i, a, c), (a, j, b), (c, b, k), (a, b, c)]
    array = np.array(points)
    return array / np.linalg.norm(array, axis=1)[:, None], np.array(triangles)


def sphere_triangles(n: int) -> np.ndarray:
    """(80 n, 3) of n spheres one after another."""
    return (unit_sphere()[1] + SPHERE_POINTS * np.arange(n)[:, None, None]).reshape(-1, 3)


@dataclass(frozen=True)
class SphereSurfaces:
    """Which vertex each point of a result belongs to, and where it lies from there."""

    vertices: np.ndarray  # (k,)
    offsets: np.ndarray  # (k, 3) [m]

    @classmethod
    def of(cls, model: Model) -> SphereSurfaces | None:
        """Of a model with particles; None without any."""
        if model.particles is None:
            return None
        radius = np.zeros(model.n_vertices)
        radius[model.particles.vertices] = model.particles.radius
        counts = np.where(radius > 0, SPHERE_POINTS, 1)
        vertices = np.repeat(np.arange(model.n_vertices), counts)
        offsets = np.zeros((len(vertices), 3))
        offsets[radius[vertices] > 0] = np.tile(unit_sphere()[0], (len(model.particles.vertices), 1))
        return cls(vertices, radius[vertices, None] * offsets)

    def points(self, x: np.ndarray) -> np.ndarray:
        """Points (k, 3) of a result for positions x (n, 3) [m]."""
        return x[self.vertices] + self.offsets

    def values(self, fields: dict[str, np.ndarray]) -> dict[str, np.ndarray]:
        """Fields of vertices at the points of a result."""
        return {name: values[self.vertices] for name, values in fields.items()}

"""Numbers of vertices within a ConstraintProblem: those that are near each other in space are near in memory.

A scene's own numbers may be in any order. Where there are so many that velocities, impulses and lists are in no cache,
each constraint would wait for lines of memory of its own.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from pliant.constraints.rows import Rows
from pliant.model import Model

FEWEST = 32_768  # vertices: what is kept of fewer fits into a cache, whatever their order


class Numbering(NamedTuple):
    """Of n vertices."""

    vertices: np.ndarray  # (n,) int32 of the scene, by number in the problem
    numbers: np.ndarray  # (n,) int32 in the problem, by vertex of the scene

    def in_scene(self, rows: Rows, base: int, count: int) -> tuple[np.ndarray, np.ndarray]:
        """Vertices (k, 4) and sources (k,) of the rows from `base` to `count`, as the scene numbers them."""
        own, source = rows.vertices[base:count], rows.source[base:count]
        of_vertex = source < len(self.vertices)  # others are obstacles and triangles
        vertices = np.where(own >= 0, self.vertices[own], own)
        return vertices, np.where(of_vertex, self.vertices[np.where(of_vertex, source, 0)], source)


def own_numbers(n: int) -> Numbering:
    """Those of the scene."""
    own = np.arange(n, dtype=np.int32)
    return Numbering(own, own)


def numbering_of(model: Model) -> Numbering:
    """By cells of the places where a scene of many particles begins, if it has nothing else; otherwise its own."""
    n, particles = model.n_vertices, model.particles
    if particles is None or len(particles.vertices) < n or n < FEWEST:
        return own_numbers(n)
    x = model.positions - model.positions.min(axis=0)
    cells = (x / (2 * particles.radius.mean())).astype(np.int64)
    vertices = np.lexsort(cells[:, np.argsort(np.ptp(x, axis=0), kind="stable")].T).astype(np.int32)
    numbers = np.empty(n, np.int32)
    numbers[vertices] = np.arange(n, dtype=np.int32)
    return Numbering(vertices, numbers)

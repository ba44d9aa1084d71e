"""Pairs of a surface that may be near each other on a way: found by trees, or known from a search for the same way.

A step looks several times at ways that are almost the same: for what the solution would pass, for a proof that all is
apart, for sides. One search with the largest separation serves them all.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from pliant.contact.search.broad_phase import edge_edge_pairs, vertex_triangle_pairs
from pliant.contact.search.colliders import Colliders, fit_surface
from pliant.contact.search.motion import Motion
from pliant.contact.search.overlaps import Pairs
from pliant.kernels.threads import Team
from pliant.lanes.compiled import cached, compiled

REMEMBERED = 2  # searches: of what a solver would have, and of what it was changed to


class SurfacePairs(NamedTuple):
    """All that may be nearer than a separation [m] on the way from x0 to x1 (n, 3) [m]."""

    at_triangles: Pairs  # rows of surface.vertices and surface.triangles
    of_edges: Pairs  # rows of surface.edges, first < second
    motion: Motion
    x0: np.ndarray
    x1: np.ndarray
    separation: float

    def include(self, x0: np.ndarray, x1: np.ndarray, separation: float) -> bool:
        """Whether all that may be nearer than a separation on another way is among them: from the same start, to an end
        from which no vertex is further than half of what the separation is larger.
        """
        spare = 0.5 * (self.separation - separation)
        if spare < 0 or not np.array_equal(self.x0, x0):
            return False
        return bool(cached(are_within)(self.x1, x1, spare * spare))


def surface_pairs(team: Team, colliders: Colliders, x0: np.ndarray, x1: np.ndarray, separation: float) -> SurfacePairs:
    """All that may be nearer than a separation [m] on the way from x0 to x1 (n, 3) [m], and some that are not."""
    for known in colliders.searches:
        if known.include(x0, x1, separation):
            return known
    trees = fit_surface(team, colliders, x0, x1, separation)
    at_triangles = vertex_triangle_pairs(team, trees, colliders.surface, colliders.rules)
    of_edges = edge_edge_pairs(team, trees, colliders.surface, colliders.rules)
    found = SurfacePairs(at_triangles, of_edges, trees.motion, x0.copy(), x1.copy(), trees.separation)
    colliders.searches[:] = [found, *colliders.searches[: REMEMBERED - 1]]
    return found


@compiled
def are_within(x, other, squared):
    """Whether no point of x (n, 3) is further from its place in another array than the root of a number."""
    for i in range(len(x)):
        total = 0.0
        for k in range(3):
            total += (x[i, k] - other[i, k]) ** 2
        if not total <= squared:
            return False
    return True

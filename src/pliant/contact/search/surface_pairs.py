"""Pairs of a surface that may be near each other on a way: found by trees, or known from a search for a like way.

A step looks several times at ways that are almost the same: for what the solution would pass, for a proof that all is
apart, for sides. Another way from the same start may end near one that was searched for but for a few vertices, that
were pushed: only their pairs are searched for again. Whoever asks gets those that may come near on the very way.

What a step has done, the next one begins with: where vertices will be without contact is known but for what forces do
in a step. So the search at the end of a step may be for a way that goes on as far again in a straight line, and serves
the next step's first look too (decision 0182).
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from pliant.contact.search.broad_phase import edge_edge_pairs, vertex_triangle_pairs
from pliant.contact.search.ccd_culling import CcdCulling
from pliant.contact.search.colliders import Colliders, fit_surface, way_of
from pliant.contact.search.cull_pairs import culled
from pliant.contact.search.motion import Motion
from pliant.contact.search.overlaps import Pairs
from pliant.contact.search.strayed import pairs_of_strayed
from pliant.elements.closest import EDGE_EDGE, VERTEX_TRIANGLE
from pliant.kernels.threads import Team
from pliant.lanes.compiled import cached, compiled

REMEMBERED = 2  # searches: of what a solver would have, and of what it was changed to
MOST_STRAYED = 0.03  # of the vertices: if more have strayed from a way, all are searched for again


class SurfacePairs(NamedTuple):
    """All that may be nearer than a separation on a way."""

    at_triangles: Pairs  # rows of surface.vertices and surface.triangles
    of_edges: Pairs  # rows of surface.edges, first < second
    motion: Motion


@dataclass(frozen=True)
class Search:
    """All that may be nearer than a separation [m] on the way from x0 to x1 (n, 3) [m], and on to x2 in a straight line
    if that was looked at, too.
    """

    at_triangles: Pairs
    of_edges: Pairs
    motion: Motion
    x0: np.ndarray
    x1: np.ndarray
    separation: float
    x2: np.ndarray | None = None

    def goes_on_from(self, x: np.ndarray) -> bool:
        """Whether the second part of the way begins at x (n, 3) [m]."""
        return self.x2 is not None and np.array_equal(self.x1, x)

    def end_of_way(self, x0: np.ndarray) -> np.ndarray | None:
        """(n, 3) [m] where the way that begins at x0 ends; None if there is none."""
        if np.array_equal(self.x0, x0):
            return self.x1
        return self.x2 if self.goes_on_from(x0) else None

    def strayed(self, x0: np.ndarray, x1: np.ndarray, separation: float) -> np.ndarray | None:
        """(n,) bool: vertices without which all that may be nearer than a separation on another way is among the pairs,
        those that end further away than half of what the separation is larger. None if it is another start, or a
        larger separation.
        """
        spare = 0.5 * (self.separation - separation)
        end = None if spare < 0 else self.end_of_way(x0)
        if end is None:
            return None
        is_far = np.empty(len(x1), bool)
        return is_far if cached(mark_far)(end, x1, spare * spare, is_far) <= MOST_STRAYED * len(x1) else None


def surface_pairs(
    team: Team, colliders: Colliders, x0: np.ndarray, x1: np.ndarray, separation: float, ahead: float | None = None
) -> SurfacePairs:
    """All that may be nearer than a separation [m] on the way from x0 to x1 (n, 3) [m], and some that are not.

    ahead [m]: how far the next way, from x1 on, may end from where this one leads in a straight line, if one search is
    to serve both.
    """
    known = _search_for(team, colliders, x0, x1, separation, ahead)
    others = [search for search in colliders.searches if search is not known]
    colliders.searches[:] = [known, *others[: REMEMBERED - 1]]
    if known.separation == separation and known.x2 is None:  # it is the very way
        return SurfacePairs(known.at_triangles, known.of_edges, known.motion)
    motion = way_of(team, colliders, x0, x1, separation)
    at_triangles = CcdCulling(VERTEX_TRIANGLE, motion, separation)
    of_edges = CcdCulling(EDGE_EDGE, motion, separation)
    surface = colliders.surface
    return SurfacePairs(
        culled(team, known.at_triangles, surface.vertices, surface.triangles, at_triangles),
        culled(team, known.of_edges, surface.edges, surface.edges, of_edges),
        motion,
    )


def _search_for(
    team: Team, colliders: Colliders, x0: np.ndarray, x1: np.ndarray, separation: float, ahead: float | None
) -> Search:
    """A search that has all pairs of a way: the one that is known, as it is or with those of who has strayed from it,
    or a new one.
    """
    for known in colliders.searches:
        is_far = known.strayed(x0, x1, separation)
        if is_far is not None:
            return _with_strayed(team, colliders, known, is_far, x0, x1) if is_far.any() else known
    x2 = None if ahead is None else 2.0 * x1 - x0
    wider = 0.0 if ahead is None else 2.0 * ahead
    trees = fit_surface(team, colliders, x0, x1 if x2 is None else x2, separation + wider)
    at_triangles = vertex_triangle_pairs(team, trees, colliders.surface, colliders.rules)
    of_edges = edge_edge_pairs(team, trees, colliders.surface, colliders.rules)
    return Search(at_triangles, of_edges, trees.motion, x0.copy(), x1.copy(), trees.separation, x2)


def _with_strayed(
    team: Team, colliders: Colliders, known: Search, is_far: np.ndarray, x0: np.ndarray, x1: np.ndarray
) -> Search:
    """A search for a way from x0 on which some vertices, (n,) bool, end at x1 (n, 3) [m] and others as they are known
    to.
    """
    end = known.end_of_way(x0)
    assert end is not None
    x1 = np.where(is_far[:, None], x1, end)
    trees = fit_surface(team, colliders, x0, x1, known.separation)
    pairs = pairs_of_strayed(team, colliders, trees, is_far, known.at_triangles, known.of_edges)
    return Search(*pairs, trees.motion, x0.copy(), x1, known.separation)


@compiled
def mark_far(x, other, squared, is_far):
    """Whose distance from x to the other place, both (n, 3), has a square above that; how many there are."""
    count = 0
    for i in range(len(x)):
        total = 0.0
        for k in range(3):
            total += (x[i, k] - other[i, k]) ** 2
        is_far[i] = not total <= squared
        count += is_far[i]
    return count

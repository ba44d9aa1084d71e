"""What is not apart at one moment: edges and triangles of which no plane is proved to lie between them."""

from __future__ import annotations

import numpy as np

from pliant.contact.primitives.obstacle_separation import is_beyond
from pliant.contact.primitives.separation import direction, rounding_of
from pliant.contact.search.colliders import Colliders, across_seams, check_positions, fit_surface
from pliant.contact.search.near_shapes import NearShape, ways_of
from pliant.contact.search.overlaps import overlaps
from pliant.elements.closest import EDGE_EDGE, VERTEX_TRIANGLE, row
from pliant.kernels.threads import Team, share
from pliant.lanes.compiled import cached, compiled, inlined
from pliant.lanes.vectors import dot, subtract


def touching_pairs(team: Team, colliders: Colliders, x: np.ndarray) -> np.ndarray:
    """(k, 5) int32 vertices of edges (the first two) and triangles that are not proved to be apart at x (n, 3) [m]."""
    x = check_positions(x, colliders, "the position")
    trees, surface = fit_surface(team, colliders, x, x, 0.0), colliders.surface
    pairs = overlaps(team, trees.edges, trees.triangles, False, colliders.rules)
    is_apart = np.empty(len(pairs.first), bool)
    team.run_for(200 * len(is_apart), cached(mark_apart), pairs, surface.edges, surface.triangles, x, is_apart)
    first, second = pairs.first[~is_apart], pairs.second[~is_apart]
    order = np.lexsort((second, first))
    touching = np.column_stack([surface.edges[first[order]], surface.triangles[second[order]]]).astype(np.int32)
    return touching[~across_seams(colliders, touching[:, :2], touching[:, 2:])]


def touching_shape(team: Team, near: NearShape, x: np.ndarray) -> np.ndarray:
    """(k, 3) int32 vertices of triangles and edges that are not proved to be apart from a shape at x (n, 3) [m]."""
    is_apart = np.empty(len(near.corners), bool)
    team.run_for(1000 * len(is_apart), cached(mark_off_shape), near, x, is_apart)
    return near.corners[~is_apart]


@compiled
def mark_off_shape(thread, threads, barrier, near, x, is_apart):
    first, last = share(0, len(near.corners), thread, threads)
    for k in range(first, last):
        before, _, is_face = ways_of(near, k, x, x)
        is_apart[k] = is_beyond(near.kind, near.local, before, is_face, near.radius[k])


@compiled
def mark_apart(thread, threads, barrier, pairs, edges, triangles, x, is_apart):
    first, last = share(0, len(pairs.first), thread, threads)
    for k in range(first, last):
        e, t = pairs.first[k], pairs.second[k]
        p, q = row(x, edges[e, 0]), row(x, edges[e, 1])
        a, b, c = row(x, triangles[t, 0]), row(x, triangles[t, 1]), row(x, triangles[t, 2])
        is_apart[k] = (
            separates(VERTEX_TRIANGLE, (p, a, b, c), p, q, a, b, c)
            or separates(VERTEX_TRIANGLE, (q, a, b, c), p, q, a, b, c)
            or separates(EDGE_EDGE, (p, q, a, b), p, q, a, b, c)
            or separates(EDGE_EDGE, (p, q, b, c), p, q, a, b, c)
            or separates(EDGE_EDGE, (p, q, c, a), p, q, a, b, c)
        )


@inlined
def separates(kind, y, p, q, a, b, c):
    """Whether the shortest way between two parts of an edge p q and a triangle a b c is across a plane that is between
    them, beyond all rounding.
    """
    n = direction(kind, y)[1]
    least = 4.0 * (rounding_of(VERTEX_TRIANGLE, (p, a, b, c), (q, a, b, c)))
    low = min(dot(n, subtract(p, a)), min(dot(n, subtract(p, b)), dot(n, subtract(p, c))))
    low = min(low, min(dot(n, subtract(q, a)), min(dot(n, subtract(q, b)), dot(n, subtract(q, c)))))
    return low > least

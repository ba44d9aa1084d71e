"""What intersects in a scene as it is given: edges that go through triangles, even if no vertex is near."""

from __future__ import annotations

import numpy as np

from pliant.contact.search import bvh
from pliant.contact.search.colliders import Colliders, across_seams, any_of, check_positions, fit_trees
from pliant.contact.search.motion import motion_of
from pliant.contact.search.overlaps import Pairs, overlaps
from pliant.elements.closest import row
from pliant.kernels.threads import Team, share
from pliant.lanes.compiled import cached, compiled, inlined
from pliant.lanes.vectors import cross, dot, subtract

TOUCHING = 1e-6  # of an edge: ends nearer to a triangle only touch it


def piercing_pairs(team: Team, colliders: Colliders, x: np.ndarray, among: np.ndarray | None = None) -> np.ndarray:
    """(k, 2) rows of surface.edges and surface.triangles that intersect at positions x (n, 3) [m], ascending; among
    (n,) bool: only those with such a vertex.
    """
    x = check_positions(x, colliders, "the position")
    found = [_piercing(team, colliders, x, pairs) for pairs in _near(team, colliders, x, among)]
    return np.unique(np.concatenate(found), axis=0) if len(found) > 1 else found[0]


def _near(team: Team, colliders: Colliders, x: np.ndarray, among: np.ndarray | None) -> list[Pairs]:
    """Edges and triangles whose boxes meet; those of which both are among the chosen ones twice."""
    surface, rules = colliders.surface, colliders.rules
    motion = motion_of(team, x, x, 0.0)
    edges, triangles = fit_trees(team, (colliders.edge_tree, colliders.triangle_tree), motion)
    if among is None:
        return [overlaps(team, edges, triangles, False, rules)]
    own_edges = bvh.part(team, edges, any_of(among, surface.edges), surface.edges, motion, rules.body)
    own = bvh.part(team, triangles, any_of(among, surface.triangles), surface.triangles, motion, rules.body)
    return [overlaps(team, own_edges, triangles, False, rules), _turned(overlaps(team, own, edges, False, rules))]


def _turned(pairs: Pairs) -> Pairs:
    return Pairs(pairs.second, pairs.first)


def _piercing(team: Team, colliders: Colliders, x: np.ndarray, pairs: Pairs) -> np.ndarray:
    """(k, 2) of some pairs, ascending."""
    surface, is_pierced = colliders.surface, np.empty(len(pairs.first), bool)
    team.run_for(20 * len(is_pierced), cached(mark_pierced), pairs, surface.edges, surface.triangles, x, is_pierced)
    first, second = pairs.first[is_pierced], pairs.second[is_pierced]
    is_apart = ~across_seams(colliders, surface.edges[first], surface.triangles[second])
    found = np.column_stack([first[is_apart], second[is_apart]])
    return found[np.lexsort((found[:, 1], found[:, 0]))]


@compiled
def mark_pierced(thread, threads, barrier, pairs, edges, triangles, x, is_pierced):
    first, last = share(0, len(pairs.first), thread, threads)
    for k in range(first, last):
        e, t = pairs.first[k], pairs.second[k]
        p, q = row(x, edges[e, 0]), row(x, edges[e, 1])
        a, b, c = row(x, triangles[t, 0]), row(x, triangles[t, 1]), row(x, triangles[t, 2])
        is_pierced[k] = goes_through(p, q, a, b, c)


@inlined
def goes_through(p, q, a, b, c):
    """Whether the segment p q crosses the inside of the triangle a b c, further than TOUCHING with both ends."""
    n, along = cross(subtract(b, a), subtract(c, a)), subtract(q, p)
    above, below = dot(n, subtract(p, a)), dot(n, subtract(q, a))
    least2 = TOUCHING * TOUCHING * dot(along, along) * dot(n, n)
    if above * below >= 0.0 or min(above * above, below * below) <= least2:
        return False
    u = dot(cross(subtract(a, p), subtract(b, p)), along)
    v = dot(cross(subtract(b, p), subtract(c, p)), along)
    w = dot(cross(subtract(c, p), subtract(a, p)), along)
    least = TOUCHING * (abs(u) + abs(v) + abs(w))
    return (u > least and v > least and w > least) or (u < -least and v < -least and w < -least)

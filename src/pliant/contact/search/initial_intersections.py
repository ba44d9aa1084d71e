"""What intersects in a scene as it is given: edges that go through triangles, even if no vertex is near."""

from __future__ import annotations

import numpy as np

from pliant.contact.search.colliders import Colliders, across_seams, check_positions, fit_surface
from pliant.contact.search.overlaps import overlaps
from pliant.elements.closest import row
from pliant.kernels.threads import Team, share
from pliant.lanes.compiled import cached, compiled, inlined
from pliant.lanes.vectors import cross, dot, subtract

TOUCHING = 1e-6  # of an edge: ends nearer to a triangle only touch it


def piercing_pairs(team: Team, colliders: Colliders, x: np.ndarray) -> np.ndarray:
    """(k, 2) rows of surface.edges and surface.triangles that intersect at positions x (n, 3) [m], ascending."""
    x = check_positions(x, colliders, "the position")
    trees = fit_surface(team, colliders, x, x, 0.0)
    surface = colliders.surface
    pairs = overlaps(team, trees.edges, trees.triangles, False, colliders.rules)
    is_pierced = np.empty(len(pairs.first), bool)
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

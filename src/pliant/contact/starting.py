"""What intersects in a scene as it is given: edges that go through triangles, even if no vertex is near."""

from __future__ import annotations

import numpy as np

from pliant.contact.colliders import Colliders, check_positions, fit_surface
from pliant.contact.compiled import cached, compiled
from pliant.contact.distances import row
from pliant.contact.overlaps import overlaps
from pliant.contact.passage import segment_touches_triangle
from pliant.kernels.threads import Team, share


def pierced_triangles(team: Team, colliders: Colliders, x: np.ndarray) -> int:
    """How many pairs of an edge and a triangle intersect at positions x (n, 3) [m]."""
    x = check_positions(x, colliders, "the position")
    trees = fit_surface(team, colliders, x, x, 0.0)
    surface = colliders.surface
    pairs = overlaps(team, trees.edges, trees.triangles, False, colliders.rules)
    is_pierced = np.empty(len(pairs.first), bool)
    team.run(cached(mark_pierced), pairs, surface.edges, surface.triangles, x, is_pierced)
    return int(is_pierced.sum())


@compiled
def mark_pierced(thread, threads, barrier, pairs, edges, triangles, x, is_pierced):
    first, last = share(0, len(pairs.first), thread, threads)
    for k in range(first, last):
        e, t = pairs.first[k], pairs.second[k]
        p, q = row(x, edges[e, 0]), row(x, edges[e, 1])
        a, b, c = row(x, triangles[t, 0]), row(x, triangles[t, 1]), row(x, triangles[t, 2])
        is_pierced[k] = segment_touches_triangle(p, q, a, b, c)

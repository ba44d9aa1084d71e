"""Sides of rigid bodies where a scene starts: what touches one, or is inside it, belongs outside.

A rigid body takes part in contact by its triangles alone, as a sheet does, and a sheet has no inside. But its triangles
enclose it and look outwards, so that nothing has to be known of how a vertex came to where it is.
"""

from __future__ import annotations

import math

import numpy as np

from pliant.contact.search.colliders import Colliders
from pliant.contact.search.patches import closest_on_triangle
from pliant.contact.tracking.side_history import SideHistory, prune
from pliant.elements.closest import row
from pliant.kernels.threads import Team, share
from pliant.lanes.compiled import cached, compiled, inlined
from pliant.lanes.vectors import cross, dot, subtract


def outside_closed(team: Team, colliders: Colliders, history: SideHistory, x: np.ndarray) -> SideHistory:
    """The history at positions x (n, 3) [m], of which nothing but these sides is known, with the outside as the side of
    every vertex that is near a rigid body or inside it.
    """
    triangles, body = colliders.surface.triangles, colliders.rules.body
    of_closed = colliders.is_closed[triangles[:, 0]]
    if not of_closed.any():
        return history
    sides = np.where(of_closed[history.triangles], 1.0, history.sides)
    found = [(history.vertices, history.triangles, sides, history.crossed)]
    vertices = colliders.surface.vertices[:, 0]
    vertices = vertices[~colliders.rules.excluded[vertices]]
    for number in np.unique(body[triangles[of_closed, 0]]):
        own = np.flatnonzero(of_closed & (body[triangles[:, 0]] == number)).astype(np.int32)
        corners = x[triangles[own]].reshape(-1, 3)
        may_be = colliders.rules.allowed[body[vertices], number] & (body[vertices] != number)
        near = vertices[
            may_be & ((x[vertices] > corners.min(axis=0)) & (x[vertices] < corners.max(axis=0))).all(axis=1)
        ]
        if not len(near):
            continue
        nearest = np.full(len(near), -1, np.int32)
        work = 20 * len(near) * len(own)
        team.run_for(work, cached(nearest_from_inside), near, own, colliders.patches.triangles, x, nearest)
        inside = nearest >= 0
        count = int(inside.sum())
        found.append((near[inside], nearest[inside], np.ones(count), np.ones(count, bool)))
    parts = [np.concatenate(columns) for columns in zip(*found, strict=True)]
    together = SideHistory._make((*parts, history.edges, history.normals))
    return prune(team, colliders, together, x)[0]


@compiled
def nearest_from_inside(thread, threads, barrier, vertices, own, triangles, x, nearest):
    """The nearest of the triangles `own`, which enclose a body, to each vertex inside it; -1 of those outside."""
    first, last = share(0, len(vertices), thread, threads)
    for k in range(first, last):
        v, angle, least = vertices[k], 0.0, np.inf
        for place in range(len(own)):
            t = own[place]
            angle += solid_angle(row(x, v), row(x, triangles[t, 0]), row(x, triangles[t, 1]), row(x, triangles[t, 2]))
        if angle < 2.0 * math.pi:  # 4 pi inside, 0 outside
            continue
        for place in range(len(own)):
            _, r = closest_on_triangle(v, own[place], x, triangles)
            distance2 = dot(r, r)
            if distance2 < least:
                least, nearest[k] = distance2, own[place]


@inlined
def solid_angle(p, a, b, c):
    """Under which p sees a triangle from its back (van Oosterom and Strackee 1983)."""
    u, v, w = subtract(a, p), subtract(b, p), subtract(c, p)
    l, m, n = math.sqrt(dot(u, u)), math.sqrt(dot(v, v)), math.sqrt(dot(w, w))
    return 2.0 * math.atan2(dot(u, cross(v, w)), l * m * n + dot(u, v) * n + dot(v, w) * l + dot(w, u) * m)

"""Parts of a surface around a vertex: where on it is nearest, and which side of it is which.

A patch of a surface as a vertex sees it is all that leads downhill, triangle by triangle, to the same nearest point.
So a vertex that slides over a sheet keeps to one patch, however many triangles it passes, and the other layer of a fold
is another patch.
"""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np

from pliant.contact.primitives.pair import common_normal, is_inner
from pliant.elements.closest import VERTEX_TRIANGLE, closest_vertex_triangle, combine, row
from pliant.lanes.compiled import allocating, cached, compiled, inlined
from pliant.lanes.vectors import dot, subtract

NEARER = 1.0 - 1e-12  # of a squared distance: less is nearer, so that a walk comes to an end


class Patches(NamedTuple):
    """How triangles of a surface hang together, by vertices of the scene (n in all)."""

    triangles: np.ndarray  # (t, 3) int32
    orient: np.ndarray  # (t,) 1 or -1: by it normals of neighbours agree, where a surface has two sides
    start: np.ndarray  # (n + 1,) first of a vertex's triangles in `around`
    around: np.ndarray  # triangles at each vertex, without those that touch nothing
    is_rim: np.ndarray  # (n,) bool: at an edge of one triangle only
    apex: np.ndarray  # (t,) int32 vertex opposite of a triangle in its tet, -1 in a sheet


def patches_of(
    triangles: np.ndarray,
    edges: np.ndarray,
    faces_of_edge: np.ndarray,
    is_closed: np.ndarray,
    excluded: np.ndarray,
    apex: np.ndarray,
) -> Patches:
    """Connect triangles (t, 3). is_closed (n,): vertices of solids, whose triangles are outward oriented already.

    excluded (n,): vertices whose triangles touch nothing; nothing walks on to them.
    """
    n = len(is_closed)
    usable = np.flatnonzero(~excluded[triangles].any(axis=1))
    corners = triangles[usable].ravel()
    order = np.argsort(corners, kind="stable")
    start = np.searchsorted(corners[order], np.arange(n + 1))
    around = np.repeat(usable, 3)[order].astype(np.int32)
    is_rim = np.zeros(n, bool)
    is_rim[edges[faces_of_edge[:, 0] == faces_of_edge[:, 1]]] = True
    orient = np.zeros(len(triangles))
    orient[is_closed[triangles[:, 0]]] = 1.0
    by_triangle = np.argsort(faces_of_edge.ravel(), kind="stable")
    edges_start = np.searchsorted(faces_of_edge.ravel()[by_triangle], np.arange(len(triangles) + 1))
    cached(orient_triangles)(triangles, edges, faces_of_edge, edges_start, by_triangle // 2, orient)
    return Patches(triangles, orient, start.astype(np.int64), around, is_rim, apex)


@allocating
def orient_triangles(triangles, edges, faces_of_edge, edges_start, edges_of_face, orient):
    """Set all that are 0: neighbours that run through their common edge the same way get opposite signs."""
    waiting = np.empty(len(triangles), np.int64)
    for seed in range(len(triangles)):
        if orient[seed] != 0.0:
            continue
        orient[seed], waiting[0], height = 1.0, seed, 1
        while height > 0:
            height -= 1
            t = waiting[height]
            for e in edges_of_face[edges_start[t] : edges_start[t + 1]]:
                other = faces_of_edge[e, 0] + faces_of_edge[e, 1] - t
                if orient[other] == 0.0:
                    agree = _runs_along(triangles, t, edges[e]) != _runs_along(triangles, other, edges[e])
                    orient[other] = orient[t] if agree else -orient[t]
                    waiting[height] = other
                    height += 1


@inlined
def _runs_along(triangles, t, edge):
    """Whether a triangle names the ends of an edge in the edge's order."""
    after = triangles[t, 0]
    for k in range(2, -1, -1):
        if triangles[t, k] == edge[0]:
            return after == edge[1]
        after = triangles[t, k]
    return False


@inlined
def closest_on_triangle(v, t, x, triangles):
    """Signed weights of vertex v and triangle t, and the vector r from the triangle to v."""
    y = (row(x, v), row(x, triangles[t, 0]), row(x, triangles[t, 1]), row(x, triangles[t, 2]))
    w = closest_vertex_triangle(y)
    return w, combine(w, y)


@inlined
def oriented_normal(t, x, patches):
    """Unit normal of a triangle on the side that its patch agrees on, and whether there is one."""
    a, b, c = patches.triangles[t, 0], patches.triangles[t, 1], patches.triangles[t, 2]
    n, has_normal = common_normal(VERTEX_TRIANGLE, (row(x, a), row(x, a), row(x, b), row(x, c)))
    s = patches.orient[t]
    return (s * n[0], s * n[1], s * n[2]), has_normal


@compiled
def nearest_on_patch(v, t, x, patches):
    """The triangle of the patch around t that is nearest to vertex v, the weights and the vector r to v.

    From a triangle on whose rim the closest point lies, the walk goes on to the nearest of those that share it.
    """
    triangles = patches.triangles
    w, r = closest_on_triangle(v, t, x, triangles)
    least = dot(r, r)
    while not is_inner(VERTEX_TRIANGLE, w):
        best, best_w, best_r = t, w, r
        for k in range(3):
            if w[k + 1] == 0.0:
                continue
            corner = triangles[t, k]
            for e in range(patches.start[corner], patches.start[corner + 1]):
                other = np.int64(patches.around[e])
                if other == t or has_corner(triangles, other, v) or patches.apex[other] == v:
                    continue
                w_other, r_other = closest_on_triangle(v, other, x, triangles)
                distance = dot(r_other, r_other)
                if distance < NEARER * least:
                    least, best, best_w, best_r = distance, other, w_other, r_other
        if best == t:
            break
        t, w, r = best, best_w, best_r
    return t, w, r


@inlined
def width(t, x, patches):
    """The longest edge of a triangle [m]."""
    largest = 0.0
    for k in range(3):
        edge = subtract(row(x, patches.triangles[t, (k + 1) % 3]), row(x, patches.triangles[t, k]))
        largest = max(largest, dot(edge, edge))
    return math.sqrt(largest)


@inlined
def has_corner(triangles, t, v):
    return v in (triangles[t, 0], triangles[t, 1], triangles[t, 2])


@compiled
def share_corner(triangles, s, t):
    """Whether two triangles have a corner in common."""
    a, b, c = triangles[t, 0], triangles[t, 1], triangles[t, 2]
    return has_corner(triangles, s, a) or has_corner(triangles, s, b) or has_corner(triangles, s, c)


@inlined
def is_at_rim(w, t, patches):
    """Whether the closest point with weights w is on the rim of a sheet."""
    for k in range(3):
        if w[k + 1] != 0.0 and not patches.is_rim[patches.triangles[t, k]]:
            return False
    return not is_inner(VERTEX_TRIANGLE, w)

"""The direction of a contact: which way its two primitives are pushed apart."""

from __future__ import annotations

import math

import numpy as np

from pliant.elements.closest import VERTEX_TRIANGLE, row
from pliant.lanes.compiled import cached, compiled, inlined
from pliant.lanes.vectors import add, cross, dot, subtract

FLAT = 1e-10  # sine below which a cross product has no direction
TOUCHING = 1e-9  # of an edge: nearer primitives touch, and on which side of each other they are is rounding


@inlined
def corners_of(kind, corners_a, i, corners_b, j):
    """The four vertices of a pair."""
    if kind == VERTEX_TRIANGLE:
        return (corners_a[i, 0], corners_b[j, 0], corners_b[j, 1], corners_b[j, 2])
    return (corners_a[i, 0], corners_a[i, 1], corners_b[j, 0], corners_b[j, 1])


@inlined
def points_of(x, v):
    """Positions of four vertices."""
    return (row(x, v[0]), row(x, v[1]), row(x, v[2]), row(x, v[3]))


@inlined
def unit(a):
    """A vector divided by its length; zero stays zero."""
    length = math.sqrt(dot(a, a))
    if length == 0.0:
        return (0.0, 0.0, 0.0)
    return (a[0] / length, a[1] / length, a[2] / length)


@inlined
def face_normal(x, triangles, t):
    """Unit normal of a triangle, zero if it has none."""
    a = row(x, triangles[t, 0])
    return unit(cross(subtract(row(x, triangles[t, 1]), a), subtract(row(x, triangles[t, 2]), a)))


@inlined
def edge_normal(x, triangles, faces_of_edge, e):
    """Half the sum of the unit normals at an edge; its length is the cosine of half the angle between them."""
    n = add(face_normal(x, triangles, faces_of_edge[e, 0]), face_normal(x, triangles, faces_of_edge[e, 1]))
    return (0.5 * n[0], 0.5 * n[1], 0.5 * n[2])


@inlined
def can_be_touched_from(out, direction, slack):
    """Whether an edge with the normal `out` of `edge_normal` can be touched from a direction: one between the normals
    of its two faces, or a little beyond.  On a flat face that is the face's normal alone.
    """
    length = math.sqrt(dot(out, out))
    return dot(out, direction) >= length * (length - slack)


@compiled
def is_inner(kind, w):
    """Whether the closest points are inside the triangle, or inside both edges: no corner has weight 0."""
    if kind == VERTEX_TRIANGLE:
        return w[1] < 0.0 and w[2] < 0.0 and w[3] < 0.0
    return w[0] > 0.0 and w[1] > 0.0 and w[2] < 0.0 and w[3] < 0.0


@compiled
def common_normal(kind, y):
    """Unit normal of the triangle or of both edges, and whether there is one."""
    if kind == VERTEX_TRIANGLE:
        u, v = subtract(y[2], y[1]), subtract(y[3], y[1])
    else:
        u, v = subtract(y[1], y[0]), subtract(y[3], y[2])
    n = cross(u, v)
    return unit(n), dot(n, n) > FLAT * FLAT * dot(u, u) * dot(v, v)


@compiled
def separating_normal(kind, y, w, r, motion, outward, own_outward):
    """Unit vector from the second primitive to the first.

    Across a triangle or two crossing edges it is their normal, on the side of r; beside them it is r itself.
    Primitives that touch have lost their side: then it is `outward`, the outside of the second, if it has one, else
    against their relative motion, or if there is none against `own_outward`, the outside of the first.
    """
    n, has_normal = common_normal(kind, y)
    edge = subtract(y[3], y[2])
    touching = TOUCHING * math.sqrt(dot(edge, edge))
    distance = math.sqrt(dot(r, r))
    if not (is_inner(kind, w) and has_normal):
        if distance > touching:
            return unit(r)
        n = n if has_normal else unit(motion)
    side = dot(n, r) if distance > touching else 0.0
    if side == 0.0:
        side = dot(n, outward)
    if side == 0.0:
        side = -dot(n, motion)
    if side == 0.0:
        side = -dot(n, own_outward)
    if dot(n, n) == 0.0:
        return (0.0, 0.0, 1.0)
    return n if side >= 0.0 else (-n[0], -n[1], -n[2])


def are_sharp(
    x: np.ndarray, triangles: np.ndarray, faces_of_edge: np.ndarray, edges: np.ndarray, cosine: float
) -> np.ndarray:
    """(k,) bool: edges (k,) at positions x (n, 3) with half the angle between their faces above that of the cosine."""
    is_sharp = np.empty(len(edges), bool)
    if len(edges):
        cached(mark_sharp)(x, triangles, faces_of_edge, edges, cosine, is_sharp)
    return is_sharp


@compiled
def mark_sharp(x, triangles, faces_of_edge, edges, cosine, is_sharp):
    for k in range(len(edges)):
        n = edge_normal(x, triangles, faces_of_edge, edges[k])
        is_sharp[k] = dot(n, n) < cosine * cosine

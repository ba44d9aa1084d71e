"""Cores of round bodies, a point or a segment with a radius, against triangles, edges and each other.

Weights are those of elements.closest; normals lead from the second thing to the core.
"""

from __future__ import annotations

import math

from pliant.elements.closest import closest_vertex_triangle, combine
from pliant.lanes.compiled import compiled, inlined
from pliant.lanes.vectors import cross, dot, subtract

INNER = 1e-9  # weights above are of a point inside an edge or a face


@inlined
def mixed(a, b, t):
    """a + t (b - a)."""
    return (a[0] + t * (b[0] - a[0]), a[1] + t * (b[1] - a[1]), a[2] + t * (b[2] - a[2]))


@inlined
def scaled(s, a):
    return (s * a[0], s * a[1], s * a[2])


@inlined
def unit_normal(y):
    """Of the triangle y1 y2 y3; zero if it has no area."""
    n = cross(subtract(y[2], y[1]), subtract(y[3], y[1]))
    size = math.sqrt(dot(n, n))
    return scaled(1.0 / size if size > 0.0 else 0.0, n)


@compiled
def first_touch(y0, y1, radius):
    """The part of the way from y0 to y1 after which a ball around the point y_0 touches the plane of the triangle
    y_1 y_2 y_3, if its centre goes through the triangle; 1 if it does not.
    """
    before = dot(subtract(y0[0], y0[1]), unit_normal(y0))
    after = dot(subtract(y1[0], y1[1]), unit_normal(y1))
    if before * after >= 0.0:
        return 1.0
    t = before / (before - after)
    y = (mixed(y0[0], y1[0], t), mixed(y0[1], y1[1], t), mixed(y0[2], y1[2], t), mixed(y0[3], y1[3], t))
    w = closest_vertex_triangle(y)
    if not (w[1] < INNER and w[2] < INNER and w[3] < INNER):
        return 1.0
    r = combine(w, y)
    if dot(r, r) > INNER * (before - after) ** 2:
        return 1.0
    return (abs(before) - min(abs(before), radius)) / abs(before - after)


@compiled
def point_and_triangle(y):
    """Weights, normal from the triangle to the point, and distance."""
    w = closest_vertex_triangle(y)
    r = combine(w, y)
    length = math.sqrt(dot(r, r))
    if length == 0.0:
        return w, unit_normal(y), 0.0
    return w, scaled(1.0 / length, r), length


@compiled
def segments(w, y0, y1):
    """Two segments (four points) whose closest points have the weights w, moving from y0 to y1."""
    r0, r1 = combine(w, y0), combine(w, y1)
    before, after = math.sqrt(dot(r0, r0)), math.sqrt(dot(r1, r1))
    if dot(r0, r1) < 0.0 or (after == 0.0 and before > 0.0):
        n = scaled(1.0 / before, r0)
        return n, dot(r1, n)
    if after == 0.0:
        return (0.0, 0.0, 1.0), 0.0
    return scaled(1.0 / after, r1), after

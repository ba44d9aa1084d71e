"""Proofs that a moving triangle or edge never touches a convex shape, as of separation.py, in the frame of the shape.

Along a direction n the shape reaches as far as its support function says; corners that stay beyond it at two times do
so between them. The way is taken as straight in the frame of the shape.
"""

from __future__ import annotations

import math

from pliant.contact.primitives.lowest_points import lowest, mix, nearest
from pliant.contact.primitives.separation import APART, LEAST, MEETS, NEAR, ROUNDING, SLACK, STEPS
from pliant.contact.primitives.shapes import distance_and_normal
from pliant.lanes.compiled import compiled, inlined
from pliant.lanes.vectors import add_scaled, dot, subtract
from pliant.model.obstacles import BOX, CAPSULE, PLANE, SIZES, SPHERE

PROJECTIONS = 60  # between a triangle and a shape, at most, to find their closest points
CLOSE_ENOUGH = 1e-12  # of the distance: a projection that changes the place by less is the last


@inlined
def reach_along(kind, local, n):
    """How far a shape reaches along the unit vector n: its support function [m]; infinite without an end."""
    a, b, c = local[SIZES], local[SIZES + 1], local[SIZES + 2]
    if kind == PLANE:
        return 0.0 if n[0] == 0.0 and n[1] == 0.0 and n[2] > 0.0 else math.inf
    if kind == SPHERE:
        return a
    if kind == BOX:
        return abs(n[0]) * a + abs(n[1]) * b + abs(n[2]) * c
    if kind == CAPSULE:
        return a + abs(n[2]) * b
    return a * math.sqrt(n[0] * n[0] + n[1] * n[1]) + b * abs(n[2])  # a cylinder


@compiled
def direction_from(kind, local, y, is_face):
    """Weights of the point of a triangle, or of an edge, that is closest to a shape outside of which it is, the
    direction from the shape to it, and the distance; not above 0 if it is not outside.
    """
    if kind == PLANE:
        i = 0 if y[0][2] <= min(y[1][2], y[2][2]) else (1 if y[1][2] <= y[2][2] else 2)
        w = (1.0 if i == 0 else 0.0, 1.0 if i == 1 else 0.0, 1.0 if i == 2 else 0.0)
        return w, (0.0, 0.0, 1.0), y[i][2]
    w, _ = lowest(kind, local, y, is_face)
    p = mix(w, y)
    d, n = distance_and_normal(kind, local, p)
    for _ in range(PROJECTIONS):
        if d <= 0.0:
            break
        w, _ = nearest(add_scaled(p, -d, n), y, is_face)
        q = mix(w, y)
        change = subtract(q, p)
        p = q
        d, n = distance_and_normal(kind, local, p)
        if dot(change, change) <= CLOSE_ENOUGH * CLOSE_ENOUGH * d * d:
            break
    return w, n, d


@inlined
def holds_until(y0, y1, t, n, least):
    """Until when from t on all three corners are further than `least` along n; t itself if they are not even then."""
    until = 1.0
    for i in range(3):
        start, end = dot(n, y0[i]), dot(n, y1[i])
        if not start + t * (end - start) > least:
            return t
        if not end > least:
            until = min(until, (start - least) / (start - end))
    return max(until, t)


@inlined
def _size(local, y0, y1):
    """[m] of all lengths that arithmetic rounds."""
    size = abs(local[SIZES]) + abs(local[SIZES + 1]) + abs(local[SIZES + 2])
    for i in range(3):
        for k in range(3):
            size = max(size, max(abs(y0[i][k]), abs(y1[i][k])))
    return size


@compiled
def look_at(kind, local, y0, y1, is_face, kept, radius):
    """As separation.look, for three corners (an edge has the second twice) on their way from y0 to y1 in the frame of a
    convex shape; around them is a radius [m].
    """
    rounding = ROUNDING * _size(local, y0, y1)
    d, n = distance_and_normal(kind, local, y1[0])
    none = (1.0, 0.0, 0.0)
    if holds_until(y0, y1, 0.0, n, radius + reach_along(kind, local, n) + max(kept, 2.0 * rounding)) >= 1.0:
        return APART, kept, none, n
    w, n, d = direction_from(kind, local, y0, is_face)
    goal = max(min(kept, d - radius), 0.0)
    enough = goal * (1.0 - SLACK)
    if enough > 2.0 * rounding and holds_until(y0, y1, 0.0, n, radius + reach_along(kind, local, n) + enough) >= 1.0:
        return APART, goal, w, n
    if y0[0] == y1[0] and y0[1] == y1[1] and y0[2] == y1[2]:
        return APART, goal, w, n
    t, least = 0.0, radius + LEAST * goal + rounding
    for _ in range(STEPS):
        until = holds_until(y0, y1, t, n, reach_along(kind, local, n) + least)
        if until <= t or goal <= 0.0:
            return MEETS, goal, w, n
        t = until
        if t >= 1.0:
            break
        y = (
            add_scaled(y0[0], t, subtract(y1[0], y0[0])),
            add_scaled(y0[1], t, subtract(y1[1], y0[1])),
            add_scaled(y0[2], t, subtract(y1[2], y0[2])),
        )
        later = direction_from(kind, local, y, is_face)
        if not later[2] > radius:
            return MEETS, goal, w, n
        w, n = later[0], later[1]
    if t < 1.0:
        return MEETS, goal, w, n
    w, n, d = direction_from(kind, local, y1, is_face)
    return (APART if d >= radius + enough else NEAR), goal, w, n


@compiled
def is_beyond(kind, local, y, is_face, radius):
    """Whether a plane is proved to lie between three corners with a radius, as of `look_at`, and the shape."""
    _, n, d = direction_from(kind, local, y, is_face)
    least = radius + 2.0 * ROUNDING * _size(local, y, y)
    return d > 0.0 and holds_until(y, y, 0.0, n, reach_along(kind, local, n) + least) >= 1.0

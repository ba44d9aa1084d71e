"""Continuous detection: the first time at which two moving primitives come closer than a separation.

Conservative advancement along separating planes.  At a time t with distance d > 0, the plane across the closest points
with normal n separates the primitives.  Along the fixed n the gap of any corner of one and any corner of the other is a
linear function of time, so the time until which the plane separates is known exactly, and nothing can touch before it.
The time moves there, and so on.  Additive detection (Li et al. 2021, Codimensional IPC) bounds all motion by its speed;
this bounds only motion along n, so it advances at least as far, and sliding past each other takes one step.

Where two faces nearly touch, such a plane soon cuts a far corner.  So a second bound is taken too, whichever holds
longer: the primitives cannot touch before the four points are in one plane, which a cubic in time decides, or come
closer than the separation.

The answer is never late: the time returned is one at which the distance was measured and is above the separation
(unless it is 0), by at most a tolerance of a millionth of the pair's size.  A pair that comes nearer than that counts
as hit; so does one that has not come apart after MAX_STEPS.
"""

from __future__ import annotations

import math

import numpy as np

from pliant.elements.closest import VERTEX_TRIANGLE, closest, combine, place_on_segment
from pliant.lanes.compiled import compiled, inlined
from pliant.lanes.vectors import add, add_scaled, cross, dot, subtract

TOLERANCE = 2e-6  # of the largest coordinate or displacement, both relative to the pair
MAX_STEPS = 256
ROUNDING = 2e-14  # of the product of three lengths: more than arithmetic makes of the volume they span


@inlined
def _plane_holds_for(kind, y, v, n, least):
    """How long each corner of the first primitive stays further than `least` along n from each of the second."""
    until = np.inf
    first = 1 if kind == VERTEX_TRIANGLE else 2
    for i in range(first):
        for j in range(first, 4):
            gap, rate = dot(n, subtract(y[i], y[j])) - least, dot(n, subtract(v[i], v[j]))
            if not gap > 0.0:  # the closest points of a sliver are rounded: this plane does not separate
                return 0.0
            if rate < 0.0:
                until = min(until, gap / -rate)
    return until


@inlined
def _other_planes_hold_for(kind, y, v, least):
    """The longest that a plane across a corner's or an end's way to an edge does: such ways are exact for slivers."""
    until = 0.0
    for i in range(3 if kind == VERTEX_TRIANGLE else 4):
        r = _way_to_edge(kind, y, i)
        d = math.sqrt(dot(r, r))
        if d > 0.0:
            until = max(until, _plane_holds_for(kind, y, v, (r[0] / d, r[1] / d, r[2] / d), least))
    return until


@inlined
def _way_to_edge(kind, y, i):
    """From the second primitive to the first: from edge i of the triangle to the vertex, or with end i of the edges."""
    if kind == VERTEX_TRIANGLE:
        p, a, b = y[0], y[1 + i], y[1 + (i + 1) % 3]
    elif i < 2:
        p, a, b = y[i], y[2], y[3]
    else:
        p, a, b = y[i], y[0], y[1]
    t = place_on_segment(p, a, b)
    r = subtract(subtract(p, a), (t * (b[0] - a[0]), t * (b[1] - a[1]), t * (b[2] - a[2])))
    return (-r[0], -r[1], -r[2]) if kind != VERTEX_TRIANGLE and i >= 2 else r


@inlined
def _volume_holds_for(kind, y, v, left, least):
    """How long at least the line of an edge stays further than `least` from that of the other, or a vertex from the
    plane of the triangle; `left` is until when motion goes on.

    The volume of the four points is a cubic in time, within the hull of its control points (Bernstein's form).
    """
    a, b, c = _three_sides(kind, y)
    d, e, f = _three_sides(kind, v)
    d, e, f = add_scaled(a, left, d), add_scaled(b, left, e), add_scaled(c, left, f)
    first, last = cross(a, b), cross(d, e)
    middle = add(cross(a, e), cross(d, b))
    area = max(dot(first, first), max(dot(last, last), 0.25 * dot(middle, middle)))
    now = dot(first, c)
    sign = 1.0 if now >= 0.0 else -1.0
    rounding = ROUNDING * math.sqrt(max(dot(a, a), dot(d, d)) * max(dot(b, b), dot(e, e)) * max(dot(c, c), dot(f, f)))
    need = least * math.sqrt(area) + rounding  # of a sliver's volume rounding is not the smaller part
    height = sign * now - need
    second = sign * (dot(middle, c) + dot(first, f)) / 3.0 - need
    third = sign * (dot(last, c) + dot(middle, f)) / 3.0 - need
    fourth = sign * dot(last, f) - need
    if not height > 0.0:
        return 0.0
    points = (height, second, third, fourth)
    until = np.inf
    for i in range(3):  # the lowest line of the hull comes to zero between two of the points
        for j in range(i + 1, 4):
            if points[i] >= 0.0 and points[j] < 0.0:
                until = min(until, (i + (j - i) * points[i] / (points[i] - points[j])) / 3.0)
    return left * until


@inlined
def _three_sides(kind, y):
    """Two vectors that span the plane or the directions of both lines, and one from the first to the second."""
    if kind == VERTEX_TRIANGLE:
        return subtract(y[2], y[1]), subtract(y[3], y[1]), subtract(y[0], y[1])
    return subtract(y[1], y[0]), subtract(y[3], y[2]), subtract(y[2], y[0])


@inlined
def _relative(x0, x1):
    """Positions relative to the first point and displacements relative to their mean."""
    o = x0[0]
    y = (subtract(x0[0], o), subtract(x0[1], o), subtract(x0[2], o), subtract(x0[3], o))
    d0, d1, d2, d3 = subtract(x1[0], x0[0]), subtract(x1[1], x0[1]), subtract(x1[2], x0[2]), subtract(x1[3], x0[3])
    mean = (
        0.25 * (d0[0] + d1[0] + d2[0] + d3[0]),
        0.25 * (d0[1] + d1[1] + d2[1] + d3[1]),
        0.25 * (d0[2] + d1[2] + d2[2] + d3[2]),
    )
    return y, (subtract(d0, mean), subtract(d1, mean), subtract(d2, mean), subtract(d3, mean))


@inlined
def _size(a):
    largest = 0.0
    for i in range(4):
        for k in range(3):
            largest = max(largest, abs(a[i][k]))
    return largest


@compiled
def impact(kind, x0, x1, separation):
    """When a pair that moves from x0 to x1 (each four points) comes closer than `separation` [m].

    Returns the time as a part of the way, infinite if never, the signed weights of the closest points then and the
    vector r between them, from the second primitive to the first; r is zero if they touch at the start.
    """
    y, v = _relative(x0, x1)
    tolerance = TOLERANCE * max(_size(y), _size(v))
    time = 0.0
    weights = closest(kind, y)
    r = combine(weights, y)
    for _ in range(MAX_STEPS):
        d = math.sqrt(dot(r, r))
        if d <= separation + tolerance:
            return time, weights, r
        n = (r[0] / d, r[1] / d, r[2] / d)
        now = (
            add_scaled(y[0], time, v[0]),
            add_scaled(y[1], time, v[1]),
            add_scaled(y[2], time, v[2]),
            add_scaled(y[3], time, v[3]),
        )
        least = separation + 0.5 * tolerance
        holds = max(_plane_holds_for(kind, now, v, n, least), _volume_holds_for(kind, now, v, 1.0 - time, least))
        time += holds if holds > 0.0 else _other_planes_hold_for(kind, now, v, least)
        if time >= 1.0:
            return np.inf, weights, r
        now = (
            add_scaled(y[0], time, v[0]),
            add_scaled(y[1], time, v[1]),
            add_scaled(y[2], time, v[2]),
            add_scaled(y[3], time, v[3]),
        )
        weights = closest(kind, now)
        r = combine(weights, now)
    return time, weights, r

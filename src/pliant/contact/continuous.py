"""Continuous detection: the first time at which two moving primitives come closer than a separation.

Conservative advancement along separating planes.  At a time t with distance d > 0, the plane across the closest points
with normal n separates the primitives.  Along the fixed n the gap of any corner of one and any corner of the other is a
linear function of time, so the time until which the plane separates is known exactly, and nothing can touch before it.
The time moves there, and so on.  Additive detection (Li et al. 2021, Codimensional IPC) bounds all motion by its speed;
this bounds only motion along n, so it advances at least as far, and sliding past each other takes one step.

The answer is never late: the time returned is one at which the distance was measured and is above the separation
(unless it is 0), by at most a tolerance of a millionth of the pair's size.  A pair that comes nearer than that counts
as hit; so does one that has not come apart after MAX_STEPS.
"""

from __future__ import annotations

import math

import numpy as np

from pliant.contact.compiled import cached, compiled, inlined
from pliant.contact.distances import VERTEX_TRIANGLE, closest, combine, row
from pliant.lanes.vectors import add_scaled, dot, subtract

TOLERANCE = 2e-6  # of the largest coordinate or displacement, both relative to the pair
MAX_STEPS = 256


@inlined
def _plane_holds_for(kind, y, v, n, least):
    """How long each corner of the first primitive stays further than `least` along n from each of the second."""
    until = np.inf
    first = 1 if kind == VERTEX_TRIANGLE else 2
    for i in range(first):
        for j in range(first, 4):
            rate = dot(n, subtract(v[i], v[j]))
            if rate < 0.0:
                until = min(until, (dot(n, subtract(y[i], y[j])) - least) / -rate)
    return until


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
        time += _plane_holds_for(kind, now, v, n, separation + 0.5 * tolerance)
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


@compiled
def _impacts_of_all(kind, start, end, separation, times):
    for i in range(len(start)):
        x0 = (row(start[i], 0), row(start[i], 1), row(start[i], 2), row(start[i], 3))
        x1 = (row(end[i], 0), row(end[i], 1), row(end[i], 2), row(end[i], 3))
        times[i] = impact(kind, x0, x1, separation)[0]


def impact_times(kind: int, start: np.ndarray, end: np.ndarray, separation: float = 0.0) -> np.ndarray:
    """Times (k,) of impact in 0..1, infinite where there is none, of pairs moving from start to end (k, 4, 3) [m]."""
    start, end = np.ascontiguousarray(start, dtype=float), np.ascontiguousarray(end, dtype=float)
    times = np.empty(len(start))
    cached(_impacts_of_all)(kind, start, end, float(separation), times)
    return times

"""Proofs that two moving primitives never touch (decision 0030).

All corners move straight from y0 to y1, in the same time. Along a fixed direction n, the gap of a corner of one
primitive and a corner of the other is a linear function of time. If all such gaps are positive at two times, a plane
with the normal n is between the primitives at both times, and, moving along, at all times between. A chain of
directions from the start to the end is a proof that they do not touch on the way.

Gaps are differences of the positions as they are stored, and count only beyond what arithmetic may make of them: the
proof holds in exact arithmetic.
"""

from __future__ import annotations

import math

from pliant.contact.primitives.pair import common_normal, is_inner
from pliant.elements.closest import VERTEX_TRIANGLE, closest, combine
from pliant.lanes.compiled import compiled, inlined
from pliant.lanes.vectors import add_scaled, dot, subtract

APART, NEAR, MEETS = 0, 1, 2  # never nearer than asked; nearer at the end; no proof, they may meet on the way
STEPS = 24  # directions at most
ROUNDING = 1e-14  # of the size of a pair: more than arithmetic makes of a gap
SLACK = 1e-6  # of the distance to be kept that may be lacking at the end
LEAST = 0.5  # of the distance to be kept at the end: on the way it may be less by that


@inlined
def _largest(a):
    return max(abs(a[0]), max(abs(a[1]), abs(a[2])))


@inlined
def rounding_of(kind, y0, y1):
    """[m] that the gaps of a pair may be wrong by."""
    size, first = 0.0, 1 if kind == VERTEX_TRIANGLE else 2
    for i in range(first):
        for j in range(first, 4):
            size = max(size, max(_largest(subtract(y0[i], y0[j])), _largest(subtract(y1[i], y1[j]))))
    return ROUNDING * size


@inlined
def holds_until(kind, y0, y1, t, n, least):
    """Until when from t on all gaps along n are more than `least`; t itself if they are not even then."""
    until, first = 1.0, 1 if kind == VERTEX_TRIANGLE else 2
    for i in range(first):
        for j in range(first, 4):
            start, end = dot(n, subtract(y0[i], y0[j])), dot(n, subtract(y1[i], y1[j]))
            if not start + t * (end - start) > least:
                return t
            if not end > least:
                until = min(until, (start - least) / (start - end))
    return max(until, t)


@inlined
def positions_at(y0, y1, t):
    return (
        add_scaled(y0[0], t, subtract(y1[0], y0[0])),
        add_scaled(y0[1], t, subtract(y1[1], y0[1])),
        add_scaled(y0[2], t, subtract(y1[2], y0[2])),
        add_scaled(y0[3], t, subtract(y1[3], y0[3])),
    )


@inlined
def _unit(r, d):
    return (r[0] / d, r[1] / d, r[2] / d) if d > 0.0 else (0.0, 0.0, 0.0)


@inlined
def direction(kind, y):
    """Weights of the closest points, the unit vector from the second to the first, and their distance."""
    w = closest(kind, y)
    r = combine(w, y)
    d = math.sqrt(dot(r, r))
    return w, _unit(r, d), d


@compiled
def apart_until(kind, y0, y1, least):
    """Until when they are proved to be apart, by at least `least` and rounding along each direction of the chain; with
    the weights and the direction at that time.
    """
    least += rounding_of(kind, y0, y1)
    t = 0.0
    w, n, _ = direction(kind, y0)
    for _ in range(STEPS):
        until = holds_until(kind, y0, y1, t, n, least)
        if until < 1.0:
            m, has_normal = common_normal(kind, positions_at(y0, y1, t))
            if has_normal:
                m = m if dot(m, n) >= 0.0 else (-m[0], -m[1], -m[2])
                until = max(until, holds_until(kind, y0, y1, t, m, least))
        if until >= 1.0:
            return 1.0, w, n
        if until <= t:
            return t, w, n
        t = until
        later = direction(kind, positions_at(y0, y1, t))
        if not later[2] > 0.0:
            return t, w, n
        w, n = later[0], later[1]
    return t, w, n


@compiled
def look(kind, y0, y1, kept, radius):
    """What a pair does that is to keep a distance [m], or as much of it as it has: APART, NEAR or MEETS; the distance;
    and weights and direction to push it apart with. The distance is that of surfaces which are a radius [m] in all away
    from what the corners span.
    """
    w, n, d = direction(kind, y0)
    goal = max(min(kept, d - radius), 0.0)
    enough = goal * (1.0 - SLACK)
    if enough > 2.0 * rounding_of(kind, y0, y1) and holds_until(kind, y0, y1, 0.0, n, radius + enough) >= 1.0:
        return APART, goal, w, n
    if not _moves(y0, y1):
        return APART, goal, w, n
    until, w, n = apart_until(kind, y0, y1, radius + LEAST * goal)
    if until < 1.0:
        return MEETS, goal, w, n
    w, n, d = direction(kind, y1)
    return (APART if d >= radius + enough else NEAR), goal, w, n


@compiled
def back_across(kind, y0, y1, least):
    """Weights and direction at the end that lead back to the side of a triangle, or of an edge, on which a pair was
    until it met; a direction of zeros if it ends beside it.
    """
    until, _, n = apart_until(kind, y0, y1, least)
    before, was_flat = common_normal(kind, positions_at(y0, y1, until))
    now, is_flat = common_normal(kind, y1)
    w = closest(kind, y1)
    side = 1.0 if dot(before, n) >= 0.0 else -1.0
    if not (was_flat and is_flat and is_inner(kind, w)):
        side = 0.0
    return w, (side * now[0], side * now[1], side * now[2])


@inlined
def _moves(y0, y1):
    return not (y0[0] == y1[0] and y0[1] == y1[1] and y0[2] == y1[2] and y0[3] == y1[3])

"""A quick look at candidates, eight pairs at a time in lanes, before the exact tests: most of them are apart.

Two primitives that move are apart if one direction tells them apart all the time: along a fixed direction the gap of
any corner of one and any corner of the other is a linear function of time, so it is enough to look at both ends.  Any
direction will do, so none has to be exact; the answer is safe whatever it is.  Tried are the directions in which they
are apart at the start: the normal of a triangle and the normals of its edges in its plane, or the shortest way between
two edges.

A pair that is let through may still be apart.  One that is not let through stays further apart than the separation
asked for and the tolerance of continuous.impact.  NaN is always let through.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from pliant.contact.compiled import inlined
from pliant.contact.continuous import TOLERANCE
from pliant.contact.distances import EDGE_EDGE, VERTEX_TRIANGLE
from pliant.lanes import absolute, load, make_zero, maximum, minimum, number, select, sqrt
from pliant.lanes.masks import mask_bits
from pliant.lanes.vectors import cross, dot, physics, subtract

ALL, VERTEX_TET = (
    -1,
    2,
)  # further kinds of pairs, beside VERTEX_TRIANGLE and EDGE_EDGE: all are let through; points in tets
LANES = 8
ROOM = 25 * LANES  # numbers of eight pairs: three relative corners now and later or four now, and the sum of radii
SLACK = 1e-9  # in barycentric coordinates: a point on the face between two tets is in at least one of them
zero = make_zero("double", LANES)


class Sieve(NamedTuple):
    """What is asked of pairs of boxes that meet."""

    kind: int  # VERTEX_TRIANGLE, EDGE_EDGE: not surely apart between x0 and x1; VERTEX_TET: inside at x0; ALL: nothing
    x0: np.ndarray  # (n, 3) [m]
    x1: np.ndarray  # (n, 3) [m]
    separation: float  # [m]: further apart than that is apart


def open_sieve() -> Sieve:
    """Lets everything through."""
    return Sieve(ALL, np.zeros((0, 3)), np.zeros((0, 3)), 0.0)


@physics
def _span(n, corners, later):
    """Least and largest n . y of three points at both ends."""
    s, t, u = dot(n, corners[0]), dot(n, corners[1]), dot(n, corners[2])
    a, b, c = dot(n, later[0]), dot(n, later[1]), dot(n, later[2])
    least = minimum(minimum(minimum(s, t), minimum(u, a)), minimum(b, c))
    return least, maximum(maximum(maximum(s, t), maximum(u, a)), maximum(b, c))


@physics
def _is_beyond(n, corners, later, reach):
    """Whether all three points are further than `reach` from the origin along n, on one side, at both ends."""
    least, largest = _span(n, corners, later)
    distance = reach * sqrt(dot(n, n))
    return (least > distance) | (largest < -distance)


@physics
def vertex_triangle_is_apart(corners, later, reach):
    """Corners of a triangle relative to a vertex, at both ends."""
    ab, bc, ca = (
        subtract(corners[1], corners[0]),
        subtract(corners[2], corners[1]),
        subtract(corners[0], corners[2]),
    )
    n = cross(ab, bc)
    return (
        _is_beyond(n, corners, later, reach)
        | _is_beyond(cross(n, ab), corners, later, reach)
        | _is_beyond(cross(n, bc), corners, later, reach)
        | _is_beyond(cross(n, ca), corners, later, reach)
    )


@physics
def _within(a, like):
    """a, but in 0..1."""
    return minimum(maximum(a, number(0.0, like)), number(1.0, like))


@physics
def _part(a, b):
    """a / b in 0..1; 0 where b is."""
    z = number(0.0, a)
    return _within(select(b > z, a / b, z), a)


@physics
def _between_edges(u, start, end):
    """From a point of the edge 0 u to one of the edge start end: the shortest way, but for rounding."""
    z, one = number(0.0, u[0]), number(1.0, u[0])
    v = subtract(end, start)
    uu, vv, uv, us, vs = dot(u, u), dot(v, v), dot(u, v), dot(u, start), dot(v, start)
    s = _part(us * vv - uv * vs, uu * vv - uv * uv)
    t = select(vv > z, (uv * s - vs) / vv, z)
    s = select(t < z, _part(us, uu), select(t > one, _part(us + uv, uu), s))
    t = _within(t, t)
    return (
        start[0] + t * v[0] - s * u[0],
        start[1] + t * v[1] - s * u[1],
        start[2] + t * v[2] - s * u[2],
    )


@physics
def edge_edge_is_apart(corners, later, reach):
    """Second end of an edge, and both ends of another, relative to the first end, at both ends of the way."""
    n = _between_edges(corners[0], corners[1], corners[2])
    own, own_later = dot(n, corners[0]), dot(n, later[0])
    a, b, c, d = dot(n, corners[1]), dot(n, corners[2]), dot(n, later[1]), dot(n, later[2])
    z = number(0.0, own)
    now, then = minimum(a, b) - maximum(own, z), minimum(c, d) - maximum(own_later, z)
    return minimum(now, then) > reach * sqrt(dot(n, n))


@physics
def is_in_tet(a, b, c, d):
    """Whether the origin is inside a tet of either orientation or on its faces; a flat tet has no inside."""
    z = number(0.0, a[0])
    ab, ac, ad = subtract(b, a), subtract(c, a), subtract(d, a)
    n = cross(ab, ac)
    volume, u, v, w = dot(n, ad), -dot(cross(ac, ad), a), -dot(cross(ad, ab), a), -dot(n, a)
    sign = select(volume < z, number(-1.0, z), number(1.0, z))
    volume, u, v, w = sign * volume, sign * u, sign * v, sign * w
    slack = SLACK * volume
    return (volume > z) & (u >= -slack) & (v >= -slack) & (w >= -slack) & (u + v + w <= volume + slack)


@inlined
def _write_point(room, at, x, v, origin):
    """Vertex v relative to another as three numbers of a lane."""
    for k in range(3):
        room[at + k * LANES] = x[v, k] - x[origin, k]


@inlined
def write_pair(room, lane, kind, corners_a, i, corners_b, j, x0, x1):
    """The relative corners of a pair, into a lane of `room`."""
    origin = corners_a[i, 0]
    if kind == VERTEX_TET:
        for c in range(4):
            _write_point(room, 3 * c * LANES + lane, x0, corners_b[j, c], origin)
        return
    own = 0
    if kind == EDGE_EDGE:
        own = 1
        _write_point(room, lane, x0, corners_a[i, 1], origin)
        _write_point(room, 9 * LANES + lane, x1, corners_a[i, 1], origin)
    for c in range(3 - own):
        _write_point(room, 3 * (own + c) * LANES + lane, x0, corners_b[j, c], origin)
        _write_point(room, (9 + 3 * (own + c)) * LANES + lane, x1, corners_b[j, c], origin)


@inlined
def _point_of(room, k):
    z = zero()
    return (load(room, 3 * k * LANES, z), load(room, (3 * k + 1) * LANES, z), load(room, (3 * k + 2) * LANES, z))


@inlined
def _largest(p):
    return maximum(maximum(absolute(p[0]), absolute(p[1])), absolute(p[2]))


@inlined
def let_through(room, kind, separation):
    """Which of the eight pairs in `room` pass, as bits."""
    a, b, c = _point_of(room, 0), _point_of(room, 1), _point_of(room, 2)
    d = _point_of(room, 3)
    if kind == VERTEX_TET:
        return mask_bits(is_in_tet(a, b, c, d))
    corners, later = (a, b, c), (d, _point_of(room, 4), _point_of(room, 5))
    size = maximum(maximum(_largest(a), _largest(b)), _largest(c))
    size = size + maximum(maximum(_largest(d), _largest(later[1])), _largest(later[2]))
    reach = separation + 2.0 * TOLERANCE * size
    if kind == VERTEX_TRIANGLE:
        return ~mask_bits(vertex_triangle_is_apart(corners, later, reach))
    return ~mask_bits(edge_edge_is_apart(corners, later, reach))

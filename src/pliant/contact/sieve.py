"""A quick look at candidates, one primitive with eight others in lanes, before the exact tests: most are apart.

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

from pliant.contact.compiled import uncounted
from pliant.contact.continuous import TOLERANCE
from pliant.contact.distances import EDGE_EDGE, VERTEX_TRIANGLE
from pliant.lanes import absolute, load, make_zero, maximum, minimum, narrow, number, select, widen
from pliant.lanes.masks import mask_bits
from pliant.lanes.vectors import cross, dot, physics, subtract

ALL, VERTEX_TET = (
    -1,
    2,
)  # further kinds of pairs, beside VERTEX_TRIANGLE and EDGE_EDGE: all are let through; points in tets
LANES = 8
CORNER = 7  # numbers of a corner: its vertex, where it is at the start and at the end
ROOM = 4 * CORNER * LANES  # numbers of eight primitives
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
    gap = maximum(least, -largest)  # negative, unless all are on one side
    return (gap > 0.0) & (gap * gap > reach * reach * dot(n, n))


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
def _inverse(a):
    """Roughly 1 / a; 0 where a is 0.  A division in single precision takes a quarter of the time."""
    small = narrow(a, np.float32(0.0))
    one, z = number(1.0, small), number(0.0, small)
    return widen(select(small > z, one / small, z))


@physics
def _between_edges(u, start, end):
    """From a point of the edge 0 u to one of the edge start end: nearly the shortest way."""
    z, one = number(0.0, u[0]), number(1.0, u[0])
    v = subtract(end, start)
    uu, vv, uv, us, vs = dot(u, u), dot(v, v), dot(u, v), dot(u, start), dot(v, start)
    by_uu = _inverse(uu)
    s = _within((us * vv - uv * vs) * _inverse(uu * vv - uv * uv), z)
    t = (uv * s - vs) * _inverse(vv)
    s = select(t < z, _within(us * by_uu, z), select(t > one, _within((us + uv) * by_uu, z), s))
    t = _within(t, z)
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
    gap = minimum(minimum(a, b) - maximum(own, z), minimum(c, d) - maximum(own_later, z))
    return (gap > z) & (gap * gap > reach * reach * dot(n, n))


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


@uncounted
def write_block(room, corners, block, kind, x0, x1):
    """Corners of the eight primitives of a block, into lanes: each as a number, at the start, and at the end."""
    for lane in range(LANES):
        place = min(block * LANES + lane, len(corners) - 1)  # a place without a primitive meets no box
        for c in range(corners.shape[1]):
            v, at = np.uint64(corners[place, c]), CORNER * c * LANES + lane  # unsigned: no look whether it is negative
            room[at] = v
            if kind != ALL:
                for k in range(3):
                    room[at + (1 + k) * LANES] = x0[v, k]
            if kind in (VERTEX_TRIANGLE, EDGE_EDGE):
                for k in range(3):
                    room[at + (4 + k) * LANES] = x1[v, k]


@uncounted
def without_common_corners(room, corners_a, place, sides):
    """In which of the eight primitives in `room`, of so many sides, no corner of a primitive is one too, as bits."""
    common = 0
    for p in range(corners_a.shape[1]):
        v = np.float64(corners_a[place, p])
        for q in range(sides):
            common |= mask_bits(load(room, CORNER * q * LANES, zero()) == number(v, zero()))
    return ~common


@uncounted
def _own(x, v):
    """Position of a vertex in all lanes."""
    z = zero()
    return (number(x[v, 0], z), number(x[v, 1], z), number(x[v, 2], z))


@uncounted
def _theirs(room, c, at):
    """Positions of corner c of the eight primitives, at the start (1) or the end (4)."""
    z, s = zero(), (CORNER * c + at) * LANES
    return (load(room, s, z), load(room, s + LANES, z), load(room, s + 2 * LANES, z))


@uncounted
def _largest(p):
    return maximum(maximum(absolute(p[0]), absolute(p[1])), absolute(p[2]))


@uncounted
def _reach(corners, later, separation):
    """The separation, and a little more than the tolerance of continuous.impact."""
    size = maximum(maximum(_largest(corners[0]), _largest(corners[1])), _largest(corners[2]))
    size = size + maximum(maximum(_largest(later[0]), _largest(later[1])), _largest(later[2]))
    return separation + 2.0 * TOLERANCE * size


@uncounted
def let_through(room, kind, corners_a, place, x0, x1, separation):
    """Which pairs of a primitive with the eight in `room` pass, as bits."""
    v = corners_a[place, 0]
    o = _own(x0, v)
    a, b = subtract(_theirs(room, 0, 1), o), subtract(_theirs(room, 1, 1), o)
    if kind == VERTEX_TET:
        return mask_bits(is_in_tet(a, b, subtract(_theirs(room, 2, 1), o), subtract(_theirs(room, 3, 1), o)))
    p = _own(x1, v)
    d, e = subtract(_theirs(room, 0, 4), p), subtract(_theirs(room, 1, 4), p)
    if kind == VERTEX_TRIANGLE:
        corners, later = (a, b, subtract(_theirs(room, 2, 1), o)), (d, e, subtract(_theirs(room, 2, 4), p))
        return ~mask_bits(vertex_triangle_is_apart(corners, later, _reach(corners, later, separation)))
    w = corners_a[place, 1]
    corners, later = (subtract(_own(x0, w), o), a, b), (subtract(_own(x1, w), p), d, e)
    return ~mask_bits(edge_edge_is_apart(corners, later, _reach(corners, later, separation)))

"""Conservative advancement in lanes: which pairs stay apart all the way.

time_of_impact.py has the idea, and exact times.

A direction that separates two primitives at one time does so until a gap of two of their corners, a linear function
of time, has shrunk to the reach.  There the next direction is taken, and so on, in all lanes together.  Directions and
times need not be exact: each gap is measured with the direction as it is, and times are wrong by less than the part of
the reach that is beyond the tolerance of time_of_impact.impact (culling.reach_of).  A NaN is never apart.
"""

from __future__ import annotations

import numpy as np

from pliant.lanes import maximum, minimum, narrow, number, select, sqrt, widen
from pliant.lanes.compiled import inlined
from pliant.lanes.masks import mask_bits
from pliant.lanes.vectors import add, add_scaled, cross, dot, physics, subtract

THIRD = 1.0 / 3.0
# Squares of parts of a pair's size, cubed, that arithmetic may make of a volume; and what is left of the reach then:
# (A + B)^2 <= 1.01 A^2 + 101 B^2.
ROUNDING2, WIDER2 = 101.0 * 1e-15**2, 1.01
MAX_STEPS = 3  # then the exact test is to decide


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
def between_edges(u, start, end):
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
def _from_edge(u, p):
    """From the nearest point of the edge 0 u to p, nearly."""
    return add_scaled(p, -_within(dot(u, p) * _inverse(dot(u, u)), u[0]), u)


@physics
def _nearer(a, b):
    is_first = dot(a, a) < dot(b, b)
    return (select(is_first, a[0], b[0]), select(is_first, a[1], b[1]), select(is_first, a[2], b[2]))


@physics
def from_triangle(u, v, p):
    """From the nearest point of the triangle 0 u v to p, nearly."""
    n = cross(u, v)
    nn, a, b = dot(n, n), dot(cross(p, v), n), dot(cross(u, p), n)
    z = number(0.0, nn)
    is_over = (a >= z) & (b >= z) & (a + b <= nn)
    height = dot(n, p) * _inverse(nn)
    rim = _nearer(_nearer(_from_edge(u, p), _from_edge(v, p)), _from_edge(subtract(v, u), subtract(p, u)))
    return (
        select(is_over, height * n[0], rim[0]),
        select(is_over, height * n[1], rim[1]),
        select(is_over, height * n[2], rim[2]),
    )


@physics
def at_time(a, b, t):
    """On the way from a to b."""
    return add_scaled(a, t, subtract(b, a))


@physics
def never_in_a_plane(start, end, reach, size):
    """Whether lines or planes of three vectors u, v, w stay further than `reach` apart: w leads from one to the other.

    Their distance is |u x v . w| / |u x v|.  The control points of a polynomial in Bernstein's form bound it.
    size: at least the sum of the lengths of u, v and w at both ends.  Of slivers, rounding is most of the volume.
    """
    u, v, w = start
    u1, v1, w1 = end
    c, d = cross(u, v), cross(u1, v1)
    between = add(cross(u, v1), cross(u1, v))
    z = number(0.0, w[0])
    first, last = dot(c, w), dot(d, w1)
    second, third = dot(between, w) + dot(c, w1), dot(d, w) + dot(between, w1)  # three times the control points
    least = minimum(minimum(first, last), minimum(second, third) * THIRD)
    largest = maximum(maximum(first, last), maximum(second, third) * THIRD)
    gap = maximum(least, z - largest)  # negative, unless all are on one side
    area = maximum(maximum(dot(c, c), dot(d, d)), 0.25 * dot(between, between))
    cubed = size * size * size
    return (gap > z) & (gap * gap > WIDER2 * reach * reach * area + ROUNDING2 * cubed * cubed)


@physics
def _hold(until, t, gap, later, least):
    """The earlier of `until` and the time at which a gap has shrunk to the least allowed; t if it is less at t."""
    is_open = gap + t * (later - gap) > least
    shrunk = minimum(until, (gap - least) * _inverse(gap - later))
    return select(is_open, select(later > least, until, shrunk), t)


@inlined
def lines_stay_apart(side, later_side, a, b, later_a, later_b, reach, size):
    """Whether the lines of edges do; the edges as of `edges_stay_apart`; as bits."""
    start, end = (side, subtract(b, a), a), (later_side, subtract(later_b, later_a), later_a)
    return mask_bits(never_in_a_plane(start, end, reach, size))


@inlined
def edges_stay_apart(side, later_side, a, b, later_a, later_b, reach, asked):
    """One edge as a vector, the ends a and b of others seen from its first end, at both ends of the way; as bits."""
    z = number(0.0, reach)
    t, one = z, number(1.0, z)
    apart, open_lanes = 0, asked
    for _ in range(MAX_STEPS):
        if not open_lanes:
            break
        u, start, end = at_time(side, later_side, t), at_time(a, later_a, t), at_time(b, later_b, t)
        n = between_edges(u, start, end)
        least = reach * sqrt(dot(n, n))
        own, own_later = dot(n, side), dot(n, later_side)
        p, q, p_later, q_later = dot(n, a), dot(n, b), dot(n, later_a), dot(n, later_b)
        until = _hold(one, t, p, p_later, least)
        until = _hold(until, t, q, q_later, least)
        until = _hold(until, t, p - own, p_later - own_later, least)
        until = _hold(until, t, q - own, q_later - own_later, least)
        apart |= mask_bits(until >= one) & open_lanes
        open_lanes &= mask_bits(until > t) & ~apart
        t = maximum(until, t)
    return apart


@inlined
def points_stay_off_planes(sides, later_sides, point, later, reach, size):
    """Whether points stay apart from the planes of triangles; both as of `points_stay_apart`; as bits."""
    return mask_bits(never_in_a_plane((*sides, point), (*later_sides, later), reach, size))


@inlined
def points_stay_apart(sides, later_sides, point, later, reach, asked):
    """One triangle by its two sides, points seen from its first corner, at both ends of the way; as bits."""
    z = number(0.0, reach)
    t, one = z, number(1.0, z)
    apart, open_lanes = 0, asked
    for _ in range(MAX_STEPS):
        if not open_lanes:
            break
        u, v = at_time(sides[0], later_sides[0], t), at_time(sides[1], later_sides[1], t)
        n = from_triangle(u, v, at_time(point, later, t))
        least = reach * sqrt(dot(n, n))
        height, height_later = dot(n, point), dot(n, later)
        until = _hold(one, t, height, height_later, least)
        until = _hold(until, t, height - dot(n, sides[0]), height_later - dot(n, later_sides[0]), least)
        until = _hold(until, t, height - dot(n, sides[1]), height_later - dot(n, later_sides[1]), least)
        apart |= mask_bits(until >= one) & open_lanes
        open_lanes &= mask_bits(until > t) & ~apart
        t = maximum(until, t)
    return apart

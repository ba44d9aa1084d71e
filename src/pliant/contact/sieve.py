"""A quick look at candidates, one primitive with eight others in lanes, before the exact tests: most are apart.

The primitives of a block are written into lanes once (`write_block`), eight by eight, and then meet one other after
another.
Those that stay apart all the way (advance.py), and points that are not in a tet, are left out.

A pair that is let through may still be apart.  One that is not let through stays further apart than the separation
asked for and the tolerance of continuous.impact.  NaN is always let through.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from pliant.contact.advance import edges_stay_apart, points_stay_apart
from pliant.contact.bvh import FAN
from pliant.contact.compiled import inlined
from pliant.contact.continuous import TOLERANCE
from pliant.contact.distances import EDGE_EDGE, VERTEX_TRIANGLE, row
from pliant.lanes import absolute, load, make_zero, number
from pliant.lanes.masks import mask_bits
from pliant.lanes.vectors import cross, dot, physics, subtract

# Further kinds of pairs, beside VERTEX_TRIANGLE and EDGE_EDGE: all are let through; points in tets.
ALL, VERTEX_TET = -1, 2
LANES = 8
CORNER = 7  # numbers of a corner: its vertex, where it is at the start and at the end
EIGHT = 4 * CORNER * LANES  # numbers of eight primitives
ROOM = FAN // LANES * EIGHT  # numbers of a block
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
def is_in_tet(sides, point):
    """Whether points, seen from the first corner of a tet, are inside it or on its faces; a flat tet has no inside.

    sides: the three edges at that corner; the tet may have either orientation.
    """
    ab, ac, ad = sides
    n = cross(ab, ac)
    volume, u, v, w = dot(n, ad), dot(cross(ac, ad), point), dot(cross(ad, ab), point), dot(n, point)
    sign = -1.0 if volume < 0.0 else 1.0
    volume, u, v, w = sign * volume, sign * u, sign * v, sign * w
    slack = SLACK * volume
    inside = (u >= -slack) & (v >= -slack) & (w >= -slack) & (u + v + w <= volume + slack)
    return inside & (number(volume, point[0]) > 0.0)


@inlined
def write_block(room, corners, block, kind, x0, x1):
    """Corners of the primitives of a block, into lanes: each as a number, at the start, and at the end."""
    for k in range(FAN):
        place = min(block * FAN + k, len(corners) - 1)  # a place without a primitive meets no box
        for c in range(corners.shape[1]):
            v = np.uint64(corners[place, c])  # unsigned: no look whether it is negative
            at = k // LANES * EIGHT + CORNER * c * LANES + k % LANES
            room[at] = v
            if kind != ALL:
                for axis in range(3):
                    room[at + (1 + axis) * LANES] = x0[v, axis]
            if kind in (VERTEX_TRIANGLE, EDGE_EDGE):
                for axis in range(3):
                    room[at + (4 + axis) * LANES] = x1[v, axis]


@inlined
def without_common_corners(room, eight, sides, corners, place):
    """In which of the eight primitives from `eight` in `room`, of so many sides, no corner of another one is one too,
    as bits.
    """
    common = 0
    for q in range(corners.shape[1]):
        v = number(np.float64(corners[place, q]), zero())
        for p in range(sides):
            common |= mask_bits(load(room, eight + CORNER * p * LANES, zero()) == v)
    return ~common


@inlined
def _seen_from(o, room, eight, c, at):
    """Positions of corner c of the eight primitives, at the start (1) or the end (4), seen from o."""
    z, s = zero(), eight + (CORNER * c + at) * LANES
    return (load(room, s, z) - o[0], load(room, s + LANES, z) - o[1], load(room, s + 2 * LANES, z) - o[2])


@inlined
def _size(p):
    """At least the largest coordinate; NaN if any is."""
    return absolute(p[0]) + absolute(p[1]) + absolute(p[2])


@inlined
def reach_of(size, separation):
    """The separation, and twice the tolerance of continuous.impact for pairs of a size."""
    return separation + 2.0 * TOLERANCE * size


@inlined
def _in_lanes(a):
    z = zero()
    return (number(a[0], z), number(a[1], z), number(a[2], z))


@inlined
def let_through(room, eight, asked, kind, corners, place, x0, x1, separation):
    """Which pairs of those of the eight from `eight` in `room` that are asked for, as bits, with another primitive
    pass.
    """
    v, w = corners[place, 0], corners[place, 1]
    a, d = row(x0, v), row(x1, v)
    ab, point = subtract(row(x0, w), a), _seen_from(a, room, eight, 0, 1)
    if kind == VERTEX_TET:
        ac, ad = subtract(row(x0, corners[place, 2]), a), subtract(row(x0, corners[place, 3]), a)
        return asked & mask_bits(is_in_tet((ab, ac, ad), point))
    de, later = subtract(row(x1, w), d), _seen_from(d, room, eight, 0, 4)
    size = _size(point) + _size(later) + (_size(ab) + _size(de))
    side, later_side = _in_lanes(ab), _in_lanes(de)
    if kind == VERTEX_TRIANGLE:
        ac, df = subtract(row(x0, corners[place, 2]), a), subtract(row(x1, corners[place, 2]), d)
        reach = reach_of(size + (_size(ac) + _size(df)), separation)
        return asked & ~points_stay_apart(
            (side, _in_lanes(ac)), (later_side, _in_lanes(df)), point, later, reach, asked
        )
    end, later_end = _seen_from(a, room, eight, 1, 1), _seen_from(d, room, eight, 1, 4)
    reach = reach_of(size + _size(end) + _size(later_end), separation)
    return asked & ~edges_stay_apart(side, later_side, point, end, later, later_end, reach, asked)

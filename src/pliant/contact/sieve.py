"""A quick look at candidates, eight pairs in lanes, before the exact tests: most are apart.

Pairs whose boxes meet wait in a queue until there are eight (overlaps.py).  Points that are not in a tet are left out,
and pairs that stay apart all the way (advance.py): at a first look those whose lines or planes do, which are nine in
ten, and at a second one, again eight at a time, others.

A pair that is let through may still be apart.  One that is not let through stays further apart than the separation
asked for and the tolerance of continuous.impact.  NaN is always let through.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from pliant.contact.advance import edges_stay_apart, lines_stay_apart, points_stay_apart, points_stay_off_planes
from pliant.contact.bvh import FAN
from pliant.contact.compiled import at, inlined, put
from pliant.contact.continuous import TOLERANCE
from pliant.contact.distances import EDGE_EDGE, VERTEX_TRIANGLE
from pliant.contact.motion import Motion
from pliant.lanes import absolute, make_zero, number, select
from pliant.lanes.masks import mask_bits
from pliant.lanes.rows import gather4
from pliant.lanes.vectors import cross, dot, physics, subtract

# Further kinds of pairs, beside VERTEX_TRIANGLE and EDGE_EDGE: all are let through; points in tets.
ALL, VERTEX_TET = -1, 2
LANES = 8
CORNERS = 8  # of two primitives, at most: where a pair's first ends, and its second begins, is in the middle
SLACK = 1e-9  # in barycentric coordinates: a point on the face between two tets is in at least one of them
zero = make_zero("double", LANES)


class Sieve(NamedTuple):
    """What is asked of pairs of boxes that meet."""

    kind: int  # VERTEX_TRIANGLE, EDGE_EDGE: not surely apart on the way; VERTEX_TET: inside at its start; ALL: nothing
    motion: Motion
    separation: float  # [m]: further apart than that is apart


def open_sieve() -> Sieve:
    """Lets everything through."""
    nothing, no_boxes = np.zeros(0), np.zeros(0, np.float32)
    return Sieve(ALL, Motion(nothing, nothing, no_boxes, no_boxes, np.zeros(3)), 0.0)


@physics
def is_in_tet(sides, point):
    """Whether points, seen from the first corner of tets, are inside them or on their faces; a flat tet has no inside.

    sides: the three edges at that corner; the tets may have either orientation.
    """
    ab, ac, ad = sides
    n = cross(ab, ac)
    volume, u, v, w = dot(n, ad), dot(cross(ac, ad), point), dot(cross(ad, ab), point), dot(n, point)
    z = number(0.0, volume)
    sign = select(volume < z, number(-1.0, z), number(1.0, z))
    volume, u, v, w = sign * volume, sign * u, sign * v, sign * w
    slack = SLACK * volume
    inside = (u >= -slack) & (v >= -slack) & (w >= -slack) & (u + v + w <= volume + slack)
    return inside & (volume > z)


@inlined
def name_corners(kind, starts, ours, theirs, first, our_rows, their_rows):
    """Where the rows of all corners of eight pairs begin, corner by corner; the pairs are those from `first` on in the
    queue, by where their first corners are in the rows of two trees.
    """
    for c in range(2 if kind == EDGE_EDGE else 1):
        name_corner(starts, c, ours, first, our_rows, c * FAN)
    for c in range(2 if kind == EDGE_EDGE else (3 if kind == VERTEX_TRIANGLE else 4)):
        name_corner(starts, CORNERS // 2 + c, theirs, first, their_rows, c * FAN)


@inlined
def name_corner(starts, corner, queue, first, rows, further):
    for lane in range(LANES):
        put(starts, corner * LANES + lane, at(rows, at(queue, first + lane) + further))


@inlined
def _corner(x, starts, c):
    p = gather4(x, starts, c * LANES, zero())
    return (p[0], p[1], p[2])


@inlined
def _size(p):
    """At least the largest coordinate; NaN if any is."""
    return absolute(p[0]) + absolute(p[1]) + absolute(p[2])


@inlined
def reach_of(size, separation):
    """The separation, and twice the tolerance of continuous.impact for pairs of a size."""
    return separation + 2.0 * TOLERANCE * size


@inlined
def _ways(starts, sieve):
    """How second primitives move, the first side of each as a vector, and first ones, seen from its first corner; each
    at both ends of the way.
    """
    x0, x1, there = sieve.motion.start, sieve.motion.end, CORNERS // 2
    a, d = _corner(x0, starts, there), _corner(x1, starts, there)
    ab, de = subtract(_corner(x0, starts, there + 1), a), subtract(_corner(x1, starts, there + 1), d)
    point, later = subtract(_corner(x0, starts, 0), a), subtract(_corner(x1, starts, 0), d)
    other = 1 if sieve.kind == EDGE_EDGE else there + 2  # corner that is left: of the first edge, or of the triangle
    last, later_last = subtract(_corner(x0, starts, other), a), subtract(_corner(x1, starts, other), d)
    size = _size(point) + _size(later) + (_size(ab) + _size(de)) + (_size(last) + _size(later_last))
    return ab, de, point, later, last, later_last, reach_of(size, sieve.separation)


@inlined
def look_first(starts, asked, sieve):
    """Which of the eight pairs with corners at `starts` pass a first look, of those that are asked for; as bits.

    Points in tets need no other.
    """
    if sieve.kind == VERTEX_TET:
        x, there = sieve.motion.start, CORNERS // 2
        a = _corner(x, starts, there)
        sides = (
            subtract(_corner(x, starts, there + 1), a),
            subtract(_corner(x, starts, there + 2), a),
            subtract(_corner(x, starts, there + 3), a),
        )
        return asked & mask_bits(is_in_tet(sides, subtract(_corner(x, starts, 0), a)))
    ab, de, point, later, last, later_last, reach = _ways(starts, sieve)
    if sieve.kind == VERTEX_TRIANGLE:
        return asked & ~points_stay_off_planes((ab, last), (de, later_last), point, later, reach)
    return asked & ~lines_stay_apart(ab, de, point, last, later, later_last, reach)


@inlined
def look_again(starts, asked, sieve):
    """Which of eight moving pairs that have passed the first look pass a second one, that takes longer; as bits."""
    ab, de, point, later, last, later_last, reach = _ways(starts, sieve)
    if sieve.kind == VERTEX_TRIANGLE:
        return asked & ~points_stay_apart((ab, last), (de, later_last), point, later, reach, asked)
    return asked & ~edges_stay_apart(ab, de, point, last, later, later_last, reach, asked)

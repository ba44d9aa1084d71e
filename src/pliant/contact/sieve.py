"""A quick look at candidates, eight pairs in lanes, before the exact tests: most are apart.

Pairs whose boxes meet wait in a queue until there are eight (overlaps.py).  Those that stay apart all the way
(advance.py), and points that are not in a tet, are left out.

A pair that is let through may still be apart.  One that is not let through stays further apart than the separation
asked for and the tolerance of continuous.impact.  NaN is always let through.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from pliant.contact.advance import edges_stay_apart, points_stay_apart
from pliant.contact.compiled import cached, compiled, inlined
from pliant.contact.continuous import TOLERANCE
from pliant.contact.distances import VERTEX_TRIANGLE
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

    kind: int  # VERTEX_TRIANGLE, EDGE_EDGE: not surely apart between x0 and x1; VERTEX_TET: inside at x0; ALL: nothing
    x0: np.ndarray  # (n, 4) positions [m] and nothing
    x1: np.ndarray  # (n, 4) [m]
    separation: float  # [m]: further apart than that is apart


def open_sieve() -> Sieve:
    """Lets everything through."""
    return Sieve(ALL, np.zeros((0, 4)), np.zeros((0, 4)), 0.0)


def padded(x: np.ndarray) -> np.ndarray:
    """Positions (n, 3) as rows of four, which lanes read as a whole."""
    rows = np.empty((len(x), 4))
    cached(pad)(x, rows)
    return rows


@compiled
def pad(x, rows):
    for i in range(len(x)):
        rows[i, 0], rows[i, 1], rows[i, 2], rows[i, 3] = x[i, 0], x[i, 1], x[i, 2], 0.0


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
def name_corners(starts, queue, corners_a, corners_b):
    """Where the rows of all corners of the eight pairs in the queue begin, corner by corner."""
    for lane in range(LANES):
        a, b = queue[lane, 0], queue[lane, 1]
        for c in range(corners_a.shape[1]):
            starts[c * LANES + lane] = 4 * corners_a[a, c]
        for c in range(corners_b.shape[1]):
            starts[(CORNERS // 2 + c) * LANES + lane] = 4 * corners_b[b, c]


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
def let_through(starts, asked, sieve):
    """Which of the eight pairs with corners at `starts` pass, of those that are asked for; as bits."""
    kind, x0, x1, separation = sieve.kind, sieve.x0, sieve.x1, sieve.separation
    there = CORNERS // 2
    a = _corner(x0, starts, there)
    ab, point = subtract(_corner(x0, starts, there + 1), a), subtract(_corner(x0, starts, 0), a)
    if kind == VERTEX_TET:
        ac, ad = subtract(_corner(x0, starts, there + 2), a), subtract(_corner(x0, starts, there + 3), a)
        return asked & mask_bits(is_in_tet((ab, ac, ad), point))
    d = _corner(x1, starts, there)
    de, later = subtract(_corner(x1, starts, there + 1), d), subtract(_corner(x1, starts, 0), d)
    size = _size(point) + _size(later) + (_size(ab) + _size(de))
    if kind == VERTEX_TRIANGLE:
        ac, df = subtract(_corner(x0, starts, there + 2), a), subtract(_corner(x1, starts, there + 2), d)
        reach = reach_of(size + (_size(ac) + _size(df)), separation)
        return asked & ~points_stay_apart((ab, ac), (de, df), point, later, reach, asked)
    end, later_end = subtract(_corner(x0, starts, 1), a), subtract(_corner(x1, starts, 1), d)
    reach = reach_of(size + _size(end) + _size(later_end), separation)
    return asked & ~edges_stay_apart(ab, de, point, end, later, later_end, reach, asked)

"""Culling of candidates for continuous collision detection, eight pairs in lanes, before the exact tests.

Pairs whose boxes meet wait in a queue until there are eight (overlaps.py).  Points that are not in a tet are left out,
and pairs that stay apart all the way (conservative_advancement.py): the coarse cull drops those whose lines or planes
do, nineteen of twenty in a pile, and the fine one, again eight at a time, others.

A pair that is let through may still be apart.  One that is not let through stays further apart than the separation
asked for and the tolerance of time_of_impact.impact.  NaN is always let through.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from pliant.contact.primitives.conservative_advancement import (
    edges_stay_apart,
    lines_stay_apart,
    points_stay_apart,
    points_stay_off_planes,
)
from pliant.contact.primitives.time_of_impact import TOLERANCE
from pliant.contact.search.bvh import FAN
from pliant.contact.search.motion import Motion
from pliant.elements.closest import EDGE_EDGE, VERTEX_TET, VERTEX_TRIANGLE
from pliant.lanes import absolute, make_zero, number, select
from pliant.lanes.compiled import inlined
from pliant.lanes.masks import mask_bits
from pliant.lanes.rows import gather4_of
from pliant.lanes.vectors import cross, dot, physics, subtract

ALL = -1  # kinds of pairs are not asked for: all are let through
LANES = 8
SLACK = 1e-9  # in barycentric coordinates: a point on the face between two tets is in at least one of them
zero = make_zero("double", LANES)


class CcdCulling(NamedTuple):
    """What is asked of pairs of boxes that meet."""

    kind: int  # VERTEX_TRIANGLE, EDGE_EDGE: not surely apart on the way; VERTEX_TET: inside at its start; ALL: nothing
    motion: Motion
    separation: float  # [m]: further apart than that is apart


class Pack(NamedTuple):
    """Eight pairs of a queue, by where in the rows of two trees their corners begin."""

    first: int  # place in the queue of the first of them
    ours: np.ndarray  # the queue: of first primitives
    theirs: np.ndarray  # and of second ones
    our_rows: np.ndarray  # Tree.rows of the first tree
    their_rows: np.ndarray  # and of the second


def no_culling() -> CcdCulling:
    """Lets everything through."""
    nothing, no_boxes = np.zeros(0), np.zeros(0, np.float32)
    return CcdCulling(ALL, Motion(nothing, nothing, *4 * (no_boxes,), np.zeros(3)), 0.0)


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
def _corner(x, pack, is_second, c):
    """Corner c of first or second primitives; x: starts or ends of a motion."""
    if is_second:
        p = gather4_of(x, pack.their_rows, pack.theirs, pack.first, c * FAN, zero())
    else:
        p = gather4_of(x, pack.our_rows, pack.ours, pack.first, c * FAN, zero())
    return (p[0], p[1], p[2])


@inlined
def _size(p):
    """At least the largest coordinate; NaN if any is."""
    return absolute(p[0]) + absolute(p[1]) + absolute(p[2])


@inlined
def reach_of(size, separation):
    """The separation, and twice the tolerance of time_of_impact.impact for pairs of a size."""
    return separation + 2.0 * TOLERANCE * size


@inlined
def _ways(pack, culling):
    """How second primitives move, the first side of each as a vector, and first ones, seen from its first corner; each
    at both ends of the way; and the sum of all these lengths, or more.
    """
    x0, x1, is_edge = culling.motion.start, culling.motion.end, culling.kind == EDGE_EDGE
    a, d = _corner(x0, pack, True, 0), _corner(x1, pack, True, 0)
    ab, de = subtract(_corner(x0, pack, True, 1), a), subtract(_corner(x1, pack, True, 1), d)
    point, later = subtract(_corner(x0, pack, False, 0), a), subtract(_corner(x1, pack, False, 0), d)
    if is_edge:  # the corner that is left: of the first edge, or of the triangle
        last, later_last = _corner(x0, pack, False, 1), _corner(x1, pack, False, 1)
    else:
        last, later_last = _corner(x0, pack, True, 2), _corner(x1, pack, True, 2)
    last, later_last = subtract(last, a), subtract(later_last, d)
    size = _size(point) + _size(later) + (_size(ab) + _size(de)) + (_size(last) + _size(later_last))
    return ab, de, point, later, last, later_last, size


@inlined
def coarse_cull(pack, asked, culling):
    """Which pairs of a pack pass the coarse cull, of those asked for; as bits.  Points in tets need no other."""
    if culling.kind == VERTEX_TET:
        x = culling.motion.start
        a = _corner(x, pack, True, 0)
        sides = (
            subtract(_corner(x, pack, True, 1), a),
            subtract(_corner(x, pack, True, 2), a),
            subtract(_corner(x, pack, True, 3), a),
        )
        return asked & mask_bits(is_in_tet(sides, subtract(_corner(x, pack, False, 0), a)))
    ab, de, point, later, last, later_last, size = _ways(pack, culling)
    reach = reach_of(size, culling.separation)
    if culling.kind == VERTEX_TRIANGLE:
        return asked & ~points_stay_off_planes((ab, last), (de, later_last), point, later, reach, size)
    return asked & ~lines_stay_apart(ab, de, point, last, later, later_last, reach, size)


@inlined
def fine_cull(pack, asked, culling):
    """Which moving pairs that have passed the coarse cull pass the fine one, which takes longer; as bits."""
    ab, de, point, later, last, later_last, size = _ways(pack, culling)
    reach = reach_of(size, culling.separation)
    if culling.kind == VERTEX_TRIANGLE:
        return asked & ~points_stay_apart((ab, last), (de, later_last), point, later, reach, asked)
    return asked & ~edges_stay_apart(ab, de, point, last, later, later_last, reach, asked)

"""Along which axis two boxes overlap least, for as many pairs side by side as a register has lanes.

All fifteen axes follow from the nine cosines R between the directions of both: along u_j of one box the other reaches
by sum_i h_i |R_ij|, and along u_i x u_j, of length sqrt(1 - R_ij^2), both reach by sums of two.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from pliant.lanes.compiled import compiled, inlined
from pliant.lanes.host import default_width
from pliant.lanes.math import absolute, maximum, number, select, sqrt
from pliant.lanes.memory import load
from pliant.lanes.rows import gather4, gather4_beyond, store4
from pliant.lanes.types import make_zero
from pliant.lanes.vectors import cross, dot, subtract

WIDTH = default_width("double")
zero = make_zero("double", WIDTH)

BOX = 16  # numbers of a box: its three directions, each with half its length [m], and its middle [m]
EDGES_AFTER_FACES = 0.005  # of the margin: how much better an axis of two edges must be than that of a face
PARALLEL = 1e-6  # squared sine between edges that have no axis
ROUNDING = 1e-12  # [m] by which an axis must be better than one before


class BoxPairs(NamedTuple):
    """Room for pairs of boxes, in whole packs."""

    boxes: np.ndarray  # (bodies, BOX)
    first: np.ndarray  # (k,) uint32 where the numbers of the first box of each pair start
    second: np.ndarray  # (k,) uint32 and of the second
    margins: np.ndarray  # (k,) [m]
    axes: np.ndarray  # (k, 4) unit axis from the second to the first, and by how much they overlap along it [m]


def pairs_of_boxes(bodies: int, most: int) -> BoxPairs:
    """For so many pairs at most."""
    k = -(-most // WIDTH) * WIDTH
    return BoxPairs(
        np.empty((bodies, BOX)), np.zeros(k, np.uint32), np.zeros(k, np.uint32), np.zeros(k), np.empty((k, 4))
    )


@compiled
def write_box_axes(count, pairs):
    """Those of the first `count` pairs."""
    for pack in range((count + WIDTH - 1) // WIDTH):
        write_pack(np.int64(pack) * WIDTH, pairs)


@inlined
def box_of(boxes, starts, at):
    """Directions, halves and middle."""
    z = zero()
    x0, x1, x2, p = gather4(boxes, starts, at, z)
    y0, y1, y2, q = gather4_beyond(boxes, starts, at, 4, z)
    z0, z1, z2, r = gather4_beyond(boxes, starts, at, 8, z)
    m0, m1, m2, _ = gather4_beyond(boxes, starts, at, 12, z)
    return ((x0, x1, x2), (y0, y1, y2), (z0, z1, z2)), (p, q, r), (m0, m1, m2)


@inlined
def write_pack(at, pairs):
    A, p, middle = box_of(pairs.boxes, pairs.first, at)
    B, q, other = box_of(pairs.boxes, pairs.second, at)
    d, by = subtract(middle, other), EDGES_AFTER_FACES * load(pairs.margins, at, zero())
    s, t = (dot(d, A[0]), dot(d, A[1]), dot(d, A[2])), (dot(d, B[0]), dot(d, B[1]), dot(d, B[2]))
    R0 = (dot(A[0], B[0]), dot(A[0], B[1]), dot(A[0], B[2]))
    R1 = (dot(A[1], B[0]), dot(A[1], B[1]), dot(A[1], B[2]))
    R2 = (dot(A[2], B[0]), dot(A[2], B[1]), dot(A[2], B[2]))
    best = (number(1e300, zero()), B[0])
    best = with_face(best, q[0], t[0], B[0], p, (R0[0], R1[0], R2[0]))
    best = with_face(best, q[1], t[1], B[1], p, (R0[1], R1[1], R2[1]))
    best = with_face(best, q[2], t[2], B[2], p, (R0[2], R1[2], R2[2]))
    best = with_face(best, p[0], s[0], A[0], q, R0)
    best = with_face(best, p[1], s[1], A[1], q, R1)
    best = with_face(best, p[2], s[2], A[2], q, R2)
    best = with_edges(best, A[0], R0, (R1, R2), (p[1], p[2]), B, q, d, by)
    best = with_edges(best, A[1], R1, (R2, R0), (p[2], p[0]), B, q, d, by)
    least, n = with_edges(best, A[2], R2, (R0, R1), (p[0], p[1]), B, q, d, by)
    size = sqrt(dot(n, n))
    store4(pairs.axes, at * 4, 4, n[0] / size, n[1] / size, n[2] / size, least)


@inlined
def with_face(best, half, along, n, halves, cosines):
    """The best axis, with the normal n of a face of one box, half as wide, along which the first is so far from the
    second [m]; halves and cosines of the other box.
    """
    least, axis = best
    reach = half + halves[0] * absolute(cosines[0]) + halves[1] * absolute(cosines[1])
    overlap = reach + halves[2] * absolute(cosines[2]) - absolute(along)
    return chosen(overlap < least - ROUNDING, overlap, along, n, least, axis)


@inlined
def chosen(is_better, overlap, along, n, least, axis):
    """The axis n, from the second box to the first, where it is better."""
    turned = select(along > zero(), number(1.0, zero()), number(-1.0, zero()))
    n0, n1 = select(is_better, turned * n[0], axis[0]), select(is_better, turned * n[1], axis[1])
    return select(is_better, overlap, least), (n0, n1, select(is_better, turned * n[2], axis[2]))


@inlined
def with_edges(best, n, own, others, p, B, q, d, by):
    """The best axis, with those of one direction n of the first box and all three of the second; own: their cosines,
    and others and p those and the halves of the first box's other two directions, in cyclic order.
    """
    one, two = others
    reach = p[0] * absolute(two[0]) + p[1] * absolute(one[0]) + q[1] * absolute(own[2]) + q[2] * absolute(own[1])
    best = with_edge(best, cross(n, B[0]), d, reach, by)
    reach = p[0] * absolute(two[1]) + p[1] * absolute(one[1]) + q[2] * absolute(own[0]) + q[0] * absolute(own[2])
    best = with_edge(best, cross(n, B[1]), d, reach, by)
    reach = p[0] * absolute(two[2]) + p[1] * absolute(one[2]) + q[0] * absolute(own[1]) + q[1] * absolute(own[0])
    return with_edge(best, cross(n, B[2]), d, reach, by)


@inlined
def with_edge(best, n, d, reach, by):
    """The best axis, with the product n of two directions, along which both boxes reach so far in all, times its
    length; d [m] from the second to the first.
    """
    (least, axis), along, square = best, dot(d, n), dot(n, n)
    size = sqrt(maximum(square, number(PARALLEL, zero())))
    overlap = (reach - absolute(along)) / size
    is_better = (overlap < least - by) & (square >= number(PARALLEL, zero()))
    return chosen(is_better, overlap, along, n, least, axis)

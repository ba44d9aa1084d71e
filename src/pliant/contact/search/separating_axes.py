"""Along which axis two convex bodies overlap least, among normals of faces and cross products of edges.

Boxes have three directions each, so that all fifteen axes follow from the nine cosines R between them: along the axis
u_j of one box reaches the other by sum_i h_i |R_ij|, and along u_i x u_j, of length sqrt(1 - R_ij^2), by sums of two.
"""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np

from pliant.contact.search.convex_bodies import ConvexBodies
from pliant.elements.closest import row
from pliant.lanes.compiled import compiled, inlined
from pliant.lanes.vectors import cross, dot, subtract

EDGES_AFTER_FACES = 0.005  # of the margin: how much better an axis of two edges must be than that of a face
PARALLEL = 1e-6  # squared sine between edges that have no axis
ROUNDING = 1e-12  # [m] by which an axis must be better than one before


class Axes(NamedTuple):
    """Axes of separation where the step starts."""

    normals: np.ndarray  # (p, 3) unit normals of `planes`
    heights: np.ndarray  # (p,) [m] of the planes along them
    along: np.ndarray  # (d, 3) [m] `directions`, of boxes as unit vectors
    halves: np.ndarray  # (d,) [m] half the length of each
    corners: np.ndarray  # (m, 3) [m] where `vertices` are
    middles: np.ndarray  # (bodies, 3) [m] of their corners


def axes_for(convex: ConvexBodies) -> Axes:
    """Room for them."""
    p, d = len(convex.planes), len(convex.directions)
    corners, middles = np.empty((len(convex.vertices), 3)), np.empty((len(convex.width), 3))
    return Axes(np.empty((p, 3)), np.empty(p), np.empty((d, 3)), np.empty(d), corners, middles)


@inlined
def unit(v):
    size = math.sqrt(dot(v, v))
    return (v[0] / size, v[1] / size, v[2] / size)


@inlined
def minus(v):
    return (-v[0], -v[1], -v[2])


@compiled
def write_axes(convex, x, axes):
    """At positions x (n, 3) [m]."""
    for k in range(len(convex.vertices)):
        for axis in range(3):
            axes.corners[k, axis] = x[convex.vertices[k], axis]
    for b in convex.own:
        write_middle(convex, b, axes)
        if not convex.is_box[b]:
            write_normals(convex, b, x, axes)
        for e in range(convex.direction_start[b], convex.direction_start[b + 1]):
            along = subtract(row(x, convex.directions[e, 1]), row(x, convex.directions[e, 0]))
            axes.halves[e] = 0.5 * dot(along, along) ** 0.5
            axes.along[e, 0], axes.along[e, 1], axes.along[e, 2] = unit(along) if convex.is_box[b] else along


@inlined
def write_middle(convex, b, axes):
    first, last = convex.start[b], convex.start[b + 1]
    for axis in range(3):
        total = 0.0
        for k in range(first, last):
            total += axes.corners[k, axis]
        axes.middles[b, axis] = total / max(last - first, 1)


@inlined
def write_normals(convex, b, x, axes):
    for f in range(convex.plane_start[b], convex.plane_start[b + 1]):
        corner = row(x, convex.planes[f, 0])
        n = unit(cross(subtract(row(x, convex.planes[f, 1]), corner), subtract(row(x, convex.planes[f, 2]), corner)))
        axes.normals[f, 0], axes.normals[f, 1], axes.normals[f, 2] = n
        axes.heights[f] = dot(corner, n)


@inlined
def extent(convex, axes, body, n):
    """From where to where a body reaches along n from the origin [m], where the step starts."""
    if convex.is_box[body]:
        first, middle, half = convex.direction_start[body], dot(row(axes.middles, body), n), 0.0
        for k in range(first, first + 3):
            half += axes.halves[k] * abs(dot(row(axes.along, k), n))
        return middle - half, middle + half
    nearest, furthest = np.inf, -np.inf
    for k in range(convex.start[body], convex.start[body + 1]):
        along = dot(row(axes.corners, k), n)
        nearest, furthest = min(nearest, along), max(furthest, along)
    return nearest, furthest


@inlined
def separating_axis(convex, axes, a, b, margin, far):
    """By how much the bodies overlap along the axis where they do so least [m], and it: from b to a; any axis along
    which they are further apart than `far` [m].
    """
    if convex.is_box[a] and convex.is_box[b]:
        return axis_of_boxes(convex, axes, a, b, margin, far)
    return axis_of_meshes(convex, axes, a, b, margin, far)


@inlined
def three_of(values, first):
    return values[first], values[first + 1], values[first + 2]


@inlined
def axis_of_boxes(convex, axes, a, b, margin, far):
    i, j = convex.direction_start[a], convex.direction_start[b]
    A = (row(axes.along, i), row(axes.along, i + 1), row(axes.along, i + 2))
    B = (row(axes.along, j), row(axes.along, j + 1), row(axes.along, j + 2))
    p, q = three_of(axes.halves, i), three_of(axes.halves, j)
    d = subtract(row(axes.middles, a), row(axes.middles, b))
    s, t = (dot(d, A[0]), dot(d, A[1]), dot(d, A[2])), (dot(d, B[0]), dot(d, B[1]), dot(d, B[2]))
    R = (
        (dot(A[0], B[0]), dot(A[0], B[1]), dot(A[0], B[2])),
        (dot(A[1], B[0]), dot(A[1], B[1]), dot(A[1], B[2])),
        (dot(A[2], B[0]), dot(A[2], B[1]), dot(A[2], B[2])),
    )
    least, axis = np.inf, (0.0, 0.0, 1.0)
    for k in range(3):
        reach = p[0] * abs(R[0][k]) + p[1] * abs(R[1][k]) + p[2] * abs(R[2][k])
        least, axis = better(least, axis, q[k] + reach - abs(t[k]), t[k], B[k], ROUNDING)
    for k in range(3):
        reach = q[0] * abs(R[k][0]) + q[1] * abs(R[k][1]) + q[2] * abs(R[k][2])
        least, axis = better(least, axis, p[k] + reach - abs(s[k]), s[k], A[k], ROUNDING)
    if least < -far:
        return least, axis
    by = EDGES_AFTER_FACES * margin
    least, axis = crossed_with(least, axis, A[0], R[0], (R[1], R[2]), (s[1], s[2]), (p[1], p[2]), B, q, d, by)
    least, axis = crossed_with(least, axis, A[1], R[1], (R[2], R[0]), (s[2], s[0]), (p[2], p[0]), B, q, d, by)
    return crossed_with(least, axis, A[2], R[2], (R[0], R[1]), (s[0], s[1]), (p[0], p[1]), B, q, d, by)


@inlined
def crossed_with(least, axis, n, own, others, s, p, B, q, d, by):
    """The best axis, with those of one direction n of the first box and all three of the second; own: their cosines,
    and others, s and p those, the places and the halves of the first box's other two directions, in cyclic order.
    """
    one, two = others
    along, reach = s[1] * one[0] - s[0] * two[0], p[0] * abs(two[0]) + p[1] * abs(one[0])
    reach += q[1] * abs(own[2]) + q[2] * abs(own[1])
    least, axis = crossed(least, axis, n, B[0], own[0], along, reach, d, by)
    along, reach = s[1] * one[1] - s[0] * two[1], p[0] * abs(two[1]) + p[1] * abs(one[1])
    reach += q[2] * abs(own[0]) + q[0] * abs(own[2])
    least, axis = crossed(least, axis, n, B[1], own[1], along, reach, d, by)
    along, reach = s[1] * one[2] - s[0] * two[2], p[0] * abs(two[2]) + p[1] * abs(one[2])
    reach += q[0] * abs(own[1]) + q[1] * abs(own[0])
    return crossed(least, axis, n, B[2], own[2], along, reach, d, by)


@inlined
def crossed(least, axis, one, other, cosine, along, reach, d, by):
    """The best axis, with the product of two directions, along which the first body is so far from the second [m] and
    both reach so far [m] in all, each times the length of the product.
    """
    square = 1.0 - cosine * cosine
    length, overlap = math.sqrt(max(square, 0.0)), reach - abs(along)
    if overlap < (least - by) * length and square >= PARALLEL:
        n = unit(cross(one, other))
        return overlap / length, n if dot(d, n) > 0.0 else minus(n)
    return least, axis


@inlined
def better(least, axis, overlap, along, n, by):
    """The axis with less overlap, from the second body to the first, which is that far along n [m]."""
    if overlap < least - by:
        return overlap, n if along > 0.0 else minus(n)
    return least, axis


@compiled
def axis_of_meshes(convex, axes, a, b, margin, far):
    least, axis = np.inf, (0.0, 0.0, 1.0)
    for side in range(2):
        body, other = (b, a) if side == 0 else (a, b)
        if convex.is_box[body]:
            least, axis = axis_of_box_faces(convex, axes, body, other, side, least, axis)
        else:
            for f in range(convex.plane_start[body], convex.plane_start[body + 1]):
                n = row(axes.normals, f)
                overlap = axes.heights[f] - extent(convex, axes, other, n)[0]
                if overlap < least - ROUNDING:
                    least, axis = overlap, n if side == 0 else minus(n)
        if least < -far:
            return least, axis
    for e in range(convex.direction_start[a], convex.direction_start[a + 1]):
        along = row(axes.along, e)
        for f in range(convex.direction_start[b], convex.direction_start[b + 1]):
            other = row(axes.along, f)
            n = cross(along, other)
            if dot(n, n) < PARALLEL * dot(along, along) * dot(other, other):
                continue
            n = unit(n)
            (low_a, high_a), (low_b, high_b) = extent(convex, axes, a, n), extent(convex, axes, b, n)
            forward, backward = high_b - low_a, high_a - low_b
            n = n if forward < backward else minus(n)
            overlap = min(forward, backward)
            if overlap < least - EDGES_AFTER_FACES * margin:
                least, axis = overlap, n
                if least < -far:
                    return least, axis
    return least, axis


@inlined
def axis_of_box_faces(convex, axes, box, other, side, least, axis):
    """The same among the six faces of a box."""
    first, middle = convex.direction_start[box], row(axes.middles, box)
    for k in range(first, first + 3):
        n, half = row(axes.along, k), axes.halves[k]
        low, high = extent(convex, axes, other, n)
        at = dot(middle, n)
        forward, backward = at + half - low, high - (at - half)
        if min(forward, backward) < least - ROUNDING:
            is_forward = (forward < backward) == (side == 0)
            least, axis = min(forward, backward), n if is_forward else minus(n)
    return least, axis

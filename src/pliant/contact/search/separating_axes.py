"""Along which axis two convex bodies overlap least, among normals of faces and cross products of edges."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from pliant.contact.search.box_axes import BOX, EDGES_AFTER_FACES, PARALLEL, ROUNDING
from pliant.contact.search.convex_bodies import ConvexBodies
from pliant.elements.closest import row
from pliant.lanes.compiled import compiled, inlined
from pliant.lanes.vectors import cross, dot, subtract


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
    size = dot(v, v) ** 0.5
    return (v[0] / size, v[1] / size, v[2] / size)


@inlined
def minus(v):
    return (-v[0], -v[1], -v[2])


@compiled
def write_axes(convex, x, axes, boxes):
    """At positions x (n, 3) [m]; boxes (bodies, BOX): the same of boxes (BoxPairs)."""
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
        if convex.is_box[b]:
            write_box(convex.direction_start[b], b, axes, boxes)


@inlined
def write_box(first, b, axes, boxes):
    """Directions, halves and middle of box b, whose first direction is `first`."""
    for axis in range(3):
        for k in range(3):
            boxes[b, 4 * k + axis] = axes.along[first + k, axis]
        boxes[b, 4 * axis + 3], boxes[b, BOX - 4 + axis] = axes.halves[first + axis], axes.middles[b, axis]
    boxes[b, BOX - 1] = 0.0


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


@compiled
def separating_axis(convex, axes, a, b, margin, far):
    """By how much the bodies overlap along the axis where they do so least [m], and it: from b to a; any axis along
    which they are further apart than `far` [m]. Two boxes are left to contact.search.box_axes.
    """
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

"""The lowest point of an edge or a triangle: where the signed distance of a convex shape is least, in its own frame.

A triangle is three corners y; an edge has the second twice. Of a sphere it is the point closest to the centre. Of a
capsule golden sections find the place on the axis, of boxes and cylinders the point itself: convex functions have one
lowest value on a segment, and lowest values on parallel lines are a convex function again.
"""

from __future__ import annotations

import math

from pliant.contact.primitives.shapes import distance_and_normal
from pliant.elements.closest import closest_vertex_triangle, combine, place_on_segment
from pliant.lanes.compiled import compiled, inlined
from pliant.lanes.vectors import add_scaled, dot, subtract
from pliant.model.obstacles import CAPSULE, SIZES, SPHERE

GOLDEN = 0.5 * (math.sqrt(5.0) - 1.0)
SECTIONS = 20  # leave 7e-5 of an edge
FINE, FINE_SECTIONS = 1e-4, 45  # of an edge, within which so many more are done where it must be exact


@inlined
def mix(w, y):
    """The point of three corners with weights w."""
    return (
        w[0] * y[0][0] + w[1] * y[1][0] + w[2] * y[2][0],
        w[0] * y[0][1] + w[1] * y[1][1] + w[2] * y[2][1],
        w[0] * y[0][2] + w[1] * y[1][2] + w[2] * y[2][2],
    )


@compiled
def values_at_corners(kind, local, y):
    """The lowest distance of the corners; a bound that no point between them is below, from the slopes at the corners;
    and the longest edge.
    """
    corner, bound, size = math.inf, -math.inf, 0.0
    for i in range(3):
        d, n = distance_and_normal(kind, local, y[i])
        corner, least = min(corner, d), d
        for j in range(3):
            side = subtract(y[j], y[i])
            least, size = min(least, d + dot(n, side)), max(size, dot(side, side))
        bound = max(bound, least)
    return corner, bound, math.sqrt(size)


@compiled
def lowest(kind, local, y, is_face):
    """Weights of the lowest point of a triangle, or of an edge, and its distance."""
    if kind == SPHERE:
        w, d = nearest((0.0, 0.0, 0.0), y, is_face)
        return w, d - local[SIZES]
    if kind == CAPSULE:
        w = lowest_for_capsule(local[SIZES + 1], y, is_face)
        return w, distance_and_normal(kind, local, mix(w, y))[0]
    if not is_face:
        t, d = lowest_between(kind, local, y[0], y[1])
        return (1.0 - t, t, 0.0), d
    low, high = 0.0, 1.0
    for _ in range(SECTIONS):
        left, right = high - GOLDEN * (high - low), low + GOLDEN * (high - low)
        if lowest_at(kind, local, y, left)[1] < lowest_at(kind, local, y, right)[1]:
            high = right
        else:
            low = left
    u = 0.5 * (low + high)
    t, d = lowest_at(kind, local, y, u)
    return ((1.0 - u) * (1.0 - t), u, (1.0 - u) * t), d


@inlined
def nearest(p, y, is_face):
    """Weights of the point that is closest to p, and how far it is."""
    if is_face:
        four = (p, y[0], y[1], y[2])
        w = closest_vertex_triangle(four)
        r = combine(w, four)
        return (-w[1], -w[2], -w[3]), math.sqrt(dot(r, r))
    t = place_on_segment(p, y[0], y[1])
    r = subtract(p, add_scaled(y[0], t, subtract(y[1], y[0])))
    return (1.0 - t, t, 0.0), math.sqrt(dot(r, r))


@inlined
def lowest_for_capsule(half_length, y, is_face):
    """Weights of the point that is nearest to the axis."""
    low, high = -half_length, half_length
    for _ in range(SECTIONS):
        left, right = high - GOLDEN * (high - low), low + GOLDEN * (high - low)
        if nearest((0.0, 0.0, left), y, is_face)[1] < nearest((0.0, 0.0, right), y, is_face)[1]:
            high = right
        else:
            low = left
    return nearest((0.0, 0.0, 0.5 * (low + high)), y, is_face)[0]


@inlined
def lowest_at(kind, local, y, u):
    """The same on the line of a triangle on which its second corner has the weight u."""
    a = add_scaled(y[0], u, subtract(y[1], y[0]))
    return lowest_between(kind, local, a, add_scaled(y[2], u, subtract(y[1], y[2])))


@inlined
def lowest_between(kind, local, a, b):
    """Where between a and b the distance is least, and how large it is there."""
    return lowest_within(kind, local, a, b, 0.0, 1.0, SECTIONS)


@inlined
def lowest_more_exactly(kind, local, a, b, t):
    """The same where it is known to be near t: to 1e-13 of an edge."""
    return lowest_within(kind, local, a, b, max(t - FINE, 0.0), min(t + FINE, 1.0), FINE_SECTIONS)


@compiled
def lowest_within(kind, local, a, b, low, high, sections):
    """The same within parts of the way from a to b."""
    way = subtract(b, a)
    for _ in range(sections):
        left, right = high - GOLDEN * (high - low), low + GOLDEN * (high - low)
        d_left = distance_and_normal(kind, local, add_scaled(a, left, way))[0]
        if d_left < distance_and_normal(kind, local, add_scaled(a, right, way))[0]:
            high = right
        else:
            low = left
    t = 0.5 * (low + high)
    return t, distance_and_normal(kind, local, add_scaled(a, t, way))[0]

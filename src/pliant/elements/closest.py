"""Closest points of a vertex and a triangle, and of two edges.

A pair is four points y0 ... y3: the vertex and the triangle's corners, or the ends of one edge and of the other.  Its
closest points are given by signed weights w (4), w0 + w1 + w2 + w3 = 0, such that  r = sum_i w_i y_i = x_a - x_b
points from the second primitive to the first and |r| is their distance:

    vertex-triangle  w = (1, -u0, -u1, -u2)         edge-edge  w = (1 - s, s, t - 1, -t)

Every answer is a point of the primitive, whatever its shape: a triangle without area is its edges, an edge without
length is a point, parallel edges touch at an end of one of them.
"""

from __future__ import annotations

import numpy as np

from pliant.lanes import maximum, minimum, number, select, sqrt
from pliant.lanes.compiled import compiled, inlined
from pliant.lanes.vectors import add, cross, dot, physics, subtract

VERTEX_TRIANGLE, EDGE_EDGE, VERTEX_TET, VERTEX_OBSTACLE, FACE_OBSTACLE = range(5)  # kinds of pairs

# Below this squared sine between two edges, their normal is rounding rather than direction.
FLAT = 1e-20


@inlined
def row(x, i):
    """Vector i, which is not negative, of an array (n, 3)."""
    place = np.uint64(i)  # Numba would look whether i counts from the end
    return (x[place, 0], x[place, 1], x[place, 2])


@physics
def place_on_segment(p, a, b):
    """t in 0..1 such that a + t (b - a) is the point of the segment closest to p."""
    along = subtract(b, a)
    length2 = dot(along, along)
    t = minimum(maximum(dot(subtract(p, a), along) / length2, 0.0), 1.0)
    return select(length2 == 0.0, 0.0, t)


@physics
def _squared_length(weights, y):
    r = combine(weights, y)
    return dot(r, r)


@physics
def combine(weights, y):
    """sum_i w_i y_i for weights that sum to zero, relative to y0 so that large coordinates cancel first."""
    d1, d2, d3 = subtract(y[1], y[0]), subtract(y[2], y[0]), subtract(y[3], y[0])
    return (
        weights[1] * d1[0] + weights[2] * d2[0] + weights[3] * d3[0],
        weights[1] * d1[1] + weights[2] * d2[1] + weights[3] * d3[1],
        weights[1] * d1[2] + weights[2] * d2[2] + weights[3] * d3[2],
    )


@physics
def _nearer(best, distance2, weights, y):
    """The better of two choices of weights, and its squared distance."""
    other = _squared_length(weights, y)
    is_nearer = other < distance2
    chosen = (
        select(is_nearer, weights[0], best[0]),
        select(is_nearer, weights[1], best[1]),
        select(is_nearer, weights[2], best[2]),
        select(is_nearer, weights[3], best[3]),
    )
    return chosen, select(is_nearer, other, distance2)


@physics
def over_triangle(y):
    """Signed weights of the vertex y0 and the point next to it in the plane of the triangle y1 y2 y3; whether that lies
    in the triangle, and whether it does in one with so much area that no point of the rim is nearer.
    """
    p, a, b, c = y
    ab, ac, ap = subtract(b, a), subtract(c, a), subtract(p, a)
    n = cross(ab, ac)
    nn = dot(n, n)
    u2 = dot(cross(ab, ap), n) / nn
    u1 = dot(cross(ap, ac), n) / nn
    u0 = 1.0 - u1 - u2
    is_inside = (nn > 0.0) & (u0 >= 0.0) & (u1 >= 0.0) & (u2 >= 0.0)
    return (number(1.0, nn), -u0, -u1, -u2), is_inside, is_inside & (nn > FLAT * dot(ab, ab) * dot(ac, ac))


@physics
def on_rim(y, inside, is_inside):
    """Signed weights of the vertex y0 and the point next to it on the edges of the triangle y1 y2 y3, or `inside` if
    that is a point of it and nearer.
    """
    p, a, b, c = y
    zero, one = number(0.0, p[0]), number(1.0, p[0])
    t = place_on_segment(p, a, b)
    best = (one, t - 1.0, -t, zero)
    distance2 = _squared_length(best, y)
    t = place_on_segment(p, b, c)
    best, distance2 = _nearer(best, distance2, (one, zero, t - 1.0, -t), y)
    t = place_on_segment(p, c, a)
    best, distance2 = _nearer(best, distance2, (one, -t, zero, t - 1.0), y)
    best, _ = _nearer(best, select(is_inside, distance2, -1.0), inside, y)
    return best


@compiled
def closest_vertex_triangle(y):
    """Signed weights of the vertex y0 and the triangle y1 y2 y3."""
    inside, is_inside, is_certain = over_triangle(y)
    if is_certain:
        return inside
    return on_rim(y, inside, is_inside)


@compiled
def closest_edge_edge(y):
    """Signed weights of the edges y0 y1 and y2 y3."""
    a0, a1, b0, b1 = y
    u, v, w = subtract(a1, a0), subtract(b1, b0), subtract(b0, a0)
    n = cross(u, v)
    nn = dot(n, n)
    crossing = (1.0, 0.0, -1.0, 0.0)
    has_crossing = False
    if nn > 0.0:
        s = dot(cross(w, v), n) / nn
        t = dot(cross(w, u), n) / nn
        has_crossing = 0.0 <= s <= 1.0 and 0.0 <= t <= 1.0
        crossing = (1.0 - s, s, t - 1.0, -t)
        if has_crossing and nn > FLAT * dot(u, u) * dot(v, v):
            return crossing
    t = place_on_segment(a0, b0, b1)
    best = (1.0, 0.0, t - 1.0, -t)
    distance2 = _squared_length(best, y)
    t = place_on_segment(a1, b0, b1)
    best, distance2 = _nearer(best, distance2, (0.0, 1.0, t - 1.0, -t), y)
    s = place_on_segment(b0, a0, a1)
    best, distance2 = _nearer(best, distance2, (1.0 - s, s, -1.0, 0.0), y)
    s = place_on_segment(b1, a0, a1)
    best, distance2 = _nearer(best, distance2, (1.0 - s, s, 0.0, -1.0), y)
    if has_crossing:
        best, distance2 = _nearer(best, distance2, crossing, y)
    return best


@compiled
def closest(kind, y):
    """Signed weights of a pair of either kind."""
    return closest_vertex_triangle(y) if kind == VERTEX_TRIANGLE else closest_edge_edge(y)


@inlined
def positions_of(c, contacts, x):
    """Positions of the four vertices of a contact, the first repeated where there are fewer."""
    v = contacts.vertices
    first = row(x, v[c, 0])
    if contacts.obstacle[c] < 0:
        return (first, row(x, v[c, 1]), row(x, v[c, 2]), row(x, v[c, 3]))
    second = row(x, v[c, 1]) if v[c, 1] >= 0 else first
    return (first, second, row(x, v[c, 2]) if v[c, 2] >= 0 else first, first)


@inlined
def closest_separation(c, y, contacts):
    """s [m] of contact c of a ContactSet, whose vertices are at y: from the second side to the first.

    Relative to the first vertex, so that large coordinates cancel first. Weights sum to 0, with an obstacle to 1.
    """
    w = contacts.weights
    s = combine((w[c, 0], w[c, 1], w[c, 2], w[c, 3]), y)
    if contacts.obstacle[c] >= 0:
        s = add(s, subtract(y[0], row(contacts.points, c)))
    return s


@inlined
def closest_point_and_normal(y, n, side):
    """Signed weights of a vertex y0 and a triangle y1 y2 y3, and the normal on a side of it; n is the normal before.

    Over the triangle the normal is the triangle's; beside it, where the closest point is on the rim, it stays.
    """
    w = closest_vertex_triangle(y)
    return w, normal_there(y, w, n, side)


@physics
def normal_there(y, w, n, side):
    """The normal of the triangle y1 y2 y3 on a side of it where the point with weights w is within it, else n."""
    m = cross(subtract(y[2], y[1]), subtract(y[3], y[1]))
    size = sqrt(dot(m, m))
    is_within = (w[1] < 0.0) & (w[2] < 0.0) & (w[3] < 0.0) & (size > 0.0)
    return (
        select(is_within, side * m[0] / size, n[0]),
        select(is_within, side * m[1] / size, n[1]),
        select(is_within, side * m[2] / size, n[2]),
    )


@inlined
def closest_point_to_centre(y, w, n):
    """Signed weights of the centre y0 of a sphere and a triangle y1 y2 y3, and the normal from the closest point to it;
    w and n are those before, which stay while the centre is on the other side: it is to come back where it came from.
    """
    if dot(combine(w, y), n) <= 0.0:
        return w, n
    w = closest_vertex_triangle(y)
    s = combine(w, y)
    size = dot(s, s) ** 0.5
    return w, ((s[0] / size, s[1] / size, s[2] / size) if size > 0.0 else n)

"""The lowest point of an edge or a triangle in a field of distances, which is not convex: samples, then a search about
the lowest of them.

What is lowest is asked of where it will be once its corners are lifted, by so much each [m], along the normals of the
field: a point between them is lifted by its share of that.

A part of the obstacle that is narrower than a sixth of a triangle, or an eighth of an edge, may lie between samples.
"""

from __future__ import annotations

from pliant.contact.primitives.lowest_points import mix
from pliant.contact.primitives.shapes import distance_and_normal
from pliant.lanes.compiled import compiled, inlined
from pliant.lanes.vectors import add_scaled, dot, subtract

ON_EDGE, ON_SIDE = 8, 6  # parts of an edge, and of a triangle's side
HALVINGS = 6  # of the step of the search: to 1/768 of an edge, 1/384 of a side


@compiled
def lowest_on_edge(kind, numbers, a, b, lifts):
    """Part of the way from a to b, and the distance there when both are lifted."""
    way, low, slope = subtract(b, a), lifts[0], lifts[1] - lifts[0]
    best, t = distance_and_normal(kind, numbers, a)[0] + low, 0.0
    for k in range(1, ON_EDGE + 1):
        d = distance_and_normal(kind, numbers, add_scaled(a, k / ON_EDGE, way))[0] + low + slope * (k / ON_EDGE)
        if d < best:
            best, t = d, k / ON_EDGE
    step = 0.5 / ON_EDGE
    for _ in range(HALVINGS):
        left, right = max(t - step, 0.0), min(t + step, 1.0)
        d_left = distance_and_normal(kind, numbers, add_scaled(a, left, way))[0] + low + slope * left
        d_right = distance_and_normal(kind, numbers, add_scaled(a, right, way))[0] + low + slope * right
        if min(d_left, d_right) < best:
            best, t = (d_left, left) if d_left < d_right else (d_right, right)
        step *= 0.5
    return t, best


@compiled
def lowest_on_triangle(kind, numbers, y, lifts):
    """Weights of three corners y, and the distance there when all are lifted."""
    best, w = distance_and_normal(kind, numbers, y[0])[0] + lifts[0], (1.0, 0.0, 0.0)
    for i in range(ON_SIDE + 1):
        for j in range(ON_SIDE + 1 - i):
            tried = (i / ON_SIDE, j / ON_SIDE, 1.0 - (i + j) / ON_SIDE)
            d = distance_and_normal(kind, numbers, mix(tried, y))[0] + dot(tried, lifts)
            if d < best:
                best, w = d, tried
    step = 0.5 / ON_SIDE
    for _ in range(HALVINGS):
        centre = w
        for k in range(6):  # along each side, both ways
            part = step if k < 3 else -step
            to, away = k % 3, (k + 1) % 3
            part = min(max(part, -value_of(centre, to)), value_of(centre, away))
            tried = (
                moved(centre, 0, to, away, part),
                moved(centre, 1, to, away, part),
                moved(centre, 2, to, away, part),
            )
            d = distance_and_normal(kind, numbers, mix(tried, y))[0] + dot(tried, lifts)
            if d < best:
                best, w = d, tried
        step *= 0.5
    return w, best


@inlined
def value_of(w, k):
    return w[0] if k == 0 else (w[1] if k == 1 else w[2])


@inlined
def moved(w, k, to, away, part):
    """Weight k when a part goes from one corner to another."""
    return value_of(w, k) + (part if k == to else 0.0) - (part if k == away else 0.0)

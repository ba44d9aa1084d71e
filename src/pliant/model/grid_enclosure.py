"""Coefficients of a grid of distances, lowered where its spline would have a place of the mesh outside.

A quadratic B-spline rounds what bends within a cell: limbs two cells thick lose a tenth of a cell at their surface, and
cloth that rests on the spline would be that far within the mesh. A place s of the surface is never outside, so that

    sum_i w_i(s) c_i <= 0     w_i: the weights of the 27 nodes about s

is demanded of samples at most half a cell apart; those that do not hold are met one after another by the least change
of the coefficients (Kaczmarz; Agmon 1954 for inequalities), in a few rounds. Samples inside other parts of the mesh
hold already. The other sign is not touched: what is rounded there is a gap.
"""

from __future__ import annotations

import math

import numpy as np

from pliant.elements.closest import row
from pliant.lanes.compiled import compiled, inlined
from pliant.lanes.vectors import dot, subtract

APART = 0.5  # cells between samples, at most
ROUNDS = 8
EXACT = 1e-4  # cells: what is less far outside stays


@inlined
def node_and_weights(u):
    """The node nearest to a coordinate in cells, and the weights of the one before, itself and the one after."""
    i = math.floor(u + 0.5)
    f = u - i
    return i, (0.5 * (0.5 - f) * (0.5 - f), 0.75 - f * f, 0.5 * (0.5 + f) * (0.5 + f))


@inlined
def lower_at(u, limit, coefficients):
    """Make the spline at a place u, in cells, 0 if it is above `limit` [m]; how far above 0 it was, else 0."""
    i, wx = node_and_weights(u[0])
    j, wy = node_and_weights(u[1])
    k, wz = node_and_weights(u[2])
    value = 0.0
    for a in range(3):
        for b in range(3):
            for c in range(3):
                value += wx[a] * wy[b] * wz[c] * coefficients[i + a - 1, j + b - 1, k + c - 1]
    if value <= limit:
        return 0.0
    part = value / (dot(wx, wx) * dot(wy, wy) * dot(wz, wz))
    for a in range(3):
        for b in range(3):
            for c in range(3):
                coefficients[i + a - 1, j + b - 1, k + c - 1] -= np.float32(part * wx[a] * wy[b] * wz[c])
    return value


@compiled
def enclose_surface(points, triangles, origin, spacing, coefficients):
    """Lower coefficients [m], in place, until samples of all triangles are inside the spline, or rounds are over; how
    far [m] the furthest was outside in the last round.
    """
    worst = 0.0
    for _ in range(ROUNDS):
        worst = 0.0
        for t in range(len(triangles)):
            a, b, c = row(points, triangles[t, 0]), row(points, triangles[t, 1]), row(points, triangles[t, 2])
            ab, ac, bc = subtract(b, a), subtract(c, a), subtract(c, b)
            longest = math.sqrt(max(dot(ab, ab), max(dot(ac, ac), dot(bc, bc))))
            n = max(math.ceil(longest / (APART * spacing)), 1)
            for p in range(n + 1):
                for q in range(n + 1 - p):
                    u = (
                        (a[0] + (p * ab[0] + q * ac[0]) / n - origin[0]) / spacing,
                        (a[1] + (p * ab[1] + q * ac[1]) / n - origin[1]) / spacing,
                        (a[2] + (p * ab[2] + q * ac[2]) / n - origin[2]) / spacing,
                    )
                    worst = max(worst, lower_at(u, EXACT * spacing, coefficients))
        if worst == 0.0:
            break
    return worst

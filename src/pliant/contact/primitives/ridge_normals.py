"""Which way an edge or a triangle leaves a box or a cylinder that it has sunk into at an edge or a corner.

Inside, the distance is that to the nearest face, and its gradient jumps from one face to the other below the edge where
they meet: the lowest point of what lies across that edge is where it jumps, and neither gradient leads it out. With the
distances f_i to the faces that meet there, the lowest point of d = max f_i between corners has

    g = sum_i a_i grad f_i,   a_i >= 0,   sum_i a_i = 1,   g . t = 0 for all directions t of the edge or the triangle,

and all of it is outside once it has moved by -d / |g| along g. The faces are at right angles, so that a_i = |g_i| and
|g| = 1 / sum_i |n_i| with n = g / |g|: the normal of the triangle, or that of both edges.
"""

from __future__ import annotations

import math

from pliant.lanes.compiled import inlined
from pliant.lanes.vectors import cross, dot, subtract
from pliant.model.obstacles import BOX, CYLINDER, SIZES

TOGETHER = 1e-3  # of the size of an edge or a triangle: distances to faces that differ by less are both the lowest
PARALLEL = 1e-6  # squared sine between the edges


@inlined
def outward_normal(kind, local, y, is_face, p, d, n, size):
    """The normal at the lowest point p of an edge or a triangle y, where the distance is d and its gradient n, and how
    far p is outside along it, both in the frame of the shape; size [m] of y.
    """
    if d > TOGETHER * size or (kind != BOX and kind != CYLINDER):
        return n, d
    outward, along, others = faces_at(kind, local, p)
    if others < d - TOGETHER * size:
        return n, d
    t, u = subtract(y[1], y[0]), along
    if is_face:
        u = subtract(y[2], y[0])
    normal = cross(t, u)
    nn = dot(normal, normal)
    if nn <= PARALLEL * dot(t, t) * dot(u, u):
        return n, d
    scale = math.copysign(1.0 / math.sqrt(nn), dot(normal, n))
    normal = (scale * normal[0], scale * normal[1], scale * normal[2])
    parts = abs(normal[0]) + abs(normal[1])
    if kind == CYLINDER:
        parts = abs(dot(normal, outward))
    return normal, d * (parts + abs(normal[2]))


@inlined
def faces_at(kind, local, p):
    """Outwards from the axis of a cylinder; along the edge that is nearest to p; the lower of the distances to the two
    faces that meet there.
    """
    a, b, c = local[SIZES], local[SIZES + 1], local[SIZES + 2]
    if kind == CYLINDER:
        out = math.sqrt(p[0] * p[0] + p[1] * p[1])
        outward = (p[0] / out, p[1] / out, 0.0) if out > 0.0 else (1.0, 0.0, 0.0)
        return outward, (-outward[1], outward[0], 0.0), min(out - a, abs(p[2]) - b)
    x, y, z = abs(p[0]) - a, abs(p[1]) - b, abs(p[2]) - c
    if x <= y and x <= z:
        return p, (1.0, 0.0, 0.0), min(y, z)
    if y <= z:
        return p, (0.0, 1.0, 0.0), min(x, z)
    return p, (0.0, 0.0, 1.0), min(x, y)

"""Outward normals of solids at their vertices."""

from __future__ import annotations

import math

import numpy as np

from pliant.contact.compiled import at, inlined
from pliant.contact.distances import row
from pliant.contact.pair import unit
from pliant.lanes.vectors import add_scaled, cross, dot, subtract


@inlined
def vertex_normal(v, solid, x):
    """Unit normal at vertex v of the scene at positions x, zero where there is no solid.

    Faces count by their angle at the vertex, so that normals do not depend on how a surface is cut into triangles.
    """
    total, middle, around = (0.0, 0.0, 0.0), row(x, v), solid.around
    for e in range(at(solid.around_start, v), at(solid.around_start, v + 1)):
        face = np.uint64(e)
        a, b = subtract(row(x, around[face, 0]), middle), subtract(row(x, around[face, 1]), middle)
        n = cross(a, b)
        size = math.sqrt(dot(n, n))
        if size > 0.0:
            total = add_scaled(total, angle_of(size, dot(a, b)) / size, n)
    return unit(total)


@inlined
def angle_of(sine, cosine):
    """Angle in 0..pi [rad] between vectors with this product and cross product, right to 1e-5: a weight needs no more,
    and the library's function takes most of the time.
    """
    z = min(sine, abs(cosine)) / max(sine, abs(cosine))
    q = z * z
    angle = z * (0.99986600 + q * (-0.33029950 + q * (0.18014100 + q * (-0.08513300 + q * 0.02083510))))
    angle = 0.5 * math.pi - angle if sine > abs(cosine) else angle
    return math.pi - angle if cosine < 0.0 else angle

"""Outward normals of solids at their vertices."""

from __future__ import annotations

import math

from pliant.contact.compiled import inlined
from pliant.contact.distances import row
from pliant.contact.pair import unit
from pliant.lanes.vectors import add_scaled, cross, dot, subtract


@inlined
def vertex_normal(v, solid, x):
    """Unit normal at vertex v of the scene at positions x, zero where there is no solid.

    Faces count by their angle at the vertex, so that normals do not depend on how a surface is cut into triangles.
    """
    faces, around_start, around = solid.faces, solid.around_start, solid.around
    total = (0.0, 0.0, 0.0)
    for e in range(around_start[v], around_start[v + 1]):
        i, j, m = faces[around[e], 0], faces[around[e], 1], faces[around[e], 2]
        while i != v:
            i, j, m = j, m, i
        a, b = subtract(row(x, j), row(x, i)), subtract(row(x, m), row(x, i))
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

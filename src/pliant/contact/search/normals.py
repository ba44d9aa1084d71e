"""Outward normals of solids at their vertices."""

from __future__ import annotations

import math

import numpy as np

from pliant.contact.primitives.pair import unit
from pliant.contact.search.motion import ROW
from pliant.contact.search.solid import AROUND
from pliant.lanes import (
    absolute,
    first_lane,
    lane_sum,
    load,
    make_zero,
    maximum,
    minimum,
    number,
    select,
    sqrt,
)
from pliant.lanes.compiled import at, inlined
from pliant.lanes.rows import gather4
from pliant.lanes.vectors import add_scaled, cross, dot, physics, subtract

zero = make_zero("double", AROUND)
NUMBERS = np.arange(float(AROUND))


@inlined
def vertex_normal(v, solid, rows):
    """Unit normal at vertex v of the scene, zero where there is no solid; rows: Motion.start.

    Faces count by their angle at the vertex, so that normals do not depend on how a surface is cut into triangles.
    Lanes hold faces.
    """
    z, s = zero(), np.int64(v) * ROW
    middle = (number(at(rows, s), z), number(at(rows, s + 1), z), number(at(rows, s + 2), z))
    total = (z, z, z)
    first, last = at(solid.around_start, v), at(solid.around_start, v + 1)
    while first < last:
        a, b = _seen_from(middle, rows, solid.next_rows, first), _seen_from(middle, rows, solid.last_rows, first)
        n = cross(a, b)
        size = sqrt(dot(n, n))
        is_face = (load(NUMBERS, 0, z) < number(float(last - first), z)) & (size > z)
        total = add_scaled(total, select(is_face, angle_of(size, dot(a, b)) / size, z), n)
        first += AROUND
    return unit((first_lane(lane_sum(total[0])), first_lane(lane_sum(total[1])), first_lane(lane_sum(total[2]))))


@inlined
def _seen_from(middle, rows, starts, first):
    p = gather4(rows, starts, first, zero())
    return subtract((p[0], p[1], p[2]), middle)


@physics
def angle_of(sine, cosine):
    """Angle in 0..pi [rad] between vectors with this product and cross product, right to 1e-5: a weight needs no more,
    and the library's function takes most of the time.
    """
    size = absolute(cosine)
    z = minimum(sine, size) / maximum(sine, size)
    q = z * z
    angle = z * (0.99986600 + q * (-0.33029950 + q * (0.18014100 + q * (-0.08513300 + q * 0.02083510))))
    angle = select(sine > size, 0.5 * math.pi - angle, angle)
    return select(cosine < number(0.0, cosine), math.pi - angle, angle)

"""The curvature of one triangle of a sheet that is curved at rest, as three squares of twelve positions.

    E = 1/2 sum_c |r_c|^2,   r_c = sum_i w_ic x_i - k_c n   (c = 1, 2, 3),   n: unit normal of the triangle 0 1 2

Corners are those of elements.plate_square, which has the same with k = 0. The sum of these over a sheet is the energy
of elements.quadratic_bending; one by one they can be taken apart where the sheet tears. With g_i the gradient of the
triangle's share of corner i in its plane,

    dn = -g_i (n . dx_i),   dr_c = w_ic dx_i + k_c g_i (n . dx_i),

and g_i = 0 for corners outside the triangle. Blocks of vertex block descent are sum_c (dr_c/dx_i)^T dr_c/dx_i
(Gauss-Newton), which are never indefinite.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from pliant.elements.block import Block, Invariance, Tearing
from pliant.elements.element import ConstraintForm, Element, View
from pliant.elements.plate_square import CORNERS, sum_of_eleven, weight_of_eleven
from pliant.elements.rest_height import unit_normal
from pliant.errors import SolverError
from pliant.lanes.vectors import add_identity, add_product, add_scaled, add_square, cross, dot, physics, subtract


@dataclass(frozen=True)
class CurvedSquares(Block):
    """Triangles and the vertices around them (m, 12)."""

    tearing = Tearing.FOLLOWS_PLATE
    invariance = Invariance.RIGID

    weights: np.ndarray  # (m, 12, 3) w [sqrt(N/m)]; those of an element sum to zero
    at_rest: np.ndarray  # (m, 3) k [sqrt(N m)]


@physics
def _rests(sums, rest, n):
    """r_c."""
    return add_scaled(sums[0], -rest[0], n), add_scaled(sums[1], -rest[1], n), add_scaled(sums[2], -rest[2], n)


@physics
def _energy(r):
    return 0.5 * (dot(r[0], r[0]) + dot(r[1], r[1]) + dot(r[2], r[2]))


@physics
def _add_pull(f, H, m, r):
    """Force and block of the weights; m: minus the corner's own."""
    f = add_scaled(add_scaled(add_scaled(f, m[0], r[0]), m[1], r[1]), m[2], r[2])
    return f, add_identity(H, dot(m, m))


@physics
def add_outside(f, H, a, b, c, d, e, g, h, i, j, k, l, p, q, r, s, t, u, v, w, x, y, z, rest):
    """Add the force on a corner that is not the triangle's, and its block; a, b, c: the triangle."""
    sums = sum_of_eleven(a, b, c, d, e, g, h, i, j, k, l, p, q, r, s, t, u, v, w, x, y, z)
    n, _ = unit_normal(subtract(b, a), subtract(c, a))
    m = weight_of_eleven(p, q, r, s, t, u, v, w, x, y, z)
    return _add_pull(f, H, m, _rests(sums, rest, n))


@physics
def energy_outside(a, b, c, d, e, g, h, i, j, k, l, p, q, r, s, t, u, v, w, x, y, z, rest):
    """E [J]."""
    sums = sum_of_eleven(a, b, c, d, e, g, h, i, j, k, l, p, q, r, s, t, u, v, w, x, y, z)
    n, _ = unit_normal(subtract(b, a), subtract(c, a))
    return _energy(_rests(sums, rest, n))


@physics
def add_of_triangle(f, H, a, b, c, d, e, g, h, i, j, k, l, p, q, r, s, t, u, v, w, x, y, z, rest):
    """Add the force on a corner of the triangle and its block; a, b: the next two."""
    sums = sum_of_eleven(a, b, c, d, e, g, h, i, j, k, l, p, q, r, s, t, u, v, w, x, y, z)
    n, inverse = unit_normal(a, b)
    m = weight_of_eleven(p, q, r, s, t, u, v, w, x, y, z)
    turned = cross(n, subtract(b, a))
    slope = (inverse * turned[0], inverse * turned[1], inverse * turned[2])
    rests = _rests(sums, rest, n)
    f, H = _add_pull(f, H, m, rests)
    tilt = rest[0] * dot(slope, rests[0]) + rest[1] * dot(slope, rests[1]) + rest[2] * dot(slope, rests[2])
    H = add_product(H, -dot(m, rest), slope, n)
    return add_scaled(f, -tilt, n), add_square(H, dot(rest, rest) * dot(slope, slope), n)


@physics
def energy_of_triangle(a, b, c, d, e, g, h, i, j, k, l, p, q, r, s, t, u, v, w, x, y, z, rest):
    """E [J]."""
    sums = sum_of_eleven(a, b, c, d, e, g, h, i, j, k, l, p, q, r, s, t, u, v, w, x, y, z)
    n, _ = unit_normal(a, b)
    return _energy(_rests(sums, rest, n))


def _refuse(block: CurvedSquares, solver: str) -> ConstraintForm:
    raise SolverError(
        f"{solver} cannot carry quadratic bending of a sheet that is curved at rest: give the cloth bending=0 or "
        'bending_model="coupled" or "dihedral", or use pl.VBD.'
    )


def _seen_from(corner: int) -> tuple[int, ...]:
    """The corner, the triangle from the next corner on or from its first, the others."""
    triangle = [(corner + i) % 3 for i in range(3)] if corner < 3 else [corner, 0, 1, 2]
    return (*triangle, *(i for i in range(CORNERS) if i not in triangle))


CURVED_SQUARE = Element(
    CurvedSquares,
    "curved squares",
    corners=CORNERS,
    corner_numbers=("weights",),
    numbers=("at_rest",),
    views=(
        View(tuple(_seen_from(corner) for corner in range(3)), add_of_triangle, energy_of_triangle),
        View(tuple(_seen_from(corner) for corner in range(3, CORNERS)), add_outside, energy_outside),
    ),
    constraint_form=_refuse,
    laplacian=lambda block: np.einsum("mic,mjc->mij", block.weights, block.weights),
)

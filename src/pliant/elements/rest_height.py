"""The height of a vertex above a triangle, with energy in proportion to it: what curvature at rest adds to quadratic
bending (elements.quadratic_bending).

        0                 h = n . (x_0 - x_1),   n: unit normal of the triangle 1 2 3
        |                 E = -w (h - h_0 / 2),   h_0: at rest
    1 --+-- 3             forces: w n on 0, -w l_i n on a corner i of the triangle, whose share of the foot is l_i
     \\    /
        2

A single one may have either sign and is not convex; together with the quadratic form they are one of squares. The
blocks of vertex block descent are such that their sum with those of the quadratic form is the squares' k dC^T dC
(Gauss-Newton), never indefinite: at a corner with the gradient g_i of l_i,

    w (h_0 |g_i|^2 n n^T - l_i0 (g_i n^T + n g_i^T)),      l_i0: share of the foot at rest
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from pliant.elements.block import Block, Invariance
from pliant.elements.element import ConstraintForm, Element, View
from pliant.errors import SolverError
from pliant.lanes import maximum, number, sqrt
from pliant.lanes.blocks import add_dyad
from pliant.lanes.vectors import add_product, add_scaled, add_square, cross, dot, physics, subtract

LEAST_AREA = 1e-30  # [m^2] divides in place of a smaller one


@dataclass(frozen=True)
class RestHeights(Block):
    """Vertices above triangles (m, 4): the vertex, the triangle's corners."""

    invariance = Invariance.RIGID

    feet: np.ndarray  # (m, 4) l_i0 of the corners, 0 of the vertex
    heights: np.ndarray  # (m,) h_0 [m]
    weights: np.ndarray  # (m,) w [N]


def rest_heights(points: np.ndarray, elements: np.ndarray, weights: np.ndarray) -> RestHeights:
    """Elements (m, 4) at rest at points (n, 3) [m], with weights (m,) [N]."""
    x = points[elements]
    b, c, arm = x[:, 2] - x[:, 1], x[:, 3] - x[:, 1], x[:, 0] - x[:, 1]
    normal = np.cross(b, c)
    double = np.linalg.norm(normal, axis=1)
    normal /= double[:, None]
    second = np.einsum("ma,ma->m", np.cross(arm, c), normal) / double
    third = np.einsum("ma,ma->m", np.cross(b, arm), normal) / double
    feet = np.stack((np.zeros(len(x)), 1 - second - third, second, third), axis=1)
    return RestHeights(elements, feet, np.einsum("ma,ma->m", arm, normal), weights)


@physics
def unit_normal(b, c):
    """Unit normal of a triangle with edges b and c from one corner, and 1 / |b x c|."""
    n = cross(b, c)
    double = sqrt(dot(n, n))
    inverse = 1.0 / maximum(double, number(LEAST_AREA, double))
    return (inverse * n[0], inverse * n[1], inverse * n[2]), inverse


@physics
def _normal_below(a, b, c):
    n, _ = unit_normal(subtract(b, a), subtract(c, a))
    return n


@physics
def add_at_vertex(f, H, a, b, c, foot_a, foot_b, foot_c, height, weight):
    """Add the force on the vertex; the triangle's corners relative to it."""
    return add_scaled(f, weight, _normal_below(a, b, c)), H


@physics
def energy_at_vertex(a, b, c, foot_a, foot_b, foot_c, height, weight):
    """E [J]."""
    return weight * (dot(_normal_below(a, b, c), a) + 0.5 * height)


@physics
def add_at_corner(f, H, p, b, c, foot_p, foot_b, foot_c, height, weight):
    """Add the force on a corner and its block; the vertex p and the next two corners relative to it."""
    n, inverse = unit_normal(b, c)
    side = subtract(c, b)
    share = inverse * dot(n, cross(subtract(b, p), subtract(c, p)))
    normal_side = cross(n, side)
    g = (inverse * normal_side[0], inverse * normal_side[1], inverse * normal_side[2])
    H = add_product(H, -weight * (1.0 - foot_b - foot_c), g, n)
    return add_scaled(f, -weight * share, n), add_square(H, weight * height * dot(g, g), n)


@physics
def energy_at_corner(p, b, c, foot_p, foot_b, foot_c, height, weight):
    """E [J]."""
    n, _ = unit_normal(b, c)
    return weight * (0.5 * height - dot(n, p))


@physics
def second_derivatives(corners, foot_p, foot_a, foot_b, foot_c, height, weight):
    """d2E [N/m] at pairs of corners i <= j, row by row; with the gradients g_i of the shares l_i

    dn = -sum_i g_i (n . dx_i),    dl_i / dx_j = h (g_i . g_j) n - l_j g_i
    """
    p = corners[0]
    a, b, c = subtract(corners[1], p), subtract(corners[2], p), subtract(corners[3], p)
    n, inverse = unit_normal(subtract(b, a), subtract(c, a))
    none = (0.0 * inverse, 0.0 * inverse, 0.0 * inverse)
    normal = add_scaled(none, weight, n)
    one, other, last = _share(n, inverse, b, c), _share(n, inverse, c, a), _share(n, inverse, a, b)
    below = dot(n, a)
    zero = (*none, *none, *none)
    return (
        zero,
        add_dyad(zero, one[0], normal),
        add_dyad(zero, other[0], normal),
        add_dyad(zero, last[0], normal),
        _at_corners(normal, below, n, one, one),
        _at_corners(normal, below, n, one, other),
        _at_corners(normal, below, n, one, last),
        _at_corners(normal, below, n, other, other),
        _at_corners(normal, below, n, other, last),
        _at_corners(normal, below, n, last, last),
    )


@physics
def _share(n, inverse, b, c):
    """g and l of a corner whose next two, relative to the vertex, are b and c."""
    across = cross(n, subtract(c, b))
    return (inverse * across[0], inverse * across[1], inverse * across[2]), inverse * dot(n, cross(b, c))


@physics
def _at_corners(normal, below, n, one, other):
    """w (h (g_i . g_j) n n^T - l_j n g_i^T - l_i g_j n^T) of two corners' (g, l); normal: w n, below: -h."""
    along = add_scaled(add_scaled((0.0, 0.0, 0.0), -below * dot(one[0], other[0]), n), -other[1], one[0])
    block = add_dyad((0.0,) * 9, normal, along)
    return add_dyad(block, add_scaled((0.0, 0.0, 0.0), -one[1], other[0]), normal)


def _form(block: RestHeights, solver: str) -> ConstraintForm:
    raise SolverError(
        f"{solver} cannot carry quadratic bending of a sheet that is curved at rest: give the cloth bending=0 or "
        'bending_model="coupled" or "dihedral", or use pl.VBD.'
    )


REST_HEIGHT = Element(
    RestHeights,
    "rest heights",
    corners=4,
    corner_numbers=("feet",),
    numbers=("heights", "weights"),
    views=(
        View(((0, 1, 2, 3),), add_at_vertex, energy_at_vertex),
        View(((1, 0, 2, 3), (2, 0, 3, 1), (3, 0, 1, 2)), add_at_corner, energy_at_corner),
    ),
    blocks=second_derivatives,
    constraint_form=_form,
    laplacian=lambda block: np.zeros((len(block.elements), 4, 4)),  # that of the quadratic form holds at rest
)

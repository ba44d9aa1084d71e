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
    constraint_form=_form,
    laplacian=lambda block: np.zeros((len(block.elements), 4, 4)),  # that of the quadratic form holds at rest
)

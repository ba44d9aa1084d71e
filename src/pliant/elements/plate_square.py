"""The curvature of one triangle of a sheet that is flat at rest, as three squares of twelve positions.

            10 - 4 - 9           E = 1/2 sum_c |s_c|^2,   s_c = sum_i w_ic x_i   (c = 1, 2, 3)
              \\ / \\ /
          11 - 2 - 1 - 8         0 1 2: the triangle, 3 4 5: vertices of its neighbours, 6 ... 11: of theirs
            \\ / \\ / \\ /
              5 - 0 - 3          The quadratic form of elements.quadratic_bending is the sum of these. One by one they
               \\ / \\ /           can be taken apart where a sheet tears.
                6   7

A vertex that is not there, or is there already, has no weight: the triangle's first corner stands in its place.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from pliant.elements.block import Block, Invariance, Tearing
from pliant.elements.element import ConstraintForm, Element, View
from pliant.errors import SolverError
from pliant.lanes.vectors import add, add_identity, add_scaled, dot, physics
from pliant.sparse import sp

CORNERS = 12


@dataclass(frozen=True)
class PlateSquares(Block):
    """Triangles and the vertices around them (m, 12)."""

    tearing = Tearing.FOLLOWS_PLATE
    invariance = Invariance.RIGID

    weights: np.ndarray  # (m, 12, 3) w [sqrt(N/m)]; those of an element sum to zero


def square_weights(elements: np.ndarray, sums: sp.csr_matrix, stiffness: float) -> np.ndarray:
    """w (m, 12, 3) of elements (m, 12), from sqrt(A_T) K_T as sums (3 m, n) and k [N m]."""
    m = len(elements)
    is_new = np.ones((m, CORNERS), bool)
    for i in range(1, CORNERS):
        is_new[:, i] = (elements[:, :i] != elements[:, i : i + 1]).all(axis=1)
    rows = np.broadcast_to(3 * np.arange(m)[:, None, None] + np.arange(3), (m, CORNERS, 3))
    columns = np.broadcast_to(elements[:, :, None], rows.shape)
    weights = np.asarray(sums[rows.ravel(), columns.ravel()]).reshape(rows.shape)
    return np.sqrt(stiffness) * np.where(is_new[:, :, None], weights, 0.0)


@physics
def _scaled(w, x):
    return (w * x[0], w * x[1], w * x[2])


@physics
def _add_one(s, x, w):
    """Add a position to the three sums."""
    return add_scaled(s[0], w[0], x), add_scaled(s[1], w[1], x), add_scaled(s[2], w[2], x)


@physics
def sum_of_eleven(a, b, c, d, e, g, h, i, j, k, l, p, q, r, s, t, u, v, w, x, y, z):
    """s_c of eleven positions relative to the twelfth, and their weights."""
    sums = _scaled(p[0], a), _scaled(p[1], a), _scaled(p[2], a)
    sums = _add_one(_add_one(_add_one(sums, b, q), c, r), d, s)
    sums = _add_one(_add_one(_add_one(sums, e, t), g, u), h, v)
    return _add_one(_add_one(_add_one(_add_one(sums, i, w), j, x), k, y), l, z)


@physics
def weight_of_eleven(p, q, r, s, t, u, v, w, x, y, z):
    """The sum of eleven weights: minus that of the twelfth."""
    return add(add(add(add(p, q), add(r, s)), add(add(t, u), add(v, w))), add(add(x, y), z))


@physics
def add_of_eleven(f, H, a, b, c, d, e, g, h, i, j, k, l, p, q, r, s, t, u, v, w, x, y, z):
    """Add the force on a corner and its block; the other eleven relative to it, with their weights."""
    sums = sum_of_eleven(a, b, c, d, e, g, h, i, j, k, l, p, q, r, s, t, u, v, w, x, y, z)
    m = weight_of_eleven(p, q, r, s, t, u, v, w, x, y, z)
    f = add_scaled(add_scaled(add_scaled(f, m[0], sums[0]), m[1], sums[1]), m[2], sums[2])
    return f, add_identity(H, dot(m, m))


@physics
def energy_of_eleven(a, b, c, d, e, g, h, i, j, k, l, p, q, r, s, t, u, v, w, x, y, z):
    """E [J]."""
    sums = sum_of_eleven(a, b, c, d, e, g, h, i, j, k, l, p, q, r, s, t, u, v, w, x, y, z)
    return 0.5 * (dot(sums[0], sums[0]) + dot(sums[1], sums[1]) + dot(sums[2], sums[2]))


@physics
def add_summed_pair(f, H, r, weight):
    """Add the force on a vertex and its block by one of its pairs; r = x_j - x_i, weight: -sum_T sum_c w_ic w_jc."""
    return add_scaled(f, weight, r), add_identity(H, weight)


def squares(block: PlateSquares) -> np.ndarray:
    """(m, 12, 12) [N/m]."""
    return block.weights @ block.weights.transpose(0, 2, 1)


def hessian(corners: np.ndarray, weights: np.ndarray) -> np.ndarray:
    """d2E/dx2 (m, 36, 36) [N/m]; does not depend on the positions."""
    forms = weights @ weights.transpose(0, 2, 1)
    return np.einsum("mij,ab->miajb", forms, np.eye(3)).reshape(len(weights), 3 * CORNERS, 3 * CORNERS)


def _form(block: PlateSquares, solver: str) -> ConstraintForm:
    raise SolverError(
        f"{solver} cannot carry quadratic bending: give the cloth bending=0 or "
        'bending_model="coupled" or "dihedral", or use pl.VBD.'
    )


PLATE_SQUARE = Element(
    PlateSquares,
    "plate squares",
    corners=CORNERS,
    corner_numbers=("weights",),
    views=(
        View(
            tuple((c, *(other for other in range(CORNERS) if other != c)) for c in range(CORNERS)),
            add_of_eleven,
            energy_of_eleven,
        ),
    ),
    hessian=hessian,
    constraint_form=_form,
    laplacian=squares,
    projection=squares,
    path="summed squares",
)

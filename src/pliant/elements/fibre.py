"""Stretch of a triangle along one direction of its rest state: the warp or weft of a cloth.

    E = A k/8 (|F d|^2 - 1)^2 = A k/2 e^2 with Green's strain e along the unit direction d,
    F d = sum_j beta_j x_j,   beta_j = b_j . d.

Seen from vertex i:  force = -A k/2 (|F d|^2 - 1) beta_i F d,
                     block =  A k beta_i^2 (F d (F d)^T + max(|F d|^2 - 1, 0) / 2  Identity).

The exact block has no max. Under compression that part is negative and is left out of what vertex block descent
solves, as in elements.spring.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from pliant.elements import triangle
from pliant.elements.block import Block, Invariance, Tearing
from pliant.elements.element import Element, View
from pliant.errors import MeshError
from pliant.lanes import maximum, number
from pliant.lanes.vectors import add_identity, add_scaled, add_square, dot, physics, subtract

LEAST_SINE = 1e-6  # of the angle between a direction and a triangle's normal


@dataclass(frozen=True)
class Fibres(Block):
    """Triangles (m, 3) that resist stretch along one direction of their rest state: the yarns of a cloth."""

    tearing = Tearing.FOLLOWS_TRIANGLES
    invariance = Invariance.RIGID

    slopes: np.ndarray  # (m, 3) derivatives of the shape functions along it [1/m]
    stiffness: np.ndarray  # (m,) stiffness [N/m] times area: [J]


def rest_data(points: np.ndarray, triangles: np.ndarray, direction: np.ndarray) -> np.ndarray:
    """beta (m, 3) [1/m]: derivatives of the shape functions along a direction (3,) or (m, 3) laid into each triangle.

    The direction is projected onto the triangle's plane at rest and made a unit vector there.
    """
    gradients, _, frames = triangle.rest_data(points, triangles)
    wanted = np.broadcast_to(np.asarray(direction, dtype=float), (len(triangles), 3))
    flat = np.einsum("mca,ma->mc", frames, wanted)
    length = np.linalg.norm(flat, axis=1)
    lost = np.flatnonzero(~(length > LEAST_SINE * np.linalg.norm(wanted, axis=1)))
    if lost.size:
        raise MeshError(
            f"The fibre direction {tuple(wanted[lost[0]].tolist())} has no part in the plane of triangle {lost[0]}; "
            "give a direction that lies in the sheet, for all triangles or one a triangle (m, 3)."
        )
    return np.einsum("mjc,mc->mj", gradients, flat / length[:, None])


@physics
def fibre_energy(a, b, beta_a, beta_b, stiffness):
    """E [J]; a, b relative to the vertex; stiffness A k [J]."""
    stretch = _stretched(a, b, beta_a, beta_b)
    strain = dot(stretch, stretch) - 1.0
    return 0.125 * stiffness * strain * strain


@physics
def add_fibre(f, H, a, b, beta_a, beta_b, stiffness):
    """Add the force on the vertex and its block; a, b relative to it; stiffness A k [J]."""
    own = -(beta_a + beta_b)
    stretch = _stretched(a, b, beta_a, beta_b)
    strain = dot(stretch, stretch) - 1.0
    f = add_scaled(f, -0.5 * stiffness * strain * own, stretch)
    weight = stiffness * own * own
    H = add_identity(H, 0.5 * weight * maximum(strain, number(0.0, strain)))
    return f, add_square(H, weight, stretch)


@physics
def _stretched(a, b, beta_a, beta_b):
    """F d: the rest direction as it is now."""
    return (a[0] * beta_a + b[0] * beta_b, a[1] * beta_a + b[1] * beta_b, a[2] * beta_a + b[2] * beta_b)


@physics
def fibre_measure(corners, slope_0, slope_1, slope_2, stiffness):
    """Green's strain along a yarn, (|F d|^2 - 1) / 2."""
    s = _stretched(subtract(corners[1], corners[0]), subtract(corners[2], corners[0]), slope_1, slope_2)
    g = (
        (slope_0 * s[0], slope_0 * s[1], slope_0 * s[2]),
        (slope_1 * s[0], slope_1 * s[1], slope_1 * s[2]),
        (slope_2 * s[0], slope_2 * s[1], slope_2 * s[2]),
    )
    return 0.5 * (dot(s, s) - 1.0), g, stiffness


def hessian(corners: np.ndarray, slopes: np.ndarray, stiffness: np.ndarray) -> np.ndarray:
    """d2E/dx2 (m, 9, 9) [N/m], exact."""
    stretch = np.einsum("mj,mja->ma", slopes[:, 1:], corners[:, 1:] - corners[:, :1])
    strain = np.einsum("ma,ma->m", stretch, stretch) - 1
    along = stretch[:, :, None] * stretch[:, None, :]
    by_stretch = stiffness[:, None, None] * (along + 0.5 * strain[:, None, None] * np.eye(3))
    return np.einsum("mi,mj,mab->miajb", slopes, slopes, by_stretch, optimize=True).reshape(-1, 9, 9)


def stretched_stiffness(fibres: Fibres) -> np.ndarray:
    """(m, 3, 3) as if stretched, so that nothing is too soft [N/m]."""
    return fibres.stiffness[:, None, None] * fibres.slopes[:, :, None] * fibres.slopes[:, None, :]


FIBRE = Element(
    Fibres,
    "yarns",
    corners=3,
    corner_numbers=("slopes",),
    numbers=("stiffness",),
    measure=fibre_measure,
    views=(View(((0, 1, 2), (1, 2, 0), (2, 0, 1)), add_fibre, fibre_energy),),
    hessian=hessian,
    laplacian=stretched_stiffness,
    projection=stretched_stiffness,
)

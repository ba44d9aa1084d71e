"""The spring between two vertices, and the rope that only pulls.

    E = k/2 (l - l0)^2 with l = |x_j - x_i|;   shorter than at rest, the stiffness is `compression` times k:
    1 is a spring, 0 a rope.

Seen from vertex i, with r = x_j - x_i and d = r / l:

    force = E' d,   block = k d d^T + max(E' / l, 0) (1 - d d^T).

The exact block has E' / l without max. Under compression that part is negative: the spring wants to turn aside. It is
left out of the block that vertex block descent solves, so that the block is never indefinite; energy, gradient and the
exact Hessian keep it.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from pliant.elements.block import Block, Invariance, Tearing
from pliant.elements.element import Element, View
from pliant.elements.pair import PAIR
from pliant.lanes import maximum, number, select, sqrt
from pliant.lanes.vectors import add_identity, add_scaled, add_square, dot, physics, subtract

LEAST_LENGTH = 1e-30  # [m] divides in place of a shorter length: ends that coincide have no direction and no force


@dataclass(frozen=True)
class Springs(Block):
    """Edges (m, 2) with a rest length."""

    tearing = Tearing.BREAKS
    invariance = Invariance.RIGID

    lengths: np.ndarray  # (m,) at rest [m]
    stiffness: np.ndarray  # (m,) [N/m]
    compression: np.ndarray  # (m,) part of the stiffness when shorter than at rest: 1 a spring, 0 a rope


def rest_data(points: np.ndarray, edges: np.ndarray) -> np.ndarray:
    """Lengths (m,) [m] of edges (m, 2)."""
    return np.linalg.norm(points[edges[:, 1]] - points[edges[:, 0]], axis=1)


@physics
def spring_energy(r, rest_length, stiffness, compression):
    """E [J]; rest_length [m], stiffness [N/m]."""
    stretch = sqrt(dot(r, r)) - rest_length
    k = select(stretch < 0.0, stiffness * compression, stiffness)
    return 0.5 * k * stretch * stretch


@physics
def add_spring(f, H, r, rest_length, stiffness, compression):
    """Add the force on vertex i and its block; r = x_j - x_i."""
    length = sqrt(dot(r, r))
    inverse = 1.0 / maximum(length, number(LEAST_LENGTH, length))
    k = select(length < rest_length, stiffness * compression, stiffness)
    pull = k * (1.0 - rest_length * inverse)  # E' / l
    f = add_scaled(f, pull, r)
    across = maximum(pull, number(0.0, pull))
    H = add_identity(H, across)
    d = (inverse * r[0], inverse * r[1], inverse * r[2])
    return f, add_square(H, k - across, d)


@physics
def spring_measure(corners, rest_length, stiffness, compression):
    """l - l0; a rope has no stiffness when it is shorter than at rest."""
    e = subtract(corners[1], corners[0])
    length = sqrt(dot(e, e))
    inverse = 1.0 / maximum(length, number(LEAST_LENGTH, length))
    u = (e[0] * inverse, e[1] * inverse, e[2] * inverse)
    k = select(length < rest_length, stiffness * compression, stiffness)
    return length - rest_length, ((-u[0], -u[1], -u[2]), u), k


def hessian(corners: np.ndarray, lengths: np.ndarray, stiffness: np.ndarray, compression: np.ndarray) -> np.ndarray:
    """d2E/dx2 (m, 6, 6) [N/m], exact: k d d^T + E'/l (1 - d d^T) with signs + - - +."""
    r = corners[:, 1] - corners[:, 0]
    length = np.linalg.norm(r, axis=1)
    k = np.where(length < lengths, stiffness * compression, stiffness)
    inverse = 1 / np.maximum(length, LEAST_LENGTH)
    d = r * inverse[:, None]
    across, along = (k * (1 - lengths * inverse))[:, None, None], d[:, :, None] * d[:, None, :]
    block = k[:, None, None] * along + across * (np.eye(3) - along)
    return np.block([[block, -block], [-block, block]])


def stretched_stiffness(springs: Springs) -> np.ndarray:
    """(m, 2, 2) as if stretched, so that nothing is too soft [N/m]."""
    return springs.stiffness[:, None, None] * PAIR


SPRING = Element(
    Springs,
    "springs",
    corners=2,
    numbers=("lengths", "stiffness", "compression"),
    measure=spring_measure,
    views=(View(((0, 1), (1, 0)), add_spring, spring_energy),),
    hessian=hessian,
    laplacian=stretched_stiffness,
    projection=stretched_stiffness,
)

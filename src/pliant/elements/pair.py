"""Weighted pairs of vertices: any constant quadratic energy that neither moving nor turning a body changes.

    E = 1/2 sum_ij Q_ij x_i . x_j  with symmetric Q whose rows sum to zero
      = 1/2 sum_pairs w_ij |x_i - x_j|^2,   w_ij = -Q_ij   [N/m]   (each pair i < j once)

so that a pair with w > 0 pulls together.  Quadratic bending, attachments and viscosity are such energies.
Seen from vertex i:  force = sum_j w_ij (x_j - x_i),   block = sum_j w_ij Identity = Q_ii Identity,
exact and, since Q is positive semidefinite, never negative.  A single pair's energy may be negative.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Self

import numpy as np

from pliant.elements.block import Block, Invariance
from pliant.elements.element import ConstraintForm, Element, View
from pliant.errors import SolverError
from pliant.lanes import maximum, number, sqrt
from pliant.lanes.vectors import add_scaled, dot, physics, subtract

PAIR = np.array([[1.0, -1.0], [-1.0, 1.0]])
LEAST_LENGTH = 1e-30  # [m] divides in place of a shorter length


@dataclass(frozen=True)
class Pairs(Block):
    """Pairs of vertices (m, 2) with a quadratic energy 1/2 w |x_i - x_j|^2: flat bending, attachments.

    A weight alone may be negative; what a body or an attachment adds is positive semidefinite as a whole.
    """

    invariance = Invariance.RIGID

    weights: np.ndarray  # (m,) w [N/m]


@dataclass(frozen=True)
class Attachments(Pairs):
    """Attachments between points of bodies, taken apart into pairs (see model.attachments)."""

    energy_name = "attachment"


@dataclass(frozen=True)
class Dampers(Pairs):
    """Pairs that resist relative velocity: 1/(2h) c |u_i - u_j|^2 of the displacements u in a step (Wang and Yang,
    after Equation 20). Weights are c [N s/m] in a model and c / h [N/m] in a step.
    """

    energy_name = "viscosity"
    is_viscous = True
    is_stored = False
    invariance = Invariance.TRANSLATION  # it takes the displacements of a turn for velocities that differ

    def over(self, h: float, x_prev: np.ndarray) -> Self:
        return replace(self, weights=self.weights / h)


@physics
def pair_energy(r, weight):
    """The pair's part of E [J]; r = x_j - x_i."""
    return 0.5 * weight * dot(r, r)


@physics
def add_pair(f, H, r, weight):
    """Add the force on vertex i; r = x_j - x_i, weight w_ij [N/m]. Its block is constant: w_ij times the identity."""
    return add_scaled(f, weight, r), H


@physics
def distance_measure(corners, weight):
    """|x_j - x_i|, a spring of rest length zero."""
    e = subtract(corners[1], corners[0])
    length = sqrt(dot(e, e))
    inverse = 1.0 / maximum(length, number(LEAST_LENGTH, length))
    u = (e[0] * inverse, e[1] * inverse, e[2] * inverse)
    return length, ((-u[0], -u[1], -u[2]), u), weight


def hessian(corners: np.ndarray, weights: np.ndarray) -> np.ndarray:
    """d2E/dx2 (m, 6, 6) [N/m]; does not depend on the positions."""
    return weights[:, None, None] * np.kron(PAIR, np.eye(3))


def weighted(pairs: Pairs) -> np.ndarray:
    """(m, 2, 2) [N/m]."""
    return pairs.weights[:, None, None] * PAIR


def _bending_form(pairs: Pairs, solver: str) -> ConstraintForm:
    raise SolverError(
        f"{solver} cannot carry quadratic bending, whose weights may be negative: give the cloth bending=0 or "
        'bending_model="coupled" or "dihedral", or use pl.VBD.'
    )


def _attachment_form(pairs: Pairs, solver: str) -> ConstraintForm:
    if (pairs.weights > 0).all():
        return ConstraintForm(distance_measure, pairs.elements, (pairs.weights,))
    raise SolverError(
        f"{solver} cannot carry links to points inside edges, faces or tets, whose pairs of vertices have negative "
        "weights: attach vertices to vertices, or use pl.VBD."
    )


def _damper_form(pairs: Pairs, solver: str) -> ConstraintForm:
    raise SolverError(f"{solver} cannot carry viscosity: set viscosity=0, or use pl.VBD.")


BENDING = Element(
    Pairs,
    "pairs",
    corners=2,
    numbers=("weights",),
    views=(View(((0, 1), (1, 0)), add_pair, pair_energy),),
    diagonal="weights",
    hessian=hessian,
    constraint_form=_bending_form,
    laplacian=weighted,
    projection=weighted,
)
ATTACHMENT = replace(BENDING, block=Attachments, name="attachments", constraint_form=_attachment_form)
DAMPER = replace(BENDING, block=Dampers, name="dampers", constraint_form=_damper_form)

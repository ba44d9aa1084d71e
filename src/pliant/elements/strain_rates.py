"""Damping of tets and triangles: a potential of the change of Green's strain E = (F^T F - 1) / 2 over a step.

    D = V k_d / h (mu |dE|^2 + lam/2 tr(dE)^2),   dE = E(x) - E(x_t)

with Lame's mu and lam of the element's law at rest, whatever the law is.  E does not change when the element is moved
or turned, so D damps no rigid motion; near rest D is k_d / h times the elastic energy of the step's own displacement,
Rayleigh's stiffness-proportional damping.  Triangles have their area for V, moduli in N/m and F (3, 2).

Below, C = F^T F, shear = V mu k_d / h and bulk = V lam k_d / h [J].  With S = shear dC + bulk/2 tr(dC) 1 and
q_i = F b_i:

    D = shear/4 |dC|^2 + bulk/8 tr(dC)^2
    dD/dx_i       = F S b_i
    d2D/dx_i dx_j = (b_i . S b_j) 1 + shear ((b_i . b_j) F F^T + q_j q_i^T) + bulk q_i q_j^T

Vertex block descent takes max(b_i . S b_i, 0), so that its block is never indefinite.  The change of C is computed from
the change of F, dC = sym((F + F_t)^T (F - F_t)): in single precision the difference of two C would be mostly rounding.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Self

import numpy as np

from pliant.elements.block import Block, Invariance, Tearing
from pliant.lanes.blocks import add_dyad
from pliant.lanes.vectors import physics
from pliant.materials.rest_moduli import lame_parameters_at_rest


@dataclass(frozen=True)
class StrainRates(Block):
    """Tets (m, 4) or triangles (m, 3) that resist changes of strain."""

    energy_name = "damping"
    is_stored = False
    invariance = Invariance.RIGID

    gradients: np.ndarray  # (m, k, 3) or (m, k, 2) shape-function gradients b [1/m]
    shear: np.ndarray  # (m,) V mu k_d [J s] in a model, V mu k_d / h [J] in a step
    bulk: np.ndarray  # (m,) the same with lam
    previous: np.ndarray  # (m, k, 3) corners at the start of the step [m]

    def over(self, h: float, x_prev: np.ndarray) -> Self:
        return replace(self, shear=self.shear / h, bulk=self.bulk / h, previous=x_prev[self.elements])


@dataclass(frozen=True)
class TetRates(StrainRates):
    """Damping of tets."""


@dataclass(frozen=True)
class TriangleRates(StrainRates):
    """Damping of the triangles of sheets, in their plane."""

    tearing = Tearing.FOLLOWS_TRIANGLES


def rates_of_solids(solids, k_d: float) -> TetRates:
    """The damping of a block of tets (elements.solids); k_d [s]."""
    return TetRates(solids.elements, solids.gradients, *_moduli(solids, solids.volumes, k_d))


def rates_of_sheets(sheets, k_d: float) -> TriangleRates:
    """The damping of a block of triangles (elements.sheet); k_d [s]."""
    return TriangleRates(sheets.elements, sheets.gradients, *_moduli(sheets, sheets.areas, k_d))


def _moduli(block, sizes: np.ndarray, k_d: float) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    lam, mu = lame_parameters_at_rest(block.law, block.parameters)
    return k_d * sizes * mu, k_d * sizes * lam, np.zeros((*block.elements.shape, 3))


@physics
def rate_block(s, k, B, shear, bulk, qi, qj):
    """d2D/dx_i dx_j [N/m] with s = b_i . S b_j, k = b_i . b_j and B = F F^T, symmetric."""
    t = shear * k
    block = (
        s + t * B[0], t * B[1], t * B[2],
        t * B[1], s + t * B[3], t * B[4],
        t * B[2], t * B[4], s + t * B[5],
    )  # fmt: skip
    block = add_dyad(block, (shear * qj[0], shear * qj[1], shear * qj[2]), qi)
    return add_dyad(block, (bulk * qi[0], bulk * qi[1], bulk * qi[2]), qj)


def average_stiffness(rates: StrainRates) -> np.ndarray:
    """(m, k, k) [N/m] near rest, averaged over directions, as of linear elasticity."""
    axes = rates.gradients.shape[2]
    return _products((rates.bulk + (axes + 1) * rates.shear) / 3, rates.gradients)


def largest_stiffness(rates: StrainRates) -> np.ndarray:
    """(m, k, k) [N/m] near rest, in the stiffest direction: 2 mu |e|^2 + lam tr(e)^2 <= (2 mu + d lam) |grad u|^2."""
    axes = rates.gradients.shape[2]
    return _products(2 * rates.shear + axes * rates.bulk, rates.gradients)


def _products(weights: np.ndarray, b: np.ndarray) -> np.ndarray:
    return np.einsum("m,mic,mjc->mij", weights, b, b)

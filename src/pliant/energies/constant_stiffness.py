"""Constant matrices that stand for the stiffness of elements, the same in all directions: L (n, n) [N/m]."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import scipy.sparse as sp

from pliant.energies.elements import energy_of
from pliant.energies.potential import IncrementalPotential
from pliant.errors import SolverError
from pliant.materials.calculus import law_code
from pliant.model import (
    Attachments,
    Block,
    Bounds,
    Dampers,
    Fibres,
    Hinges,
    Joints,
    Model,
    Pairs,
    Pressures,
    Sheets,
    Solids,
    Springs,
)

Matrices = Callable[[Any, Model], np.ndarray]  # (m, corners, corners) of a block's elements


def stiffness_laplacian(problem: IncrementalPotential) -> sp.csr_matrix:
    """About as stiff as the elements at rest: their Hessians averaged over directions; springs and threads as if
    stretched, so that nothing is too soft; pressure, which has no stiffness of its own, and walls, which few vertices
    touch, left out.
    """
    return _assemble(
        problem,
        {
            Solids: _isotropic_tets,
            Sheets: _isotropic_triangles,
            Fibres: _fibres,
            Springs: _springs,
            Pairs: _pairs,
            Attachments: _pairs,
            Dampers: _pairs,
            Bounds: _nothing,
            Pressures: _nothing,
            Hinges: _initial,
            Joints: _initial,
        },
        "LaplacianQuasiNewton",
    )


def projection_laplacian(problem: IncrementalPotential) -> sp.csr_matrix:
    """The Hessian of the elements' distances to their projections, those held constant (Bouaziz et al. 2014)."""
    kinds: dict[type[Block], Matrices] = {
        Solids: _projected_tets,
        Sheets: _projected_triangles,
        Fibres: _fibres,
        Springs: _springs,
        Pairs: _pairs,
        Attachments: _pairs,
        Dampers: _pairs,
        Bounds: _bounds,
    }
    return _assemble(problem, kinds, "ProjectiveDynamics")


def _assemble(problem: IncrementalPotential, kinds: dict[type[Block], Matrices], solver: str) -> sp.csr_matrix:
    model, n = problem.model, problem.model.n_vertices
    total = sp.csr_matrix((n, n))
    for block in problem.blocks:
        if type(block) not in kinds:
            raise SolverError(
                f"{solver} cannot take elements of kind {type(block).__name__}, which have no constant matrix: use "
                "pl.VBD or pl.LBFGS."
            )
        corners, k = block.elements, block.elements.shape[1]
        rows, columns = np.repeat(corners, k, axis=1).ravel(), np.tile(corners, (1, k)).ravel()
        matrices = kinds[type(block)](block, model)
        total = total + sp.csr_matrix((matrices.ravel(), (rows, columns)), shape=(n, n))
    return total


def _isotropic_tets(block: Solids, model: Model) -> np.ndarray:
    """A third of the trace of V ((lam + mu) b_i b_j^T + mu b_i . b_j 1), the Hessian of linear elasticity."""
    lam, mu = lame_parameters_at_rest(block.law, block.parameters)
    return _products(block.volumes * (lam + 4 * mu) / 3, block.gradients)


def _isotropic_triangles(block: Sheets, model: Model) -> np.ndarray:
    """The same in a plane; across it a flat sheet has no stiffness."""
    lam, mu = lame_parameters_at_rest(block.law, block.parameters)
    return _products(block.areas * (lam + 3 * mu) / 3, block.gradients)


def _projected_tets(block: Solids, model: Model) -> np.ndarray:
    """psi = w/2 |F - R|^2 has the Hessian V w b_i . b_j 1 as long as R does not turn."""
    return _products(block.volumes * _projection_weights(block), block.gradients)


def _projected_triangles(block: Sheets, model: Model) -> np.ndarray:
    """The same with F (3, 2): the law takes the stretch across the sheet as 1, so that R keeps its length there."""
    return _products(block.areas * _projection_weights(block), block.gradients)


def _projection_weights(block: Solids | Sheets) -> np.ndarray:
    weight = getattr(block.law, "projection_weight", None)
    weights = np.array([np.nan]) if weight is None else weight(*block.parameters.T)
    if not np.isfinite(weights).all():
        raise SolverError(
            f"ProjectiveDynamics cannot take {block.law.__name__} with parameters {block.parameters[0].tolist()}: it "
            "needs a law of the distance to the nearest rotation, such as ARAP, or Corotated with lam = 0."
        )
    return weights


def _fibres(block: Fibres, model: Model) -> np.ndarray:
    return _products(block.stiffness, block.slopes[:, :, None])


def _springs(block: Springs, model: Model) -> np.ndarray:
    return block.stiffness[:, None, None] * _PAIR


def _pairs(block: Pairs, model: Model) -> np.ndarray:
    return block.weights[:, None, None] * _PAIR


def _bounds(block: Bounds, model: Model) -> np.ndarray:
    """k/2 |x - p|^2, p the nearest point in the box."""
    return block.stiffness[:, None, None]


def _nothing(block: Block, model: Model) -> np.ndarray:
    return np.zeros((*block.elements.shape, block.elements.shape[1]))


def _initial(block: Block, model: Model) -> np.ndarray:
    """Hessians where the simulation starts, averaged over directions, their negative parts left out."""
    hessians = energy_of(block).element_hessians(block, model.positions, slice(None))
    values, vectors = np.linalg.eigh(np.einsum("miaja->mij", hessians) / 3)
    return np.einsum("mik,mk,mjk->mij", vectors, np.maximum(values, 0), vectors)


_PAIR = np.array([[1.0, -1.0], [-1.0, 1.0]])


def _products(weights: np.ndarray, b: np.ndarray) -> np.ndarray:
    """w b_i . b_j of each element."""
    return np.einsum("m,mic,mjc->mij", weights, b, b)


def lame_parameters_at_rest(law: type, parameters: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Lame's lam and mu (m,) [Pa] of any isotropic law, from its derivatives at F = 1.

    Along two axes s1, s2: d2psi/ds1^2 = lam + 2 mu, d2psi/ds1 ds2 = lam.
    """
    ones = np.ones(len(parameters))
    first, second = law_code(law).functions.derivatives(3 * ones, 3 * ones, ones, *parameters.T)
    psi_I, psi_II, psi_J = (0 * ones if d is None else d + 0 * ones for d in first)
    slopes = np.array([2.0, 4.0, 1.0])  # dI, dII, dJ by a stretch along an axis
    pairs = [(i, j) for i in range(3) for j in range(i, 3)]
    common = 0 * ones
    for (i, j), value in zip(pairs, second, strict=True):
        if value is not None:
            common = common + (1 if i == j else 2) * slopes[i] * slopes[j] * value
    # d2I = 2 and d2II = 12 along one axis, d2J = 1 along two
    lam = common + psi_J
    return lam, (common + 2 * psi_I + 12 * psi_II - lam) / 2

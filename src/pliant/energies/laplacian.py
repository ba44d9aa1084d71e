"""Constant graph Laplacians that stand for the stiffness of elements: 1/2 sum_d x_d^T L x_d over the directions d."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import scipy.sparse as sp

from pliant.errors import SolverError
from pliant.materials.calculus import law_code
from pliant.model import Block, Model, Pairs, Solids


def stiffness_laplacian(model: Model) -> sp.csr_matrix:
    """(n, n) [N/m]: the Hessian of all elements at rest, each of its 3 x 3 blocks averaged over directions."""
    return assemble(model, {Solids: _isotropic_tets, Pairs: _pairs}, "LaplacianQuasiNewton")


def projection_laplacian(model: Model) -> sp.csr_matrix:
    """(n, n) [N/m]: the Hessian of the distance of all elements to their projections, those held constant."""
    return assemble(model, {Solids: _projected_tets, Pairs: _pairs}, "ProjectiveDynamics")


def assemble(
    model: Model, kinds: dict[type[Block], Callable[[Block], tuple[np.ndarray, np.ndarray]]], solver: str
) -> sp.csr_matrix:
    """Sum the elements' matrices (m, corners, corners); kinds: which function gives corners and matrices of a block."""
    n = model.n_vertices
    total = sp.csr_matrix((n, n))
    for block in model.blocks:
        if type(block) not in kinds:
            raise SolverError(
                f"{solver} has no constant matrix for elements of kind {type(block).__name__}: use pl.VBD or pl.LBFGS."
            )
        corners, matrices = kinds[type(block)](block)
        k = corners.shape[1]
        rows, columns = np.repeat(corners, k, axis=1).ravel(), np.tile(corners, (1, k)).ravel()
        total = total + sp.csr_matrix((matrices.ravel(), (rows, columns)), shape=(n, n))
    return total


def _gradient_products(block: Solids, weights: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """V w b_i . b_j of each tet."""
    b = block.gradients
    return block.tets, np.einsum("m,mic,mjc->mij", block.volumes * weights, b, b)


def _isotropic_tets(block: Block) -> tuple[np.ndarray, np.ndarray]:
    """A third of the trace of V ((lam + mu) b_i b_j^T + mu b_i . b_j 1), the Hessian of linear elasticity."""
    assert isinstance(block, Solids)
    lam, mu = lame_parameters_at_rest(block)
    return _gradient_products(block, (lam + 4 * mu) / 3)


def _projected_tets(block: Block) -> tuple[np.ndarray, np.ndarray]:
    """psi = w/2 |F - R|^2 has the Hessian V w b_i . b_j 1 as long as R does not turn."""
    assert isinstance(block, Solids)
    weight = getattr(block.law, "projection_weight", None)
    if weight is None:
        raise SolverError(
            f"ProjectiveDynamics cannot take {block.law.__name__}: it needs a law of the distance to the nearest "
            "rotation, such as ARAP or Corotated with lam = 0."
        )
    return _gradient_products(block, weight(*block.parameters.T))


def _pairs(block: Block) -> tuple[np.ndarray, np.ndarray]:
    assert isinstance(block, Pairs)
    return block.elements, block.weights[:, None, None] * np.array([[1.0, -1.0], [-1.0, 1.0]])


def lame_parameters_at_rest(block: Solids) -> tuple[np.ndarray, np.ndarray]:
    """Lame's lam and mu (m,) [Pa] of any isotropic law, from its second derivatives at F = 1.

    With I = |F|^2, II = |F^T F|^2, J: d2psi/dF2 at rest along e x e is lam + 2 mu and mixed lam.
    """
    ones = np.ones(len(block.volumes))
    first, second = law_code(block.law).functions.derivatives(3 * ones, 3 * ones, ones, *block.parameters.T)
    psi_I, psi_II, psi_J = (0 * ones if d is None else d + 0 * ones for d in first)
    G = np.array([2.0, 4.0, 1.0])  # dI, dII, dJ by a stretch along an axis
    mixed, k = 0 * ones, 0
    for i in range(3):
        for j in range(i, 3):
            if second[k] is not None:
                mixed = mixed + (1 if i == j else 2) * G[i] * G[j] * second[k]
            k += 1
    # d2J/ds1 ds2 = 1, d2I and d2II have no mixed part; d2I/ds1^2 = 2, d2II/ds1^2 = 12
    lam = mixed + psi_J
    return lam, (mixed + 2 * psi_I + 12 * psi_II - lam) / 2

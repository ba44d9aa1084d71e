"""Constant matrices that stand for the stiffness of elements, the same in all directions: L (n, n) [N/m]."""

from __future__ import annotations

import numpy as np

from pliant.elements.registry import element_of
from pliant.energies.elements import energy_of
from pliant.energies.potential import IncrementalPotential
from pliant.errors import SolverError
from pliant.materials.rest_moduli import lame_parameters_at_rest
from pliant.model import Block, Model, Sheets, Solids
from pliant.model.blocks import Converted
from pliant.sparse import sp


def stiffness_laplacian(problem: IncrementalPotential) -> sp.csr_matrix:
    """About as stiff as the elements at rest: their Hessians averaged over directions; springs and yarns as if
    stretched, so that nothing is too soft; pressure, which has no stiffness of its own, and walls, which few vertices
    touch, left out.
    """
    return _assemble(problem, [_stiffness(block, problem.model) for block in problem.blocks])


def projection_laplacian(problem: IncrementalPotential) -> sp.csr_matrix:
    """The Hessian of the elements' distances to their projections, those held constant (Bouaziz et al. 2014)."""
    return _assemble(problem, [_projected(block) for block in problem.blocks])


def _assemble(problem: IncrementalPotential, matrices: list[np.ndarray]) -> sp.csr_matrix:
    """The sum of matrices (m, corners, corners) of the blocks' elements."""
    n = problem.model.n_vertices
    total = sp.csr_matrix((n, n))
    for block, own in zip(problem.blocks, matrices, strict=True):
        corners, k = block.elements, block.elements.shape[1]
        rows, columns = np.repeat(corners, k, axis=1).ravel(), np.tile(corners, (1, k)).ravel()
        total = total + sp.csr_matrix((own.ravel(), (rows, columns)), shape=(n, n))
    return total


def _stiffness(block: Block, model: Model) -> np.ndarray:
    laplacian = element_of(block).laplacian
    if laplacian is not None:
        return laplacian(block)
    if isinstance(block, Converted):
        raise _refusal("LaplacianQuasiNewton", block)
    if isinstance(block, Solids):
        return _isotropic_tets(block)
    return _isotropic_triangles(block) if isinstance(block, Sheets) else _initial(block, model)


def _projected(block: Block) -> np.ndarray:
    projection = element_of(block).projection
    if projection is not None:
        return projection(block)
    if isinstance(block, Converted) or not isinstance(block, Solids | Sheets):
        raise _refusal("ProjectiveDynamics", block)
    return _projected_tets(block) if isinstance(block, Solids) else _projected_triangles(block)


def _refusal(solver: str, block: Block) -> SolverError:
    return SolverError(
        f"{solver} cannot take elements of kind {type(block).__name__}, which have no constant matrix: use "
        "pl.VBD or pl.LBFGS."
    )


def _isotropic_tets(block: Solids) -> np.ndarray:
    """A third of the trace of V ((lam + mu) b_i b_j^T + mu b_i . b_j 1), the Hessian of linear elasticity."""
    lam, mu = lame_parameters_at_rest(block.law, block.parameters)
    return _products(block.volumes * (lam + 4 * mu) / 3, block.gradients)


def _isotropic_triangles(block: Sheets) -> np.ndarray:
    """The same in a plane; across it a flat sheet has no stiffness."""
    lam, mu = lame_parameters_at_rest(block.law, block.parameters)
    return _products(block.areas * (lam + 3 * mu) / 3, block.gradients)


def _projected_tets(block: Solids) -> np.ndarray:
    """psi = w/2 |F - R|^2 has the Hessian V w b_i . b_j 1 as long as R does not turn."""
    return _products(block.volumes * _projection_weights(block), block.gradients)


def _projected_triangles(block: Sheets) -> np.ndarray:
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


def _initial(block: Block, model: Model) -> np.ndarray:
    """Hessians where the simulation starts, averaged over directions, their negative parts left out."""
    hessians = energy_of(block).element_hessians(block, model.positions, slice(None))
    values, vectors = np.linalg.eigh(np.einsum("miaja->mij", hessians) / 3)
    return np.einsum("mik,mk,mjk->mij", vectors, np.maximum(values, 0), vectors)


def _products(weights: np.ndarray, b: np.ndarray) -> np.ndarray:
    """w b_i . b_j of each element."""
    return np.einsum("m,mic,mjc->mij", weights, b, b)

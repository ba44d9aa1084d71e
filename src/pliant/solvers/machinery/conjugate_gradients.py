"""Conjugate gradients that notice where a matrix is not positive definite."""

from __future__ import annotations

import numpy as np

from pliant.kernels.block_cg import cg_vectors, solve_by_cg
from pliant.kernels.threads import Team
from pliant.lanes.compiled import cached
from pliant.solvers.machinery.factorisation import NotPositiveDefinite
from pliant.sparse import sp

LOOSEST = 0.1  # of |b|: what an iteration of Newton's method leaves over far from the solution


def conjugate_gradients(A: sp.bsr_matrix, b: np.ndarray, team: Team) -> np.ndarray:
    """A x = b, A of 3x3 blocks, until the residual is min(0.1, sqrt|b|) |b|; preconditioned by the diagonal's blocks.

    The right-hand side is a gradient, so systems are solved more exactly the nearer the solution is and Newton's
    method converges faster than linearly (Nocedal and Wright, Section 7.1). |b| is measured against the diagonal, as a
    length.
    """
    inverses = _inverse_diagonal(A)
    v = cg_vectors(b.reshape(-1, 3))
    z = np.einsum("nab,nb->na", inverses, v.r)
    goal = min(LOOSEST, float(np.sqrt(np.abs(z).max()))) * float(np.sqrt(np.sum(v.r * z)))
    matrix, limit = (A.indptr, A.indices, A.data), 10 * len(b)
    team.run(cached(solve_by_cg), *matrix, inverses, goal, limit, v, amount=lambda: v.outcome[0])
    if v.outcome[1]:
        raise NotPositiveDefinite
    return v.x.ravel()


def _inverse_diagonal(A: sp.bsr_matrix) -> np.ndarray:
    """(rows, 3, 3)."""
    rows = np.repeat(np.arange(A.shape[0] // 3), np.diff(A.indptr))
    blocks = A.data[rows == A.indices]
    try:
        np.linalg.cholesky(blocks)
    except np.linalg.LinAlgError:
        raise NotPositiveDefinite from None
    return np.linalg.inv(blocks)

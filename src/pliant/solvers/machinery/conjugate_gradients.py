"""Conjugate gradients that notice where a matrix is not positive definite."""

from __future__ import annotations

import numpy as np

from pliant.kernels.block_cg import CgVectors, advance, begin, cg_vectors, correct, multiply
from pliant.kernels.threads import Team
from pliant.lanes.compiled import cached
from pliant.solvers.machinery.factorisation import NotPositiveDefinite
from pliant.solvers.machinery.preconditioner import Preconditioner
from pliant.sparse import sp

LOOSEST = 1e-3  # of |b|: what an iteration of Newton's method leaves over far from the solution
TIGHTEST = 1e-10  # the same near it


def conjugate_gradients(A: sp.bsr_matrix, b: np.ndarray, before: Preconditioner, team: Team) -> np.ndarray:
    """A x = b, A of 3x3 blocks, until the residual is min(1e-3, |x| / extent) |b|, preconditioned.

    The right-hand side is a gradient, so systems are solved more exactly the nearer the solution is and Newton's
    method converges quadratically (Nocedal and Wright, Section 7.1). |b| is measured in P, so that its square is about
    the energy that the step gains; |x| is the longest way of a vertex in the first direction.
    """
    v, coarse = cg_vectors(b.reshape(-1, 3)), before.coarse
    matrix = (A.indptr, A.indices, A.data)
    team.run(cached(begin), before.inverses, coarse, v)
    product = _corrected(before, v, team)
    loosest = min(LOOSEST, float(np.abs(v.z).max(initial=0.0)) / before.extent)
    goal, beta = max(loosest, TIGHTEST) ** 2 * product, 0.0
    for _ in range(10 * len(b)):
        team.run(cached(multiply), *matrix, beta, v)
        curvature = float(v.sums[1].sum())
        if not curvature > 0:
            raise NotPositiveDefinite
        team.run(cached(advance), product / curvature, before.inverses, coarse, v)
        left = _corrected(before, v, team)
        if not left > goal:
            break
        beta, product = left / product, left
    return v.x.ravel()


def _corrected(before: Preconditioner, v: CgVectors, team: Team) -> float:
    """r . z, once the coarse system's part is added to z."""
    motion = before.solve(before.coarse.load.ravel()).reshape(before.coarse.load.shape)
    team.run(cached(correct), motion, before.coarse, v)
    return float(v.sums[0].sum())

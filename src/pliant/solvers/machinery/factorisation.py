"""Direct solution of sparse symmetric systems."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from pliant.solvers.machinery.multifrontal import NotPositiveDefinite, eliminate
from pliant.sparse import sp

__all__ = ["NotPositiveDefinite", "Solve", "factorise", "factorise_symmetric"]

Solve = Callable[[np.ndarray], np.ndarray]


def factorise(A: sp.spmatrix) -> Solve:
    """A function that solves A x = b for b (m,) or (m, k), by Cholesky's factors of A."""
    return eliminate(A).solve


def factorise_symmetric(A: sp.spmatrix) -> tuple[Solve, int]:
    """A function that solves A x = b for b (m,) or (m, k), A symmetric, and how many negative eigenvalues A has.

    Without row exchanges the pivots have the signs of the eigenvalues (Sylvester's law of inertia).
    """
    from scipy.sparse.linalg import splu  # takes a tenth of a second to import

    factors = splu(A.tocsc(), permc_spec="MMD_AT_PLUS_A", diag_pivot_thresh=0.0, options={"SymmetricMode": True})
    return factors.solve, int((factors.U.diagonal() < 0).sum())

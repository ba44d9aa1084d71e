"""Conjugate gradients that notice where a matrix is not positive definite."""

from __future__ import annotations

import numpy as np
import scipy.sparse as sp

from pliant.solvers.factorisation import NotPositiveDefinite

LOOSEST = 0.1  # of |b|: what an iteration of Newton's method leaves over far from the solution


def conjugate_gradients(A: sp.spmatrix, b: np.ndarray) -> np.ndarray:
    """A x = b with the preconditioner diag(A), until the residual is min(0.1, sqrt|b|) |b|.

    The right-hand side is a gradient, so systems are solved more exactly the nearer the solution is and Newton's
    method converges faster than linearly (Nocedal and Wright, Section 7.1). |b| is measured against the diagonal, as a
    length.
    """
    A = A.tocsr()
    diagonal = A.diagonal()
    if not diagonal.min() > 0:
        raise NotPositiveDefinite
    x, r = np.zeros_like(b), b.copy()
    z = r / diagonal
    p, product = z.copy(), float(r @ z)
    size = np.sqrt(product)
    goal = min(LOOSEST, float(np.sqrt(np.abs(z).max()))) * size
    for _ in range(10 * len(b)):
        Ap = A @ p
        curvature = float(p @ Ap)
        if curvature <= 0:
            raise NotPositiveDefinite
        alpha = product / curvature
        x += alpha * p
        r -= alpha * Ap
        z = r / diagonal
        new = float(r @ z)
        if np.sqrt(new) <= goal:
            return x
        p = z + (new / product) * p
        product = new
    return x

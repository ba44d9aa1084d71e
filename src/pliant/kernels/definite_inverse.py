"""Inverses of small definite matrices."""

from __future__ import annotations

from pliant.lanes.entry import entry


@entry(nogil=True)
def invert_definite(matrices):
    """Let each of matrices (m, n, n), symmetric, be its inverse; whether all are positive definite.

    Gauss and Jordan's elimination without pivots, which definite matrices do not need.
    """
    n = matrices.shape[1]
    for number in range(len(matrices)):
        A = matrices[number]
        for k in range(n):
            if not A[k, k] > 0.0:
                return False
            scale = 1.0 / A[k, k]
            A[k, k] = 1.0
            for j in range(n):
                A[k, j] *= scale
            for i in range(n):
                if i != k:
                    factor = A[i, k]
                    A[i, k] = 0.0
                    for j in range(n):
                        A[i, j] -= factor * A[k, j]
    return True

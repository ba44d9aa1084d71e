"""Inverses of small definite matrices."""

from __future__ import annotations

import math

import numpy as np

from pliant.lanes.entry import entry

ROOT = 96  # numbers of a triangular matrix (12, 12), columns in fours of rows from that with the diagonal on


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


@entry(nogil=True)
def invert_roots(matrices, out):
    """W (m, ROOT) of W^T W, the inverses of matrices (m, 12, 12), symmetric, whose lower triangles become L = W^-1;
    whether all are positive definite. However W is rounded, W^T W is definite.
    """
    n = matrices.shape[1]
    for number in range(len(matrices)):
        A = matrices[number]
        for k in range(n):
            for j in range(k):
                A[k, k] -= A[k, j] * A[k, j]
            if not A[k, k] > 0.0:
                return False
            A[k, k] = math.sqrt(A[k, k])
            for i in range(k + 1, n):
                for j in range(k):
                    A[i, k] -= A[i, j] * A[k, j]
                A[i, k] /= A[k, k]
        place = 0
        for d in range(n):
            column = np.zeros(n)
            column[d] = 1.0 / A[d, d]
            for i in range(d + 1, n):
                for j in range(d, i):
                    column[i] -= A[i, j] * column[j]
                column[i] /= A[i, i]
            for i in range(4 * (d // 4), n):
                out[number, place] = column[i]
                place += 1
    return True

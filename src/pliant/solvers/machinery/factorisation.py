"""Direct solution of sparse symmetric positive definite systems."""

from __future__ import annotations

import ctypes
import logging
import os
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import cache
from typing import Any

import numpy as np

from pliant.sparse import sp

logger = logging.getLogger("pliant")

Solve = Callable[[np.ndarray], np.ndarray]


class NotPositiveDefinite(Exception):
    """The matrix has no Cholesky factor."""


def factorise(A: sp.spmatrix) -> Solve:
    """A function that solves A x = b for b (m,) or (m, k), by Cholesky's factors of A.

    cholespy (extra `direct`) if it is installed, else SciPy's LU decomposition, which is slower.
    """
    A = A.tocsc()
    A.sort_indices()
    cholespy = _cholespy()
    return _by_lu(A) if cholespy is None else _by_cholesky(cholespy, A)


def factorise_symmetric(A: sp.spmatrix) -> tuple[Solve, int]:
    """A function that solves A x = b for b (m,) or (m, k), A symmetric, and how many negative eigenvalues A has.

    Without row exchanges the pivots have the signs of the eigenvalues (Sylvester's law of inertia).
    """
    factors = _lu(A.tocsc())
    return factors.solve, int((factors.U.diagonal() < 0).sum())


@cache
def _cholespy() -> Any:
    try:
        import cholespy
    except ImportError:
        logger.info(
            'cholespy is not installed: sparse systems are solved by SciPy, slower. pip install "pliant[direct]"',
            extra={"entry": "cholespy"},
        )
        return None
    return cholespy


def _by_cholesky(cholespy: Any, A: sp.csc_matrix) -> Solve:
    indices = (A.indptr.astype(np.int32), A.indices.astype(np.int32))
    try:
        with _without_messages():
            factors = cholespy.CholeskySolverD(A.shape[0], *indices, A.data, cholespy.MatrixType.CSC)
    except ValueError:
        raise NotPositiveDefinite from None

    def solve(b: np.ndarray) -> np.ndarray:
        b = np.ascontiguousarray(b, float)
        x = np.zeros_like(b)
        factors.solve(b, x)
        return x

    return solve


def _by_lu(A: sp.csc_matrix) -> Solve:
    factors = _lu(A)
    if not factors.U.diagonal().min() > 0:
        raise NotPositiveDefinite
    return factors.solve


def _lu(A: sp.csc_matrix) -> Any:
    """Factors without row exchanges, whose pivots have the signs of the eigenvalues."""
    from scipy.sparse.linalg import splu  # takes a tenth of a second to import

    return splu(A, permc_spec="MMD_AT_PLUS_A", diag_pivot_thresh=0.0, options={"SymmetricMode": True})


@contextmanager
def _without_messages() -> Iterator[None]:
    """CHOLMOD prints a warning past Python where a matrix is indefinite; here that is an answer, no fault."""
    if os.name != "posix":
        yield
        return
    flush = ctypes.CDLL(None).fflush  # what C has buffered belongs to where it was printed
    sys.stdout.flush()
    sys.stderr.flush()
    flush(None)
    kept = [os.dup(stream) for stream in (1, 2)]
    nowhere = os.open(os.devnull, os.O_WRONLY)
    for stream in (1, 2):
        os.dup2(nowhere, stream)
    try:
        yield
    finally:
        flush(None)
        for stream, copy in zip((1, 2), kept, strict=True):
            os.dup2(copy, stream)
            os.close(copy)
        os.close(nowhere)

"""What precedes conjugate gradients: the diagonal's blocks, and rigid motions of aggregates of vertices.

The blocks smooth what neighbours do against each other. What a part of a body does as a whole, as a slender beam that
bends, takes them as many iterations as it has vertices along it; a small system of the rigid motions of aggregates
finds it at once (additive two-level preconditioner; Toselli and Widlund 2005, Chapter 3).
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from pliant.geometry.components import connected_components
from pliant.kernels.block_cg import Coarse
from pliant.solvers.machinery.factorisation import NotPositiveDefinite, Solve, factorise
from pliant.solvers.machinery.levels.aggregates import centres, join_points
from pliant.sparse import sp

MOTIONS = 6  # of a rigid body
SMALLEST = 64  # vertices of an aggregate, on average
MOST = 2000  # aggregates: their matrix is factorised
RIDGE = 1e-9  # of an aggregate's stiffness: what is added, as a straight rope does not feel turns about itself


@dataclass(frozen=True)
class Grouped:
    """Rows of a matrix by the aggregates that their vertices belong to."""

    of_row: np.ndarray  # (rows,)
    start: np.ndarray  # (m + 1,)
    order: np.ndarray  # (rows,) by aggregates

    @property
    def count(self) -> int:
        return len(self.start) - 1


@dataclass(frozen=True)
class Preconditioner:
    """P, for z = P r."""

    inverses: np.ndarray  # (rows, 3, 3) of the diagonal's blocks
    coarse: Coarse
    solve: Solve  # the coarse system
    extent: float  # [m] of the vertices


def group_rows(x: np.ndarray, start: np.ndarray, column: np.ndarray) -> Grouped:
    """Aggregates of vertices at x (rows, 3), which are neighbours where a matrix has a block."""
    n = len(x)
    graph = sp.csr_matrix((np.ones(len(column)), column, start), shape=(n, n))
    rows = np.repeat(np.arange(n), np.diff(start))
    component = connected_components(np.column_stack([rows, column]), n)[1]
    size = max(SMALLEST, -(-n // MOST))
    joined = join_points(x, graph, component, -(-n // size))
    order = np.argsort(joined.of_point, kind="stable")
    starts = np.searchsorted(joined.of_point[order], np.arange(joined.size + 1))
    return Grouped(joined.of_point, starts, order)


def precondition(A: sp.bsr_matrix, grouped: Grouped, x: np.ndarray) -> Preconditioner:
    """For A of 3x3 blocks at positions x (rows, 3) [m]."""
    basis = _rigid_motions(grouped, x)
    n, m = len(x), grouped.count
    P = sp.bsr_matrix((basis, grouped.of_row, np.arange(n + 1)), shape=(3 * n, MOTIONS * m))
    galerkin = (P.T @ (A @ P)).tobsr((MOTIONS, MOTIONS))
    stiffness = galerkin.diagonal().reshape(m, MOTIONS).max(axis=1)
    ridge = sp.diags(np.repeat(RIDGE * stiffness, MOTIONS))
    coarse = Coarse(basis, grouped.of_row, grouped.start, grouped.order, np.zeros((m, MOTIONS)))
    extent = max(float(np.ptp(x, axis=0).max()), float(np.finfo(float).tiny))
    return Preconditioner(_inverse_diagonal(A), coarse, factorise(galerkin + ridge), extent)


def _rigid_motions(grouped: Grouped, x: np.ndarray) -> np.ndarray:
    """(rows, 3, 6) what a vertex does when its aggregate is shifted along and turned about an axis, by its radius."""
    offset = x - centres(x, grouped.of_row, grouped.count)[grouped.of_row]
    squares = np.bincount(grouped.of_row, np.sum(offset**2, axis=1), grouped.count)
    radius = np.sqrt(squares / np.diff(grouped.start))
    offset /= np.where(radius > 0, radius, 1.0)[grouped.of_row, None]
    basis = np.zeros((len(x), 3, MOTIONS))
    for axis in range(3):
        basis[:, axis, axis] = 1.0
        basis[:, :, 3 + axis] = np.cross(np.eye(3)[axis], offset)
    return basis


def _inverse_diagonal(A: sp.bsr_matrix) -> np.ndarray:
    """(rows, 3, 3)."""
    rows = np.repeat(np.arange(A.shape[0] // 3), np.diff(A.indptr))
    blocks = A.data[rows == A.indices]
    try:
        np.linalg.cholesky(blocks)
    except np.linalg.LinAlgError:
        raise NotPositiveDefinite from None
    return np.linalg.inv(blocks)

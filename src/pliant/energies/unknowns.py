"""The unknowns of a step: blocks of 1, 2, 3 or 6 numbers that move the points everybody sees.

A vertex on a line is a block of one number, in a plane of two, a free one of three, a rigid body of six (see
model.carried); a fixed vertex has none.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from pliant.energies.potential import IncrementalPotential
from pliant.model import CARRIED, CarriedPoints, Model
from pliant.sparse import sp


@dataclass(frozen=True)
class Unknowns:
    """The unknowns u at positions x of the points and poses of the bodies: u = 0 there."""

    problem: IncrementalPotential
    x: np.ndarray  # (n, 3) [m]
    poses: np.ndarray  # (b, 7)
    jacobian: sp.csr_matrix  # dx/du (3n, N)
    vertices: int  # how many unknowns belong to vertices; those of bodies follow, six each

    @classmethod
    def at(cls, problem: IncrementalPotential, x: np.ndarray, poses: np.ndarray) -> Unknowns:
        model = problem.model
        own = _vertex_jacobian(model)
        if model.carried is None:
            return cls(problem, x, poses, own, own.shape[1])
        return cls(
            problem,
            x,
            poses,
            sp.hstack([own, _body_jacobian(model.carried, model.n_vertices, poses)]).tocsr(),
            own.shape[1],
        )

    @property
    def count(self) -> int:
        """N."""
        return self.jacobian.shape[1]

    def gradient(self, g: np.ndarray) -> np.ndarray:
        """dG/du (N,) from dG/dx (n, 3)."""
        return self.jacobian.T @ g.ravel()

    def hessian(self, H: sp.spmatrix, g: np.ndarray, points: np.ndarray, psd: bool = False) -> sp.csr_matrix:
        """d2G/du2 (N, N) from d2G/dx2 by some of the points (k,), all that may move, and dG/dx (n, 3); with psd what
        turning adds is made positive semidefinite.
        """
        J = self.jacobian[(3 * points[:, None] + np.arange(3)).ravel()]
        reduced = J.T @ H @ J
        carried = self.problem.model.carried
        if carried is None:
            return reduced.tocsr()
        bends = carried.curvatures(g, self.poses)
        if psd:
            values, vectors = np.linalg.eigh(bends)
            bends = np.einsum("bij,bj,bkj->bik", vectors, np.maximum(values, 0), vectors)
        blocks = np.zeros((carried.count, 6, 6))
        blocks[:, 3:, 3:] = bends
        b = carried.count
        own = sp.bsr_matrix((blocks, np.arange(b), np.arange(b + 1)), shape=(6 * b, 6 * b))
        return (reduced + sp.block_diag([sp.csr_matrix((self.vertices, self.vertices)), own])).tocsr()

    def moved(self, step: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """Positions (n, 3) and poses (b, 7) at u = step (N,)."""
        x = self.x + (self.jacobian[:, : self.vertices] @ step[: self.vertices]).reshape(-1, 3)
        carried = self.problem.model.carried
        if carried is None:
            return x, self.poses
        poses = carried.moved(self.poses, step[self.vertices :].reshape(-1, 6))
        x[carried.points] = carried.places(poses)
        return x, poses


def _vertex_jacobian(model: Model) -> sp.csr_matrix:
    """Unit vectors along which vertices may move (3n, columns), vertex after vertex."""
    bases = [_bases(model.directions, dimension) for dimension in range(4)]
    dimension = np.where(model.subspace == CARRIED, 0, model.subspace)
    vertex = np.repeat(np.arange(model.n_vertices), dimension)
    rank = np.arange(len(vertex)) - np.repeat(np.cumsum(dimension) - dimension, dimension)
    vectors = np.empty((len(vertex), 3))
    for k in range(1, 4):
        chosen = dimension[vertex] == k
        vectors[chosen] = bases[k][vertex[chosen], rank[chosen]]
    rows = (3 * vertex[:, None] + np.arange(3)).ravel()
    columns = np.repeat(np.arange(len(vertex)), 3)
    return sp.csr_matrix((vectors.ravel(), (rows, columns)), shape=(3 * model.n_vertices, len(vertex)))


def _bases(directions: np.ndarray, dimension: int) -> np.ndarray:
    """Orthonormal vectors (n, dimension, 3) that span where vertices with directions (n, 3) may move."""
    n = len(directions)
    if dimension == 1:
        return directions[:, None, :]
    if dimension == 2:
        helper = np.where(np.abs(directions[:, :1]) < 0.8, [[1.0, 0, 0]], [[0.0, 1, 0]])
        first = np.cross(directions, helper)
        first /= np.maximum(np.linalg.norm(first, axis=1, keepdims=True), 1e-300)
        return np.stack([first, np.cross(directions, first)], axis=1)
    return np.broadcast_to(np.eye(3)[:dimension], (n, dimension, 3))


def _body_jacobian(carried: CarriedPoints, n: int, poses: np.ndarray) -> sp.csr_matrix:
    """(3n, 6b) for n points in all."""
    J = carried.jacobians(poses)
    rows = np.broadcast_to((3 * carried.points[:, None] + np.arange(3))[:, :, None], J.shape)
    columns = np.broadcast_to((6 * carried.body[:, None] + np.arange(6))[:, None, :], J.shape)
    return sp.csr_matrix((J.ravel(), (rows.ravel(), columns.ravel())), shape=(3 * n, 6 * carried.count))

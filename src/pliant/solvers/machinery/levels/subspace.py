"""The point of least energy among those that the last cycles have passed.

With points x_i and forces f_i = -dG/dx of the last cycles, and x and f now, the quadratic that has these forces is

    G(x + D c) = G(x) - f . D c - 1/2 c . (D^T F) c,    D = (x_i - x),  F = (f_i - f),

for F = -H D. Its minimum costs no evaluation of G. A cycle that starts there converges as a conjugate direction method
preconditioned by cycles does, where a plain one converges as a fixed-point iteration (Washio and Oosterlee 1997:
Krylov subspace acceleration for nonlinear multigrid schemes).
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from pliant.kernels.subspace import combine, products
from pliant.lanes.compiled import cached
from pliant.solvers.machinery.packed import PackedPotential

WINDOW = 3  # cycles that are kept
RUN = 512  # vertices whose products one thread sums


@dataclass
class PassedPoints:
    """Rows (WINDOW, rows, 4) in the order of packs and the solver's precision; the oldest is overwritten next, by where
    the next cycle starts and then by where the last one ended.
    """

    points: np.ndarray  # [m]
    forces: np.ndarray  # [N]
    sums: np.ndarray  # (runs, WINDOW, WINDOW + 1) room
    taken: int = 0  # since they were last forgotten

    def forget(self) -> None:
        """The energy is another one."""
        self.taken = 0

    @property
    def count(self) -> int:
        return min(self.taken, WINDOW)

    @property
    def start(self) -> np.ndarray:
        """(rows, 4) where the next cycle starts [m]."""
        start: np.ndarray = self.points[self.taken % WINDOW]
        return start

    @property
    def start_force(self) -> np.ndarray:
        """(rows, 4) what the quadratic has for a force there [N]."""
        force: np.ndarray = self.forces[self.taken % WINDOW]
        return force

    def minimise(self, packed: PackedPotential, x: np.ndarray, f: np.ndarray) -> None:
        """Let `start` and `start_force` be those of the least energy between x, with force f, and the points."""
        parts = self._parts(packed, x, f)
        for points, own, out in ((self.points, x, self.start), (self.forces, f, self.start_force)):
            if len(parts):
                packed.tables.team.run(cached(combine), points, parts, len(parts), own, out, packed.moving_rows)
                out[packed.moving_rows :] = own[packed.moving_rows :]
            else:
                out[:] = own

    def take(self, x: np.ndarray, f: np.ndarray) -> None:
        """Keep a point and its force."""
        self.start[:], self.start_force[:] = x, f
        self.taken += 1

    def _parts(self, packed: PackedPotential, x: np.ndarray, f: np.ndarray) -> np.ndarray:
        """c, without the directions in which the quadratic has no curvature above rounding."""
        k, packs = self.count, packed.tables.packs
        if not k:
            return np.zeros(0)
        arrays = (packs.row_of_vertex, packed.moving_rows, self.sums)
        packed.tables.team.run(cached(products), self.points, self.forces, k, x, f, *arrays)
        total = self.sums.sum(axis=0)
        curvature, slope = -0.5 * (total[:k, :k] + total[:k, :k].T), total[:k, k]
        diagonal = curvature.diagonal()
        if not (diagonal > 0).all():
            return np.zeros(0)
        scale = 1 / np.sqrt(diagonal)
        values, vectors = np.linalg.eigh(curvature * np.outer(scale, scale))
        is_sure = values > np.sqrt(np.finfo(x.dtype).eps) * values[-1]
        along = vectors[:, is_sure]
        return scale * (along @ ((along.T @ (scale * slope)) / values[is_sure]))


def no_points(packed: PackedPotential) -> PassedPoints:
    """Room for points."""
    rows = packed.rows()
    points, forces = np.zeros((2, WINDOW, *rows.shape), rows.dtype)
    runs = -(-len(packed.tables.packs.row_of_vertex) // RUN)
    return PassedPoints(points, forces, np.zeros((runs, WINDOW, WINDOW + 1)))

"""A matrix M / h^2 + L that is the same in all three directions and in every step: factorised once."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from pliant.energies import IncrementalPotential
from pliant.kernels.packs import Packs
from pliant.kernels.transfer import from_rows, to_rows
from pliant.model import Model
from pliant.solvers.machinery.factorisation import Solve, factorise
from pliant.sparse import sp


@dataclass
class ConstantMatrix:
    """Solves for all vertices that move, three directions at a time."""

    model: Model
    solve: Solve
    values: np.ndarray  # (n, 3)

    def solve_rows(self, q: np.ndarray, packs: Packs) -> None:
        """Multiply rows by the inverse, in place, along the directions in which vertices may move."""
        from_rows(q, packs.row_of_vertex, self.values)
        free = self.model.is_free
        self.values[free] = self.solve(self.values[free])
        self.values[~free] = 0.0
        if (self.model.subspace[free] < 3).any():
            self.values[:] = self.model.project(self.values)
        to_rows(self.values, packs.vertex_of_row, packs.is_wide, packs.width, q)


def factorise_step(problem: IncrementalPotential, laplacian: sp.spmatrix) -> ConstantMatrix:
    """laplacian: (n, n) stiffness [N/m], positive semidefinite."""
    free = problem.model.is_free
    A = (sp.diags(problem.inertia) + laplacian).tocsr()[free][:, free]
    return ConstantMatrix(problem.model, factorise(A), np.zeros((len(free), 3)))

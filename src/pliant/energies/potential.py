"""One implicit Euler step as an optimisation problem, the object every energy solver minimises.

    G(x) = 1/(2 h^2) |x - y|_M^2 + E(x) + D(x),   y = x_t + h v_t + h^2 a_ext        (VBD, Equations 2 and 3)

E is the elastic energy and D the damping potential.  Everything is in double precision and in the scene's vertex order.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np
import scipy.sparse as sp

from pliant.energies.elements import energy_of
from pliant.energies.scatter import chunks
from pliant.model import Model


@dataclass(frozen=True)
class IncrementalPotential:
    """G and its derivatives in the positions x (n, 3) of all vertices.

    Derivatives are those of G as a function of every vertex, pinned ones too; `project` takes out the directions that
    are held.
    """

    model: Model
    h: float  # length of the step [s]
    x_start: np.ndarray  # (n, 3) positions at the start of the step [m]
    y: np.ndarray  # (n, 3) inertial target; for pinned and led vertices where they are to be [m]
    start: np.ndarray  # (n, 3) where a solver begins if nothing else is said; held vertices are in place [m]
    model_at_start: Model | None = None  # with what elements remembered when the step began; None: nothing

    @classmethod
    def pose(
        cls, model: Model, memory: np.ndarray, h: float, x_start: np.ndarray, y: np.ndarray, start: np.ndarray
    ) -> IncrementalPotential:
        """The step from x_start.

        memory: (k,) what elements remember from iteration to iteration.  It is brought up to date at x_start, and
        changes in place as a solver goes on: between two iterations G is another potential where such elements convert.
        """
        if not len(memory):
            return cls(model, h, x_start, y, start)
        problem = cls(model.with_memory(memory), h, x_start, y, start)
        problem.remember(x_start)
        return replace(problem, model_at_start=model.with_memory(memory.copy()))

    def remember(self, x: np.ndarray) -> None:
        """Let elements with a memory take note of x. Every solver calls it at the start of an iteration."""
        for block in self.model.blocks:
            if block.memory_size:
                energy_of(block).remember(block, x)

    def with_own_memory(self) -> IncrementalPotential:
        """The same problem, with a memory that a solve may change without changing this one's."""
        return replace(self, model=self.model.with_memory(self.model.memory))

    def energy(self, x: np.ndarray) -> float:
        """G [J]."""
        return sum(self.energies(x).values())

    def energies(self, x: np.ndarray) -> dict[str, float]:
        """The terms of G [J]."""
        d, displacement = x - self.y, x - self.x_start
        inertia = 0.5 * float(np.sum(self.inertia[:, None] * d**2))
        stored = sum(energy_of(block).energy(block, x) for block in self.model.blocks)
        damping = 0.5 * float(np.einsum("na,nab,nb->", displacement, self.damping_blocks, displacement))
        return {"inertia": inertia, "elastic": stored, "damping": damping}

    def gradient(self, x: np.ndarray) -> np.ndarray:
        """dG/dx (n, 3) [N]."""
        g = self.inertia[:, None] * (x - self.y)
        for block in self.model.blocks:
            g += energy_of(block).gradient(block, x)
        return g + np.einsum("nab,nb->na", self.damping_blocks, x - self.x_start)

    def hessian(self, x: np.ndarray, psd: bool = False) -> sp.csr_matrix:
        """d2G/dx2 (3n, 3n) [N/m]; with psd, each element's part is made positive semidefinite first."""
        parts = [self._diagonal_blocks(self.damping_blocks + self.inertia[:, None, None] * np.eye(3))]
        for block in self.model.blocks:
            for part in chunks(len(block.elements)):
                parts.append(self._sparse(block.elements[part], energy_of(block).element_hessians(block, x, part), psd))
        return sum(parts[1:], parts[0])

    def vertex_blocks(self, x: np.ndarray) -> np.ndarray:
        """d2G/dx_i^2 of every vertex (n, 3, 3) [N/m] (Equations 9 and 10), as vertex block descent solves them: thin
        elements leave out stiffness that is negative across them (decision 0007).
        """
        blocks = self.damping_blocks + self.inertia[:, None, None] * np.eye(3)
        return blocks + self._element_blocks(x, self.model)

    def project(self, vectors: np.ndarray) -> np.ndarray:
        """The part of (n, 3) vectors along which their vertices may move."""
        return self.model.project(vectors)

    def residual(self, x: np.ndarray) -> float:
        """How far x is from solving the step: the mass-weighted root mean square of the acceleration still owed
        [m/s^2].

            r = sqrt( sum_i |g_i|^2 / m_i  /  sum_i m_i ),   g = dG/dx, over vertices and directions that may move

        It does not depend on the resolution of the mesh, has a unit to compare with gravity, and is the only
        definition in Pliant.
        """
        g, free = self.project(self.gradient(x)), self.model.is_free
        mass = self.model.mass[free]
        return float(np.sqrt(np.sum(np.sum(g[free] ** 2, axis=1) / mass) / np.sum(mass)))

    @cached_property
    def damping_blocks(self) -> np.ndarray:
        """k_d / h times the positive part of the elastic vertex blocks at the start of the step (n, 3, 3) [N/m].

        Deviation: Equations 10 and 11 take the blocks at the current iterate. Taken at the start of the step and made
        positive, damping is a potential, so the step stays a minimisation, and it never adds energy.
        """
        model = self.model
        if not model.damping.any():
            return np.zeros((model.n_vertices, 3, 3))
        blocks = self._element_blocks(self.x_start, self.model_at_start or model)
        values, vectors = np.linalg.eigh(blocks)
        positive = np.einsum("nik,nk,njk->nij", vectors, np.maximum(values, 0), vectors)
        return (model.damping / self.h)[:, None, None] * positive

    @cached_property
    def inertia(self) -> np.ndarray:
        """(n,) m / h^2, and what air damping adds to it [N/m]."""
        return self.model.mass / self.h**2 * (1 + self.model.air_damping * self.h)

    def _element_blocks(self, x: np.ndarray, model: Model) -> np.ndarray:
        return sum((energy_of(b).vertex_blocks(b, x) for b in model.blocks), np.zeros((len(x), 3, 3)))

    def _sparse(self, elements: np.ndarray, hessians: np.ndarray, psd: bool) -> sp.csr_matrix:
        """Hessians of elements (k, corners, 3, corners, 3) as one matrix."""
        size = 3 * self.model.n_vertices
        width = 3 * elements.shape[1]
        blocks = hessians.reshape(-1, width, width)
        if psd:
            values, vectors = np.linalg.eigh(blocks)
            blocks = np.einsum("mik,mk,mjk->mij", vectors, np.maximum(values, 0), vectors, optimize=True)
        index = (3 * elements[:, :, None] + np.arange(3)).reshape(-1, width)
        rows, columns = np.repeat(index, width, axis=1).ravel(), np.tile(index, (1, width)).ravel()
        return sp.csr_matrix((blocks.ravel(), (rows, columns)), shape=(size, size))

    def _diagonal_blocks(self, blocks: np.ndarray) -> sp.csr_matrix:
        n = len(blocks)
        return sp.bsr_matrix((blocks, np.arange(n), np.arange(n + 1)), shape=(3 * n, 3 * n)).tocsr()

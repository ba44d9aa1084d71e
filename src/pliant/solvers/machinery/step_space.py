"""What Newton's method moves: vertices in blocks of three, and rigid bodies in blocks of six where there are any."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from pliant.energies import IncrementalPotential
from pliant.energies.unknowns import Unknowns
from pliant.solvers.machinery.assembly import AssembledPotential
from pliant.sparse import sp


@dataclass
class StepSpace:
    """Unknowns around positions x (n, 3): the vertices that may move, three numbers each."""

    problem: IncrementalPotential
    x: np.ndarray
    work: AssembledPotential

    def gradient(self) -> np.ndarray:
        """dG/du (N,)."""
        return self.work.gradient(self.problem, self.x)[self.work.vertices].ravel()

    def hessian(self, psd: bool) -> sp.spmatrix:
        """d2G/du2 (N, N), or its positive semidefinite part."""
        return self.work.hessian(self.problem, self.x, psd)

    def along(self, vectors: np.ndarray) -> np.ndarray:
        """df/du (N,) of a function with df/dx = vectors (n, 3)."""
        return self.problem.project(vectors)[self.work.vertices].ravel()

    def moved(self, step: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """Positions (n, 3) and poses (b, 7) at u = step (N,)."""
        whole = np.zeros_like(self.x)
        whole[self.work.vertices] = step.reshape(-1, 3)
        return self.x + self.problem.project(whole), self.problem.poses  # rounding would leave lines and planes


@dataclass
class BodySpace(StepSpace):
    """Unknowns of vertices, as many as each may move along, and six of each rigid body."""

    def __post_init__(self) -> None:
        self.unknowns = Unknowns.at(self.problem, self.x, self.problem.poses)

    def gradient(self) -> np.ndarray:
        return self.unknowns.gradient(self.work.gradient(self.problem, self.x))

    def along(self, vectors: np.ndarray) -> np.ndarray:
        return self.unknowns.gradient(vectors)

    def hessian(self, psd: bool) -> sp.spmatrix:
        g = self.work.gradient(self.problem, self.x)
        return self.unknowns.hessian(self.work.hessian(self.problem, self.x, psd), g, self.work.vertices, psd)

    def moved(self, step: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        return self.unknowns.moved(step)


def step_space(problem: IncrementalPotential, x: np.ndarray, work: AssembledPotential) -> StepSpace:
    return StepSpace(problem, x, work) if problem.model.carried is None else BodySpace(problem, x, work)

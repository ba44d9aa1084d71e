"""Anderson's acceleration of any iteration of positions (Peng et al. 2018)."""

from __future__ import annotations

from dataclasses import dataclass, field
from itertools import pairwise

import numpy as np

from pliant.energies import IncrementalPotential
from pliant.solvers.contract import Execution, SweepResult, check_count, register_solver
from pliant.solvers.machinery.accelerator import EnergyAccelerator, EnergyWork

ROUNDING = 1e-10  # of the largest singular value: differences that add nothing new are left out


@dataclass
class AndersonWork(EnergyWork):
    """The last iterations: where they led (n, 3), and how far they moved."""

    mapped: list[np.ndarray] = field(default_factory=list)
    moved: list[np.ndarray] = field(default_factory=list)


@register_solver
@dataclass(frozen=True)
class Anderson(EnergyAccelerator[AndersonWork]):
    """Wraps a solver: the next positions are those that would make the last iterations' motions cancel best.

    window: iterations it keeps. Where the energy would rise, the plain iteration is taken and the others are forgotten.
    """

    window: int = 5

    def __post_init__(self) -> None:
        super().__post_init__()
        check_count(self.window, "Anderson: window")

    def init(self, problem: IncrementalPotential, execution: Execution) -> AndersonWork:
        return AndersonWork(*self.init_inner(problem, execution))

    def forget(self, work: AndersonWork) -> None:
        work.mapped, work.moved = [], []

    def sweep(self, problem: IncrementalPotential, x: np.ndarray, work: AndersonWork, n: int = 1) -> SweepResult:
        for done in range(n):
            before = work.energy_at_start(x)
            plain, result = self.iterate_inner(problem, x, work)
            if not result.iterations:
                return result._replace(iterations=done)
            work.mapped = [*work.mapped[-self.window :], plain]
            work.moved = [*work.moved[-self.window :], plain - x]
            mixed = _mix(work)
            if work.energy(mixed) <= before + work.packed.noise:
                x[:] = mixed
            else:
                self.forget(work)
                x[:] = plain
        return SweepResult(n)


def _mix(work: AndersonWork) -> np.ndarray:
    """g_k - sum_j gamma_j (g_(j+1) - g_j) over what iterations mapped to, g, with gamma minimising
    |f_k - sum_j gamma_j (f_(j+1) - f_j)| over what they moved by, f.
    """
    mapped, moved = work.mapped, work.moved
    if len(mapped) == 1:
        return mapped[0]
    changes = np.array([(b - a).ravel() for a, b in pairwise(moved)])
    gamma = np.linalg.lstsq(changes.T, moved[-1].ravel(), rcond=ROUNDING)[0]
    return mapped[-1] - sum(g * (b - a) for g, (a, b) in zip(gamma, pairwise(mapped), strict=True))

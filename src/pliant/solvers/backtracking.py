"""A line search around any iteration of positions."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from pliant.energies import IncrementalPotential
from pliant.solvers.contract import Execution, SweepResult, register_solver
from pliant.solvers.machinery.accelerator import EnergyAccelerator, EnergyWork

HALVINGS = 20


@register_solver
@dataclass(frozen=True)
class Backtracking(EnergyAccelerator[EnergyWork]):
    """Wraps a solver: each iteration's motion is halved until the energy does not rise, or not taken at all."""

    def init(self, problem: IncrementalPotential, execution: Execution) -> EnergyWork:
        return EnergyWork(*self.init_inner(problem, execution))

    def sweep(self, problem: IncrementalPotential, x: np.ndarray, work: EnergyWork, n: int = 1) -> SweepResult:
        for done in range(n):
            before = work.energy_at_start(x)
            moved, result = self.iterate_inner(problem, x, work)
            if not result.iterations:
                return result._replace(iterations=done)
            motion = moved - x
            for _ in range(HALVINGS):
                if work.energy(x + motion) <= before + work.packed.noise:
                    x += motion
                    break
                motion *= 0.5
        return SweepResult(n)

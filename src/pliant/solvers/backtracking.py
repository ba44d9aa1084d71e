"""A line search around any iteration of positions."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from pliant.energies import IncrementalPotential
from pliant.solvers.contract.loop import Execution
from pliant.solvers.machinery.accelerator import Wrapper, WrapperWork

HALVINGS = 20


@dataclass(frozen=True)
class Backtracking(Wrapper):
    """Wraps a solver: each iteration's motion is halved until the energy does not rise, or not taken at all."""

    def init(self, problem: IncrementalPotential, execution: Execution) -> WrapperWork:
        return WrapperWork(*self.init_inner(problem, execution))

    def begin_step(self, problem: IncrementalPotential, work: WrapperWork) -> None:
        self.solver.begin_step(problem, work.inner)
        work.packed.noise = 0.0

    def sweep(self, problem: IncrementalPotential, x: np.ndarray, work: WrapperWork, n: int = 1) -> None:
        for _ in range(n):
            before = work.energy_at_start(x)
            if work.packed.noise == 0.0:
                work.packed.measure_scales(work.packed.tables.x)
            motion = self.iterate_inner(problem, x, work) - x
            for _ in range(HALVINGS):
                if work.energy(x + motion) <= before + work.packed.noise:
                    x += motion
                    break
                motion *= 0.5

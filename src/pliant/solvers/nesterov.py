"""Nesterov's momentum around any iteration of positions."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from pliant.energies import IncrementalPotential
from pliant.solvers.contract import Execution, SweepResult, register_solver
from pliant.solvers.machinery.accelerator import AcceleratorWork, FixedPointAccelerator


@dataclass
class NesterovWork(AcceleratorWork):
    last: np.ndarray | None = None  # (n, 3) the iterate before x; None: begin again
    weight: float = 1.0  # t of Nesterov's sequence


@register_solver
@dataclass(frozen=True)
class Nesterov(FixedPointAccelerator[NesterovWork]):
    """Wraps a solver: iterations start from x + (t - 1) / t_next (x - x_last), t_next = (1 + sqrt(1 + 4 t^2)) / 2.

    It begins again when the iteration turns against the momentum (O'Donoghue and Candes 2015, gradient scheme).
    """

    def init(self, problem: IncrementalPotential, execution: Execution) -> NesterovWork:
        return NesterovWork(self.solver.init(problem, execution))

    def forget(self, work: NesterovWork) -> None:
        work.last, work.weight = None, 1.0

    def sweep(self, problem: IncrementalPotential, x: np.ndarray, work: NesterovWork, n: int = 1) -> SweepResult:
        for done in range(n):
            weight = (1 + np.sqrt(1 + 4 * work.weight**2)) / 2
            ahead = x if work.last is None else x + (work.weight - 1) / weight * (x - work.last)
            undone = work.undone
            new, result = self.iterate_inner(problem, ahead, work)
            if not result.iterations:
                return result._replace(iterations=done)
            turned = work.undone > undone or float(np.sum((ahead - new) * (new - x))) > 0
            work.last, work.weight = (None, 1.0) if turned else (x.copy(), float(weight))
            x[:] = new
        return SweepResult(n)

"""Polyak's heavy ball: constant momentum around any iteration of positions."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from pliant.arguments import is_finite_number
from pliant.energies import IncrementalPotential
from pliant.errors import SolverError
from pliant.solvers.contract import Execution, SweepResult, register_solver
from pliant.solvers.machinery.accelerator import AcceleratorWork, FixedPointAccelerator


@dataclass
class HeavyBallWork(AcceleratorWork):
    last: np.ndarray | None = None  # (n, 3) the iterate before x; None: begin again


@register_solver
@dataclass(frozen=True)
class HeavyBall(FixedPointAccelerator[HeavyBallWork]):
    """Wraps a solver: every iteration is carried on by a constant part of the last motion, x + beta (x - x_last).

    beta: that part, between 0 and 1.
    """

    beta: float = 0.5

    def __post_init__(self) -> None:
        super().__post_init__()
        if not is_finite_number(self.beta) or not 0 < self.beta < 1:
            raise SolverError(f"HeavyBall: beta is {self.beta!r}: it must lie between 0 and 1, both excluded.")

    def init(self, problem: IncrementalPotential, execution: Execution) -> HeavyBallWork:
        return HeavyBallWork(self.solver.init(problem, execution))

    def forget(self, work: HeavyBallWork) -> None:
        work.last = None

    def sweep(self, problem: IncrementalPotential, x: np.ndarray, work: HeavyBallWork, n: int = 1) -> SweepResult:
        for done in range(n):
            undone = work.undone
            new, result = self.iterate_inner(problem, x, work)
            if not result.iterations:
                return result._replace(iterations=done)
            if work.undone > undone:
                work.last = None
            else:
                if work.last is not None:
                    new += self.beta * (x - work.last)
                work.last = x.copy()
            x[:] = new
        return SweepResult(n)

"""Momentum around any iteration of positions: Nesterov's, and Polyak's heavy ball."""

from __future__ import annotations

import numbers
from dataclasses import dataclass

import numpy as np

from pliant.energies import IncrementalPotential
from pliant.errors import SolverError
from pliant.solvers.contract.loop import Execution
from pliant.solvers.machinery.accelerator import Wrapper, WrapperWork


@dataclass
class MomentumWork(WrapperWork):
    last: np.ndarray | None = None  # (n, 3) the iterate before x; None: begin anew
    weight: float = 1.0  # t of Nesterov's sequence


@dataclass(frozen=True)
class Nesterov(Wrapper):
    """Wraps a solver: iterations start from x + (t - 1) / t_next (x - x_last), t_next = (1 + sqrt(1 + 4 t^2)) / 2.

    It begins anew when the iteration turns against the momentum (O'Donoghue and Candes 2015, gradient scheme).
    """

    def init(self, problem: IncrementalPotential, execution: Execution) -> MomentumWork:
        return MomentumWork(*self.init_inner(problem, execution))

    def begin_step(self, problem: IncrementalPotential, work: MomentumWork) -> None:
        self.solver.begin_step(problem, work.inner)
        self.forget(work)

    def forget(self, work: MomentumWork) -> None:
        work.last, work.weight = None, 1.0

    def sweep(self, problem: IncrementalPotential, x: np.ndarray, work: MomentumWork, n: int = 1) -> None:
        for _ in range(n):
            weight = (1 + np.sqrt(1 + 4 * work.weight**2)) / 2
            ahead = x if work.last is None else x + (work.weight - 1) / weight * (x - work.last)
            undone = work.undone
            new = self.iterate_inner(problem, ahead, work)
            turned = work.undone > undone or float(np.sum((ahead - new) * (new - x))) > 0
            work.last, work.weight = (None, 1.0) if turned else (x.copy(), float(weight))
            x[:] = new


@dataclass(frozen=True)
class HeavyBall(Wrapper):
    """Wraps a solver: every iteration is carried on by a constant part of the last motion, x + beta (x - x_last)."""

    beta: float = 0.5

    def __post_init__(self) -> None:
        super().__post_init__()
        if not isinstance(self.beta, numbers.Real) or not 0 < float(self.beta) < 1:
            raise SolverError(f"HeavyBall: beta is {self.beta!r}: it must lie between 0 and 1, both excluded.")

    def init(self, problem: IncrementalPotential, execution: Execution) -> MomentumWork:
        return MomentumWork(*self.init_inner(problem, execution))

    def begin_step(self, problem: IncrementalPotential, work: MomentumWork) -> None:
        self.solver.begin_step(problem, work.inner)
        self.forget(work)

    def forget(self, work: MomentumWork) -> None:
        work.last = None

    def sweep(self, problem: IncrementalPotential, x: np.ndarray, work: MomentumWork, n: int = 1) -> None:
        for _ in range(n):
            undone = work.undone
            new = self.iterate_inner(problem, x, work)
            if work.undone > undone:
                work.last = None
            else:
                if work.last is not None:
                    new += self.beta * (x - work.last)
                work.last = x.copy()
            x[:] = new

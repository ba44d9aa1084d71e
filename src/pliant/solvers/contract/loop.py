"""One loop that drives every solver and measures it, the same way for all."""

from __future__ import annotations

import time
from dataclasses import dataclass
from typing import Any, Protocol

import numpy as np

from pliant.energies import IncrementalPotential
from pliant.errors import SolverError
from pliant.lanes.host import core_count
from pliant.solvers.contract.checks import check_count, check_fits, check_solver
from pliant.solvers.contract.report import SolveReport, Stop


@dataclass(frozen=True)
class Execution:
    """How to compute: precision of the lanes ("single" or "double") and number of threads."""

    precision: str = "single"
    threads: int = 0  # 0: as many as pay off, at most the cores this process may use

    def __post_init__(self) -> None:
        if self.precision not in ("single", "double"):
            raise SolverError(f"precision is {self.precision!r}: it must be 'single' or 'double'.")

    def thread_count(self, work_items: int, items_a_thread: int) -> int:
        """Threads for so much work: more than pay off would only wait for each other. The result does not depend on
        it.
        """
        return self.threads or max(1, min(core_count(), work_items // items_a_thread))


class Solver(Protocol):
    """A frozen bag of hyper-parameters. All that changes is in the work object."""

    @property
    def iterations(self) -> int: ...

    @property
    def start(self) -> str: ...

    def init(self, problem: IncrementalPotential, execution: Execution) -> Any:
        """Build what does not change from step to step: orderings, tables, factorisations, compiled code."""

    def begin_step(self, problem: IncrementalPotential, work: Any) -> None:
        """Take up a new step: its target, its start."""

    def update_contacts(self, problem: IncrementalPotential, work: Any) -> None:
        """Take up contacts that were detected in the middle of a step."""

    def sweep(self, problem: IncrementalPotential, x: np.ndarray, work: Any, n: int = 1) -> None:
        """Improve x (n, 3) in place by n iterations, in one compiled call where there is one."""


def solve(
    problem: IncrementalPotential,
    solver: Solver,
    x0: np.ndarray | None = None,
    stop: Stop | None = None,
    precision: str = "double",
    threads: int | None = None,
    measure_every: int = 1,
) -> SolveReport:
    """Minimise one step's potential and record how it went.

    x0: (n, 3) start [m], the step's own if None.  stop: by default the solver's number of iterations.
    measure_every: iterations between measurements of energy and residual; measuring is not timed.
    """
    problem = problem.with_own_internal_state()
    check_solver(solver, "solve: solver")
    check_fits(solver, problem.model)
    check_count(measure_every, "solve: measure_every")
    if threads is not None:
        check_count(threads, "solve: threads")
    stop = stop or Stop(iterations=solver.iterations)
    x = np.array(problem.x_guess if x0 is None else x0, dtype=float)
    if x.shape != problem.x_guess.shape:
        raise SolverError(f"x0 has shape {x.shape}: the problem has positions of shape {problem.x_guess.shape}.")
    held = problem.model.subspace < 3  # a start off the line or plane of a vertex is brought onto it
    x[held] = (problem.x_guess + problem.project(x - problem.x_guess))[held]
    work = solver.init(problem, Execution(precision, threads or 0))
    solver.begin_step(problem, work)
    report = SolveReport("", 0, 0.0, x)
    while True:
        if problem.contacts is not None:
            problem.contacts.refresh(x)
        report.residuals.append(problem.residual(x))
        report.energies.append(problem.energy(x))
        report.measured_at.append(report.iterations)
        reason = stop.reason(report.iterations, report.residuals[-1], report.seconds)
        if reason:
            report.reason = reason
            return report
        n = measure_every if stop.iterations is None else min(measure_every, stop.iterations - report.iterations)
        began = time.perf_counter()
        solver.sweep(problem, x, work, n)
        report.seconds += time.perf_counter() - began
        report.iterations += n
        report.singular_blocks = getattr(work, "singular_blocks", 0)

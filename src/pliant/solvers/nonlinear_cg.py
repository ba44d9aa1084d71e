"""Nonlinear conjugate gradients (Wang and Yang 2016, Section 3)."""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np

from pliant.energies import IncrementalPotential
from pliant.solvers.contract import (
    Capabilities,
    Execution,
    Solver,
    SweepResult,
    check_count,
    check_start,
    register_solver,
)
from pliant.solvers.machinery import line_search
from pliant.solvers.machinery.line_search import SearchWork
from pliant.solvers.machinery.packed import pack


@dataclass
class ConjugateWork(SearchWork):
    steepest: np.ndarray = field(default_factory=lambda: np.zeros((0, 4)))  # (rows, 4) preconditioned force
    product: float = 0.0  # z: force . preconditioned force, of the last iteration; 0 begins again
    since_refresh: int = 0


@register_solver
@dataclass(frozen=True)
class NonlinearCG(Solver[ConjugateWork]):
    """Nonlinear conjugate gradients with a secant search, two forces and an energy per iteration.

    preconditioned: divide by diag(H), measured every `refresh` iterations.
    Deviation: the factor is Polak and Ribiere's, which vanishes when directions lose their conjugacy, instead of
    Equation 4's; the step length comes from the force at a second point instead of the exact Hessian.
    """

    iterations: int = 50
    preconditioned: bool = True
    refresh: int = 32
    start: str = "adaptive"

    capabilities = Capabilities("minimise", contact=True, pressure=True)

    def __post_init__(self) -> None:
        check_count(self.iterations, "NonlinearCG: iterations")
        check_count(self.refresh, "NonlinearCG: refresh")
        check_start(self.start, "NonlinearCG: start")

    def init(self, problem: IncrementalPotential, execution: Execution) -> ConjugateWork:
        packed = pack(problem, execution)
        return ConjugateWork(packed, *line_search.search_vectors(packed), steepest=packed.rows())

    def begin_step(self, problem: IncrementalPotential, work: ConjugateWork) -> None:
        line_search.begin_search(problem, work)
        work.product, work.since_refresh = 0.0, 0

    def update_contacts(self, problem: IncrementalPotential, work: ConjugateWork) -> None:
        work.packed.update_contacts(problem)
        work.product, work.exhausted = 0.0, False

    def sweep(self, problem: IncrementalPotential, x: np.ndarray, work: ConjugateWork, n: int = 1) -> SweepResult:
        line_search.enter(work, x)
        done = 0
        while done < n and not work.exhausted:
            self._iterate(work)
            done += 1
        work.packed.tables.write(x)
        return work.result(done)

    def _iterate(self, work: ConjugateWork) -> None:
        packed = work.packed
        line_search.measure(work)
        if work.since_refresh == 0:
            packed.measure_scales(work.x)
        work.since_refresh = (work.since_refresh + 1) % self.refresh
        slope = self._turn(work)
        if slope == 0:
            work.exhausted = True
            return
        first = work.length or (1.0 if self.preconditioned else float(packed.scales[:, :3].min()))
        if not line_search.backtrack(work, slope, line_search.secant_length(work, slope, first)):
            work.exhausted = work.product == 0.0  # along the force itself: nothing falls any more
            work.product = 0.0
            return
        line_search.accept(work)

    def _turn(self, work: ConjugateWork) -> float:
        """The next direction (Equation 4); its slope."""
        packed, f = work.packed, work.force
        if self.preconditioned:
            packed.precondition(f, work.steepest)
        else:
            work.steepest[:] = f
        z = packed.dot(f, work.steepest)
        factor = 0.0
        if work.product:  # trial_force is the last iteration's
            factor = max(0.0, (z - packed.dot(work.trial_force, work.steepest)) / work.product)
        packed.add(work.steepest, factor, work.direction, work.direction)
        slope = packed.dot(f, work.direction)
        if slope <= 0:
            work.direction[:] = work.steepest
            slope = z
        work.product = z
        return slope

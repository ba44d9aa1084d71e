"""One loop that drives every solver on one step and measures it, the same way for all."""

from __future__ import annotations

import time
from typing import Any

import numpy as np

from pliant.arguments import as_numbers
from pliant.device.opencl import OpenCL, as_device
from pliant.energies import IncrementalPotential
from pliant.errors import SolverError
from pliant.model.checks import thread_count
from pliant.solvers.contract.capabilities import check_device, check_supports
from pliant.solvers.contract.checks import check_count
from pliant.solvers.contract.error import ErrorMeter
from pliant.solvers.contract.execution import Execution
from pliant.solvers.contract.report import SolveReport, Stop, SweepResult, ended_early
from pliant.solvers.contract.solver import Solver, check_solver


def solve(
    problem: IncrementalPotential,
    solver: Solver[Any],
    x0: np.ndarray | None = None,
    stop: Stop | None = None,
    precision: str = "double",
    threads: int | None = None,
    measure_every: int = 1,
    device: str | OpenCL = "cpu",
) -> SolveReport:
    """Solve one step and record how it went.

    x0: (n, 3) start [m], the step's own if None.  stop: by default the solver's number of iterations. It ends earlier
    where the solver reports that further iterations would change nothing, or where its tolerance is met.
    measure_every: iterations between measurements of energy and residual; measuring is not timed.
    device: "cpu", "opencl" or a pl.OpenCL.
    """
    if not isinstance(problem, IncrementalPotential):
        raise SolverError(f"solve: the problem is {problem!r}: give that of a step, sim.problem().")
    if stop is not None and not isinstance(stop, Stop):
        raise SolverError(f"solve: stop is {stop!r}: give a pl.Stop, such as pl.Stop(iterations=100).")
    problem = problem.with_own_internal_state()
    check_solver(solver, "solve: solver")
    check_supports(solver, problem.model)
    check_count(measure_every, "solve: measure_every")
    if threads is not None:
        check_count(threads, "solve: threads")
        thread_count(threads, "solve: threads")
    stop = stop or Stop(iterations=solver.iterations)
    x = _first_positions(problem, x0)
    on_device = as_device(device)
    if on_device is not None:
        check_device(solver)
    work = solver.init(problem, Execution(precision, threads or 0, on_device))
    solver.begin_step(problem, work)
    meter = ErrorMeter(solver, problem, precision)
    meter.begin_step(problem, x, stop.iterations or solver.iterations, work)
    report, ended, result = (
        SolveReport("", 0, 0.0, x, residual_definition=solver.residual_definition),
        "",
        SweepResult(0),
    )
    while True:
        _measure(problem, solver, work, x, report)
        is_lost = not np.isfinite(report.residual)
        if stop.is_met(report.residual) or is_lost:
            ended, report.converged = "", stop.is_met(report.residual)
        report.reason = ended or stop.reason(report.iterations, report.residual, report.seconds) or ""
        if report.reason and not (is_lost and work.may_undo and stop.is_before(report.iterations, report.seconds)):
            meter.write(problem, x, result, report)
            return report
        n = measure_every if stop.iterations is None else min(measure_every, stop.iterations - report.iterations)
        began = time.perf_counter()
        result = meter.sweep(problem, x, work, n)
        report.seconds += time.perf_counter() - began
        report.iterations += result.iterations
        report.singular_blocks = work.singular_blocks
        if result.ended or result.iterations < n:
            ended, report.converged = ended_early(result, report.iterations), result.converged


def _first_positions(problem: IncrementalPotential, x0: np.ndarray | None) -> np.ndarray:
    """A copy of x0 or of the step's own guess, with held vertices on their lines and planes."""
    given = as_numbers(problem.x_guess if x0 is None else x0)
    x = np.empty(0) if given is None else given.copy()
    if x.shape != problem.x_guess.shape:
        raise SolverError(
            f"solve: x0 is {type(x0).__name__} of shape {x.shape}: the problem has positions of shape "
            f"{problem.x_guess.shape}."
        )
    held = problem.model.subspace < 3
    x[held] = (problem.x_guess + problem.project(x - problem.x_guess))[held]
    return x


def _measure(problem: IncrementalPotential, solver: Solver[Any], work: Any, x: np.ndarray, report: SolveReport) -> None:
    with np.errstate(over="ignore", invalid="ignore"):  # iterations that will be taken back may overflow
        report.residuals.append(solver.measure_residual(problem, x, work))
        report.energies.append(problem.with_contacts_at(x).energy(x))
    report.measured_at.append(report.iterations)

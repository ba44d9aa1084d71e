"""Chebyshev's phases for a scene, found by trying (Wang and Yang 2016, Section 4.3)."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np

from pliant.energies import IncrementalPotential
from pliant.errors import FileError, SolverError
from pliant.io.paths import as_path
from pliant.model import Scene
from pliant.simulate import Simulation
from pliant.solvers import Chebyshev, Execution, GradientDescent, MomentumSolver
from pliant.solvers.chebyshev import Phases
from pliant.solvers.contract import check_count, check_solver

FIRST_RHO = 0.8  # where tuning begins: too small is safe
CHANGES = (0.4, 0.2, 0.1, 0.05)  # epsilon of Equation 9, coarse to fine


def tune_chebyshev(
    scene: Scene,
    solver: MomentumSolver[Any] | None = None,
    phases: int = 2,
    steps: int = 12,
    samples: int = 3,
    frame_rate: float = 30,
    substeps: int = 1,
    precision: str = "single",
    threads: int | None = None,
    most_cycles: int = 60,
) -> Phases:
    """Phases ((iterations, rho), ...) with which the solver ends its steps with the least residual.

    solver: what Chebyshev will wrap, with its number of iterations; GradientDescent() by default.
    A run of so many steps gives some samples of steps. In every cycle each phase's rho is tried a little nearer to and
    a little farther from 1 (Equation 9), and each border between phases earlier and later; the best change is kept,
    until none helps.
    Deviation: the changes begin with epsilon = 0.4 and end with the paper's 0.05, to need fewer cycles.
    Use it: pl.Chebyshev(solver, rho=phases); keep it: pl.save_phases.
    """
    solver = GradientDescent() if solver is None else solver
    check_solver(solver, "tune_chebyshev: solver")
    for value, what in ((phases, "phases"), (steps, "steps"), (samples, "samples"), (most_cycles, "most_cycles")):
        check_count(value, f"tune_chebyshev: {what}")
    if samples > steps:
        raise SolverError(f"tune_chebyshev: samples is {samples}: give at most as many as steps, {steps}.")
    if solver.iterations < 2 * phases:
        raise SolverError(f"tune_chebyshev: {solver.iterations} iterations are too few for {phases} phases.")
    begin = _equal_phases(solver.iterations, phases)
    sim = Simulation(scene, Chebyshev(solver, begin), frame_rate, substeps, precision, threads)
    return tune_on(_sample(sim, steps, samples), solver, phases, precision, threads, most_cycles)


def tune_on(
    problems: list[IncrementalPotential],
    solver: MomentumSolver[Any],
    phases: int,
    precision: str = "single",
    threads: int | None = None,
    most_cycles: int = 60,
) -> Phases:
    """The same for given steps."""
    best = _equal_phases(solver.iterations, phases)
    trial = _Trial(problems, solver, Execution(precision, threads or 0))
    error, cycles = trial.error(best), 0
    for epsilon in CHANGES:
        while cycles < most_cycles:
            cycles += 1
            candidates = {changed: trial.error(changed) for changed in _changes(best, epsilon)}
            winner = min(candidates, key=lambda c: candidates[c])
            if not candidates[winner] < error:
                break
            best, error = winner, candidates[winner]
    return best


def _equal_phases(iterations: int, phases: int) -> Phases:
    borders = np.linspace(0, iterations, phases + 1).astype(int)
    return tuple((int(length), FIRST_RHO) for length in np.diff(borders))


def _sample(sim: Simulation, steps: int, samples: int) -> list[IncrementalPotential]:
    """Steps of the run, evenly spread, the last among them."""
    wanted = set(np.linspace(0, steps, samples + 1).astype(int)[1:].tolist())
    problems = []
    for step in range(1, steps + 1):
        if step in wanted:
            problems.append(sim.problem())
        sim.step()
    return problems


def _changes(phases: Phases, epsilon: float) -> Iterator[Phases]:
    """All phases that differ in one rho (Equation 9) or in one border."""
    for k, (length, rho) in enumerate(phases):
        for sign in (1, -1):
            new = 1 - (1 + sign * epsilon) * (1 - rho)
            if 0 < new < 1:
                yield (*phases[:k], (length, new), *phases[k + 1 :])
    for k in range(len(phases) - 1):
        shift = max(1, round(epsilon * min(phases[k][0], phases[k + 1][0])))
        for move in (shift, -shift):
            left, right = phases[k][0] + move, phases[k + 1][0] - move
            if left >= 1 and right >= 1:
                yield (*phases[:k], (left, phases[k][1]), (right, phases[k + 1][1]), *phases[k + 2 :])


class _Trial:
    """Runs the solver with given phases on all samples, each time from the same state of the solver."""

    def __init__(self, problems: list[IncrementalPotential], solver: MomentumSolver[Any], execution: Execution):
        self.problems, self.solver = problems, solver
        self._work = Chebyshev(solver).init(problems[0], execution)
        self._first_state = self._work.inner.state_dict()

    def error(self, phases: Phases) -> float:
        """Mean logarithm of the residual at the end of the steps; infinite if it breaks down."""
        wrapped, work = Chebyshev(self.solver, phases), self._work
        logs = []
        for problem in self.problems:
            x = problem.x_guess.copy()
            work.inner.load_state_dict(self._first_state)
            wrapped.begin_step(problem, work)
            wrapped.sweep(problem, x, work, self.solver.iterations)
            residual = problem.residual(x) if np.isfinite(x).all() else np.inf
            logs.append(np.log(max(residual, 1e-300)))
        return float(np.mean(logs))


def save_phases(path: str | Path, phases: Phases) -> None:
    """Write phases as JSON."""
    as_path(path, "save_phases").write_text(json.dumps({"chebyshev_phases": [list(phase) for phase in phases]}) + "\n")


def load_phases(path: str | Path) -> Phases:
    """Read phases that save_phases wrote."""
    try:
        found = json.loads(as_path(path, "load_phases").read_text())["chebyshev_phases"]
        return tuple((int(length), float(rho)) for length, rho in found)
    except (OSError, ValueError, KeyError, TypeError) as error:
        raise FileError(
            f"{path}: this is not a file of Chebyshev phases ({error}); pl.save_phases writes one."
        ) from None

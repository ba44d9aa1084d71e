"""One step, solved by several solvers from the same positions."""

from __future__ import annotations

import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from pliant.energies import IncrementalPotential
from pliant.errors import SolverError
from pliant.model import Scene
from pliant.model.checks import flag, thread_count
from pliant.progress import track
from pliant.simulate import Simulation
from pliant.solvers import Execution, Newton, Solver, Work
from pliant.solvers.contract import check_count, check_supports
from pliant.solvers.contract.names import named_solvers

REFERENCE = 1e-12  # residual of the reference over that of the start
ROUNDED = 1e-8  # below it a residual that no longer halves within NO_PROGRESS iterations is rounding
NO_PROGRESS = 5  # contacts are not refreshed at every iteration
REFERENCE_ITERATIONS = 200
STILL = 4 * np.finfo(float).eps  # of the scene's size: a solver that moves no vertex farther is done
REPEATS = 3  # of a timed run
LONG = 2.0  # [s] a run this long is not repeated
WARM_UP = 9  # iterations that compile everything an iteration may call
ACCURACIES = (1e-1, 1e-2, 1e-3, 1e-4, 1e-6, 1e-8)


@dataclass
class Run:
    """What one solver did, at the start and at ever longer distances."""

    name: str
    setup_seconds: float  # orderings, tables, factors: what is done once per simulation, compiling excluded
    iterations: list[int] = field(default_factory=list)
    seconds: list[float] = field(default_factory=list)  # in the solver
    errors: list[float] = field(default_factory=list)  # (G - G_min) / (G_start - G_min)
    residuals: list[float] = field(default_factory=list)  # [m/s^2]

    def reaches(self, accuracy: float) -> tuple[int, float] | None:
        """Iterations and seconds after which the error stays below an accuracy, as far as measured."""
        above = [k for k, error in enumerate(self.errors) if not error <= accuracy]
        k = above[-1] + 1 if above else 0
        return None if k == len(self.errors) else (self.iterations[k], self.seconds[k])


@dataclass
class Comparison:
    """Curves of all solvers and the minimum they are measured against."""

    vertices: int
    precision: str
    minimum: float  # G of the reference [J]
    start: float  # G at the start [J]
    reference_residual: float  # [m/s^2]
    runs: list[Run]

    def verdicts(self) -> list[str]:
        """Who is first at which accuracy, as sentences."""
        sentences = []
        for accuracy in ACCURACIES:
            times = {run.name: run.reaches(accuracy) for run in self.runs}
            reached = {name: result for name, result in times.items() if result is not None}
            if not reached:
                sentences.append(f"Nobody reaches a relative error of {accuracy:g}.")
                break
            winner = min(reached, key=lambda name: reached[name][1])
            n, seconds = reached[winner]
            fewest = min(reached, key=lambda name: reached[name][0])
            also = "" if fewest == winner else f"; {fewest} needs the fewest iterations, {reached[fewest][0]}"
            sentences.append(
                f"To a relative error of {accuracy:g}, {winner} is first: {1e3 * seconds:.3g} ms, {n} iterations{also}."
            )
        lower = [run.name for run in self.runs if min(run.errors) < -1e-9]
        if lower:
            sentences.append(f"{', '.join(lower)} went below the reference: the step has several minima.")
        return sentences


def compare(
    scene: Scene | Simulation | IncrementalPotential,
    solvers: Sequence[Solver[Any]] | Mapping[str, Solver[Any]],
    iterations: int | None = None,
    seconds: float | None = None,
    frame_rate: float = 60,
    substeps: int = 1,
    precision: str = "single",
    threads: int | None = None,
    progress: bool = False,
) -> Comparison:
    """Solve one step by every solver from the same positions, each for so many iterations or seconds, or for its own
    number of iterations.

    scene: its first step; of a simulation the next one. Newton's own precision is double.
    Energies and residuals are those of the problem in double precision, measured when a solver is done: its timed run
    is only interrupted to copy positions, ever more rarely.
    """
    named = named_solvers(solvers, "compare")
    flag(progress, "compare: progress")
    if not named or (iterations is not None and seconds is not None):
        raise SolverError("compare: give some solvers, and iterations or seconds, not both.")
    if iterations is not None:
        check_count(iterations, "compare: iterations")
    thread_count(threads, "compare: threads")
    problem = _problem(scene, frame_rate, substeps)
    for solver in named.values():
        check_supports(solver, problem.model)
    measuring = problem.with_own_internal_state()  # of contacts as they are at the minimum
    exact = converged(measuring)
    measuring.update_internal_state(exact)
    measuring.refresh_contacts(exact)
    minimum = measuring.energy(exact)
    execution = Execution(precision, threads or 0)
    runs = []
    for name, solver in track(list(named.items()), "comparing" if progress else None):
        limit = iterations or (solver.iterations if seconds is None else None)
        _check_held(problem, name, solver, execution)
        run, snapshots = _time(problem, name, solver, execution, limit, seconds)
        _measure(measuring, run, snapshots, minimum)
        runs.append(run)
    start = measuring.energy(problem.x_guess)
    return Comparison(len(problem.x_guess), precision, minimum, start, measuring.residual(exact), runs)


def _check_held(problem: IncrementalPotential, name: str, solver: Solver[Any], execution: Execution) -> None:
    """Refuse a solver that moves what is pinned or prescribed: its energies would be of another problem."""
    own, x = problem.with_own_internal_state(), problem.x_guess.copy()
    work = solver.init(own, execution)
    solver.begin_step(own, work)
    solver.sweep(own, x, work, 1)
    moved = np.abs(x - problem.x_guess).max(axis=1) * ~problem.model.is_free
    limit = 4 * float(np.finfo(np.float32).eps) * float(np.abs(problem.x_guess).max())
    if (moved > limit).any():
        vertex = int(np.argmax(moved))
        raise SolverError(
            f"compare: {name} moves {problem.model.describe_vertex(vertex)}, which is pinned or prescribed, by "
            f"{moved[vertex]:.3g} m: it solves another problem. A solver leaves vertices where model.is_free is False."
        )


def converged(problem: IncrementalPotential) -> np.ndarray:
    """Positions (n, 3) at the minimum, by Newton's method: to 1e-12 of the residual at the start, or as far as rounding
    lets it fall.
    """
    newton, x = Newton(), problem.x_guess.copy()
    work = newton.init(problem, Execution("double"))
    residuals = [problem.with_contacts_at(x).residual(x)]
    for _ in range(REFERENCE_ITERATIONS):
        if residuals[-1] <= REFERENCE * residuals[0]:
            break
        ended = newton.sweep(problem, x, work).ended
        residuals.append(problem.with_contacts_at(x).residual(x))
        before = residuals[-1 - NO_PROGRESS] if len(residuals) > NO_PROGRESS else np.inf
        if ended or (before <= ROUNDED * residuals[0] and residuals[-1] > 0.5 * before):
            break
    return x


def _problem(scene: Any, frame_rate: float, substeps: int) -> IncrementalPotential:
    if isinstance(scene, IncrementalPotential):
        return scene
    if isinstance(scene, Simulation):
        return scene.problem()
    return Simulation(scene, Newton(), frame_rate, substeps, precision="double").problem()


def _time(
    problem: IncrementalPotential, name: str, solver: Solver[Any], execution: Execution, iterations: int | None,
    seconds: float | None,
) -> tuple[Run, list[np.ndarray]]:  # fmt: skip
    """The timed run, and positions at its moments.

    Short runs of so many iterations are repeated: they are the same bits each time, so that of each part the least time
    counts, as little disturbed by others on the machine as can be.
    """
    work = solver.init(problem, execution)  # compiles
    solver.begin_step(problem, work)
    solver.sweep(problem, problem.x_guess.copy(), work, WARM_UP if iterations is None else min(WARM_UP, iterations))
    run = Run(name, np.inf)
    snapshots: list[np.ndarray] = []
    parts: list[float] = []
    for _ in range(REPEATS):
        began = time.perf_counter()
        work = solver.init(problem, execution)
        run.setup_seconds = min(run.setup_seconds, time.perf_counter() - began)
        run.iterations, again, snapshots = _pass(problem, solver, work, iterations, seconds)
        parts = again if not parts else [min(pair) for pair in zip(parts, again, strict=True)]
        if seconds is not None or sum(again) > LONG:
            break
    run.seconds = [0.0, *np.cumsum(parts).tolist()]
    return run, snapshots


def _pass(
    problem: IncrementalPotential, solver: Solver[Any], work: Work, iterations: int | None, seconds: float | None
) -> tuple[list[int], list[float], list[np.ndarray]]:
    """Iterations done at the moments, seconds from each to the next, and positions. Ends when the solver has ended, or
    when nothing moves any more: once may be a descent that has gone back to where it was best.
    """
    problem = problem.with_own_internal_state()
    x, done = problem.x_guess.copy(), [0]
    parts: list[float] = []
    snapshots, size = [x.copy()], float(np.ptp(x, axis=0).max())
    began = time.perf_counter()
    solver.begin_step(problem, work)
    while done[-1] < iterations if iterations is not None else sum(parts) < (seconds or 0.0):
        n = max(1, done[-1] // 8)  # measured ever more rarely: a step of an eighth on a logarithmic axis
        n = n if iterations is None else min(n, iterations - done[-1])
        began = began if not parts else time.perf_counter()  # beginning the step counts as iterating
        result = solver.sweep(problem, x, work, n)
        parts.append(time.perf_counter() - began)
        done.append(done[-1] + result.iterations)
        snapshots.append(x.copy())
        if result.ended or result.iterations < n:
            break
        if len(snapshots) > 2 and all(np.abs(x - before).max() <= STILL * size for before in snapshots[-3:-1]):
            break
    return done, parts, snapshots


def _measure(problem: IncrementalPotential, run: Run, snapshots: list[np.ndarray], minimum: float) -> None:
    span = problem.energy(snapshots[0]) - minimum
    for x in snapshots:
        finite = bool(np.isfinite(x).all()) and np.abs(x).max() < 1e100
        run.errors.append((problem.energy(x) - minimum) / span if finite and span > 0 else float("nan"))
        run.residuals.append(problem.residual(x) if finite else float("nan"))

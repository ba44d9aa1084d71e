"""A motion, computed by several solvers with few iterations and by Newton's method to convergence."""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from pliant.errors import SceneError, SimulationError
from pliant.model import Scene
from pliant.model.checks import flag
from pliant.progress import track
from pliant.simulate import Simulation
from pliant.solvers import Newton, Solver
from pliant.solvers.contract import check_count
from pliant.solvers.contract.names import named_solvers

CONVERGED = 1e-6  # residual of the reference [m/s^2]


@dataclass
class MotionRun:
    name: str
    distances: list[float] = field(default_factory=list)  # after each frame, over the size of the scene
    seconds: list[float] = field(default_factory=list)  # of each frame
    ended: str = "did all frames"


@dataclass
class MotionComparison:
    """Distance of the motions to the converged one: mass-weighted root mean square over the scene's diagonal."""

    frames: int
    size: float  # diagonal of the scene's box at the start [m]
    runs: list[MotionRun]


def compare_motion(
    make: Callable[[], Scene | Simulation],
    solvers: Sequence[Solver[Any]] | Mapping[str, Solver[Any]],
    frames: int,
    frame_rate: float = 60,
    substeps: int = 1,
    precision: str = "single",
    threads: int | None = None,
    progress: bool = False,
) -> MotionComparison:
    """Run every solver with its own iterations for so many frames.

    make: called once per solver, because a scene belongs to the simulation built from it last. A simulation brings its
    own frame_rate and substeps.
    """
    check_count(frames, "compare_motion: frames")
    named = named_solvers(solvers, "compare_motion")
    flag(progress, "compare_motion: progress")
    if not callable(make):
        raise SceneError(f"compare_motion: make is {make!r}: give a function that returns a Scene or a Simulation.")

    def simulate(solver: Solver[Any], precision: str) -> Simulation:
        made = make()
        if isinstance(made, Simulation):
            steps = (made.frame_rate, made.substeps, precision, threads, made.integrator)
            return Simulation(made.scene, solver, *steps)
        return Simulation(made, solver, frame_rate, substeps, precision, threads)

    exact = simulate(Newton(residual=CONVERGED), "double")
    weights = exact.model.mass / exact.model.mass.sum()
    size = float(np.linalg.norm(np.ptp(exact.positions, axis=0)))
    path = []
    for _ in track(range(frames), "converging" if progress else None):
        exact.advance()
        path.append(exact.positions)
    runs = []
    for name, solver in track(list(named.items()), "comparing" if progress else None):
        runs.append(_run(name, simulate(solver, precision), path, weights, size))
    return MotionComparison(frames, size, runs)


def _run(name: str, sim: Simulation, path: list[np.ndarray], weights: np.ndarray, size: float) -> MotionRun:
    run = MotionRun(name)
    for x in path:
        began = time.perf_counter()
        try:
            sim.advance()
        except SimulationError as error:
            run.ended = str(error)
            break
        run.seconds.append(time.perf_counter() - began)
        apart = np.sum((sim.positions - x) ** 2, axis=1)
        run.distances.append(float(np.sqrt(np.sum(weights * apart)) / size))
    return run

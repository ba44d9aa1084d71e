"""Pliant's constraint solvers on the common scene, timed exactly as its peers are."""

from __future__ import annotations

import numpy as np

import pliant as pl
from benchmarks.peers.result import PeerResult, time_iterations
from pliant.solvers import Execution


def run(
    points, tets, *, mu, lam, density, gravity, h, iterations, pinned, solver, repeats=5, velocities=None, threads=None,
    precision="single",
) -> PeerResult:  # fmt: skip
    """One step of `solver`, such as pl.XPBD(), with so many iterations; arguments as in the peers' modules."""
    scene = pl.Scene(gravity=gravity)
    body = scene.add_solid(pl.TetMesh(points, tets), pl.StableNeoHookean(mu, lam), density=density)
    if np.any(pinned):
        body.pin(pinned)
    if velocities is not None:
        body.set_velocities(np.where(np.asarray(pinned)[:, None], 0.0, velocities))
    problem = pl.Simulation(scene, solver, 1 / h, substeps=1, precision=precision, threads=threads).problem()
    work = solver.init(problem, Execution(precision, threads or 0))
    x = problem.x_guess.copy()

    def reset():
        x[:] = problem.x_guess

    def step(count):
        solver.begin_step(problem, work)
        solver.sweep(problem, x, work, count)

    step(iterations)
    positions = x.copy()
    timing = time_iterations(reset, step, repeats)
    return PeerResult(
        name=f"pliant {pl.__version__} {type(solver).__name__}",
        threads=work.team.threads,
        positions=positions,
        milliseconds_per_iteration=timing.per_iteration,
        milliseconds_per_step_fixed=timing.fixed,
        n_iterations=iterations,
        note=f"{precision} precision, {timing}",
    )

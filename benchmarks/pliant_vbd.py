"""Pliant's vertex block descent on the common scene, timed exactly as its peers are."""

from __future__ import annotations

import numpy as np

import pliant as pl
from benchmarks.peers.result import PeerResult, time_iterations
from pliant.solvers import Execution


def run(
    points,
    tets,
    *,
    mu,
    lam,
    density,
    gravity,
    h,
    iterations,
    pinned,
    steps=1,
    repeats=5,
    velocities=None,
    threads=None,
    precision="single",
    law=pl.StableNeoHookean,
) -> PeerResult:
    """`steps` implicit Euler steps of `iterations` VBD iterations each; arguments as in the peers' modules."""
    scene = pl.Scene(gravity=gravity)
    body = scene.add_solid(pl.TetMesh(points, tets), law(mu, lam), density=density)
    if np.any(pinned):
        body.pin(pinned)
    if velocities is not None:
        body.set_velocities(np.where(np.asarray(pinned)[:, None], 0.0, velocities))
    solver = pl.VBD(iterations=iterations, start="accelerated")
    sim = pl.Simulation(scene, solver, frame_rate=1 / h, substeps=1, precision=precision, threads=threads)
    problem = sim.problem()
    work = solver.init(problem, Execution(precision, threads or 0))
    x = problem.x_guess.copy()

    def reset():
        x[:] = problem.x_guess

    def step(count):
        solver.begin_step(problem, work)
        solver.sweep(problem, x, work, count)

    for _ in range(steps):
        sim.step()
    timing = time_iterations(reset, step, repeats)
    used = work.team.threads
    return PeerResult(
        name=f"pliant {pl.__version__} VBD",
        threads=used,
        positions=sim.positions,
        milliseconds_per_iteration=timing.per_iteration,
        milliseconds_per_step_fixed=timing.fixed,
        n_iterations=iterations,
        note=f"{precision} precision, {len(work.packs.colour_start) - 1} colours, {work.packs.width} lanes, {timing}",
    )

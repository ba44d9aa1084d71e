"""One iteration of Newton's method beside pbatoolkit's, on a twisted cube, in one run.

    python -m benchmarks.newton_method [cells=16]

Both assemble the Hessian with elements made positive semidefinite and factorise it; ours by conjugate gradients too.
The time is a mean over the iterations after the first, which analyses the matrix. The cube has 16 cells a side instead
of 25: there a direct factorisation takes half a minute, and pbatoolkit's ended the process.
"""

from __future__ import annotations

import sys
import time

import numpy as np

import pliant as pl
from benchmarks.peers import pbat_newton
from benchmarks.side_by_side import common_scene
from pliant.solvers import Execution

ITERATIONS = 3


def ours(scene: dict, solver: pl.Newton, iterations: int) -> tuple[np.ndarray, float]:
    """Positions (n, 3) [m] after one iteration more, and the milliseconds of each."""
    body_scene = pl.Scene(gravity=scene["gravity"])
    mesh = pl.TetMesh(scene["points"], scene["tets"])
    body = body_scene.add_solid(mesh, pl.StableNeoHookean(scene["mu"], scene["lam"]), density=scene["density"])
    body.pin(scene["pinned"])
    body.set_velocities(np.where(scene["pinned"][:, None], 0.0, scene["velocities"]))
    problem = pl.Simulation(body_scene, solver, 1 / scene["h"], substeps=1, precision="double").problem()
    work = solver.init(problem, Execution("double", 0))
    x = problem.y.copy()
    solver.sweep(problem, x, work, 1)
    began = time.perf_counter()
    solver.sweep(problem, x, work, iterations)
    return x, 1e3 * (time.perf_counter() - began) / iterations


def report(cells: int = 16) -> dict:
    """Agreement on a small cube, then times on the large one."""
    small = common_scene(6)
    theirs, exact = pbat_newton.run(**small, iterations=8).positions, ours(small, pl.Newton(), 8)[0]
    distance = float(np.abs(theirs - exact).max() / np.abs(exact - small["points"]).max())
    print(f"after 9 iterations pbatoolkit's positions differ from ours by {distance:.1e} of the largest displacement")
    scene = common_scene(cells)
    times = {
        "pliant, Cholesky": ours(scene, pl.Newton(), ITERATIONS)[1],
        "pliant, conjugate gradients": ours(scene, pl.Newton(linear="cg"), ITERATIONS)[1],
        "pbatoolkit, LDL^T": pbat_newton.run(**scene, iterations=ITERATIONS).milliseconds_per_iteration,
    }
    print(f"\n| Newton's method, cube of {cells}^3 cells | ms per iteration |\n|---|---|")
    for name, milliseconds in times.items():
        print(f"| {name} | {milliseconds:.0f} |")
    return {"distance": distance, "milliseconds": times}


if __name__ == "__main__":
    report(*map(int, sys.argv[1:]))

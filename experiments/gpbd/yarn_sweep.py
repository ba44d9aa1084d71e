"""The cost of an iteration of vertex block descent on yarn cloth, over that on St. Venant-Kirchhoff cloth.

python -m experiments.gpbd.yarn_sweep     64 x 64 cells, single precision, one thread; CPU time, least of eleven runs
"""

from __future__ import annotations

import time

import numpy as np

import pliant as pl
from pliant.solvers import Execution

CELLS, ITERATIONS, RUNS = 64, 10, 11


def iteration(material: object, precision: str = "single", **options: float) -> float:
    """CPU milliseconds."""
    scene = pl.Scene()
    mesh = pl.shapes.cloth(size=(0.3, 0.3), cells=(CELLS, CELLS))
    sheet = scene.add_cloth(mesh, material, **options)
    sheet.pin(mesh.points[:, 0] < -0.1499)
    solver = pl.VBD(iterations=ITERATIONS)
    problem = pl.Simulation(scene, solver=solver, precision=precision, threads=1).problem()
    work, least = solver.init(problem, Execution(precision, 1)), np.inf
    for run in range(RUNS + 1):
        x = problem.y.copy()
        solver.begin_step(problem, work)
        began = time.process_time()
        solver.sweep(problem, x, work, ITERATIONS)
        if run:
            least = min(least, time.process_time() - began)
    return 1e3 * least / ITERATIONS


def main() -> None:
    plain = iteration(pl.StVenantKirchhoff.from_young(40.0, 0.3), density=0.2, bending=1e-5)
    yarn = iteration(pl.YarnCloth("jersey"))
    print(f"St. Venant-Kirchhoff {plain:.3f} ms, jersey {yarn:.2f} ms, {yarn / plain:.1f} times")


if __name__ == "__main__":
    main()

"""The cost of an iteration of vertex block descent on yarn cloth, over that on St. Venant-Kirchhoff cloth.

python -m experiments.gpbd.yarn_sweep [FOLDER WITH THE FABRICS OF SPERL ET AL.]

64 x 64 cells, single precision, one thread; CPU time, least of runs that take turns.  Flat: from rest.  Crumpled:
pushed together by a tenth, with noise of a hundredth of a cell, so that blocks of vertices are indefinite.
"""

from __future__ import annotations

import sys
import time
from collections.abc import Callable
from pathlib import Path

import numpy as np

import pliant as pl
from pliant.solvers import Execution

CELLS, ITERATIONS, RUNS = 64, 10, 100
FABRICS = ("satin", "basket", "rib", "honey", "stock")


def prepared(material: object, crumpled: bool, **options: float) -> Callable[[], float]:
    """A run that returns the CPU milliseconds of an iteration."""
    scene, precision = pl.Scene(), "single"
    mesh = pl.shapes.cloth(size=(0.3, 0.3), cells=(CELLS, CELLS))
    sheet = scene.add_cloth(mesh, material, **options)
    if crumpled:
        noise = np.random.default_rng(0).normal(0, 0.01 * 0.3 / CELLS, mesh.points.shape)
        sheet.set_positions(mesh.points * [0.9, 1.0, 1.0] + noise)
    sheet.pin(mesh.points[:, 0] < -0.1499)
    solver = pl.VBD(iterations=ITERATIONS)
    problem = pl.Simulation(scene, solver=solver, precision=precision, threads=1).problem()
    work = solver.init(problem, Execution(precision, 1))

    def run() -> float:
        x = problem.y.copy()
        solver.begin_step(problem, work)
        began = time.process_time()
        solver.sweep(problem, x, work, ITERATIONS)
        return 1e3 * (time.process_time() - began) / ITERATIONS

    run()
    return run


def main() -> None:
    fabrics = {"jersey": pl.YarnCloth("jersey")}
    if len(sys.argv) > 1:
        fabrics |= {name: pl.YarnCloth(Path(sys.argv[1]) / f"{name}1.json") for name in FABRICS}
    for crumpled in (False, True):
        runs = [prepared(pl.StVenantKirchhoff.from_young(40.0, 0.3), crumpled, density=0.2, bending=1e-5)]
        runs += [prepared(material, crumpled) for material in fabrics.values()]
        plain, *others = np.min([[run() for run in runs] for _ in range(RUNS)], axis=0)
        found = [f"{name} {ms:.2f} ms = {ms / plain:.1f} times" for name, ms in zip(fabrics, others, strict=True)]
        print(f"{'crumpled' if crumpled else 'flat'}: St. Venant-Kirchhoff {plain:.3f} ms, {', '.join(found)}")


if __name__ == "__main__":
    main()

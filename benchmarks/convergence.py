"""Time to an error, of solvers on one step, from soft to stiff: a released bunny and a bending beam.

    python -m benchmarks.convergence [scene ...]

Cells are milliseconds of processor time on one thread to errors of 10, 1 and 0.1 %, (G - G_min) / (G_start - G_min).
What is built once for a simulation is not counted, what is built in a step is. "-": not within the iterations allowed.
"""

from __future__ import annotations

import sys
import time
from collections.abc import Callable

import numpy as np
from experiments.solvers import problems

import pliant as pl
from pliant.solvers import Execution

NUMBERS = (0.1, 1.0, 10.0, 100.0, 1000.0)  # h^2 mu / (density dx^2)
GOALS = (0.1, 0.01, 0.001)
SOLVERS: dict[str, tuple[pl.Solver, int, int]] = {  # iterations between measurements, and at most
    "VBD": (pl.VBD(), 4, 400),
    "VBD + Chebyshev": (pl.Chebyshev(pl.VBD(), rho=0.95), 4, 800),
    "Laplacian quasi-Newton": (pl.LaplacianQuasiNewton(), 1, 100),
    "nonlinear CG": (pl.NonlinearCG(), 4, 400),
    "Newton, CG": (pl.Newton(linear="cg"), 1, 20),
    "Multilevel": (pl.Multilevel(pl.VBD()), 4, 200),
}


def bunny() -> Callable[[float], pl.IncrementalPotential]:
    """The step that releases a stretched bunny."""
    stretched = problems.stretched(2e5, coarse=True)
    return lambda number: stretched.released(1.0 / np.sqrt(number / stretched.step_number(1.0)))


def beam() -> Callable[[float], pl.IncrementalPotential]:
    """The first step of a beam that is let go, straight, in gravity."""
    mesh, mu = pl.shapes.beam(length=1.0, width=0.1, height=0.1, cells=(40, 4, 4)), 2e5

    def step(number: float) -> pl.IncrementalPotential:
        scene = pl.Scene(gravity=(0, 0, -9.81))
        body = scene.add_solid(mesh, pl.StableNeoHookean.from_coefficients(mu, 10 * mu), density=1000.0)
        body.pin(mesh.points[:, 0] < -0.499)
        rate = np.sqrt(problems.step_number(mesh, mu, 1000.0, 1.0) / number)
        return pl.Simulation(scene, pl.Newton(), rate, substeps=1, precision="double").problem()

    return step


SCENES = {"bunny": bunny, "beam": beam}


def times(problem: pl.IncrementalPotential, solver: pl.Solver, every: int, limit: int, lowest: float) -> list[float]:
    """Milliseconds to each of GOALS that was reached."""
    work = solver.init(problem, Execution("single", 1))
    problem = problem.with_own_internal_state()
    x, highest = problem.x_guess.copy(), problem.energy(problem.x_guess)
    spent, found, done = 0.0, [], 0
    began = time.process_time()
    solver.begin_step(problem, work)
    spent += time.process_time() - began
    while done < limit and len(found) < len(GOALS):
        began = time.process_time()
        result = solver.sweep(problem, x, work, every)
        spent += time.process_time() - began
        done += every
        error = (problem.energy(x) - lowest) / (highest - lowest)
        found += [1e3 * spent for goal in GOALS[len(found) :] if error <= goal]
        if result.ended:
            break
    return found


def report(names: tuple[str, ...] = tuple(SCENES)) -> dict:
    """A table for each scene."""
    figures: dict = {}
    for name in names:
        step = SCENES[name]()
        print(f"\n| {name}, number | " + " | ".join(SOLVERS) + " |\n|---" + "|---" * len(SOLVERS) + "|")
        for number in NUMBERS:
            problem = step(number)
            best = pl.solve(problem, pl.Newton(linear="cg"), stop=pl.Stop(iterations=60, residual=1e-8))
            lowest, row = min(best.energies), {}
            for label, (solver, every, limit) in SOLVERS.items():
                twice = [times(problem, solver, every, limit, lowest) for _ in range(2)]
                row[label] = [min(pair) for pair in zip(*twice, strict=True)]
            figures.setdefault(name, {})[number] = row
            cells = ([f"{t:.3g}" for t in row[label]] + ["-"] * (3 - len(row[label])) for label in SOLVERS)
            print(f"| {number:g} | " + " | ".join(", ".join(cell) for cell in cells) + " |", flush=True)
    return figures


if __name__ == "__main__":
    report(tuple(sys.argv[1:]) or tuple(SCENES))

"""Time to an error, of solvers on one step, from soft to stiff: a released armadillo and bunny, a bending beam, a cloth
that is let go, and a pile in contact.

    python -m benchmarks.convergence [scene ...]

Cells are milliseconds of processor time on one thread to errors of 10, 1 and 0.1 %, (G - G_min) / (G_start - G_min).
The step is done three times and the last one counts: what is built once for a simulation (factors of constant
matrices, levels) is there by then, what is built in every step is counted. "-": not within the iterations allowed.
"""

from __future__ import annotations

import sys
import time
from collections.abc import Callable

import numpy as np
from experiments.solvers import problems

import pliant as pl
from pliant.solvers import Execution
from pliant.solvers.contract.error import ErrorMeter

NUMBERS = (0.1, 1.0, 10.0, 100.0, 1000.0)  # h^2 mu / (density dx^2)
GOALS = (0.1, 0.01, 0.001)
SOLVERS: dict[str, tuple[pl.Solver, int, int]] = {  # iterations between measurements, and at most
    "VBD": (pl.VBD(), 4, 400),
    "VBD + Chebyshev": (pl.Chebyshev(pl.VBD(), rho=0.95), 4, 800),
    "Laplacian quasi-Newton": (pl.LaplacianQuasiNewton(), 1, 100),
    "nonlinear CG": (pl.NonlinearCG(), 4, 400),
    "Newton, CG": (pl.Newton(linear="cg"), 1, 20),
    "Multilevel": (pl.Multilevel(pl.VBD()), 4, 200),
    "Auto": (pl.Auto(), 4, 400),
}
PILE = 2  # cubes along each side
LANDED = 25  # steps after which the layers of the pile press on each other


def armadillo() -> Callable[[float], pl.IncrementalPotential]:
    """The step that releases a stretched armadillo (VBD, Figure 17)."""
    return _released(coarse=False)


def bunny() -> Callable[[float], pl.IncrementalPotential]:
    """The step that releases a stretched bunny."""
    return _released(coarse=True)


def _released(coarse: bool) -> Callable[[float], pl.IncrementalPotential]:
    stretched = problems.stretched(2e5, coarse=coarse)
    return lambda number: stretched.released(1.0 / np.sqrt(number / stretched.step_number(1.0)))


def beam() -> Callable[[float], pl.IncrementalPotential]:
    """The first step of a beam that is let go, straight, in gravity."""
    mesh, mu = pl.shapes.beam(length=1.0, width=0.1, height=0.1, cells=(40, 4, 4), split="kuhn"), 2e5

    def step(number: float) -> pl.IncrementalPotential:
        scene = pl.Scene(gravity=(0, 0, -9.81))
        body = scene.add_solid(mesh, pl.StableNeoHookean.from_coefficients(mu, 10 * mu), density=1000.0)
        body.pin(mesh.points[:, 0] < -0.499)
        rate = np.sqrt(problems.step_number(mesh, mu, 1000.0, 1.0) / number)
        return pl.Simulation(scene, pl.Newton(), rate, substeps=1, precision="double").problem()

    return step


def cloth() -> Callable[[float], pl.IncrementalPotential]:
    """The step that releases a sheet that is held at two corners and was stretched by a fifth."""
    mesh, mu, density = pl.shapes.cloth((1.0, 1.0), (64, 64)), 2000.0, 0.2

    def step(number: float) -> pl.IncrementalPotential:
        scene = pl.Scene(gravity=(0, 0, -9.81))
        body = scene.add_cloth(mesh, pl.StVenantKirchhoff(mu=mu, lam=mu), density=density, bending=1e-5)
        body.pin((mesh.points[:, 0] < -0.499) & (np.abs(mesh.points[:, 1]) > 0.499))
        body.set_positions(mesh.points * [1.2, 1.0, 1.0] + [0.1, 0.0, 0.0])
        dx2 = float(np.mean(np.sum(np.diff(mesh.points[mesh.triangles], axis=1) ** 2, axis=2)))
        rate = np.sqrt(mu / density / dx2 / number)
        return pl.Simulation(scene, pl.Newton(), rate, substeps=1, precision="double").problem()

    return step


def pile() -> Callable[[float], pl.IncrementalPotential]:
    """A step of soft cubes that have landed on each other, with friction."""
    mesh, mu, density = pl.shapes.box((0.1, 0.1, 0.1), (5, 5, 5), "kuhn"), 4e4, 1000.0

    def step(number: float) -> pl.IncrementalPotential:
        scene = pl.Scene(gravity=(0, 0, -9.81), contact=pl.Contact(friction=0.4))
        scene.add_plane((0, 0, 0), (0, 0, 1))
        for layer in range(PILE):
            for i in range(PILE):
                for j in range(PILE):
                    place = 0.11 * np.array([i, j, layer]) + [0.03 * layer, 0.02 * layer, 0.051]
                    law = pl.StableNeoHookean.from_coefficients(mu, 4 * mu)
                    scene.add_solid(mesh.transformed(translation=tuple(place)), law, density=density)
        rate = np.sqrt(problems.step_number(mesh, mu, density, 1.0) / number)
        sim = pl.Simulation(scene, pl.Auto(), 300.0, substeps=1, precision="double")
        for _ in range(LANDED):
            sim.step()
        later = pl.Simulation(scene, pl.Newton(), rate, substeps=1, precision="double")
        later.state = sim.state
        return later.problem()

    return step


SCENES = {"armadillo": armadillo, "bunny": bunny, "beam": beam, "cloth": cloth, "pile": pile}


def times(problem: pl.IncrementalPotential, solver: pl.Solver, every: int, limit: int, lowest: float) -> list[float]:
    """Milliseconds to each of GOALS that was reached, of the last of three equal steps."""
    work = solver.init(problem, Execution("single", 1))
    problem = problem.with_own_internal_state()
    meter = ErrorMeter(solver, problem, "single")
    steps = [_step(problem, meter, solver, work, every, limit, lowest) for _ in range(3)]
    return steps[-1]


def _step(problem, meter, solver, work, every, limit, lowest) -> list[float]:
    x, highest = problem.x_guess.copy(), problem.energy(problem.x_guess)
    found, done = [], 0
    began = time.process_time()
    solver.begin_step(problem, work)
    meter.begin_step(problem, x, limit, work)
    spent = time.process_time() - began
    while done < limit and len(found) < len(GOALS):
        began = time.process_time()
        result = meter.sweep(problem, x, work, every)
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

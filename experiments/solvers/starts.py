"""Wang and Yang 2016, Figure 6: where the iterations of a step begin, over 100 frames.

python -m experiments.solvers.starts
"""

from __future__ import annotations

from dataclasses import replace

import numpy as np
from experiments.solvers import curves
from experiments.vbd import outputs
from matplotlib.figure import Figure
from rich.progress import track

import pliant as pl
from pliant import scenes
from pliant.comparison.step import converged

STARTS = {"previous": "position", "inertial": "velocity", "extrapolated": "acceleration", "optimised": "optimised step"}
FRAMES, EVERY = 100, 2  # frames of the motion, and which of them are measured


def errors(frames: int = FRAMES, cells: tuple[int, int, int] = (16, 4, 4)) -> dict[str, list[float]]:
    """G above its minimum after 96 iterations of each start, in every second frame of a beam's converged swing [J]."""
    sim = pl.Simulation(scenes.hanging_beam(cells), pl.Newton(residual=1e-6), 30, 1, precision="double")
    solver = pl.Chebyshev(pl.GradientDescent(96), 0.97)
    found: dict[str, list[float]] = {start: [] for start in STARTS}
    for frame in track(range(frames), "starts"):
        if frame % EVERY == EVERY - 1:
            exact, least = None, 0.0
            for start in STARTS:
                sim.solver = replace(solver, solver=pl.GradientDescent(96, start=start))
                problem = sim.problem()
                if exact is None:
                    exact = converged(problem)
                    least = problem.energy(exact)
                report = pl.solve(problem, sim.solver, measure_every=96, precision="double")
                found[start].append(report.energies[-1] - least)
            sim.solver = pl.Newton(residual=1e-6)
        sim.advance()
    return found


def run(coarse: bool = False) -> None:
    found = errors(20 if coarse else FRAMES, (8, 2, 2) if coarse else (16, 4, 4))
    figure = Figure(figsize=(8, 4), layout="constrained")
    ax = figure.subplots()
    frames = EVERY * np.arange(1, len(next(iter(found.values()))) + 1)
    for start, label in STARTS.items():
        ax.semilogy(frames, np.maximum(found[start], 1e-16), label=f"constant {label}".replace("constant opt", "opt"))
    ax.set(xlabel="frame", ylabel="energy above the minimum after 96 iterations [J]")
    ax.legend()
    values = np.array([found[start] for start in STARTS])
    first = np.bincount(values.argmin(axis=0), minlength=len(STARTS))
    numbers = {
        "frames": len(frames),
        "median_J": {s: float(np.median(found[s])) for s in STARTS},
        "frames_in_which_it_is_best": {s: int(n) for s, n in zip(STARTS, first, strict=True)},
    }
    outputs.save("starts", figure, numbers, curves.FOLDER)


if __name__ == "__main__":
    run()

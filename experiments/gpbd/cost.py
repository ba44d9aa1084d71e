"""Table 4: what an iteration of VBD and of GPBD costs on a cube of 25^3 cells of stable neo-Hookean.

python -m experiments.gpbd.cost

On one thread, in seconds of the CPU, so that other work on the machine disturbs little; all in one run, best of many.
"""

from __future__ import annotations

import time
from pathlib import Path

import matplotlib.pyplot as plt
from experiments.vbd import outputs

import pliant as pl
from pliant.scenes import cube
from pliant.solvers import Execution

FOLDER = Path(__file__).parent / "results"
SOLVERS = {
    "VBD": pl.VBD(),
    "GPBD Gauss-Seidel": pl.GPBD(line_search=False),
    "GPBD Jacobi": pl.GPBD(mode="jacobi", line_search=False),
    "GPBD Jacobi, line search": pl.GPBD(mode="jacobi"),
    "XPBD Gauss-Seidel": pl.XPBD(),
    "XPBD Jacobi": pl.XPBD(mode="jacobi"),
}
PAPER = {"VBD": 113, "GPBD Gauss-Seidel": 629, "GPBD Jacobi": 102}  # microseconds a frame on a GPU


def costs(cells: int = 25, rounds: int = 25, iterations: int = 5) -> dict[str, float]:
    """Milliseconds of CPU an iteration."""
    problem = pl.Simulation(cube(cells), frame_rate=100, substeps=1, threads=1).problem()
    works = {name: solver.init(problem, Execution("single", 1)) for name, solver in SOLVERS.items()}
    best = dict.fromkeys(SOLVERS, float("inf"))
    for _ in range(rounds):
        for name, solver in SOLVERS.items():
            x = problem.x_guess.copy()
            solver.begin_step(problem, works[name])
            solver.sweep(problem, x, works[name], 1)
            began = time.thread_time()
            solver.sweep(problem, x, works[name], iterations)
            best[name] = min(best[name], 1e3 * (time.thread_time() - began) / iterations)
    return best


if __name__ == "__main__":
    best = costs()
    figure, ax = plt.subplots(figsize=(7, 2.8), layout="constrained")
    ax.barh(list(best), [ms / best["VBD"] for ms in best.values()], label="here, one CPU thread")
    theirs = [PAPER[name] / PAPER["VBD"] for name in PAPER]
    ax.plot(theirs, list(PAPER), "k|", ms=22, label="the paper, GPU")
    ax.set(xlabel="cost of an iteration, VBD = 1")
    ax.invert_yaxis()
    ax.legend(fontsize=8)
    ratios = {name: ms / best["VBD"] for name, ms in best.items()}
    print(ratios)
    outputs.save("cost", figure, {"milliseconds_of_cpu": best, "over_vbd": ratios}, FOLDER)

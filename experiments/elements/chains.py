"""Figures 21 and 24 of vertex block descent: a heavy weight on a chain, and a chain of springs of very different
stiffness.

python -m experiments.elements.chains
"""

from __future__ import annotations

from pathlib import Path

import matplotlib.pyplot as plt
import numpy as np
from experiments.vbd import outputs
from rich.progress import track

import pliant as pl

RESULTS = Path(__file__).parent / "results"
PARTICLES, MASS, RATIO, LENGTH = 20, 0.01, 1000, 0.1  # mass of a particle [kg], of the last one over it, spring [m]
STIFF = 1e6  # [N/m]: three times the weight stretches a spring by 0.29 %
ITERATIONS = 100  # a step of 1/60 s, as in the captions
FRAMES = 120


def hanging_weight(stiffness: np.ndarray | float, heavy: float = RATIO) -> tuple[pl.Scene, pl.model.SpringNet]:
    """A chain along x, held at its first particle, with a weight at its last."""
    points = np.arange(PARTICLES)[:, None] * [LENGTH, 0, 0]
    edges = np.column_stack([np.arange(PARTICLES - 1), np.arange(1, PARTICLES)])
    mass = np.full(PARTICLES, MASS)
    mass[-1] *= heavy
    scene = pl.Scene()
    chain = scene.add_springs(points, edges, stiffness, mass)
    chain.pin([0])
    return scene, chain


def stretches(x: np.ndarray) -> np.ndarray:
    """Of all springs, in percent."""
    return 100 * (np.linalg.norm(np.diff(x, axis=0), axis=1) / LENGTH - 1)


def swing(stiffness, solver, heavy: float, label: str) -> tuple[np.ndarray, list[np.ndarray]]:
    """Largest stretch after every frame [%], and all positions."""
    scene, _ = hanging_weight(stiffness, heavy)
    sim = pl.Simulation(scene, solver, frame_rate=60, substeps=1, precision="double")
    seen = []
    for _ in track(range(FRAMES), label):
        sim.advance()
        seen.append(sim.positions)
    return np.array([stretches(x).max() for x in seen]), seen


def heavy_end() -> tuple[dict, dict]:
    """Figure 21: the weight on stiff springs and on springs that are 100 times softer."""
    runs, numbers = {}, {}
    for name, k in (("stiff", STIFF), ("100 times softer", STIFF / 100)):
        for who, solver in (("VBD", pl.VBD(ITERATIONS)), ("Newton", pl.Newton(iterations=100))):
            runs[name, who] = swing(k, solver, RATIO, f"{name}, {who}")
            numbers[f"{name}, {who}: largest stretch of a spring, %"] = runs[name, who][0].max()
    return runs, numbers


def stiffness_ratio() -> tuple[dict, dict]:
    """Figure 24: soft springs and 10,000 times stiffer ones in turn, with a light and with a heavy end."""
    soft = 1e3
    k = np.where(np.arange(PARTICLES - 1) % 4 == 0, soft, 1e4 * soft)
    runs, numbers = {}, {}
    solvers = {"Newton": pl.Newton(iterations=100)}
    solvers |= {f"VBD, {n} iterations": pl.VBD(n) for n in (100, 1000, 10000)}
    for who, solver in solvers.items():
        runs[who] = swing(k, solver, 100, f"stiffness 1 : 10000, {who}")
        stiff = [stretches(x)[k > soft].max() for x in runs[who][1]]
        numbers[f"{who}: largest stretch of a stiff spring, %"] = max(stiff)
        numbers[f"{who}: largest distance to Newton over the chain's length, %"] = (
            100 * max(np.abs(a - b).max() for a, b in zip(runs[who][1], runs["Newton"][1], strict=True))
        ) / (LENGTH * (PARTICLES - 1))
    return runs, numbers


def draw(heavy: dict, ratio: dict) -> plt.Figure:
    figure, axes = plt.subplots(2, 2, figsize=(12, 9), layout="constrained")
    time = np.arange(1, FRAMES + 1) / 60
    for (name, who), (stretch, seen) in heavy.items():
        axes[0, 0].semilogy(time, np.maximum(stretch, 1e-3), "--" if who == "Newton" else "-", label=f"{name}, {who}")
        if who == "VBD":
            colour = None
            for x in seen[::8]:
                line = axes[0, 1].plot(x[:, 0], x[:, 2], ".-", ms=3, lw=0.8, color=colour, alpha=0.7)
                colour = line[0].get_color()
    axes[0, 0].axhline(0.7, c="k", lw=0.8)
    axes[0, 0].set(
        xlabel="time [s]", ylabel="largest stretch [%]", title="21: weight 1000 times a particle's; line: 0.7 %"
    )
    axes[0, 1].set(xlabel="x [m]", ylabel="z [m]", title="every 8th frame, VBD", aspect="equal")
    for who, (stretch, seen) in ratio.items():
        axes[1, 0].semilogy(time, np.maximum(stretch, 1e-3), label=who)
        axes[1, 1].plot(seen[45][:, 0], seen[45][:, 2], ".-", label=who)
    axes[1, 0].set(xlabel="time [s]", ylabel="largest stretch [%]", title="24: stiffness 1 : 10,000")
    axes[1, 1].set(xlabel="x [m]", ylabel="z [m]", title="after 46 frames", aspect="equal")
    for axis in (axes[0, 0], axes[1, 0], axes[1, 1]):
        axis.legend(fontsize=8)
    return figure


if __name__ == "__main__":
    weight, weight_numbers = heavy_end()
    ratio, ratio_numbers = stiffness_ratio()
    numbers = {"figure 21": weight_numbers, "figure 24": ratio_numbers}
    outputs.save("chains", draw(weight, ratio), numbers, RESULTS)

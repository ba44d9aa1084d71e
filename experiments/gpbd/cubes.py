"""Table 5: cubes stretched, compressed and twisted by led faces, stable neo-Hookean and neo-Hookean.

python -m experiments.gpbd.cubes [seconds=2] [part of the paper's cells along a side=1]
"""

from __future__ import annotations

import sys
from pathlib import Path

import matplotlib.pyplot as plt
import numpy as np
from experiments.vbd import outputs, pictures

import pliant as pl
from pliant.geometry.quality import tet_volumes
from pliant.viewer.pictures import BODY_COLOURS, Surface

FOLDER = Path(__file__).parent / "results"
YOUNG, DENSITY, H, RELAXATION = 1e5, 1000.0, 0.001, 1.5
LAWS = {"SNH": pl.StableNeoHookean, "NH": pl.NeoHookean}
# the paper's iterations i_G and i_N by Poisson's ratio: {ratio: ((SNH), (NH))}; None where it reports none
PAPER = {
    "stretch": {0.45: ((3, 2), (3, 3)), 0.499: ((3, 5), (3, 5)), 0.4995: (None, (3, 5))},
    "compress": {0.45: ((2, 3), (2, 5)), 0.499: ((2, 5), (8, 10)), 0.4995: ((2, 8), (20, 10))},
    "twist": {0.45: ((2, 1), (2, 2)), 0.499: ((2, 2), (2, 5)), 0.4995: ((2, 3), (2, 5))},
}
CELLS = {"stretch": 15, "compress": 20, "twist": 15}


def led(points: np.ndarray, what: str, seconds: float):
    """Positions of a face's points after so many seconds: to twice the length, to half, or turned by pi, in half of
    the time, then held."""
    side = np.sign(points[0, 0])

    def motion(t: float) -> np.ndarray:
        s = min(2 * t / seconds, 1.0)
        if what == "twist":
            angle = side * np.pi / 2 * s
            x, y, z = points.T
            return np.column_stack([x, np.cos(angle) * y - np.sin(angle) * z, np.sin(angle) * y + np.cos(angle) * z])
        push = 0.5 if what == "stretch" else -0.25
        return points + np.array([side * s * push, 0, 0])

    return motion


def simulate(what: str, law: str, ratio: float, iterations: tuple[int, int], seconds: float, cells: int) -> dict:
    """Whether it ends, inverted tets, volume, and how much it still shakes in the last tenth of the time."""
    mesh = pl.shapes.box((1, 1, 1), (cells,) * 3, "kuhn")
    scene = pl.Scene(gravity=(0, 0, 0))
    body = scene.add_solid(mesh, LAWS[law].from_young(YOUNG, ratio), DENSITY)
    for face in (mesh.points[:, 0] == -0.5, mesh.points[:, 0] == 0.5):
        body.move(face, led(mesh.points[face], what, seconds))
    solver = pl.GPBD(iterations[0], "jacobi", RELAXATION, newton_iterations=iterations[1])
    sim = pl.Simulation(scene, solver, 1 / H, substeps=1)
    steps, ended, speeds = round(seconds / H), "did all steps", []
    for step in range(steps):
        try:
            sim.step()
        except pl.SimulationError as error:
            ended = f"step {step}: {error}"
            break
        if step > 0.9 * steps:
            speeds.append(np.sqrt((sim.velocities**2).sum(axis=1).mean()))
    volumes = tet_volumes(sim.positions, mesh.tets)
    return {
        "iterations": list(iterations),
        "tets": mesh.n_tets,
        "ended": ended,
        "inverted_at_end": int((volumes <= 0).sum()),
        "volume_at_end": float(volumes.sum()),
        "rms_speed_at_end_m_s": float(np.mean(speeds)) if speeds else None,
        "x": sim.positions,
        "mesh": mesh,
    }


def draw(runs: dict) -> plt.Figure:
    """The end of every run."""
    figure, axes = plt.subplots(len(PAPER), 2 * 3, figsize=(14, 7), layout="constrained")
    for row, what in zip(axes, PAPER, strict=True):
        for ax, (law, ratio) in zip(row, [(law, ratio) for law in LAWS for ratio in PAPER[what]], strict=True):
            run = runs[f"{what}, {law}, {ratio}"]
            surface = Surface(run["mesh"].surface_triangles, BODY_COLOURS[1])
            ax.imshow(pictures.moments([run["x"]], surface, -60, 20, 200, shown=[1.6 * run["mesh"].points])[0])
            ax.set_title(f"{what}, {law}, {ratio}", fontsize=9)
            ax.axis("off")
    return figure


if __name__ == "__main__":
    given = dict(enumerate(map(float, sys.argv[1:])))
    seconds, part = given.get(0, 2.0), given.get(1, 1.0)
    runs = {}
    for what, by_ratio in PAPER.items():
        for ratio, both in by_ratio.items():
            for law, iterations in zip(LAWS, both, strict=True):
                name = f"{what}, {law}, {ratio}"
                runs[name] = simulate(what, law, ratio, iterations or (3, 5), seconds, round(part * CELLS[what]))
                kept = {k: v for k, v in runs[name].items() if k not in ("x", "mesh")}
                print(name, kept, flush=True)
    numbers = {n: {k: v for k, v in r.items() if k not in ("x", "mesh")} for n, r in runs.items()}
    outputs.save("cubes", draw(runs), numbers, FOLDER)

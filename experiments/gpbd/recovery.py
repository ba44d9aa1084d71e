"""Figure 7 and Table 5, first rows: flattened and randomised cubes of neo-Hookean with its barrier.

python -m experiments.gpbd.recovery [seconds=20] [cells=20]
"""

from __future__ import annotations

import sys
from pathlib import Path

import matplotlib.pyplot as plt
import numpy as np
from experiments.vbd import outputs, pictures
from experiments.vbd.recovery import aligned, flattened

import pliant as pl
from pliant.geometry.quality import tet_volumes
from pliant.viewer.pictures import BODY_COLOURS, Surface

FOLDER = Path(__file__).parent / "results"
YOUNG, DENSITY, H, RELAXATION = 1e5, 1000.0, 0.01, 1.5
RATIOS = (0.45, 0.49, 0.499, 0.4995)
NEWTON = {"flattened": 6, "randomised": 8}  # the paper's i_N; i_G is 2
SHOWN = (0, 5, 20, 50, 100, 200, 300, 500)  # steps in the picture


def randomised(points: np.ndarray, seed: int = 0) -> np.ndarray:
    """Every vertex anywhere in the cube."""
    low, high = points.min(axis=0), points.max(axis=0)
    return np.random.default_rng(seed).uniform(low, high, points.shape)


STARTS = {"flattened": flattened, "randomised": randomised}


def recover(start: str, ratio: float, steps: int, cells: int, solver: pl.GPBD | None = None) -> dict:
    """Inverted tets, volume and rms distance to the rest shape over the cube's side, at the start and after every
    step; and some positions."""
    mesh = pl.shapes.box((1, 1, 1), (cells,) * 3, "kuhn")
    scene = pl.Scene(gravity=(0, 0, 0))
    body = scene.add_solid(mesh, pl.NeoHookean.from_young(YOUNG, ratio), DENSITY)
    body.set_positions(STARTS[start](mesh.points))
    solver = solver or pl.GPBD(2, "jacobi", RELAXATION, newton_iterations=NEWTON[start])
    sim = pl.Simulation(scene, solver, 1 / H, substeps=1)
    run: dict = {"inverted": [], "volume": [], "distance": [], "positions": {}, "ended": "did all steps"}
    for step in range(steps + 1):
        if step:
            try:
                sim.step()
            except pl.SimulationError as error:
                run["ended"] = f"step {step}: {error}"
                break
        x = sim.positions
        volumes = tet_volumes(x, mesh.tets)
        run["inverted"].append(int((volumes <= 0).sum()))
        run["volume"].append(float(volumes.sum()))
        run["distance"].append(float(np.sqrt(((aligned(x, mesh.points) - mesh.points) ** 2).sum(axis=1).mean())))
        if step in SHOWN:
            run["positions"][step] = x
    return run | {"mesh": mesh}


def numbers_of(run: dict) -> dict:
    bad = np.flatnonzero(run["inverted"])
    last = len(run["inverted"]) - 1
    return {
        "ended": run["ended"],
        "tets": run["mesh"].n_tets,
        "seconds_until_no_tet_is_inverted": None if len(bad) and bad[-1] == last else H * float(bad[-1] + 1),
        "inverted_at_start": run["inverted"][0],
        "inverted_at_end": run["inverted"][-1],
        "volume_at_end": run["volume"][-1],
        "distance_at_end_percent_of_side": 100 * run["distance"][-1],
    }


def draw(runs: dict) -> plt.Figure:
    figure = plt.figure(figsize=(14, 7.5), layout="constrained")
    parts = figure.subfigures(3, 1, height_ratios=(1, 1, 1.5))
    for part, start in zip(parts, STARTS, strict=False):
        run = runs[f"{start}, {RATIOS[-1]}"]
        part.suptitle(f"{start}, Poisson's ratio {RATIOS[-1]}", fontsize=11)
        surface = Surface(run["mesh"].surface_triangles, BODY_COLOURS[1])
        shapes = list(run["positions"].values())
        images = pictures.moments(shapes, surface, -60, 20, 200, shown=[1.3 * run["mesh"].points])
        for ax, step, image in zip(part.subplots(1, len(SHOWN)), run["positions"], images, strict=False):
            ax.imshow(image)
            ax.set_title(f"{step * H:g} s: {run['inverted'][step]:,} inverted", fontsize=8.5)
        for ax in part.axes:
            ax.axis("off")
    axes = parts[2].subplots(1, 3)
    titles = {"inverted": "inverted or flat tets", "volume": "volume / at rest", "distance": "rms distance / side"}
    for ax, (name, title) in zip(axes, titles.items(), strict=True):
        for label, run in runs.items():
            ax.plot(H * np.arange(len(run[name])), run[name], ls="-" if "flat" in label else ":", lw=1.2, label=label)
        ax.set(xlabel="s", title=title, xscale="symlog")
    axes[0].set_yscale("symlog")
    axes[1].set_ylim(0, 1.5)
    axes[0].legend(fontsize=7)
    return figure


if __name__ == "__main__":
    given = dict(enumerate(map(int, sys.argv[1:])))
    seconds, cells = given.get(0, 20), given.get(1, 20)
    runs = {}
    for start in STARTS:
        for ratio in RATIOS:
            name = f"{start}, {ratio}"
            runs[name] = recover(start, ratio, round(seconds / H), cells)
            print(name, numbers_of(runs[name]), flush=True)
    outputs.save("recovery", draw(runs), {n: numbers_of(r) for n, r in runs.items()}, FOLDER)

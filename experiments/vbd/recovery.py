"""Figure 3: a flattened armadillo and a scrambled teapot find their shape again.

python -m experiments.vbd.recovery
"""

from __future__ import annotations

import matplotlib.pyplot as plt
import numpy as np
from experiments.vbd import data, outputs, pictures
from rich.progress import track

import pliant as pl
from pliant.geometry.quality import tet_volumes
from pliant.viewer.pictures import BODY_COLOURS, Surface

FRAMES = 60
SHOWN = (0, 1, 2, 3, 5, 10, 30, 60)  # frames in the picture; 0 is the start
SEEDS = tuple(range(8))  # of the teapot's balls
VARIANTS = {  # of the teapot, each with every ball
    "single, Chebyshev": {},
    "double, Chebyshev": {"precision": "double"},
    "single, no Chebyshev": {"rho": None},
    "double, no Chebyshev": {"rho": None, "precision": "double"},
    "single, Chebyshev, line search": {"line_search": True},
    "single, no Chebyshev, line search": {"rho": None, "line_search": True},
    "single, no Chebyshev, start previous": {"rho": None, "start": "previous"},
}


def flattened(points: np.ndarray) -> np.ndarray:
    """All vertices in the plane z = mean, to the last bit."""
    flat = points.copy()
    flat[:, 2] = points[:, 2].mean()
    return flat


def scrambled(points: np.ndarray, seed: int = 0) -> np.ndarray:
    """Every vertex at a random place on the sphere around the box's centre, half as wide as the mesh is long."""
    direction = np.random.default_rng(seed).normal(size=points.shape)
    direction /= np.linalg.norm(direction, axis=1)[:, None]
    return (points.min(axis=0) + points.max(axis=0)) / 2 + 0.5 * np.ptp(points, axis=0).max() * direction


def aligned(points: np.ndarray, rest: np.ndarray) -> np.ndarray:
    """Points turned and moved onto the rest shape as well as a rigid motion can (Kabsch)."""
    a, c = points - points.mean(axis=0), rest - rest.mean(axis=0)
    U, _, Vt = np.linalg.svd(a.T @ c)
    return a @ U @ np.diag([1, 1, np.sign(np.linalg.det(U @ Vt))]) @ Vt + rest.mean(axis=0)


def recover(mesh: pl.TetMesh, first: np.ndarray, frames: int, iterations: int = 100, rho: float | None = 0.95,
            precision: str = "single", label: str = "", **options) -> dict:  # fmt: skip
    """Inverted tets, elastic energy [J] and distance to the rest shape over the box's diagonal, at the start and
    after every frame; positions of some frames; and why it ended early, if it did."""
    scene = pl.Scene(gravity=(0, 0, 0))
    material = pl.StableNeoHookean.from_coefficients(2e6, 1e7)
    body = scene.add_solid(mesh, material, density=1000.0, damping=1e-6, damping_form="vertex_block")
    body.set_positions(first)
    solver = pl.VBD(iterations, **options)
    sim = pl.Simulation(scene, pl.Chebyshev(solver, rho) if rho else solver, 60, substeps=1, precision=precision)
    run: dict = {"inverted": [], "energy": [], "distance": [], "positions": {}, "ended": "did all frames"}
    size = np.linalg.norm(np.ptp(mesh.points, axis=0))
    for frame in track(range(frames + 1), label):
        if frame:
            try:
                sim.advance()
            except pl.SimulationError as error:
                run["ended"] = f"frame {frame}: {error}"
                break
        x = sim.positions
        apart = aligned(x, mesh.points) - mesh.points
        run["inverted"].append(int((tet_volumes(x, mesh.tets) <= 0).sum()))
        run["energy"].append(sim.energies()["elastic"])
        run["distance"].append(float(np.sqrt((apart**2).sum(axis=1).mean()) / size))
        if frame in SHOWN:
            run["positions"][frame] = x
    return run


def numbers_of(run: dict) -> dict:
    """First frame from which no tet is inverted, and what remains at the end."""
    inverted = np.array(run["inverted"])
    bad = np.flatnonzero(inverted)
    healthy = int(bad[-1]) + 1 if len(bad) and inverted[-1] == 0 else (0 if not len(bad) else None)
    far = np.flatnonzero(np.array(run["distance"]) > 0.01)
    return {
        "ended": run["ended"],
        "frames": len(inverted) - 1,
        "frames_until_no_tet_is_inverted": healthy,
        "frames_until_within_1_percent_of_size": int(far[-1]) + 1 if far[-1] + 1 < len(inverted) else None,
        "inverted_at_end": int(inverted[-1]),
        "energy_over_initial_at_end": run["energy"][-1] / run["energy"][0],
        "distance_at_end_percent_of_size": 100 * run["distance"][-1],
        "inverted_of_frames": {f: int(inverted[f]) for f in SHOWN if f < len(inverted)},
    }


def draw(armadillo: pl.TetMesh, teapot: pl.TetMesh, runs: dict) -> plt.Figure:
    figure = plt.figure(figsize=(14, 11.5), layout="constrained")
    parts = figure.subfigures(4, 1, height_ratios=(1.15, 1, 1, 1.9))
    _draw_strip(parts[0], "Flattened armadillo, single precision, Chebyshev with rho = 0.95", armadillo,
                runs["armadillo, single, Chebyshev"], pictures.y_up, azimuth=-60)  # fmt: skip
    shown = [f"teapot, single, Chebyshev, seed {SEEDS[0]}"]
    # and the first of the accelerated ones that ends with another shape, if any does
    shown += [name for name, run in runs.items() if ", Chebyshev, seed" in name and run["distance"][-1] > 0.01][:1]
    for part, name in zip(parts[1:], shown, strict=False):
        end = f"{100 * runs[name]['distance'][-1]:.1f} % from its rest shape in the end"
        _draw_strip(part, f"Scrambled {name}: {end}", teapot, runs[name], np.array, azimuth=-130)
    axes = parts[3].subplots(1, 3)
    what = {"inverted": "inverted or flat tets", "energy": "elastic energy / initial",
            "distance": "rms distance to rest shape / size"}  # fmt: skip
    for ax, (name, title) in zip(axes, what.items(), strict=True):
        for label, run in runs.items():
            if "line search" in label or "start previous" in label:
                continue
            values = np.array(run[name]) / (run["energy"][0] if name == "energy" else 1)
            colour = "k" if "armadillo" in label else "tab:orange" if "no Chebyshev" in label else "tab:blue"
            known = f"seed {SEEDS[0]}" in label or "armadillo" in label
            text = label.removesuffix(f", seed {SEEDS[0]}") + (f" ({len(SEEDS)} balls)" if "teapot" in label else "")
            ax.plot(values, c=colour, ls=":" if "double" in label else "-", lw=1.2, label=text if known else None)
        ax.set(xlabel="frame of 1/60 s", title=title)
        ax.set_yscale("symlog", linthresh=1) if name == "inverted" else ax.set_yscale("log")
    axes[0].set_ylim(bottom=0)
    parts[3].legend(*axes[0].get_legend_handles_labels(), loc="outside lower center", ncols=5, fontsize=9)
    return figure


def _draw_strip(part, title: str, mesh: pl.TetMesh, run: dict, turned, azimuth: float) -> None:
    """Some frames side by side; after the first ones the body is turned back to where it was at rest."""
    part.suptitle(title, fontsize=11)
    shapes = [turned(aligned(x, mesh.points) if k > 5 else x) for k, x in run["positions"].items()]
    surface = Surface(mesh.surface_triangles, BODY_COLOURS[1])
    images = pictures.moments(shapes, surface, azimuth, 14, 260, shown=[shapes[0], turned(mesh.points)])
    for ax, frame, image in zip(part.subplots(1, len(SHOWN)), run["positions"], images, strict=False):
        ax.imshow(image)
        ax.set_title("start" if frame == 0 else f"frame {frame}: {run['inverted'][frame]:,} inverted", fontsize=8.5)
    for ax in part.axes:
        ax.axis("off")


def teapot_runs(mesh: pl.TetMesh, frames: int = FRAMES) -> dict:
    """Every variant with every ball."""
    runs = {}
    for variant, options in VARIANTS.items():
        for seed in SEEDS:
            name = f"teapot, {variant}, seed {seed}"
            runs[name] = recover(mesh, scrambled(mesh.points, seed), frames, label=name, **options)
    return runs


if __name__ == "__main__":
    armadillo, teapot = data.load("armadillo-15k"), data.load("teapot-2k")
    flat = recover(armadillo, flattened(armadillo.points), FRAMES, label="armadillo, single")
    runs = {"armadillo, single, Chebyshev": flat, **teapot_runs(teapot)}
    outputs.save("recovery", draw(armadillo, teapot, runs), {name: numbers_of(run) for name, run in runs.items()})

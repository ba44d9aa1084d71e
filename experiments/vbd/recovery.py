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

SHOWN = (0, 1, 2, 3, 5, 10, 30, 120)  # frames in the picture; 0 is the start


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


def recover(mesh: pl.TetMesh, start: np.ndarray, frames: int, iterations: int = 100, rho: float | None = 0.95,
            precision: str = "single", label: str = "", **options) -> dict:  # fmt: skip
    """Inverted tets, elastic energy [J] and distance to the rest shape over the box's diagonal, at the start and
    after every frame; positions of some frames; and why it ended early, if it did."""
    scene = pl.Scene(gravity=(0, 0, 0))
    material = pl.StableNeoHookean.from_coefficients(2e6, 1e7)
    body = scene.add_solid(mesh, material, density=1000.0, damping=1e-6)
    body.set_positions(start)
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
    near = np.flatnonzero(np.array(run["distance"]) > 0.01)
    return {
        "ended": run["ended"],
        "frames": len(inverted) - 1,
        "frames_until_no_tet_is_inverted": healthy,
        "frames_until_within_1_percent_of_size": int(near[-1]) + 1 if near[-1] + 1 < len(inverted) else None,
        "inverted_at_end": int(inverted[-1]),
        "energy_over_initial_at_end": run["energy"][-1] / run["energy"][0],
        "distance_at_end_percent_of_size": 100 * run["distance"][-1],
        "inverted_of_frames": {f: int(inverted[f]) for f in SHOWN if f < len(inverted)},
    }


def draw(runs: dict, strips: list[tuple[str, pl.TetMesh, dict, tuple, tuple]]) -> plt.Figure:
    figure = plt.figure(figsize=(14, 9.2), layout="constrained")
    parts = figure.subfigures(3, 1, height_ratios=(1, 1, 1.7))
    for part, (title, mesh, run, look, up) in zip(parts, strips, strict=False):
        part.suptitle(title, fontsize=11)
        for ax, frame in zip(part.subplots(1, len(SHOWN)), SHOWN, strict=True):
            centre, size = (mesh.points.min(axis=0) + mesh.points.max(axis=0)) / 2, np.ptp(mesh.points, axis=0).max()
            x = run["positions"][frame]
            x = aligned(x, mesh.points) if frame > 5 else x
            ax.imshow(pictures.render(mesh, x, look, up, centre, 1.15 * size, (300, 300)))
            ax.set_title("start" if frame == 0 else f"frame {frame}", fontsize=9)
            ax.axis("off")
    axes = parts[2].subplots(1, 3)
    what = {"inverted": "inverted or flat tets", "energy": "elastic energy / initial",
            "distance": "rms distance to rest shape / size"}  # fmt: skip
    for ax, (name, title) in zip(axes, what.items(), strict=True):
        for label, run in runs.items():
            values = np.array(run[name]) / (run["energy"][0] if name == "energy" else 1)
            ax.plot(values, label=label, ls="--" if "single" in label and "teapot" in label else "-")
        ax.set(xlabel="frame of 1/60 s", title=title)
        ax.set_yscale("symlog", linthresh=1) if name == "inverted" else ax.set_yscale("log")
    axes[1].set_ylim(1e-18, 10)
    axes[2].set_ylim(1e-5, 1)
    axes[0].legend(fontsize=8)
    return figure


if __name__ == "__main__":
    armadillo, teapot = data.load("armadillo-15k"), data.load("teapot-2k")
    ball = scrambled(teapot.points)
    runs = {"armadillo, single": recover(armadillo, flattened(armadillo.points), 120, label="armadillo, single")}
    for precision in ("double", "single"):
        name = f"teapot, {precision}"
        runs[name] = recover(teapot, ball, 120, precision=precision, label=name)
    strips = [
        (f"Flattened armadillo, {armadillo.n_vertices:,} vertices, {armadillo.n_tets:,} tets, single precision",
         armadillo, runs["armadillo, single"], (-0.7, -0.14, -0.7), (0, 1, 0)),
        (f"Scrambled teapot, {teapot.n_vertices:,} vertices, {teapot.n_tets:,} tets, double precision",
         teapot, runs["teapot, double"], (0.3, 0.9, -0.3), (0, 0, 1)),
    ]  # fmt: skip
    numbers = {name: numbers_of(run) for name, run in runs.items()}
    for seed in (1, 2, 3):  # is it this ball's luck?
        other = recover(teapot, scrambled(teapot.points, seed), 120, precision="double", label=f"teapot, seed {seed}")
        numbers[f"teapot, double, seed {seed}"] = numbers_of(other)
    tries = {"line search": {"line_search": True}, "psd": {"psd": True}, "no Chebyshev": {"rho": None},
             "no Chebyshev, line search": {"rho": None, "line_search": True}}  # fmt: skip
    for precision in ("single", "double"):
        for name, options in tries.items():
            name = f"teapot, {precision}, {name}"
            numbers[name] = numbers_of(recover(teapot, ball, 120, precision=precision, label=name, **options))
    outputs.save("recovery", draw(runs, strips), numbers)

"""Figures 5 and 6: where the iterations of a step start decides how a stiff pendulum swings.

python -m experiments.vbd.starts
"""

from __future__ import annotations

import matplotlib.pyplot as plt
import numpy as np
from experiments.vbd import outputs, pictures
from experiments.vbd.converged import converged_step
from rich.progress import track

import pliant as pl
from pliant.geometry.surface import compact
from pliant.viewer.pictures import Surface, merge

STARTS = ("previous", "inertial", "accelerated", "adaptive")
COLOURS = dict(zip(STARTS, ("tab:blue", "tab:purple", "tab:red", "tab:green"), strict=True))
ROD, BOB = 20, 4  # cells along the rod; along, across and up the bob


def pendulum(cell: float) -> pl.TetMesh:
    """A rod of 20 x 2 x 2 cells along x with a cube of 4 x 4 x 4 cells at its end: one mesh. cell: edge length [m]."""
    box = pl.shapes.box((cell * (ROD + BOB), cell * BOB, cell * BOB), (ROD + BOB, BOB, BOB), "kuhn")
    points = box.points + np.array([cell * (ROD + BOB) / 2, 0, 0])
    x, y, z = points[box.tets].mean(axis=1).T / cell
    tets, kept = compact(box.tets[(x > ROD) | (np.maximum(abs(y), abs(z)) < 1)], len(points))
    return pl.TetMesh(points[kept], tets)


def hung(mesh: pl.TetMesh) -> pl.Scene:
    """Held by the middle line of the rod's end, as by a hinge along y, and horizontal at first."""
    scene = pl.Scene()
    body = scene.add_solid(mesh, pl.StableNeoHookean.from_coefficients(1e7, 1e8), density=1000.0)
    body.pin((mesh.points[:, 0] < 1e-9) & (abs(mesh.points[:, 2]) < 1e-9))
    return scene


def swing(sim: pl.Simulation, mesh: pl.TetMesh, cell: float, steps: int, step, label: str) -> dict:
    """The bob's centre (steps, 3) [m], distance from the hinge over that at rest, alpha (steps, n), positions."""
    bob = mesh.points[:, 0] > cell * ROD - 1e-9
    record = {"centre": [], "alpha": [], "positions": [], "gain": []}
    weight = -sim.scene.gravity[2] * sim.model.mass.sum() * mesh.points[bob, 0].mean()  # [J] it can lose by falling
    first = sim.energies()["total"]
    for _ in track(range(steps), label):
        step()
        fall = (sim.state.v - sim.state.v_previous)[:, 2] / (sim.h * sim.scene.gravity[2])
        record["alpha"].append(np.clip(fall, 0, 1))  # Equation 17
        record["centre"].append(sim.positions[bob].mean(axis=0))
        record["positions"].append(sim.positions)
        record["gain"].append((sim.energies()["total"] - first) / weight)
    record = {name: np.array(values) for name, values in record.items()}
    record["stretch"] = np.linalg.norm(record["centre"], axis=1) / mesh.points[bob, 0].mean()
    return record


def compare(cell: float, iterations: tuple[int, ...] = (20, 4), seconds: float | None = None) -> tuple[dict, dict]:
    """Every start against Newton's method, for about a swing to the other side: records, and numbers from them."""
    mesh, length = pendulum(cell), cell * (ROD + BOB / 2)
    steps = round(300 * (seconds or 1.9 * np.sqrt(length / 4.4)))
    reference = pl.Simulation(hung(mesh), precision="double")
    runs = {"Newton": swing(reference, mesh, cell, steps, lambda: converged_step(reference), f"{length:g} m, Newton")}
    for n in iterations:
        for start in STARTS:
            sim = pl.Simulation(hung(mesh), pl.VBD(n, start=start))
            runs[start, n] = swing(sim, mesh, cell, steps, sim.step, f"{length:g} m, {start}, {n}")
    lowest = int(runs["Newton"]["centre"][:, 2].argmin()) + 1
    numbers = {"length_m": length, "seconds": steps / 300, "seconds_down": lowest / 300, "vertices": mesh.n_vertices}
    for key, run in runs.items():
        apart = np.linalg.norm(run["centre"] - runs["Newton"]["centre"], axis=1) / length
        numbers["Newton" if key == "Newton" else f"{key[0]}, {key[1]} iterations a step"] = {
            "largest_error_down_percent_of_length": 100 * apart[:lowest].max(),
            "largest_error_percent_of_length": 100 * apart.max(),
            "largest_stretch_down_percent": 100 * (run["stretch"][:lowest].max() - 1),
            "largest_stretch_percent": 100 * (run["stretch"].max() - 1),
            "largest_energy_gain_percent": 100 * run["gain"].max(),
            "height_at_bottom_time_m": run["centre"][lowest - 1, 2],
        }
    return runs, numbers


def gain(cell: float, iterations: int, seconds: float) -> float:
    """Largest energy gain of the adaptive start, in percent of the energy of the whole fall."""
    mesh = pendulum(cell)
    sim = pl.Simulation(hung(mesh), pl.VBD(iterations, start="adaptive"))
    return 100 * swing(sim, mesh, cell, round(300 * seconds), sim.step, f"adaptive, {iterations}")["gain"].max()


def draw(runs: dict, numbers: dict, cell: float) -> plt.Figure:
    figure, axes = plt.subplots(2, 3, figsize=(13, 7.2), layout="constrained")
    time, bottom = np.arange(1, len(runs["Newton"]["centre"]) + 1) / 300, numbers["seconds_down"]
    for row, n in enumerate((20, 4)):
        for column, (name, scale) in enumerate((("centre", 1), ("stretch", 100))):
            ax = axes[row, column]
            for start in STARTS:
                values = runs[start, n][name]
                ax.plot(time, values[:, 2] if name == "centre" else scale * (values - 1), c=COLOURS[start], label=start)
            values = runs["Newton"][name]
            values = values[:, 2] if name == "centre" else scale * (values - 1)
            ax.plot(time, values, "k--", label="Newton, converged")
            ax.axvline(bottom, color="0.8", zorder=0)
            ax.set(xlabel="time [s]", ylabel="height of the bob [m]" if column == 0 else "stretch of the pendulum [%]")
            ax.set_title(f"{n} iterations a step ({5 * n} a frame of 1/60 s)", fontsize=10)
        axes[row, 1].axhline(0, color="0.8", zorder=0)
    axes[0, 0].legend(fontsize=8)
    _draw_alpha(axes[0, 2], axes[1, 2], runs["adaptive", 20], pendulum(cell), cell, bottom)
    return figure


def _draw_alpha(top, below, run: dict, mesh: pl.TetMesh, cell: float, bottom: float) -> None:
    """Figure 6: curves along the pendulum, and the pendulum coloured, at four moments."""
    place = np.round(mesh.points[:, 0] / cell).astype(int)
    shapes, surfaces = [], []
    for part, shade in zip((0.15, 0.5, 0.8, 1.0), ("0.75", "0.5", "0.3", "0.0"), strict=True):
        k = round(300 * bottom * part) - 1
        mean = [run["alpha"][k][place == i].mean() for i in range(ROD + BOB + 1)]
        top.plot(cell * np.arange(ROD + BOB + 1), mean, c=shade, label=f"t = {(k + 1) / 300:.2f} s")
        triangles = mesh.surface_triangles
        shapes.append(run["positions"][k])
        surfaces.append(Surface(triangles, plt.cm.coolwarm(run["alpha"][k][triangles].mean(axis=1))[:, :3]))
    together = merge(surfaces, mesh.n_vertices * np.arange(len(shapes)))
    image = pictures.moments([np.concatenate(shapes)], together, azimuth=-90, elevation=6, height=640)[0]
    below.imshow(image)
    below.set_title("the same moments; red: free fall, blue: held", fontsize=10)
    below.axis("off")
    top.set(xlabel="distance from the hinge at rest [m]", ylabel="part of gravity in the start", ylim=(-0.05, 1.05))
    top.set_title("adaptive, 20 iterations a step (Figure 6)", fontsize=10)
    top.legend(fontsize=8)


if __name__ == "__main__":
    runs, numbers = compare(0.2)
    numbers["largest_energy_gain_percent_of_adaptive"] = {n: gain(0.2, n, numbers["seconds"]) for n in (100, 400)}
    sizes = {cell: compare(cell)[1] for cell in (0.02, 0.05, 0.1, 0.4)}
    outputs.save("starts", draw(runs, numbers, 0.2), {"main": numbers, "other_cell_sizes_m": sizes})

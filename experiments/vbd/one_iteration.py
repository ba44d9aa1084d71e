"""Figure 16: an armadillo pulled by its nose with a single iteration a frame.

python -m experiments.vbd.one_iteration
"""

from __future__ import annotations

import matplotlib.pyplot as plt
import numpy as np
from experiments.vbd import data, outputs, pictures
from rich.progress import track

import pliant as pl
from pliant.geometry.quality import tet_volumes
from pliant.viewer.pictures import BODY_COLOURS, Surface

# Of armadillo-15k: the vertices farthest along the mesh from its middle, picked on a picture.
NOSE = 487
FINGER_TIPS = (4, 48, 102, 944, 1331, 1353, 2172)
TOE_TIPS = (333, 4505, 5390, 1659, 4974, 6370)
HELD_AROUND = 0.02  # [m] held around every tip
PULL, OUT, HOLD, BACK = 1.0, 180, 40, 80  # pulled so far forward [m]; frames to get there, to stay, to come back
SHOWN = (0, 60, 180, 220, 300, 420)
FRAMES = {1: 900, 5: 900, 50: 420}  # iterations a frame: frames


def held(points: np.ndarray) -> np.ndarray:
    """Vertices near the tips of fingers and toes."""
    tips = points[list(FINGER_TIPS + TOE_TIPS)]
    return np.flatnonzero(np.linalg.norm(points[:, None] - tips, axis=2).min(axis=1) < HELD_AROUND)


def pull(t: float) -> float:
    """How far the nose is led forward [m] at time t [s]: out at constant speed, hold, back, stay."""
    return PULL * float(np.interp(60 * t, (0, OUT, OUT + HOLD, OUT + HOLD + BACK), (0, 1, 1, 0)))


def stretch(mesh: pl.TetMesh, iterations: int, frames: int, label: str = "") -> dict:
    """Longest edge over its rest length, largest speed of a free vertex [m/s], energies [J] and inverted tets of
    every tenth frame, positions of some frames."""
    scene = pl.Scene(gravity=(0, 0, 0))
    material = pl.StableNeoHookean.from_coefficients(2e6, 1e7)
    body = scene.add_solid(mesh, material, density=1000.0, damping=1e-6, damping_form="vertex_block")
    body.pin(held(mesh.points))
    body.move([NOSE], lambda t: mesh.points[[NOSE]] + [[0, 0, pull(t)]])
    sim = pl.Simulation(scene, pl.VBD(iterations), frame_rate=60, substeps=1)
    free, (i, j) = sim.model.is_free, mesh.edges.T
    rest = np.linalg.norm(mesh.points[i] - mesh.points[j], axis=1)
    run: dict = {name: [] for name in ("frame", "edge", "reach", "speed", "kinetic", "elastic", "inverted")}
    run["positions"] = {0: sim.positions}
    speed = 0.0
    for frame in track(range(1, frames + 1), label):
        sim.advance()  # raises if any position is not finite
        speed = max(speed, np.linalg.norm(sim.velocities[free], axis=1).max())
        x = sim.positions
        if frame in SHOWN:
            run["positions"][frame] = x
        if frame % 10 == 0:
            energies = sim.energies()
            run["frame"].append(frame)
            run["edge"].append((np.linalg.norm(x[i] - x[j], axis=1) / rest).max())
            run["reach"].append(x[NOSE, 2] - mesh.points[NOSE, 2])
            run["speed"].append(speed)
            run["kinetic"].append(energies["kinetic"])
            run["elastic"].append(energies["elastic"])
            run["inverted"].append(int((tet_volumes(x, mesh.tets) <= 0).sum()))
            speed = 0.0
    apart = sim.positions - mesh.points
    run["distance"] = float(np.sqrt((apart**2).sum(axis=1).mean()))
    return run


def numbers_of(run: dict) -> dict:
    return {
        "frames": run["frame"][-1],
        "all_finite": True,
        "largest_edge_stretch": max(run["edge"]),
        "largest_speed_of_a_free_vertex_m_per_s": max(run["speed"]),
        "largest_kinetic_energy_J": max(run["kinetic"]),
        "largest_elastic_energy_J": max(run["elastic"]),
        "elastic_energy_when_the_nose_is_back_J": run["elastic"][run["frame"].index(OUT + HOLD + BACK)],
        "elastic_energy_at_end_J": run["elastic"][-1],
        "kinetic_energy_at_end_J": run["kinetic"][-1],
        "most_inverted_tets": max(run["inverted"]),
        "inverted_tets_at_end": run["inverted"][-1],
        "rms_distance_to_rest_at_end_m": run["distance"],
    }


def draw(mesh: pl.TetMesh, runs: dict) -> plt.Figure:
    figure = plt.figure(figsize=(14, 8), layout="constrained")
    parts = figure.subfigures(3, 1, height_ratios=(1, 1, 1.6))
    counts = (min(runs), max(runs))
    surface = Surface(mesh.surface_triangles, BODY_COLOURS[1])
    everything = [pictures.y_up(x) for n in counts for x in runs[n]["positions"].values()]
    for part, n in zip(parts, counts, strict=False):
        part.suptitle(f"{n} iteration{'s' if n > 1 else ''} a frame", fontsize=11)
        shapes = [pictures.y_up(runs[n]["positions"][frame]) for frame in SHOWN]
        images = pictures.moments(shapes, surface, azimuth=-18, elevation=10, height=280, shown=everything)
        for ax, frame, image in zip(part.subplots(1, len(SHOWN)), SHOWN, images, strict=True):
            ax.imshow(image)
            ax.set_title(f"frame {frame}, nose at {pull(frame / 60):.2f} m", fontsize=9)
            ax.axis("off")
    axes = parts[2].subplots(1, 4)
    what = {"edge": "longest edge / its rest length", "speed": "largest speed of a free vertex [m/s]",
            "elastic": "elastic energy [J]", "inverted": "inverted tets"}  # fmt: skip
    for ax, (name, title) in zip(axes, what.items(), strict=True):
        for n, run in runs.items():
            ax.plot(run["frame"], run[name], label=f"{n} a frame")
        ax.axvspan(OUT, OUT + HOLD, color="0.92", zorder=0)
        ax.axvline(OUT + HOLD + BACK, color="0.8", zorder=0)
        ax.set_title(title, fontsize=10)
        ax.set_xlabel("frame of 1/60 s (grey: nose held; line: back)", fontsize=8)
    axes[1].set_yscale("log")
    axes[2].set_yscale("log")
    axes[0].legend(fontsize=8)
    return figure


if __name__ == "__main__":
    armadillo = data.load("armadillo-15k")
    runs = {n: stretch(armadillo, n, frames, f"{n} iterations a frame") for n, frames in FRAMES.items()}
    numbers = {f"{n} iterations a frame": numbers_of(run) for n, run in runs.items()}
    outputs.save("one_iteration", draw(armadillo, runs), numbers)

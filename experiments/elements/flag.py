"""A flag in the wind with three laws.

python -m experiments.elements.flag
"""

from __future__ import annotations

from pathlib import Path

import matplotlib.pyplot as plt
import numpy as np
from experiments.vbd import outputs, pictures
from rich.progress import track

import pliant as pl
from pliant.viewer.pictures import Surface

RESULTS = Path(__file__).parent / "results"
SIZE, CELLS, DENSITY, BENDING = (1.5, 1.0), (48, 32), 0.15, 1e-5  # [m], -, [kg/m^2], [N m]
YOUNG, POISSON = 1000.0, 0.3  # of the sheet [N/m]
WIND, GUST, TURN = 6.0, 4.0, 5.0  # along the flag and across it [m/s], how fast the gusts alternate [1/s]
LAWS = (pl.StVenantKirchhoff, pl.StableNeoHookean, pl.Corotated)
FRAMES, SETTLED = 360, 120  # frames at 60 a second; the first ones that are not counted


def flag(law) -> tuple[pl.Scene, np.ndarray]:
    """A flag in the plane y = 0, held at its left side, and the vertices of its free side."""
    flat = pl.shapes.cloth(SIZE, CELLS)
    mesh = pl.TriMesh(flat.points[:, [0, 2, 1]], flat.triangles)
    scene = pl.Scene()
    cloth = scene.add_cloth(
        mesh,
        law.from_young(YOUNG, POISSON),
        density=DENSITY,
        bending=BENDING,
        damping=1e-4,
        damping_form="vertex_block",
    )
    x = mesh.points[:, 0]
    cloth.pin(x == x.min())
    scene.wind = pl.Wind(lambda t: (WIND, GUST * np.sin(TURN * t), 0.0), drag=1.0, lift=0.5)
    return scene, np.flatnonzero(x == x.max())


def edge_stretch(mesh: pl.TriMesh, x: np.ndarray) -> float:
    """Largest stretch of an edge [%]."""
    lengths = [
        np.linalg.norm(np.roll(p[mesh.triangles], -1, axis=1) - p[mesh.triangles], axis=2) for p in (x, mesh.points)
    ]
    return 100 * float((lengths[0] / lengths[1]).max() - 1)


def wave(law) -> tuple[dict, np.ndarray, np.ndarray]:
    """Numbers, the course of the middle of the free side (frames, 3) [m], and the last positions."""
    scene, free = flag(law)
    sim = pl.Simulation(scene, pl.VBD(20), frame_rate=60, substeps=5)
    course, stretch = [], 0.0
    for _ in track(range(FRAMES), law.__name__):
        sim.advance()
        course.append(sim.positions[free].mean(axis=0))
        stretch = max(stretch, edge_stretch(scene.bodies[0].mesh, sim.positions))
    late = np.array(course)[SETTLED:]
    numbers = {
        "mean of the free side, m": late.mean(axis=0).tolist(),
        "its spread in time, m": late.std(axis=0).tolist(),
        "largest stretch of an edge, %": stretch,
    }
    return numbers, np.array(course), sim.positions


def draw(runs: dict) -> plt.Figure:
    figure, axes = plt.subplots(2, 3, figsize=(12, 7), layout="constrained")
    for axis, (name, (_, _, x)) in zip(axes[0], runs.items(), strict=True):
        scene, _ = flag(LAWS[0])
        surface = Surface(scene.bodies[0].mesh.triangles)
        axis.imshow(pictures.moments([x], surface, azimuth=-60, elevation=15, height=260)[0])
        axis.set_title(name, fontsize=9)
        axis.axis("off")
    time = np.arange(1, FRAMES + 1) / 60
    for axis, k, label in zip(axes[1], range(3), "xyz", strict=True):
        for name, (_, course, _) in runs.items():
            axis.plot(time, course[:, k], label=name, lw=1)
        axis.set(xlabel="time [s]", title=f"middle of the free side, {label} [m]")
    axes[1, 0].legend(fontsize=8)
    return figure


if __name__ == "__main__":
    runs = {law.__name__: wave(law) for law in LAWS}
    outputs.save("flag", draw(runs), {name: numbers for name, (numbers, _, _) in runs.items()}, RESULTS)

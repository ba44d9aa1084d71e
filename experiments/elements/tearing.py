"""Figure 10 of vertex block descent: a piece of cloth with 2500 vertices is torn.

python -m experiments.elements.tearing
"""

from __future__ import annotations

import time
from pathlib import Path

import matplotlib.pyplot as plt
import numpy as np
from experiments.vbd import outputs, pictures
from rich.progress import track

import pliant as pl
from pliant.viewer.pictures import Surface

RESULTS = Path(__file__).parent / "results"
CELLS, FRAMES, SPEED = 49, 66, 0.6  # cells along a side of one metre; frames; speed of the pulled side [m/s]
STEPS, ITERATIONS = 5, 20  # a frame, a step: h = 1/300 s as in Table 1
SHOWN = (18, 24, 26, 30, 42, 66)  # frames


def notched_cloth() -> tuple[pl.Scene, pl.model.Cloth, np.ndarray]:
    """A square held on its left side and pulled at its right, and the triangles to cut out for a notch."""
    mesh = pl.shapes.cloth((1, 1), (CELLS, CELLS))
    scene = pl.Scene()
    cloth = scene.add_cloth(
        mesh,
        pl.StVenantKirchhoff(1e4, 1e4),
        density=0.2,
        bending=1e-5,
        damping=1e-5,
        damping_form="vertex_block",
        tear_at=1.35,
    )
    x = mesh.points
    cloth.pin(x[:, 0] == x[:, 0].min())
    right = x[:, 0] == x[:, 0].max()
    cloth.move(right, pl.motions.Slide(x[right], velocity=(SPEED, 0, 0)))
    centres = x[mesh.triangles].mean(axis=1)
    notch = (np.abs(centres[:, 0]) < 0.5 / CELLS) & (centres[:, 1] > 0.5 - 5 / CELLS)
    return scene, cloth, np.flatnonzero(notch)


def tear() -> tuple[dict, list[np.ndarray], np.ndarray]:
    scene, cloth, notch = notched_cloth()
    sim = pl.Simulation(scene, pl.VBD(ITERATIONS), frame_rate=60, substeps=STEPS)
    sim.delete(cloth, notch)
    mass, whole, shapes = sim.model.mass.sum(), len(sim.positions), []
    times: dict[str, list[float]] = {"plain": [], "tearing": []}
    vertices = []
    for frame in track(range(1, FRAMES + 1), "tearing"):
        for _ in range(STEPS):
            before, began = len(sim.positions), time.perf_counter()
            sim.step()
            times["tearing" if len(sim.positions) > before else "plain"].append(time.perf_counter() - began)
        vertices.append(len(sim.positions))
        if frame in SHOWN:
            shapes.append(sim.positions[cloth.triangles].reshape(-1, 3))
    numbers = {
        "vertices": whole,
        "triangles": len(cloth.triangles),
        "colours": len(sim._work.packs.colour_start) - 1,
        "vertices added": len(sim.positions) - whole,
        "steps in which something tears": len(times["tearing"]),
        "mass lost, relative": abs(sim.model.mass.sum() / mass - 1),
        "step without tearing, ms, median": 1e3 * np.median(times["plain"]),
        "step with tearing, ms, median": 1e3 * np.median(times["tearing"]),
        "frame, ms, mean": 1e3 * (sum(times["plain"]) + sum(times["tearing"])) / FRAMES,
    }
    return numbers, shapes, np.array(vertices)


def draw(shapes: list[np.ndarray], vertices: np.ndarray) -> plt.Figure:
    surface = Surface(np.arange(len(shapes[0])).reshape(-1, 3))
    images = pictures.moments(shapes, surface, azimuth=-75, elevation=55, height=260)
    figure, axes = plt.subplots(2, 4, figsize=(13, 6), layout="constrained")
    for axis, image, frame in zip(axes.ravel(), images, SHOWN, strict=False):
        axis.imshow(image)
        axis.set_title(f"t = {frame / 60:.2f} s", fontsize=9)
        axis.axis("off")
    axes[1, 2].plot(np.arange(1, FRAMES + 1) / 60, vertices)
    axes[1, 2].set(xlabel="time [s]", title="vertices")
    axes[1, 3].axis("off")
    return figure


if __name__ == "__main__":
    numbers, shapes, vertices = tear()
    outputs.save("tearing", draw(shapes, vertices), numbers, RESULTS)

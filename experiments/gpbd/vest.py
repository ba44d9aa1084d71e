"""Figure 1: a vest of stockinette on a walking figure, with GPBD in steps of 1e-4 s, 3 Jacobi iterations.

python -m experiments.gpbd.vest [FOLDER]     with stock1.json of Sperl et al.; else the jersey

The garment and the figure are our own (`pl.Garment.vest`, `pl.Animation.walking_mannequin`); the paper's cannot be
shipped. The figure is a field of distances that is built again for every step.
"""

from __future__ import annotations

import sys
import time
from pathlib import Path

import matplotlib.pyplot as plt
import numpy as np
from experiments.vbd import outputs, pictures

import pliant as pl
from pliant.contact.primitives.shapes import measure
from pliant.model.distance_field import DistanceField
from pliant.viewer.pictures import Surface, bands

RESULTS = Path(__file__).with_name("results")
STEP, SECONDS, SPEED = 1e-4, 0.2, 1.2  # [s], [s], [m/s]


def worn(material: pl.YarnCloth, spacing: float = 0.03) -> tuple[pl.Scene, pl.Garment, pl.Animation]:
    garment, figure = pl.Garment.vest(spacing=spacing), pl.Animation.walking_mannequin(arms=0.3)
    scene = pl.Scene(contact=pl.Contact(friction=0.4, thickness=0.01, self_contact=False))
    vest = scene.add_garment(garment, material)
    vest.set_velocities((SPEED, 0.0, 0.0))
    vest.air_damping = 5.0
    scene.add_mesh_obstacle(figure, method="sdf", resolution=48, friction=0.5)
    return scene, garment, figure


def hem_curl(garment: pl.Garment, x: np.ndarray) -> float:
    """Mean angle [degrees] by which the triangles along the free hem have turned away from the vertical."""
    low = garment.mesh.points[:, 1] < 1e-6
    own = low[garment.mesh.triangles].sum(axis=1) == 2
    corner = x[garment.mesh.triangles[own]]
    normal = np.cross(corner[:, 1] - corner[:, 0], corner[:, 2] - corner[:, 0])
    return float(np.degrees(np.arcsin(normal[:, 2] / np.linalg.norm(normal, axis=1))).mean())


def main() -> None:
    material = pl.YarnCloth(Path(sys.argv[1]) / "stock1.json") if len(sys.argv) > 1 else pl.YarnCloth("jersey")
    scene, garment, figure = worn(material)
    solver = pl.GPBD(iterations=3, mode="jacobi", relaxation=1.5)
    frame_rate = 50
    sim = pl.Simulation(
        scene, solver=solver, precision="double", frame_rate=frame_rate, substeps=round(1 / frame_rate / STEP)
    )
    field = next(shape for shape in scene.shapes if isinstance(shape, DistanceField))
    shown, deepest, began = [(0.0, sim.positions.copy())], np.inf, time.process_time()
    for frame in range(round(SECONDS * frame_rate)):
        sim.advance()
        deepest = min(deepest, float(measure(field, sim.positions, sim.time)[0].min()))
        print(
            f"{sim.time:.2f} s, {1e3 * deepest:.1f} mm, hem {hem_curl(garment, sim.positions):.0f} degrees", flush=True
        )
        if (frame + 1) % 5 == 0:
            shown.append((sim.time, sim.positions.copy()))
    cpu = 1e3 * (time.process_time() - began) * STEP / SECONDS
    x = sim.positions
    numbers = {
        "vertices": garment.mesh.n_vertices,
        "triangles": garment.mesh.n_triangles,
        "cpu_ms_of_a_step_with_contact_and_field": cpu,
        "least_distance_mm": 1e3 * deepest,
        "hem_degrees_at_start": hem_curl(garment, garment.positions),
        "hem_degrees": hem_curl(garment, x),
        "carried_m": float((x - garment.positions)[:, 0].mean()),
        "figure_m": SPEED * SECONDS,
    }
    figure_, axes = plt.subplots(1, len(shown), figsize=(3 * len(shown), 4), layout="constrained")
    own = bands(garment.mesh.points, garment.mesh.triangles, 1, 14, (0.24, 0.42, 0.56))
    colours = np.concatenate([own, np.tile((0.82, 0.76, 0.68), (len(figure.triangles), 1))])
    triangles = np.concatenate([garment.mesh.triangles, figure.triangles + garment.mesh.n_vertices])
    for axis, (moment, points) in zip(axes, shown, strict=True):
        every = np.concatenate([points, figure.positions(moment)])
        axis.imshow(pictures.moments([every], Surface(triangles, colours), azimuth=40, elevation=10, height=420)[0])
        axis.set_title(f"{moment:.1f} s", fontsize=8)
        axis.axis("off")
    outputs.save("vest", figure_, numbers, RESULTS)


if __name__ == "__main__":
    main()

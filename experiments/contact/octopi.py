"""Figure 14, bottom: four octopi dropped into a box, for four frictions.    python -m experiments.contact.octopi"""

from __future__ import annotations

import sys
import time
from itertools import pairwise

import numpy as np
from experiments.contact import scenes
from experiments.vbd import data

import pliant as pl

FRICTIONS = (0.0, 0.1, 0.4, 0.6)
SECONDS = 1.2
HEIGHT = 1.5  # [m] between one octopus and the next


def run(mesh: pl.TetMesh, friction: float, seconds: float) -> tuple[pl.Simulation, list[np.ndarray], dict]:
    """One above the other, each turned by a quarter, into a box a little wider than an octopus."""
    points = mesh.points[:, [0, 2, 1]] * [1, -1, 1]  # its y points up
    scene = pl.Scene()
    for k in range(4):
        c, s = np.cos(k * np.pi / 2 + 0.3), np.sin(k * np.pi / 2 + 0.3)
        turned = points @ np.array([[c, -s, 0], [s, c, 0], [0, 0, 1]]).T + [0, 0, 1.4 + k * HEIGHT]
        scene.add_solid(pl.TetMesh(turned, mesh.tets), scenes.law(1e6, 1e7), damping=0.0)  # the paper's brakes the fall
    scene.add_container((0, 0, 2.0), (6.0, 6.0, 4.0), friction=friction)
    scene.contact = pl.Contact(stiffness=1e7, friction=friction, friction_speed=scenes.FRICTION_SPEED)
    sim = pl.Simulation(scene, pl.VBD(iterations=10), frame_rate=60, substeps=5)
    shown, spent = [sim.positions], 0.0
    for frame in range(int(60 * seconds)):
        began = time.perf_counter()
        sim.advance()
        spent += time.perf_counter() - began
        if frame + 1 in (int(60 * seconds) // 2, int(60 * seconds)):
            shown.append(sim.positions)
    x = sim.positions
    start = sim.model.body_start
    tops = [float(np.percentile(x[a:b, 2], 99)) for a, b in pairwise(start)]
    numbers = {
        "height_of_mean_m": float(x[:, 2].mean()),
        "top_m": max(tops),
        "fastest": float(np.abs(sim.velocities).max()),
        "least_det_F": scenes.least_volume(sim),
        "contacts": sim.n_contacts,
        "ms_a_step": 1e3 * spent / (300 * seconds),
    }
    return sim, shown, numbers


if __name__ == "__main__":
    mesh = data.load("octopus-3.9k")
    seconds = float(sys.argv[1]) if len(sys.argv) > 1 else SECONDS
    rows, numbers = {}, {}
    for friction in FRICTIONS:
        sim, shown, figures = run(mesh, friction, seconds)
        print(friction, figures, flush=True)
        rows[f"friction {friction}"], numbers[f"friction {friction}"] = shown, figures
    titles = ["0 s", f"{seconds / 2:.3g} s", f"{seconds:.3g} s"]
    scenes.save("octopi", scenes.rows_of_pictures(rows, titles, scenes.surface_of(sim), (-60, 15)), numbers)

"""Figure 14, top: an elastic cube on an incline, for four frictions.    python -m experiments.contact.sliding"""

from __future__ import annotations

import numpy as np
from experiments.contact import scenes

import pliant as pl

ANGLE = np.radians(30.0)  # the paper does not give it
FRICTIONS = (0.0, 0.3, 0.6, 0.9)
SECONDS, STEPS_A_SECOND, G = 1.0, 300, 9.81
DAMPINGS = (scenes.DAMPING, 0.0)  # the paper's damping brakes rigid motion too


def run(friction: float, damping: float) -> tuple[pl.Simulation, list[np.ndarray], dict]:
    """The cube's way in a second, from rest on the incline."""
    down, normal = np.array([np.cos(ANGLE), 0, -np.sin(ANGLE)]), np.array([np.sin(ANGLE), 0, np.cos(ANGLE)])
    turn = np.column_stack([down, [0, 1, 0], normal])
    mesh = scenes.cube(1.0)
    scene = pl.Scene(gravity=(0, 0, -G))
    body = scene.add_solid(mesh, scenes.law(1e6, 1e7), damping=damping, damping_form="vertex_block")
    body.set_positions((mesh.points + np.array([0, 0, 0.5])) @ turn.T)
    scene.add_plane((0, 0, 0), normal, friction=friction)
    scene.contact = pl.Contact(stiffness=1e7, friction=friction, friction_speed=scenes.FRICTION_SPEED)
    sim = pl.Simulation(scene, pl.VBD(iterations=10), frame_rate=60, substeps=5)
    way, shown = [], [sim.positions]
    start = sim.positions.mean(axis=0) @ down
    for step in range(int(SECONDS * STEPS_A_SECOND)):
        sim.step()
        way.append(float(sim.positions.mean(axis=0) @ down - start))
        if step % 150 == 149:
            shown.append(sim.positions)
    slope = max(0.0, G * (np.sin(ANGLE) - friction * np.cos(ANGLE)))
    # from the second half, when it has settled into the plane
    half, times = len(way) // 2, np.arange(1, len(way) + 1) / STEPS_A_SECOND
    acceleration = 2 * np.polyfit(times[half:], way[half:], 2)[0]
    numbers = {
        "way_m": way[-1],
        "acceleration": acceleration,
        "coulomb": slope,
        "speed_at_end": (way[-1] - way[-2]) * 300,
    }
    return sim, shown, numbers


if __name__ == "__main__":
    rows, numbers = {}, {}
    for friction in FRICTIONS:
        for damping in DAMPINGS:
            sim, shown, figures = run(friction, damping)
            print(friction, damping, figures)
            numbers[f"friction {friction}, damping {damping}"] = figures
            if damping == DAMPINGS[0]:
                rows[f"friction {friction}"] = shown
    figure = scenes.rows_of_pictures(rows, ["0 s", "0.5 s", "1 s"], scenes.surface_of(sim), (-90, 8))
    scenes.save("sliding", figure, numbers)

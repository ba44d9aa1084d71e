"""Figure 20: a heavy cube dropped on a light one, masses 2000 to 1.    python -m experiments.contact.mass_ratio"""

from __future__ import annotations

import numpy as np
from experiments.contact import scenes

import pliant as pl

# [m], [m], of masses, [kg/m^3].  The paper gives only the ratio; much heavier, the large cube topples: the small one is
# too soft a column (E I / height = 30 kN m against the weight times the height of the mass).
SMALL, LARGE, RATIO, LIGHT = 0.5, 1.0, 2000.0, 5.0
G, SECONDS = 9.81, 2.0


def run(solver) -> tuple[pl.Simulation, list[np.ndarray], dict]:
    small, large = scenes.cube(SMALL), scenes.cube(LARGE)
    heavy = LIGHT * RATIO * (SMALL / LARGE) ** 3
    scene = pl.Scene(gravity=(0, 0, -G))
    law = scenes.law(1e6, 1e7)
    low, high = np.array([0.0, 0.0, SMALL / 2 + 0.01]), np.array([0.0, 0.0, SMALL + LARGE / 2 + 0.1])
    scene.add_solid(pl.TetMesh(small.points + low, small.tets), law, LIGHT, scenes.DAMPING)
    scene.add_solid(pl.TetMesh(large.points + high, large.tets), law, heavy, scenes.DAMPING)
    scene.add_plane((0, 0, 0), (0, 0, 1), friction=0.3)
    scene.contact = pl.Contact(stiffness=1e7, friction=0.3, friction_speed=scenes.FRICTION_SPEED)
    sim = pl.Simulation(scene, solver, frame_rate=60, substeps=5)
    is_top, is_bottom = small.points[:, 2] > 0.499 * SMALL, small.points[:, 2] < -0.499 * SMALL
    n, shown, heights, volumes = small.n_vertices, [sim.positions], [], []
    for step in range(int(300 * SECONDS)):
        sim.step()
        x = sim.positions[:n, 2]
        heights.append(float(x[is_top].mean() - x[is_bottom].mean()))
        volumes.append(scenes.least_volume(sim))
        if step + 1 in (60, 150, 600):
            shown.append(sim.positions)
    pressure = heavy * LARGE**3 * G / SMALL**2
    mu, lam = law.parameters
    young = mu * (3 * lam + 2 * mu) / (lam + mu)
    numbers = {
        "height_at_end_over_rest": heights[-1] / SMALL,
        "least_height_over_rest": min(heights) / SMALL,
        "linear_theory_at_rest": 1 - pressure / young,
        "least_det_F": min(volumes),
        "gap_between_cubes_m": float(sim.positions[n:, 2].min() - sim.positions[:n, 2].max()),
        "fastest_at_end": float(np.abs(sim.velocities).max()),
    }
    return sim, shown, numbers


if __name__ == "__main__":
    rows, numbers = {}, {}
    for iterations in (10, 100):
        sim, shown, figures = run(pl.VBD(iterations=iterations))
        print(iterations, figures)
        rows[f"{iterations} iterations"], numbers[f"{iterations} iterations"] = shown, figures
    titles = ["0 s", "0.2 s", "0.5 s", "2 s"]
    scenes.save("mass_ratio", scenes.rows_of_pictures(rows, titles, scenes.surface_of(sim), (-70, 8)), numbers)

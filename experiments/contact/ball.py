"""Figure 7: a body with tentacles dropped, with and without acceleration.    python -m experiments.contact.ball

The paper's squishy ball has 230,000 vertices; the octopus stands in for it.
"""

from __future__ import annotations

import numpy as np
from experiments.contact import scenes
from experiments.vbd import data

import pliant as pl

SECONDS, SHOWN = 0.6, (36, 54, 72)  # steps of 1/120 s
VARIANTS = {
    "120 iterations": pl.VBD(iterations=120),
    "120, rho = 0.95": pl.Chebyshev(pl.VBD(iterations=120), rho=0.95),
    "2000 iterations": pl.VBD(iterations=2000),
}


def dropped(mesh: pl.TetMesh, solver, rate: int = 120) -> pl.Simulation:
    """Falling at 4 m/s on the ground, Table 1's numbers; rate: steps a second."""
    points = mesh.points[:, [0, 2, 1]] * [1, -1, 1]
    scene = pl.Scene()
    points[:, 2] -= points[:, 2].min() - 0.1
    body = scene.add_solid(
        pl.TetMesh(points, mesh.tets), scenes.law(2e6, 2e7), damping=1e-7, damping_form="vertex_block"
    )
    body.set_velocities(np.tile([0.0, 0.0, -4.0], (mesh.n_vertices, 1)))
    scene.add_plane((0, 0, 0), (0, 0, 1), friction=0.1)
    scene.contact = pl.Contact(stiffness=1e7, friction=0.1, friction_speed=scenes.FRICTION_SPEED)
    return pl.Simulation(scene, solver, frame_rate=rate, substeps=1)


def acceleration(mesh: pl.TetMesh) -> tuple[dict, dict, pl.Simulation]:
    """Positions at SHOWN, and their distance to the reference."""
    rows, numbers = {}, {}
    for name, solver in VARIANTS.items():
        sim = dropped(mesh, solver)
        rows[name] = []
        for step in range(int(120 * SECONDS)):
            sim.step()
            if step + 1 in SHOWN:
                rows[name].append(sim.positions)
        print(name, flush=True)
    size = float(np.linalg.norm(np.ptp(mesh.points, axis=0)))
    for name in list(VARIANTS)[:2]:
        far = [np.linalg.norm(a - b, axis=1) for a, b in zip(rows[name], rows["2000 iterations"], strict=True)]
        numbers[name] = {
            f"rms distance to the reference at step {s}, percent of size": 100 * float(np.sqrt((d**2).mean())) / size
            for s, d in zip(SHOWN, far, strict=True)
        }
    return rows, numbers, sim


if __name__ == "__main__":
    mesh = data.load("octopus-3.9k")
    rows, numbers, sim = acceleration(mesh)
    print(numbers)
    titles = [f"{s / 120:.2g} s" for s in SHOWN]
    scenes.save("ball", scenes.rows_of_pictures(rows, titles, scenes.surface_of(sim), (-60, 12)), numbers)

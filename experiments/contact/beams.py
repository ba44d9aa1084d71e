"""Figure 2: two thin beams twisted together, at our scale.    python -m experiments.contact.beams"""

from __future__ import annotations

import numpy as np
from experiments.contact import scenes

import pliant as pl
from pliant.kernels.threads import Team

LENGTH, WIDTH, CELLS, APART = 2.0, 0.1, (40, 3, 3), 0.14  # [m], [m], of a beam; distance of their axes [m]
TURNS, SECONDS, ITERATIONS, DETECT_EVERY = 3.0, 1.5, 50, 5  # turns of each end, against each other
SHOWN = (150, 300, 450)


def run() -> tuple[pl.Simulation, list[np.ndarray], dict]:
    mesh = pl.shapes.box(size=(LENGTH, WIDTH, WIDTH), cells=CELLS, split="kuhn")
    scene = pl.Scene(gravity=(0, 0, 0))
    for side in (-0.5, 0.5):
        points = mesh.points + np.array([0.0, side * APART, 0.0])
        beam = scene.add_solid(
            pl.TetMesh(points, mesh.tets), scenes.law(5e4, 1e6), damping=scenes.DAMPING, damping_form="vertex_block"
        )
        for end in (-1.0, 1.0):
            held = np.flatnonzero(np.abs(points[:, 0] - end * LENGTH / 2) < 1e-9)
            beam.move(held, turned(points[held], end * 2 * np.pi * TURNS / SECONDS))
    friction = {"friction": 0.1, "friction_speed": scenes.FRICTION_SPEED}
    scene.contact = pl.Contact(stiffness=1e6, detect_every=DETECT_EVERY, **friction)
    sim = pl.Simulation(scene, pl.VBD(iterations=ITERATIONS), frame_rate=60, substeps=5)
    shown, contacts, fastest, least = [sim.positions], 0, 0.0, 1.0
    for step in range(int(300 * SECONDS)):
        sim.step()
        contacts, fastest = max(contacts, sim.n_contacts), max(fastest, float(np.abs(sim.velocities).max()))
        if step + 1 in SHOWN:
            shown.append(sim.positions)
            least = min(least, scenes.least_volume(sim))
    numbers = {"most_contacts": contacts, "fastest": fastest, "least_det_F": least, "deepest_m": deepest(sim)}
    return sim, shown, numbers | {"tets": 2 * len(mesh.tets), "vertices": 2 * mesh.n_vertices}


def turned(points: np.ndarray, rate: float):
    """A motion: points turning about the x axis at so many radians a second."""

    def motion(t: float) -> np.ndarray:
        c, s = np.cos(rate * t), np.sin(rate * t)
        return points @ np.array([[1, 0, 0], [0, c, -s], [0, s, c]]).T

    return motion


def deepest(sim: pl.Simulation) -> float:
    """How deep the deepest vertex is inside the other beam or its own [m]."""
    from pliant.contact.contact_set import depths
    from pliant.contact.detection import find_penetrations

    contacts = find_penetrations(Team(1), sim._detector.colliders, sim.positions).contacts
    return float(depths(contacts, sim.positions).max(initial=0.0))


if __name__ == "__main__":
    sim, shown, numbers = run()
    print(numbers)
    titles = ["0 s", *(f"{s / 300:.3g} s, {TURNS * s / 300 / SECONDS:.3g} turns of each end" for s in SHOWN)]
    figure = scenes.rows_of_pictures({f"{ITERATIONS} iterations": shown}, titles, scenes.surface_of(sim), (-70, 25))
    scenes.save("beams", figure, numbers)

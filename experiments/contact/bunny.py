"""Figure 15: ten vertices of a bunny pulled away and let go.    python -m experiments.contact.bunny"""

from __future__ import annotations

import numpy as np
from experiments.contact import scenes
from experiments.vbd import data

import pliant as pl
from pliant.geometry.surface import unique_edges

PULL, SECONDS_OF_PULL, SECONDS = 2.0, 2.0, 5.0  # [m] outward; the paper says slowly, and no numbers


def far_vertices(points: np.ndarray, count: int = 10) -> np.ndarray:
    """Vertices far from each other, the first farthest from the middle."""
    chosen = [int(np.linalg.norm(points - points.mean(axis=0), axis=1).argmax())]
    distance = np.full(len(points), np.inf)
    while len(chosen) < count:
        distance = np.minimum(distance, np.linalg.norm(points - points[chosen[-1]], axis=1))
        chosen.append(int(distance.argmax()))
    return np.array(chosen)


def aligned_distance(x: np.ndarray, rest: np.ndarray) -> float:
    """Root mean square distance to the shape at rest, best placed, over its size."""
    a, b = x - x.mean(axis=0), rest - rest.mean(axis=0)
    u, _, vt = np.linalg.svd(a.T @ b)
    turn = u @ np.diag([1, 1, np.sign(np.linalg.det(u @ vt))]) @ vt
    return float(np.sqrt(((a - b @ turn.T) ** 2).sum(axis=1).mean()) / np.linalg.norm(np.ptp(rest, axis=0)))


def run(mesh: pl.TetMesh, precision: str) -> tuple[pl.Simulation, list[np.ndarray], dict]:
    scene = pl.Scene(gravity=(0, 0, 0))
    body = scene.add_solid(mesh, scenes.law(2e6, 1e7), damping=scenes.DAMPING, damping_form="vertex_block")
    held = far_vertices(mesh.points)
    away = mesh.points[held] - mesh.points.mean(axis=0)
    away = away / np.linalg.norm(away, axis=1, keepdims=True)

    def motion(t: float) -> np.ndarray:
        return mesh.points[held] + PULL * min(1.0, t / SECONDS_OF_PULL) * away

    body.move(held, motion, until=SECONDS_OF_PULL)
    scene.contact = pl.Contact(stiffness=1e7, friction=0.2, friction_speed=scenes.FRICTION_SPEED)
    sim = pl.Simulation(scene, pl.VBD(iterations=10), frame_rate=60, substeps=5, precision=precision)
    edges = unique_edges(mesh.tets, mesh.n_vertices)
    lengths = np.linalg.norm(mesh.points[edges[:, 1]] - mesh.points[edges[:, 0]], axis=1)
    shown, stretch, fastest, contacts = [], 0.0, 0.0, 0
    for frame in range(int(60 * SECONDS)):
        sim.advance()
        x = sim.positions
        stretch = max(stretch, float((np.linalg.norm(x[edges[:, 1]] - x[edges[:, 0]], axis=1) / lengths).max()))
        fastest, contacts = (
            max(fastest, float(np.linalg.norm(sim.velocities, axis=1).max())),
            max(contacts, sim.n_contacts),
        )
        if frame + 1 in (119, 122, 126, 140, int(60 * SECONDS)):
            shown.append(x)
    numbers = {
        "largest_stretch_of_an_edge": stretch,
        "fastest_m_a_second": fastest,
        "most_contacts": contacts,
        "least_det_F_at_end": scenes.least_volume(sim),
        "distance_to_rest_at_end_percent_of_size": 100 * aligned_distance(sim.positions, mesh.points),
    }
    return sim, shown, numbers


if __name__ == "__main__":
    mesh = data.load("bunny-1.9k")
    rows, numbers = {}, {}
    for precision in ("single", "double"):
        sim, shown, figures = run(mesh, precision)
        print(precision, figures)
        rows[precision], numbers[precision] = shown, figures
    titles = ["stretched", "33 ms after release", "0.1 s after", "0.33 s after", "3 s after"]
    scenes.save("bunny", scenes.rows_of_pictures(rows, titles, scenes.surface_of(sim), (-60, 15)), numbers)

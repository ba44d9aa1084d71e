"""Spheres dropped into a box, beside rapier3d and Newton's XPBD: same spheres, friction, step and iterations, in one run.

    pip install rapier3d==0.36.1 newton==1.7.0
    python -m benchmarks.grains [spheres=10000] [steps=400]

Each is run in turn, on as many threads as it likes, and the median of the last 50 steps counts, with the heap at rest;
the deepest overlap of the end is stated for each. Run it on a quiet computer.
"""

from __future__ import annotations

import sys
import time

import numpy as np
from scipy.spatial import cKDTree

import pliant as pl
from benchmarks.peers import newton_grains, rapier_grains

R, MU, H, ITERATIONS = 0.01, 0.3, 1 / 300, 15


def heap(n: int) -> tuple[np.ndarray, tuple[float, float, float]]:
    """Centres (n, 3) [m] a little above the floor, and the size of the box [m]."""
    across = max(4, round((n / 2) ** (1 / 3)))
    side = across * 2.1 * R
    height = (n // across**2 + 2) * 2.1 * R
    points = pl.shapes.packed_spheres((side, side, height), radius=R, spacing=1.05, jitter=0.5)
    points = points[np.argsort(points[:, 2], kind="stable")][:n]
    return points + np.array([0, 0, 2 * R - points[:, 2].min()]), (side + 0.5 * R, side + 0.5 * R, height)


def deepest(x: np.ndarray) -> float:
    """Overlap of two spheres, at most, in percent of the radius."""
    pairs = cKDTree(x).query_pairs(2 * R, output_type="ndarray")
    if not len(pairs):
        return 0.0
    return float(100 * (2 - np.linalg.norm(x[pairs[:, 0]] - x[pairs[:, 1]], axis=1) / R).max())


def pliant(points: np.ndarray, box: tuple[float, float, float], steps: int, **options) -> tuple[np.ndarray, float]:
    """Positions (n, 3) [m] at the end, and the median of the last 50 steps [s]."""
    scene = pl.Scene()
    scene.add_particles(points, radius=R, friction=MU)
    scene.add_container((0, 0, box[2]), (box[0], box[1], 2 * box[2]), friction=MU)
    threads = options.pop("threads", None)
    solver = pl.VelocityTimeStepping(iterations=ITERATIONS, **options)
    sim = pl.Simulation(scene, solver, frame_rate=1 / H, substeps=1, threads=threads)
    times = []
    for _ in range(steps):
        began = time.perf_counter()
        sim.step()
        times.append(time.perf_counter() - began)
    return sim.positions, float(np.median(times[-50:]))


def main(n: int = 10_000, steps: int = 400) -> None:
    points, box = heap(n)
    runs = {
        "pliant": lambda: pliant(points, box, steps),
        "pliant, one thread": lambda: pliant(points, box, steps, threads=1),
        "pliant, as in the paper": lambda: pliant(points, box, steps, rounds=1, settling=0),
        "pliant, Gauss-Seidel": lambda: pliant(points, box, steps, relaxation=pl.GaussSeidel()),
        "rapier3d": lambda: rapier_grains.run(points, R, box, MU, H, ITERATIONS, steps),
        "newton XPBD": lambda: newton_grains.run(points, R, box, MU, H, ITERATIONS, steps),
    }
    print(f"{len(points)} spheres, {ITERATIONS} iterations, h = {H:.4f} s, {steps} steps")
    for name, run in runs.items():
        x, seconds = run()
        print(f"{name:26s} {1e3 * seconds:8.2f} ms per step, deepest overlap {deepest(x):6.2f} % of the radius")


if __name__ == "__main__":
    main(*(int(float(word.split("=")[-1])) for word in sys.argv[1:]))

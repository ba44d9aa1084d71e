"""Spheres dropped into a box, beside rapier3d and Newton's XPBD: same spheres, friction, step, iterations, in one run.

    pip install rapier3d==0.36.1 newton==1.7.0
    python -m benchmarks.grains [spheres=10000] [steps=150]
    python -m benchmarks.grains threads
    python -m benchmarks.grains sizes

Each is run in turn, on as many threads as it likes, and the median of the last 50 steps counts, with the heap at rest:
wall time, for a quiet computer, and CPU time of all threads; the deepest overlap of the end is stated for each.
`threads`, Pliant alone: wall time on one thread and on two, in turns, of steps of a heap at rest and of their
iterations of Jacobi's method; for a quiet computer.
`sizes`, Pliant alone: CPU time per sphere of 10,000 and of 1,000,000 on one thread while they fall into place, and the
memory of the process so far; for spheres whose neighbours have numbers at random within a layer, and near their own.
"""

from __future__ import annotations

import gc
import resource
import sys
import time
from importlib import import_module

import numpy as np
from scipy.spatial import cKDTree

import pliant as pl
from benchmarks.step_times import median_times
from pliant.kernels.threads import Team

R, MU, H, ITERATIONS = 0.01, 0.3, 1 / 300, 15


def heap(n: int, is_by_height: bool = True) -> tuple[np.ndarray, tuple[float, float, float]]:
    """Centres (n, 3) [m] a little above the floor, and the size of the box [m]; is_by_height: numbered by their
    heights, at random within a layer, else as pl.shapes.packed_spheres numbers them.
    """
    across = max(4, round((n / 2) ** (1 / 3)))
    side = across * 2.1 * R
    height = (n // across**2 + 2) * 2.1 * R
    points = pl.shapes.packed_spheres((side, side, height), radius=R, spacing=1.05, jitter=0.5)
    lowest = np.argsort(points[:, 2], kind="stable")[:n]
    points = points[lowest if is_by_height else np.sort(lowest)]
    return points + np.array([0, 0, 2 * R - points[:, 2].min()]), (side + 0.5 * R, side + 0.5 * R, height)


def deepest(x: np.ndarray) -> float:
    """Overlap of two spheres, at most, in percent of the radius."""
    pairs = cKDTree(x).query_pairs(2 * R, output_type="ndarray")
    if not len(pairs):
        return 0.0
    return float(100 * (2 - np.linalg.norm(x[pairs[:, 0]] - x[pairs[:, 1]], axis=1) / R).max())


def simulation(points: np.ndarray, box: tuple[float, float, float], threads: int | None, **options) -> pl.Simulation:
    """Spheres at points (n, 3) [m] in a box."""
    scene = pl.Scene()
    scene.add_particles(points, radius=R, friction=MU)
    scene.add_container((0, 0, box[2]), (box[0], box[1], 2 * box[2]), friction=MU)
    solver = pl.VelocityTimeStepping(iterations=ITERATIONS, **options)
    return pl.Simulation(scene, solver, frame_rate=1 / H, substeps=1, threads=threads)


Result = tuple[np.ndarray, tuple[float, float]]


def pliant(points: np.ndarray, box: tuple[float, float, float], steps: int, **options) -> Result:
    """Positions (n, 3) [m] at the end, and median wall and CPU times of the last steps [s]."""
    sim = simulation(points, box, options.pop("threads", None), **options)
    times = median_times(sim.step, steps)
    return sim.positions, times


def peer(name: str, points: np.ndarray, box: tuple[float, float, float], steps: int) -> Result:
    """The same of one of benchmarks.peers."""
    return import_module(f"benchmarks.peers.{name}").run(points, R, box, MU, H, ITERATIONS, steps)


def sizes(steps: int = 8) -> None:
    """CPU time per sphere and step of two sizes, and the most memory that the process had."""
    for is_by_height in (True, False):
        print("numbered by height" if is_by_height else "numbered as packed_spheres does")
        for n in (10_000, 1_000_000, 10_000):  # the first of them again: so busy the computer was
            sim, times = simulation(*heap(n, is_by_height), threads=1), []
            for _ in range(steps):
                began = time.process_time()
                sim.step()
                times.append(time.process_time() - began)
            memory = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1e6
            print(f"{n:8d} spheres {1e6 * np.median(times[3:]) / n:6.2f} us per sphere and step, {memory:5.2f} GB")
            del sim
            gc.collect()  # so that the next one does not need room beside it


def threads(n: int = 10_000, steps: int = 250, repeats: int = 60) -> None:
    """Wall time [s] of a step, and of its planned iterations, on one and two threads."""
    points, box = heap(n)
    sims = {count: simulation(points, box, count) for count in (1, 2)}
    took: dict[tuple[str, int], list[float]] = {}
    for step in range(steps + repeats):
        for count, sim in sims.items():
            began = time.perf_counter()
            sim.step()
            if step >= steps:
                took.setdefault(("a step", count), []).append(time.perf_counter() - began)
    teams = {count: Team(count) for count in (1, 2)}
    problem, relaxation = sims[1]._work.posed, pl.ImprovedJacobi()
    for _ in range(repeats):
        for count, team in teams.items():
            problem.team, problem.done, problem.planned = team, 0, ITERATIONS
            began = time.perf_counter()
            relaxation.iterate(problem, ITERATIONS)
            took.setdefault((f"{ITERATIONS} iterations", count), []).append(time.perf_counter() - began)
    for what in dict.fromkeys(name for name, _ in took):
        one, two = (1e3 * float(np.median(took[what, count])) for count in (1, 2))
        print(f"{n} spheres, {what}: {one:.2f} ms on one thread, {two:.2f} ms on two, {one / two:.2f} times as fast")


def main(n: int = 10_000, steps: int = 150) -> None:
    points, box = heap(n)
    runs = {
        "pliant": lambda: pliant(points, box, steps),
        "pliant, one thread": lambda: pliant(points, box, steps, threads=1),
        "pliant, as in the paper": lambda: pliant(points, box, steps, rounds=1, settling=0),
        "pliant, Gauss-Seidel": lambda: pliant(points, box, steps, relaxation=pl.GaussSeidel()),
        "rapier3d": lambda: peer("rapier_grains", points, box, steps),
        "newton XPBD": lambda: peer("newton_grains", points, box, steps),
    }
    print(f"{len(points)} spheres, {ITERATIONS} iterations, h = {H:.4f} s, {steps} steps")
    for name, run in runs.items():
        try:
            x, (wall, cpu) = run()
        except ModuleNotFoundError as error:
            print(f"{name:26s} is not installed ({error.name})")
            continue
        times = f"{1e3 * wall:8.2f} ms per step, {1e3 * cpu:8.2f} ms of CPU time"
        print(f"{name:26s} {times}, deepest overlap {deepest(x):6.2f} % of the radius", flush=True)


if __name__ == "__main__":
    if sys.argv[1:] in (["sizes"], ["threads"]):
        {"sizes": sizes, "threads": threads}[sys.argv[1]]()
    else:
        main(*(int(float(word.split("=")[-1])) for word in sys.argv[1:]))

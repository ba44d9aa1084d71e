"""Table 1 of Francu and Moldoveanu (2015): time per frame on one thread.

python -m experiments.francu.table1

CPU time of the thread, which a busy computer disturbs less than wall time: the median of frames 20 to 59. Later the
cloth with improved Jacobi blows up (README). The paper does not say how large its particles are: here 5 cm in a box of
20 across, whose heap keeps its height within a tenth; and "small", 1 cm in a box of 9 across, whose 37 layers
15 iterations do not hold.
"""

from __future__ import annotations

import json
import time
from typing import Any

import numpy as np
from experiments.francu.curves import PAPERS, RESULTS, dropping, hung

import pliant as pl

THEIRS = {"cloth": (39.0, 51.0), "particles": (5.2, 6.5), "small": (5.2, 6.5)}  # [ms] Gauss-Seidel, improved Jacobi
FRAMES, FIRST = 60, 20
COUNT, R, ACROSS = 3000, 0.05, 20


def heap() -> pl.Scene:
    """Particles of 5 cm that fall into a wide box, without friction."""
    scene, random = pl.Scene(), np.random.default_rng(2)
    side, height = 2.1 * R * ACROSS, 2.5 * R * COUNT / ACROSS**2
    points = pl.shapes.packed_spheres((side, side, height), radius=R, spacing=1.05, jitter=0.5)
    points = random.permutation(points)[:COUNT] + np.array([0, 0, 5 * R + 0.5 * height])
    scene.add_particles(points, radius=R, friction=0.0)
    scene.add_container((0, 0, 50 * R), (side + R, side + R, 100 * R), friction=0.0)
    return scene


def frame_times(scene: pl.Scene, solver: Any) -> np.ndarray:
    """CPU time [ms] of each frame, one step of 1/60 s each."""
    sim = pl.Simulation(scene, solver, frame_rate=60, substeps=1, threads=1)
    times = []
    for _ in range(FRAMES):
        began = time.thread_time()
        sim.step()
        times.append(1e3 * (time.thread_time() - began))
    return np.array(times)


def main() -> None:
    """Measure, print and write the numbers."""
    relaxations = {"Gauss-Seidel": pl.GaussSeidel(), "improved Jacobi": pl.ImprovedJacobi()}
    found: dict[str, dict[str, float]] = {case: {} for case in THEIRS}
    for name, relaxation in relaxations.items():
        cloth = frame_times(hung(100, 10.0), pl.PositionBased(relaxation, iterations=15))
        found["cloth"][name] = float(np.median(cloth[FIRST:]))
        for case, scene in (("particles", heap()), ("small", dropping(COUNT))):
            times = frame_times(scene, pl.VelocityTimeStepping(relaxation, iterations=15, **PAPERS))
            found[case][name] = float(np.median(times[FIRST:]))
    for case, numbers in found.items():
        for (name, ours), theirs in zip(numbers.items(), THEIRS[case], strict=True):
            print(
                f"{case:10s} {name:16s} {theirs:5.1f} ms in the paper, {ours:5.2f} ms here, {theirs / ours:4.1f} times"
            )
    (RESULTS / "table1.json").write_text(json.dumps(found, indent=1), encoding="utf-8")


if __name__ == "__main__":
    main()

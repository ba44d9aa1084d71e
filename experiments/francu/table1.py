"""Table 1 of Francu and Moldoveanu (2015): time per frame on one thread.

python -m experiments.francu.table1

CPU time of the thread, which a busy computer disturbs less than wall time: the median of frames 20 to 59. Later the
cloth with improved Jacobi blows up (README).
"""

from __future__ import annotations

import json
import time
from typing import Any

import numpy as np
from experiments.francu.curves import PAPERS, RESULTS, dropping, hung

import pliant as pl

THEIRS = {"cloth": (39.0, 51.0), "particles": (5.2, 6.5)}  # [ms] Gauss-Seidel, improved Jacobi
FRAMES, FIRST = 60, 20


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
    found: dict[str, dict[str, float]] = {"cloth": {}, "particles": {}}
    for name, relaxation in relaxations.items():
        cloth = frame_times(hung(100, 10.0), pl.PositionBased(relaxation, iterations=15))
        grains = frame_times(dropping(3000), pl.VelocityTimeStepping(relaxation, iterations=15, **PAPERS))
        found["cloth"][name] = float(np.median(cloth[FIRST:]))
        found["particles"][name] = float(np.median(grains[FIRST:]))
    for case, numbers in found.items():
        for (name, ours), theirs in zip(numbers.items(), THEIRS[case], strict=True):
            print(
                f"{case:10s} {name:16s} {theirs:5.1f} ms in the paper, {ours:5.2f} ms here, {theirs / ours:4.1f} times"
            )
    (RESULTS / "table1.json").write_text(json.dumps(found, indent=1), encoding="utf-8")


if __name__ == "__main__":
    main()

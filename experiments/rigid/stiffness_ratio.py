"""Figure 24 of the vertex block descent paper: a chain of soft springs and springs 10,000 times as stiff.

    python -m experiments.rigid.stiffness_ratio

The paper shows VBD in 100 iterations per frame beside converged results, and gives neither masses nor lengths. Ours:
20 particles of 0.1 kg at 0.1 m, springs of 1e3 and 1e7 N/m in turn, held at one end and let go level, h = 1/300 s, so
that 100 iterations per frame are 20 per step. Half a second; errors are of the free end, in percent of the length.
"""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np

import pliant as pl

RESULTS = Path(__file__).with_name("results") / "stiffness_ratio.json"
COUNT, SOFT, RATIO, STEPS = 20, 1e3, 1e4, 150


def chain(stiff_first: bool) -> tuple[pl.Scene, pl.Body]:
    """The scene of the figure; which kind of spring comes first."""
    points, edges = pl.shapes.chain(length=0.1 * COUNT, segments=COUNT)
    is_stiff = (np.arange(COUNT) % 2 == 0) == stiff_first
    scene = pl.Scene()
    rope = scene.add_springs(points, edges, stiffness=np.where(is_stiff, SOFT * RATIO, SOFT), mass=0.1)
    rope.pin([0])
    return scene, rope


def way_of_the_end(solver: pl.Solver, precision: str, stiff_first: bool) -> np.ndarray:
    """(steps, 3) [m]."""
    scene, rope = chain(stiff_first)
    sim = pl.Simulation(scene, solver, precision=precision)
    way = []
    for _ in range(STEPS):
        sim.step()
        way.append(rope.positions[-1].copy())
    return np.array(way)


def measure() -> dict[str, dict[str, float]]:
    """Largest error over the motion and at its end, by solver and kind of chain [percent of its length]."""
    found: dict[str, dict[str, float]] = {}
    for stiff_first in (False, True):
        exact = way_of_the_end(pl.Newton(residual=1e-6), "double", stiff_first)
        for name, solver in (("VBD", pl.VBD(iterations=20)), ("AVBD", pl.AVBD(iterations=20))):
            way = way_of_the_end(solver, "single", stiff_first)
            error = 100 * np.linalg.norm(way - exact, axis=1) / (0.1 * COUNT)
            key = f"{name}, {'stiff' if stiff_first else 'soft'} first"
            found[key] = {"largest": float(f"{error.max():.3g}"), "at the end": float(f"{error[-1]:.3g}")}
    return found


def main() -> None:
    found = measure()
    RESULTS.write_text(json.dumps(found, indent=2) + "\n")
    for name, errors in found.items():
        print(name, errors)


if __name__ == "__main__":
    main()

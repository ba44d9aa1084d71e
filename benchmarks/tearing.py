"""What tearing costs: a step in which one edge in a hundred splits, beside a step without.

    python -m benchmarks.tearing [cells=128]

The limits of randomly chosen edges are lowered below their lengths before a step, so that as many tear as are wanted.
"""

from __future__ import annotations

import sys
import time

import numpy as np

import pliant as pl

SHARE = 0.01  # of the edges
ROUNDS = 8


def hanging(cells: int) -> pl.Simulation:
    """A cloth held at one side, as in Figure 10 of vertex block descent."""
    mesh = pl.shapes.cloth((1, 1), (cells, cells))
    scene = pl.Scene()
    cloth = scene.add_cloth(
        mesh, pl.StVenantKirchhoff(1e4, 1e4), bending=1e-5, damping=1e-5, damping_form="vertex_block", tear_at=1e6
    )
    cloth.pin(mesh.points[:, 0] == mesh.points[:, 0].min())
    return pl.Simulation(scene, pl.VBD(iterations=20))


def seconds(sim: pl.Simulation) -> float:
    began = time.perf_counter()
    sim.step()
    return time.perf_counter() - began


def report(cells: int = 128) -> dict[str, float]:
    """Best of several steps of either kind, one after another."""
    sim, rng = hanging(cells), np.random.default_rng(1)
    limits = sim.model.topology.tear_topology.limits
    n_edges, never = len(limits) // 2, limits.copy()
    plain, torn, splits = [], [], []
    for _ in range(ROUNDS + 1):  # the first round compiles
        limits[:] = never
        plain += [seconds(sim) for _ in range(3)]
        limits[rng.choice(len(limits), int(SHARE * n_edges), replace=False)] = 1e-9
        before = len(sim.positions)
        torn.append(seconds(sim))
        splits.append((len(sim.positions) - before) / n_edges)
    figures = {"plain step, ms": 1e3 * min(plain[3:]), "step that tears, ms": 1e3 * min(torn[1:])}
    figures["ratio"] = figures["step that tears, ms"] / figures["plain step, ms"]
    figures["vertices split a step over edges, least"] = min(splits)
    print(
        f"cloth of {cells}^2 cells, 20 iterations per step, {100 * min(splits):.2f} to {100 * max(splits):.2f} % split"
    )
    print(f"plain step {figures['plain step, ms']:.2f} ms, step that tears {figures['step that tears, ms']:.2f} ms: "
          f"{figures['ratio']:.2f} times")  # fmt: skip
    return figures


if __name__ == "__main__":
    report(*(int(argument) for argument in sys.argv[1:]))

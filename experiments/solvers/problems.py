"""The steps on which solvers are compared."""

from __future__ import annotations

import numpy as np
from experiments.vbd import data

import pliant as pl

STRETCH = 0.4  # of the height: how far the feet are pulled down
SECONDS = 1.5  # of pulling
GLASS, FEET = 0.9, 0.06  # parts of the height: above, fixed for good; below, pulled and let go


def armadillo(mu: float, coarse: bool = False) -> pl.IncrementalPotential:
    """VBD, Figure 17: an armadillo held near its top, its feet pulled down and suddenly let go, one step of 33 ms.

    mu [Pa]; lambda is ten times that, as in the paper's Table 1. coarse: a bunny instead, for a quick look.
    """
    mesh = data.load("bunny-1.9k" if coarse else "armadillo-15k")
    points = mesh.points / np.ptp(mesh.points[:, 1]) * 2.0  # 2 m high, y up; the paper gives no size
    mesh = pl.TetMesh(points, mesh.tets)
    y = points[:, 1]
    top, feet = y > y.max() - (1 - GLASS) * 2, y < y.min() + FEET * 2
    pulled = points[feet]

    def pull(t: float) -> np.ndarray:
        return pulled - [0, 2 * STRETCH * min(t / SECONDS, 1.0), 0]

    material = pl.StableNeoHookean.from_coefficients(mu, 10 * mu)
    scene = pl.Scene(gravity=(0, -9.81, 0))
    body = scene.add_solid(mesh, material, density=1000.0, name="armadillo")
    body.air_damping = 5.0
    body.pin(top)
    body.move(feet, pull)
    sim = pl.Simulation(scene, pl.Chebyshev(pl.VBD(iterations=20), 0.9), frame_rate=60, substeps=2)
    for _ in range(int(1.5 * SECONDS * 60)):
        sim.advance()

    released = pl.Scene(gravity=(0, -9.81, 0))
    body = released.add_solid(mesh, material, density=1000.0, name="armadillo")
    body.pin(top)
    body.set_positions(sim.positions)
    return pl.Simulation(released, pl.Newton(), frame_rate=30, substeps=1, precision="double").problem()

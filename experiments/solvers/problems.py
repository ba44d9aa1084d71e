"""The steps on which solvers are compared."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from experiments.vbd import data

import pliant as pl

DENSITY = 1000.0  # [kg/m^3]
STRETCH = 0.4  # of the height: how far the feet are pulled down
SECONDS = 1.5  # of pulling
GLASS, FEET = 0.9, 0.06  # parts of the height: above, fixed for good; below, pulled and let go


@dataclass(frozen=True)
class Stretched:
    """A body held near its top, its feet pulled down."""

    mesh: pl.TetMesh
    material: pl.StableNeoHookean
    held: np.ndarray  # (n,) whether a vertex is fixed for good
    positions: np.ndarray  # (n, 3) [m]

    def released(self, rate: float = 30.0) -> pl.IncrementalPotential:
        """The first step of 1 / rate seconds after the feet are let go."""
        scene = pl.Scene(gravity=(0, -9.81, 0))
        body = scene.add_solid(self.mesh, self.material, density=DENSITY, name="armadillo")
        body.pin(self.held)
        body.set_positions(self.positions)
        return pl.Simulation(scene, pl.Newton(), frame_rate=rate, substeps=1, precision="double").problem()

    def step_number(self, rate: float) -> float:
        """h^2 mu / (density dx^2), dx the root mean square length of the edges at rest."""
        return step_number(self.mesh, self.material.mu, DENSITY, rate)


def step_number(mesh: pl.TetMesh, mu: float, density: float, rate: float) -> float:
    """h^2 mu / (density dx^2): how far a shear wave comes in a step over the length of an edge, squared."""
    edges = [mesh.points[mesh.tets[:, i]] - mesh.points[mesh.tets[:, j]] for i in range(4) for j in range(i)]
    return mu / density / rate**2 / float(np.mean(np.sum(np.concatenate(edges) ** 2, axis=1)))


def stretched(mu: float, coarse: bool = False) -> Stretched:
    """VBD, Figure 17: an armadillo held near its top, its feet pulled down.

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
    body = scene.add_solid(mesh, material, density=DENSITY, name="armadillo")
    body.air_damping = 5.0
    body.pin(top)
    body.move(feet, pull)
    sim = pl.Simulation(scene, pl.Chebyshev(pl.VBD(iterations=20), 0.9), frame_rate=60, substeps=2)
    for _ in range(int(1.5 * SECONDS * 60)):
        sim.advance()
    return Stretched(mesh, material, top, sim.positions)


def armadillo(mu: float, coarse: bool = False) -> pl.IncrementalPotential:
    """VBD, Figure 17: the stretched armadillo suddenly let go, one step of 33 ms."""
    return stretched(mu, coarse).released()

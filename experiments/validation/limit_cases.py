"""Loads at which something gives way: a shallow arch that snaps, a stack of bricks that falls."""

from __future__ import annotations

import numpy as np
from scipy.optimize import minimize_scalar

import pliant as pl

RISE, STIFFNESS = 0.2, 1e3  # [m] over half a span of 1 m, [N/m] of each bar
BRICK = (0.4, 0.2, 0.1)  # [m]
BRICKS = 4


def snap_load(steps: int) -> float:
    """[N] the largest load that an arch of two bars carries: the reaction where its crown is moved down in steps."""
    scene = pl.Scene(gravity=(0, 0, 0))
    points = np.array([[-1.0, 0, 0], [0, 0, RISE], [1, 0, 0]])
    arch = scene.add_springs(points, [[0, 1], [1, 2]], stiffness=STIFFNESS, mass=1.0)
    arch.pin([0, 2])
    arch.pin([1], components="y")
    arch.move([1], lambda t: points[1:2] - np.array([0, 0, RISE * t]), components="z")
    reactions = []
    for k in range(1, steps):
        found = pl.equilibrium(scene, time=k / steps, load_steps=1)
        reactions.append(-found.reaction_force(arch, [1])[2])
    return float(max(reactions))


def snap_load_truth() -> float:
    """The maximum over heights z of 2 k (L - l) z / l, l the length of a bar and L that at rest."""
    rest = np.hypot(1.0, RISE)

    def carried(z: float) -> float:
        length = np.hypot(1.0, z)
        return float(2 * STIFFNESS * (rest - length) * z / length)

    return carried(
        minimize_scalar(lambda z: -carried(z), bounds=(0, RISE), method="bounded", options={"xatol": 1e-12}).x
    )


def overhang(substeps: int) -> float:
    """Overhang over the length of a brick of the widest stack of four that stands for a second, by bisection."""
    low, high = 0.9, 1.1
    for _ in range(6):
        middle = 0.5 * (low + high)
        low, high = (middle, high) if _stands(middle, substeps) else (low, middle)
    return float(0.5 * (low + high) * overhang_truth())


def overhang_truth() -> float:
    """Half the sum of 1 / k: each brick's centre of mass, with those above it, over the edge of the next."""
    return float(0.5 * sum(1 / k for k in range(1, BRICKS + 1)))


def _stands(factor: float, substeps: int) -> bool:
    length, _, height = BRICK
    scene = pl.Scene()
    scene.contact = pl.Contact(friction=0.6)
    scene.add_rigid(pl.Box(BRICK), position=(0, 0, -0.5 * height)).pin()
    x, bricks = 0.0, []
    for level in range(BRICKS):
        x += factor * length / (2 * (BRICKS - level))
        bricks.append(scene.add_rigid(pl.Box(BRICK), position=(x, 0, (level + 0.5) * height)))
    sim = pl.Simulation(scene, substeps=substeps)
    for _ in range(60):
        sim.advance()
        if bricks[-1].position[2] < (BRICKS - 0.6) * height:
            return False
    return True

"""Figure 9 of Chaudhary et al.: a light ball dropped on a cloth that is held at its corners.

    python -m experiments.rigid.trampoline

The paper has 128 x 128 cells of yarn-level materials and projects cloth and sphere apart. Ours: 20 x 20 cells of
a stretchy cloth, 1 m wide, a ball of 0.08 m and 60 g from 0.5 m, default settings. What is measured is the coupling in
both directions: the ball comes back up, and on average the cloth carries its weight.
"""

from __future__ import annotations

import numpy as np
from experiments.rigid.results_of import frames, picture, save

import pliant as pl

RADIUS, MASS, G = 0.08, 0.06, 9.81


def trampoline(cells: int) -> tuple[pl.Scene, pl.Body, pl.RigidBody]:
    """A cloth of 0.15 kg/m^2 at z = 0 and the ball 0.5 m above it."""
    scene = pl.Scene(contact=pl.Contact(friction=0.3))
    law = pl.StableNeoHookean.from_young(2e4, 0.3)
    cloth = scene.add_cloth(pl.shapes.cloth((1, 1), (cells, cells)), law, density=0.15, bending=1e-4)
    x = cloth.initial_positions
    cloth.pin(np.flatnonzero((np.abs(x[:, :2]) > 0.499).all(axis=1)))
    density = MASS / (4 / 3 * np.pi * RADIUS**3)
    ball = scene.add_rigid(pl.Sphere(RADIUS), density=density, position=(0, 0, RADIUS + 0.5))
    return scene, cloth, ball


def measure(cells: int = 20, seconds: float = 1.2, strip: bool = False) -> dict[str, float]:
    """The ball's way, and the force that carries it."""
    scene, cloth, ball = trampoline(cells)
    sim = pl.Simulation(scene)
    heights, forces, below = [], [], 0.0
    for _ in frames(sim, round(60 * seconds), picture("trampoline") if strip else None):
        heights.append(ball.position[2])
        forces.append(ball.contact_force[2])
        near = np.linalg.norm(cloth.positions - ball.position, axis=1).min()
        below = max(below, RADIUS - near)
    z = np.array(heights)
    lowest = int(np.argmin(z[: len(z) // 2]))
    return {
        "cells": cells,
        "lowest point of the ball's centre [m]": float(z.min()),
        "highest after the bounce [m]": float(z[lowest:].max()),
        "cloth within the ball, at most [mm]": 1e3 * below,
        "mean force over the last half, over the weight": float(np.mean(forces[len(forces) // 2 :]) / (MASS * G)),
    }


def main() -> None:
    save("trampoline", measure(strip=True))


if __name__ == "__main__":
    main()

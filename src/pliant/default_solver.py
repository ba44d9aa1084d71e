"""The solver of a simulation that names none."""

from __future__ import annotations

from typing import Any

from pliant.model import Scene
from pliant.model.particles import Particles
from pliant.solvers import VBD, Auto, Solver, VelocityTimeStepping

DEVICE_ITERATIONS, DEVICE_TOLERANCE = 400, 0.02  # per step, and of its forces


def default_solver(scene: Scene, device: object = "cpu") -> Solver[Any]:
    """The solver of a simulation that names none.

    On a device it is vertex block descent, until a step's error is 2 % of its forces: Auto chooses among solvers that
    a device does not have.
    """
    has_particles = any(isinstance(body, Particles) for body in scene.bodies)
    if device not in ("cpu", "auto") and not has_particles:
        return VBD(iterations=DEVICE_ITERATIONS, tolerance=DEVICE_TOLERANCE)
    return VelocityTimeStepping() if has_particles else Auto()

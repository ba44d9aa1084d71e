"""The solver of a simulation that names none."""

from __future__ import annotations

from typing import Any

from pliant.model import Scene
from pliant.model.cloth import Cloth
from pliant.model.mesh_obstacle import MeshObstacleBody
from pliant.model.particles import Particles
from pliant.model.spring_net import SpringNet
from pliant.solvers import VBD, Auto, Solver, VelocityTimeStepping

GRANULAR = (Particles, Cloth, SpringNet, MeshObstacleBody)  # bodies that VelocityTimeStepping takes
DEVICE_ITERATIONS, DEVICE_TOLERANCE = 400, 0.02  # per step, and of its forces


def default_solver(scene: Scene, device: object = "cpu") -> Solver[Any]:
    """The solver of a simulation that names none.

    Grains alone, or with cloth and springs, have the scheme that is made for them. With solids or rigid bodies they are
    among what is minimised.

    On a device it is vertex block descent, until a step's error is 2 % of its forces: Auto chooses among solvers that
    a device does not have.
    """
    has_particles = any(isinstance(body, Particles) for body in scene.bodies)
    if has_particles and all(isinstance(body, GRANULAR) for body in scene.bodies):
        return VelocityTimeStepping()
    if device not in ("cpu", "auto"):
        return VBD(iterations=DEVICE_ITERATIONS, tolerance=DEVICE_TOLERANCE)
    return Auto()

"""The solver of a simulation that names none."""

from __future__ import annotations

from typing import Any

import numpy as np

from pliant.model import Scene
from pliant.model.cloth import Cloth
from pliant.model.joints import WorldPoints
from pliant.model.mesh_obstacle import MeshObstacleBody
from pliant.model.particles import Particles
from pliant.model.rigid import RigidBody
from pliant.model.spring_net import SpringNet
from pliant.solvers import AVBD, VBD, Auto, SequentialPositions, Solver, VelocityTimeStepping

GRANULAR = (Particles, Cloth, SpringNet, MeshObstacleBody)  # bodies that the schemes of grains take
STILL = (MeshObstacleBody, WorldPoints)
RIGID = AVBD(iterations=400, tolerance=0.005)  # with joints or ropes
TOUCHING = AVBD(iterations=200, tolerance=5e-5)  # rigid bodies that only contacts join
MANY, OF_MANY = 10, 600  # rigid bodies among soft ones, and iterations per step of these at most
DEVICE_ITERATIONS, DEVICE_TOLERANCE = 400, 0.02  # per step, and of its forces


def default_solver(scene: Scene, device: object = "cpu", integrator: str = "euler") -> Solver[Any]:
    """The solver of a simulation that names none.

    Grains alone, or with springs, have the scheme that is made for them, with cloth the one whose constraints turn with
    it (decision 0038); grains that turn with rigid bodies too. Otherwise with solids or rigid bodies they are among
    what is minimised.

    Where all that moves is rigid, or ropes of infinite stiffness, contacts and joints are hard: multipliers hold them,
    as penalties do not (decision 0043). With soft bodies, joints and ropes are (decision 0052). Midpoint steps keep
    penalties: multipliers of one step are no guess of the next one's there.

    On a device it is vertex block descent, until a step's error is 2 % of its forces: Auto chooses among solvers that
    a device does not have.
    """
    grains = [body for body in scene.bodies if isinstance(body, Particles)]
    taken = (*GRANULAR, RigidBody) if any(body.spin for body in grains) else GRANULAR
    if grains and all(isinstance(body, taken) for body in scene.bodies):
        has_cloth = any(isinstance(body, Cloth) for body in scene.bodies)
        return SequentialPositions() if has_cloth else VelocityTimeStepping()
    if not isinstance(device, str) or device not in ("cpu", "auto"):
        return VBD(iterations=DEVICE_ITERATIONS, tolerance=DEVICE_TOLERANCE)
    moving = [body for body in scene.bodies if not isinstance(body, STILL)]
    if integrator != "midpoint" and moving and all(_is_stiff(body) for body in moving):
        return RIGID if scene.joints or not all(isinstance(body, RigidBody) for body in moving) else TOUCHING
    auto = Auto(multipliers=integrator != "midpoint")
    has_heap = sum(isinstance(body, RigidBody) for body in moving) >= MANY  # iterations without levels (decision 0104)
    return auto.with_iterations(OF_MANY) if has_heap else auto


def _is_stiff(body: object) -> bool:
    """Whether a body is rigid, or a net of inextensible springs."""
    return isinstance(body, RigidBody) or (isinstance(body, SpringNet) and bool(np.isinf(body.stiffness).all()))

"""What the mouse holds: vertices of a soft body, which follow it, or a point of a rigid one, which a spring pulls."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from pliant.errors import SceneError
from pliant.geometry import rotations
from pliant.model.rigid import RigidBody
from pliant.simulate import Simulation
from pliant.viewer.leash import Leash

DRAG_SPEED = 4.0  # body lengths per second: the limit of a dragged vertex
SPRING_RATE = 12.0  # [1/s] at which a point of a rigid body comes to the hand,
LARGEST_RATE = 0.1  # and in steps: the spring's force is that at the start of a step


class RigidPull:
    """A force on a rigid body: a critically damped spring between one of its points (3,) [m] and the hand, which also
    carries its weight. gravity: (3,) [m/s^2]; h: length of a step [s].
    """

    def __init__(self, body: RigidBody, point: np.ndarray, gravity: np.ndarray, h: float):
        self._body, self._grabbed_at = body, np.array(point, float)
        self._own = (self._grabbed_at - body.position) @ rotations.matrices(body.orientation)  # in the body's axes
        self._weight = -body.mass * gravity
        self._rate = min(SPRING_RATE, LARGEST_RATE / h)
        self.target = np.zeros(3)  # (3,) [m] from where it was grabbed

    def __call__(self, position: np.ndarray, velocity: np.ndarray, time: float) -> np.ndarray:
        """Force [N] and torque [N m] (2, 3) about the centre of mass."""
        body, rate = self._body, self._rate
        arm = rotations.matrices(body.orientation) @ self._own
        way = self._grabbed_at + self.target - position - arm
        speed = velocity + np.cross(body.angular_velocity, arm)
        force = body.mass * rate * (rate * way - 2 * speed) + self._weight
        return np.stack([force, np.cross(arm, force)])


@dataclass(frozen=True)
class Hold:
    """What is held: the hand moves `pull.target`; `release` undoes it. After both the simulation is built again."""

    pull: Leash | RigidPull
    release: Callable[[], None]


def hold_vertices(simulation: Simulation, vertex: int, radius: float) -> Hold:
    """Take hold of a vertex of the scene, and of those of its body within a radius [m]."""
    model, x = simulation.model, simulation.state.x
    if vertex >= model.body_start[-1]:
        raise SceneError(f"{model.describe_vertex(vertex)} cannot be pulled; pull at another.")
    k = int(np.searchsorted(model.body_start, vertex, side="right")) - 1
    first, last = int(model.body_start[k]), int(model.body_start[k + 1])
    body = simulation.scene.bodies[k]
    near = np.linalg.norm(x[first:last] - x[vertex], axis=1) <= radius
    chosen = np.flatnonzero(near & (model.subspace[first:last] == 3))
    if vertex - first not in chosen:
        raise SceneError(f"{model.describe_vertex(vertex)} is held by the scene; pull at another.")
    size = float(np.ptp(x[first:last], axis=0).max())
    leash = Leash(x[first + chosen], simulation.time, DRAG_SPEED * size)
    body.move(chosen, leash)
    return Hold(leash, lambda: body.free(chosen))


def hold_rigid(simulation: Simulation, k: int, point: np.ndarray) -> Hold:
    """Take hold of body number k, a rigid one, at a point (3,) [m] of it."""
    body = simulation.scene.bodies[k]
    assert isinstance(body, RigidBody)
    if body.is_held:
        raise SceneError(f"{body.name} is held by the scene; pull at another.")
    gravity = simulation.scene.gravity if body.gravity is None else body.gravity
    pull = RigidPull(body, point, gravity, simulation.h)
    body.add_force(pull)
    return Hold(pull, lambda: body.forces.remove(pull))  # type: ignore[arg-type]

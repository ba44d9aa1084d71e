"""What acts on a scene at rest, at a part of its full size.

At the load factor s, gravity, forces, wind and pressures are s times what they are at the scene's time; vertices and
obstacles with prescribed motions are where they are at s times that time; prescribed volumes have gone the part s of
their way. Forces that functions give are evaluated at
the positions of the last iteration, with velocities zero. Dampers of joints do nothing; what is infinitely stiff is as
stiff as in steps of RIGID_SECONDS.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from pliant.elements.joint import JointLinks
from pliant.elements.joint_drive import DAMPER, SPEED, JointDrives
from pliant.errors import SceneError
from pliant.model import Block, DeadLoads, Model, Pressures, Scene, build_model
from pliant.model.volume import with_controlled
from pliant.statics.held_round_bodies import held_round_bodies, with_obstacles

RIGID_SECONDS = 1e-3  # of a step: a mass on an infinitely stiff joint sinks by a millionth of a metre


@dataclass(frozen=True)
class LoadCase:
    """A scene's model as statics sees it: no damping, nothing viscous; loads as an energy."""

    model: Model
    time: float  # of prescribed motions, and at which functions are evaluated [s]
    held: np.ndarray  # (k,) numbers of the bodies that are obstacles, the last ones (statics.held_round_bodies)

    @classmethod
    def of(cls, scene: Scene, time: float) -> LoadCase:
        model = build_model(scene)
        held = held_round_bodies(model, scene.bodies)
        model = with_obstacles(model, scene.bodies, held)
        if model.topology is not None:
            raise SceneError("equilibrium: sheets and springs that tear have no static shape; set tear_at to None.")
        if model.particles is not None:
            raise SceneError(
                "equilibrium: particles are loose, and load steps cannot find where they come to rest: let them fall "
                "in a pl.Simulation, or build the scene without them."
            )
        model = model.released(time).at(time)
        stored = tuple(_still(b) for b in model.blocks if b.is_stored or isinstance(b, JointDrives))
        still = np.zeros(model.n_vertices)
        contact = model.contact
        if contact is not None:
            contact = replace(contact, settings=replace(contact.settings, damping=0.0))
        model = replace(model, blocks=stored, contact=contact, damping=still, vertex_damping=still, air_damping=still)
        return cls(model, time, held)

    @property
    def is_path(self) -> bool:
        """Whether something is moved along a path, which one step could miss."""
        contact = self.model.contact
        shapes = () if contact is None else contact.shapes
        return bool(self.model.kinematic or self.model.volume_controls) or any(shape.moves for shape in shapes)

    @property
    def weight(self) -> np.ndarray:
        """(n, 3) [N] of the vertices."""
        return self.model.mass[:, None] * self.model.gravity

    def outside_forces(self, x: np.ndarray) -> np.ndarray:
        """(n, 3) [N] of forces and wind at positions x (n, 3) [m]."""
        total, still = np.zeros_like(x), np.zeros_like(x)
        for force in self.model.forces:
            force.add_to(total, x, still, self.time)
        return total

    def loads(self, x: np.ndarray, factor: float) -> np.ndarray:
        """(n, 3) [N] of gravity, forces and wind."""
        return factor * (self.weight + self.outside_forces(x))

    def volume_targets(self, factor: float) -> np.ndarray:
        """(k,) [m^3] that prescribed volumes are to have at a load factor: they grow from where they start."""
        controls = self.model.volume_controls
        return np.array([own.start + factor * (own.value(self.time) - own.start) for own in controls])

    def model_under(self, loads: np.ndarray, factor: float, pressures: np.ndarray) -> Model:
        """The model with these loads (n, 3) [N], the factor's part of the pressures that are given, and those (k,) [Pa]
        of prescribed volumes.
        """
        blocks = tuple(
            replace(block, pressures=factor * block.pressures) if isinstance(block, Pressures) else block
            for block in self.model.blocks
        )
        vertices = np.arange(self.model.n_vertices)[:, None]
        model = replace(self.model, blocks=(*blocks, DeadLoads(vertices, loads)))
        return with_controlled(model, pressures)

    def place(self, x: np.ndarray, factor: float) -> None:
        """Put pinned vertices and those with prescribed motions where they are at a load factor, in place."""
        held = ~self.model.is_free
        x[held] = self.model.positions[held]
        for kinematic in self.model.kinematic:
            kinematic.put(x, factor * self.time)


def _still(block: Block) -> Any:
    """A block whose energy does not depend on the length of a step."""
    rigid = getattr(block, "is_rigid", None)
    if rigid is None:
        return block
    name = "weights" if isinstance(block, JointLinks) else "stiffness"
    own = getattr(block, name)
    numbers: dict[str, Any] = {name: np.where(rigid, own / RIGID_SECONDS**2, own), "is_rigid": np.zeros_like(rigid)}
    if isinstance(block, JointDrives):
        if (block.role == SPEED).any():
            raise SceneError(
                "equilibrium: a motor that turns at a speed has no static position; give it a target, or leave it out."
            )
        numbers["stiffness"] = np.where(block.role == DAMPER, 0.0, numbers["stiffness"])
        numbers["pace"] = np.full_like(block.pace, np.inf)  # targets are reached
    return replace(block, **numbers)

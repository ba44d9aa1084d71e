"""What a simulation that is built tells and shows: notes of its scene; bodies and obstacles, what becomes of them."""

from __future__ import annotations

import logging
from collections.abc import Callable
from functools import partial

import numpy as np

from pliant.contact.response.step_contacts import StepContacts
from pliant.joint_forces import BreakingJoints
from pliant.last_step import LastStep
from pliant.model import Model, Scene
from pliant.model.placement import Placements
from pliant.model.rigid import show_poses
from pliant.notes_of_building import notes_of_building
from pliant.state import State

logger = logging.getLogger("pliant")


class Announcing(LastStep, BreakingJoints):
    """The part of a simulation that tells of its scene and lets it show what happens."""

    _placements: Placements

    def _announce(self) -> None:
        """Log notes of the scene, and let its bodies, obstacles and joints show this simulation."""
        for note, entry in notes_of_building(self.scene, self.model, self.solver):
            logger.info(note, extra={"entry": entry})
        looks = (lambda: self.state, lambda: self.model, lambda: self.contacts, self._joint_force)
        show_simulation(self.scene, self._placements, *looks)


def show_simulation(
    scene: Scene,
    placements: Placements,
    state: Callable[[], State],
    model: Callable[[], Model],
    contacts: Callable[[], StepContacts],
    joint_force: Callable[[int], np.ndarray],
) -> None:
    """Let bodies have positions, elements, poses and contact forces, obstacles their places and forces, and joints
    their forces, of now.
    """
    for k, joint in enumerate(scene.joints):
        joint._force, joint.is_broken = partial(joint_force, k), joint.starts_broken
    for k, body in enumerate(scene.bodies):
        body._simulated = lambda k=k: state().x[model().vertices_of(k)]
        body._elements = lambda k=k: model().elements_of(k)
        body._contact_load = lambda k=k: (contacts().body_forces[k], contacts().body_torques[k])
    show_poses(scene.bodies, state, lambda k: model().vertices_of(k))
    for k, placement in placements.bodies.items():
        scene.bodies[k]._placement = placement  # type: ignore[attr-defined]

    def load(k: int) -> tuple[np.ndarray, np.ndarray]:
        """Net contact force (3,) [N] and torque (3,) [N m] on an obstacle."""
        return contacts().obstacle_forces[k], contacts().obstacle_torques[k]

    for k, shape in enumerate(scene.shapes):
        shape.watch(partial(load, k), placements.shapes[k])

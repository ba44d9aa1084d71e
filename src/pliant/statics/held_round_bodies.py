"""Rigid spheres and capsules that are pinned, as obstacles with formulas.

Where a round body touches, points of it slide to (contact.round_bodies), two for each contact. What does not move
needs no such points: it is an obstacle.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np

from pliant.contact.response.step_contacts import StepContacts
from pliant.geometry import rotations
from pliant.model import Body, Model
from pliant.model.obstacles import Capsule, Shape, Sphere
from pliant.model.rigid import RigidBody
from pliant.model.rigid_shapes import CORE


@dataclass(frozen=True, eq=False)
class HeldSphere(Sphere):
    """A sphere whose friction may be missing, as that of a body."""

    def __post_init__(self) -> None:
        """The body has been checked."""


@dataclass(frozen=True, eq=False)
class HeldCapsule(Capsule):
    """A capsule, likewise."""

    def __post_init__(self) -> None:
        """The body has been checked."""


def held_round_bodies(model: Model, bodies: Sequence[Body]) -> np.ndarray:
    """Numbers (k,) of the bodies that are to be obstacles: pinned spheres and capsules that touch all others."""
    if model.contact is None:
        return np.zeros(0, np.int64)
    allowed = model.contact.allowed | np.eye(len(bodies), dtype=bool)
    return np.array([k for k, body in enumerate(bodies) if _is_held_core(body) and allowed[k].all()], np.int64)


def with_obstacles(model: Model, bodies: Sequence[Body], held: np.ndarray) -> Model:
    """The model with obstacles after those that it has, in place of the bodies with these numbers (k,)."""
    if not len(held):
        return model
    assert model.contact is not None
    shapes = (*model.contact.shapes, *(_obstacle(bodies[k]) for k in held.tolist()))
    others = ~np.isin(model.contact.round_bodies.body, held)
    features = model.contact.round_bodies.chosen(others)
    return replace(model, contact=replace(model.contact, shapes=shapes, round_bodies=features))


def as_of_bodies(contacts: StepContacts, held: np.ndarray) -> StepContacts:
    """Contacts with what the bodies of these numbers (k,) feel given to them, and not to obstacles."""
    if not len(held):
        return contacts
    first = len(contacts.obstacle_forces) - len(held)
    forces, torques = contacts.body_forces.copy(), contacts.body_torques.copy()
    forces[held] += contacts.obstacle_forces[first:]
    torques[held] += contacts.obstacle_torques[first:]
    is_theirs = contacts.obstacles >= first
    bodies, obstacles = contacts.bodies.copy(), contacts.obstacles.copy()
    bodies[is_theirs, 1] = held[obstacles[is_theirs] - first]
    obstacles[is_theirs] = -1
    return replace(
        contacts, bodies=bodies, obstacles=obstacles, body_forces=forces, body_torques=torques,
        obstacle_forces=contacts.obstacle_forces[:first], obstacle_torques=contacts.obstacle_torques[:first],
    )  # fmt: skip


def _is_held_core(body: Body) -> bool:
    if not isinstance(body, RigidBody) or not body.is_held or body.motions:
        return False
    return body.shape.round_feature is not None and body.shape.round_feature.kind == CORE


def _obstacle(body: Body) -> Shape:
    assert isinstance(body, RigidBody)
    feature = body.shape.round_feature
    assert feature is not None
    friction = np.nan if body.friction is None else body.friction
    ends = np.stack([feature.start, feature.end]) @ rotations.matrices(body.pose[3:]).T + body.pose[:3]
    if np.array_equal(*ends):
        return HeldSphere(friction=friction, centre=ends[0], radius=feature.radius)
    return HeldCapsule(friction=friction, start=ends[0], end=ends[1], radius=feature.radius)

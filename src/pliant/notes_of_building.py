"""What is said of a scene when its simulation is built: contacts that are not tested, constraints that give way,
friction that creeps.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np

from pliant.elements.joint import JointDots, JointLinks, JointRopes
from pliant.elements.joint_drive import JointDrives
from pliant.model import Attachment, Joint, Model, Scene, WorldPoints
from pliant.model.body import FIXED
from pliant.model.contact import untested_contact
from pliant.model.particles import Particles
from pliant.model.rigid import RigidBody
from pliant.model.rigid_shapes import Capsule, Sphere
from pliant.model.seams import Seam
from pliant.model.spring_net import SpringNet
from pliant.solvers import Solver

RIGID_ROWS = (JointLinks, JointRopes, JointDots, JointDrives)  # that know whether they were asked to be rigid


def notes_of_building(scene: Scene, model: Model, solver: Solver[Any]) -> Iterator[tuple[str, str]]:
    """Notes and their entries in docs/troubleshooting.md."""
    is_tested = scene.contact is not None and not solver.supports.own_contacts
    if scene.contact is None and (named := _asks_for_contact(scene)) is not None:
        yield (
            f"contact: scene.contact is None, so bodies pass through each other, but {named[0]} has a {named[1]}, "
            "which concerns contacts alone. scene.contact = pl.Contact() lets them touch.",
            "no-contact",
        )
    elif scene.contact is None and (found := _on_their_way(scene)) is not None:
        yield (
            f"contact: scene.contact is None, so bodies pass through each other, such as {found[0]} and {found[1]}, "
            f"{found[2]}. scene.contact = pl.Contact() lets them touch.",
            "no-contact",
        )
    if is_tested and (untested := untested_contact(scene.bodies, scene.shapes)):
        yield untested, "untested-contact"
    if scene.contact is not None and (unseen := _unseen_springs(scene)) is not None:
        yield (
            f"contact: particles and springs do not touch each other: {unseen[0]} pass through {unseen[1]}. Make it of "
            "cloth where it should hold them.",
            "untested-contact",
        )
    if (point := _first_rigid_point(model)) is not None and not solver.holds_infinite(model):
        yield (
            f"joints: {type(solver).__name__} holds what was given an infinite stiffness by penalties, which give way "
            f"under load (the first at {model.describe_vertex(point)}). pl.AVBD() holds it by multipliers.",
            "soft-joints",
        )
    sticking = _sticking_body(scene) if is_tested and not solver.supports.hard_constraints else None
    if sticking is not None:
        yield (
            f"friction: {type(solver).__name__} holds contacts by penalties: {sticking.name} may creep on a slope "
            "where it should stick, no faster than pl.Contact(friction_speed=...). pl.AVBD() holds contacts by "
            "multipliers.",
            "creeping",
        )


def _asks_for_contact(scene: Scene) -> tuple[str, str] | None:
    """The first of several bodies that has a friction or a restitution, and which of them."""
    bodies = [body for body in scene.bodies if not isinstance(body, WorldPoints)]
    for body in bodies if len(bodies) > 1 else []:
        if body.friction:
            return body.name, "friction"
        if isinstance(body, RigidBody) and body.restitution > 0:
            return body.name, "restitution"
    return None


def _unseen_springs(scene: Scene) -> tuple[str, str] | None:
    """Names of the first particles and springs."""
    grains = [body for body in scene.bodies if isinstance(body, Particles)]
    nets = [body for body in scene.bodies if isinstance(body, SpringNet)]
    return (grains[0].name, nets[0].name) if grains and nets else None


def _sticking_body(scene: Scene) -> RigidBody | None:
    """A rigid body that moves, does not roll, and has something rigid with friction to stand on."""
    rigid = [body for body in scene.bodies if isinstance(body, RigidBody)]
    flat = [body for body in rigid if not (body.is_held or isinstance(body.shape, Sphere | Capsule))]
    frictions = [0.0 if scene.contact is None else scene.contact.friction]
    frictions += [shape.friction for shape in scene.shapes] + [body.friction or 0.0 for body in rigid]
    stands = bool(scene.shapes) or len(rigid) > 1
    return flat[0] if flat and stands and max(frictions) > 0 else None


def _on_their_way(scene: Scene) -> tuple[str, str, str] | None:
    """Names of the first two bodies, one of which moves, that nothing joins and whose boxes meet seen along gravity or
    along the velocity at which one starts towards the other; and how they are placed.
    """
    bodies = [body for body in scene.bodies if not isinstance(body, WorldPoints)]
    if len(bodies) < 2:
        return None
    moves = np.array([(body.subspace != FIXED).any() for body in bodies])
    ends = np.array([[end(body.initial_positions, axis=0) for end in (np.min, np.max)] for body in bodies])
    corners = np.stack([np.where(corner, ends[:, 1], ends[:, 0]) for corner in np.ndindex(2, 2, 2)], axis=1)
    centres, number = ends.mean(axis=1), {id(body): k for k, body in enumerate(bodies)}
    links: list[Attachment | Joint | Seam] = [*scene.attachments, *scene.joints, *scene.seams]
    joined: list[list[int]] = [[k] for k in range(len(bodies))]
    for link in links:
        pair = [number[id(end)] for end in (link.body_a, link.body_b) if id(end) in number]
        joined[pair[0]] += pair[1:]
        joined[pair[-1]] += pair[:-1]
    for k, body in enumerate(bodies):
        velocity = body.initial_velocities.mean(axis=0)
        is_ahead = (centres - centres[k]) @ velocity > 0
        for direction, is_there, how in (
            (scene.gravity, np.full(len(bodies), True), "one above the other at the start"),
            (velocity, is_ahead, "one of which starts towards the other"),
        ):
            meets = is_there & (moves | moves[k]) & _meet_along(direction, corners, k)
            meets[joined[k]] = False
            if meets.any():
                one, other = sorted((k, int(np.argmax(meets))))
                return bodies[one].name, bodies[other].name, how
    return None


def _meet_along(direction: np.ndarray, corners: np.ndarray, k: int) -> np.ndarray:
    """(n,) bool: which of the boxes with these corners (n, 8, 3) meet the k-th, seen along a direction (3,)."""
    if not direction.any():
        return np.zeros(len(corners), bool)
    across = np.linalg.svd(direction[None] / np.linalg.norm(direction))[2][1:]
    shadows = corners @ across.T
    lower, upper = shadows.min(axis=1), shadows.max(axis=1)
    return (np.maximum(lower, lower[k]) < np.minimum(upper, upper[k])).all(axis=1)


def _first_rigid_point(model: Model) -> int | None:
    """A point of the first row of a joint, attachment or spring that has infinite stiffness."""
    for block in model.blocks:
        if isinstance(block, RIGID_ROWS) and (rows := np.flatnonzero(block.is_rigid)).size:
            return int(block.elements[rows[0], 0])
    return None

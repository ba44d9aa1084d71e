"""The contacts of a step as their users see them: who touches where, with which force; sums by body and by obstacle."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from pliant.contact.contact_set import gaps
from pliant.contact.response.potential import ContactPotential
from pliant.contact.tracking.identity import ID, contact_ids
from pliant.errors import SimulationError
from pliant.model import Model

STICKING = 1 - 1e-3  # of the friction limit: below it a contact sticks


@dataclass(frozen=True)
class PairLoad:
    """What one body feels from another body or an obstacle that it presses on; the other one feels the opposite."""

    body: int
    other: int  # -1: an obstacle
    obstacle: int  # in Scene.shapes; -1: a body
    force: np.ndarray  # (3,) on the body, friction included [N]
    torque: np.ndarray  # (3,) of the same forces about the point [N m]
    point: np.ndarray  # (3,) [m] middle of the contact, weighted with the pressing forces
    contacts: int  # that press
    sticking: int  # of which so many stick

    @property
    def state(self) -> str:
        """ "stick", "slip", "partly" or "apart"."""
        if self.contacts == 0:
            return "apart"
        return {0: "slip", self.contacts: "stick"}.get(self.sticking, "partly")


@dataclass(frozen=True)
class StepContacts:
    """Contacts of the last step, k in all, measured at its end. The first side of a contact is a vertex or an edge, the
    second a triangle, an edge or an obstacle.
    """

    ids: np.ndarray  # (k, 5) int32 who: the same from step to step (contact.tracking.identity)
    bodies: np.ndarray  # (k, 2) numbers of the bodies of both sides; -1 for an obstacle
    obstacles: np.ndarray  # (k,) number of the obstacle in Scene.shapes; -1 between bodies
    points: np.ndarray  # (k, 3) on the first side [m]
    normals: np.ndarray  # (k, 3) unit vector from the second side to the first
    gaps: np.ndarray  # (k,) distance beyond the thickness [m]; negative: penetration
    forces: np.ndarray  # (k, 3) on the first side, friction included [N]; minus that acts on the second
    friction_limits: np.ndarray  # (k,) [N] that friction is not above
    vertex_forces: np.ndarray  # (n, 3) of all contacts on the vertices [N]
    penetrations: np.ndarray  # (n,) of vertices: the deepest contact that each takes part in [m]
    body_forces: np.ndarray  # (bodies, 3) [N]
    body_torques: np.ndarray  # (bodies, 3) about the centre of mass of the body [N m]
    obstacle_forces: np.ndarray  # (obstacles, 3) [N]
    obstacle_torques: np.ndarray  # (obstacles, 3) about the obstacle's position [N m]

    def __len__(self) -> int:
        return len(self.ids)

    @property
    def presses(self) -> np.ndarray:
        """(k,) bool: the two sides push each other."""
        return np.einsum("ka,ka->k", self.forces, self.normals) > 0

    @property
    def sticks(self) -> np.ndarray:
        """(k,) bool: it presses, and friction is below its limit; what presses and does not stick slides."""
        normal = np.einsum("ka,ka->k", self.forces, self.normals)
        along = np.linalg.norm(self.forces - normal[:, None] * self.normals, axis=1)
        return (normal > 0) & (along < STICKING * self.friction_limits)

    @property
    def pairs(self) -> list[PairLoad]:
        """One entry for each two that press on each other, by their numbers; print it for a table."""
        one, other = np.array(self.bodies[:, 0]), np.where(self.obstacles >= 0, -1, self.bodies[:, 1])
        swapped = (other >= 0) & (other < one)
        one[swapped], other[swapped] = other[swapped], one[swapped]
        who = np.column_stack([one, other, self.obstacles])[self.presses]
        return [self._between(*(int(number) for number in row)) for row in np.unique(who, axis=0)]

    def between(self, one: int, other: int | None = None, obstacle: int | None = None) -> PairLoad:
        """What the body of number `one` feels from another body, or from an obstacle, by its number in Scene.shapes."""
        if (other is None) == (obstacle is None):
            raise SimulationError("contacts.between: give the number of another body, or obstacle=, not both.")
        for number, count, what in ((one, len(self.body_forces), "bodies"), (other, len(self.body_forces), "bodies"),
                                    (obstacle, len(self.obstacle_forces), "obstacles")):  # fmt: skip
            if number is not None and not 0 <= number < count:
                raise SimulationError(f"contacts.between: {number} is no number of the {count} {what} of the scene.")
        return self._between(one, -1 if other is None else other, -1 if obstacle is None else obstacle)

    def _between(self, one: int, other: int, obstacle: int) -> PairLoad:
        first, second = self.bodies.T
        forwards = (first == one) & (second == other) & (self.obstacles == obstacle) & self.presses
        backwards = (first == other) & (second == one) & (obstacle < 0) & self.presses & (one != other)
        chosen = forwards | backwards
        forces = np.where(backwards[:, None], -self.forces, self.forces)[chosen]
        size = np.einsum("ka,ka->k", self.forces, self.normals)[chosen]
        points = self.points[chosen]
        middle = (size @ points) / max(float(size.sum()), 1e-300)
        torque = np.cross(points - middle, forces).sum(axis=0)
        sticking = int(self.sticks[chosen].sum())
        return PairLoad(one, other, obstacle, forces.sum(axis=0), torque, middle, int(chosen.sum()), sticking)

    def force_on_obstacle(self, k: int) -> np.ndarray:
        """(3,) [N] on the obstacle of number k in Scene.shapes."""
        return self.obstacle_forces[k].copy()


def no_step_contacts(model: Model) -> StepContacts:
    """Before the first step, or without contact."""
    n, bodies = model.n_vertices, len(model.body_names)
    obstacles = 0 if model.contact is None else len(model.contact.shapes)
    none, vectors, bare = np.zeros(0), np.zeros((0, 3)), np.zeros(0, np.int64)
    return StepContacts(
        np.zeros((0, ID), np.int32), np.zeros((0, 2), np.int64), bare, vectors, vectors, none, vectors, none,
        np.zeros((n, 3)), np.zeros(n), *(np.zeros((m, 3)) for m in (bodies, bodies, obstacles, obstacles)),
    )  # fmt: skip


def measure_contacts(potential: ContactPotential, model: Model, x: np.ndarray, time: float) -> StepContacts:
    """Contacts of a step of a model that ended at positions x (n, 3) [m] at a time [s]."""
    assert model.contact is not None
    if not potential.has_multipliers:
        potential.refresh(x)
    contacts, forces, body = potential.contacts, potential.forces(x), model.contact.body
    limits = contacts.friction * contacts.normal_multiplier if potential.has_multipliers else contacts.friction_limit
    vertices = potential.vertices
    has_obstacle = contacts.obstacle >= 0
    bodies = np.column_stack([body[vertices[:, 0]], np.where(has_obstacle, -1, body[vertices[:, 2]])])
    first = np.einsum("ki,kia->ka", np.maximum(contacts.weights, 0.0), x[vertices])
    distance = gaps(contacts, x)
    on_obstacle = first - (distance + contacts.thickness)[:, None] * contacts.normals
    distance = distance - contacts.offset
    second = -np.einsum("ki,kia->ka", np.minimum(contacts.weights, 0.0), x[vertices])
    second = np.where(has_obstacle[:, None], on_obstacle, second)
    n = len(model.body_names)
    centres = _centres_of_mass(model, x, n)
    on_bodies = _sums(bodies[:, 0], first, forces, centres) + _sums(bodies[:, 1], second, -forces, centres)
    places = np.array([shape.row(time)[:3] for shape in model.contact.shapes]).reshape(-1, 3)
    on_obstacles = _sums(contacts.obstacle, second, -forces, places)
    return StepContacts(
        contact_ids(contacts),
        bodies,
        contacts.obstacle.astype(np.int64),
        first,
        contacts.normals.copy(),
        distance,
        forces,
        limits.copy(),
        potential.vertex_forces(x),
        potential.penetrations(x),
        *on_bodies,
        *on_obstacles,
    )


def _sums(owner: np.ndarray, points: np.ndarray, forces: np.ndarray, centres: np.ndarray) -> np.ndarray:
    """(2, m, 3): the force [N], and the torque about the centres (m, 3) [N m], of forces (k, 3) at points (k, 3) on
    each owner (k,); -1 is none.
    """
    own = owner >= 0
    owner, points, forces = owner[own], points[own], forces[own]
    total = np.zeros((2, len(centres), 3))
    np.add.at(total[0], owner, forces)
    np.add.at(total[1], owner, np.cross(points - centres[owner], forces))
    return total


def _centres_of_mass(model: Model, x: np.ndarray, n: int) -> np.ndarray:
    """(n, 3) [m] of bodies at positions x; the mean of the vertices where a body has no mass."""
    assert model.contact is not None
    body = model.contact.body
    total = np.bincount(body, model.mass, n)
    weight = np.where(total[body] > 0, model.mass, 1.0)
    sums = np.stack([np.bincount(body, weight * x[:, axis], n) for axis in range(3)], axis=1)
    return sums / np.maximum(np.bincount(body, weight, n), 1e-300)[:, None]

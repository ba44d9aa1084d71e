"""The contacts of a step as their users see them: who touches where, with which force; sums by body and by obstacle."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from pliant.contact.contact_set import gaps
from pliant.contact.response.potential import ContactPotential
from pliant.contact.tracking.identity import ID, contact_ids
from pliant.model import Model


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
    vertex_forces: np.ndarray  # (n, 3) of all contacts on the vertices [N]
    penetrations: np.ndarray  # (n,) of vertices: the deepest contact that each takes part in [m]
    body_forces: np.ndarray  # (bodies, 3) [N]
    body_torques: np.ndarray  # (bodies, 3) about the centre of mass of the body [N m]
    obstacle_forces: np.ndarray  # (obstacles, 3) [N]
    obstacle_torques: np.ndarray  # (obstacles, 3) about the obstacle's position [N m]

    def __len__(self) -> int:
        return len(self.ids)

    def force_on_obstacle(self, k: int) -> np.ndarray:
        """(3,) [N] on the obstacle of number k in Scene.shapes."""
        return self.obstacle_forces[k].copy()


def no_step_contacts(model: Model) -> StepContacts:
    """Before the first step, or without contact."""
    n, bodies = model.n_vertices, len(model.body_names)
    obstacles = 0 if model.contact is None else len(model.contact.shapes)
    none, vectors, bare = np.zeros(0), np.zeros((0, 3)), np.zeros(0, np.int64)
    return StepContacts(
        np.zeros((0, ID), np.int32), np.zeros((0, 2), np.int64), bare, vectors, vectors, none, vectors,
        np.zeros((n, 3)), np.zeros(n), *(np.zeros((m, 3)) for m in (bodies, bodies, obstacles, obstacles)),
    )  # fmt: skip


def measure_contacts(potential: ContactPotential, model: Model, x: np.ndarray, time: float) -> StepContacts:
    """Contacts of a step of a model that ended at positions x (n, 3) [m] at a time [s]."""
    assert model.contact is not None
    if not potential.has_multipliers:
        potential.refresh(x)
    contacts, forces, body = potential.contacts, potential.forces(x), model.contact.body
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

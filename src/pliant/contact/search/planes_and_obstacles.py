"""Contacts of convex rigid bodies with each other and with obstacles, where these are all, as one set."""

from __future__ import annotations

import numpy as np

from pliant.contact.contact_set import ContactSet, empty_contacts
from pliant.contact.search.convex_pairs import Bounds, PlaneSearch
from pliant.contact.search.near_obstacles import near_obstacle
from pliant.elements.closest import VERTEX_OBSTACLE
from pliant.kernels.threads import Team
from pliant.lanes.compiled import cached, compiled, inlined
from pliant.model import ContactModel


def planes_and_obstacles(
    search: PlaneSearch, team: Team, model: ContactModel, x0: np.ndarray, x1: np.ndarray, bounds: Bounds,
    time: float, h: float, reach: float,
) -> ContactSet:  # fmt: skip
    """As of PlaneSearch.contacts and near_obstacles.obstacle_contacts_at."""
    count, _ = search.find(x0, x1, bounds, model.allowed)
    near = [near_obstacle(team, model, k, x0, x1, time, h, reach) for k in range(len(model.shapes))]
    contacts = empty_contacts(count + sum(len(own.vertices) for own in near))
    cached(write_planes)(search.room[:4], count, model.radius, model.clearance, contacts)
    for k, own in enumerate(near):
        cached(write_near)(own, k, count, model.radius, contacts)
        count += len(own.vertices)
    return contacts


@compiled
def write_planes(found, count, radius, clearance, contacts):
    """The first contacts; found: kinds, vertices, weights and normals of at least so many."""
    kind, vertices, weights, normals = found
    for c in range(count):
        a, b = vertices[c, 0], vertices[c, 2]
        write_unanswered(c, kind[c], -1, (radius[a] + clearance[a]) + (radius[b] + clearance[b]), contacts)
        for i in range(4):
            contacts.vertices[c, i], contacts.weights[c, i] = vertices[c, i], weights[c, i]
        for axis in range(3):
            contacts.normals[c, axis], contacts.points[c, axis], contacts.motions[c, axis] = normals[c, axis], 0.0, 0.0


@compiled
def write_near(near, obstacle, first, radius, contacts):
    """Those of a NearObstacle, from the contact `first` on."""
    for k in range(len(near.vertices)):
        c, v = first + k, near.vertices[k]
        write_unanswered(c, VERTEX_OBSTACLE, obstacle, radius[v], contacts)
        for i in range(4):
            contacts.vertices[c, i], contacts.weights[c, i] = v if i == 0 else -1, 1.0 if i == 0 else 0.0
        for axis in range(3):
            contacts.points[c, axis], contacts.motions[c, axis] = near.points[k, axis], near.motions[k, axis]
            contacts.normals[c, axis] = near.normals[k, axis]


@inlined
def write_unanswered(c, kind, obstacle, thickness, contacts):
    """What a contact is, and zero for all that it answers with."""
    contacts.kind[c], contacts.obstacle[c], contacts.side[c] = kind, obstacle, 0
    contacts.thickness[c], contacts.offset[c], contacts.updates_closest_point[c] = thickness, 0.0, False
    contacts.stiffness[c], contacts.friction[c], contacts.friction_limit[c] = 0.0, 0.0, 0.0
    contacts.normal_multiplier[c], contacts.earlier_multiplier[c] = 0.0, 0.0
    for axis in range(3):
        contacts.tangential_multiplier[c, axis], contacts.tangential_shift[c, axis] = 0.0, 0.0
        contacts.drift[c, axis] = 0.0

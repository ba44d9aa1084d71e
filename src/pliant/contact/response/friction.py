"""Friction coefficients of contacts, from those of the two materials that touch."""

from __future__ import annotations

import math

import numpy as np

from pliant.contact.contact_set import ContactSet
from pliant.lanes.compiled import at, cached, compiled, inlined
from pliant.model import ContactModel


def set_friction(contacts: ContactSet, model: ContactModel) -> None:
    """Write the coefficients of all contacts."""
    obstacles = np.array([shape.friction for shape in model.shapes], dtype=float)
    cached(write_friction)(contacts, model.friction, obstacles, float(model.general_friction[0]))


@compiled
def write_friction(contacts, of_vertices, of_obstacles, otherwise):
    """Contacts of vertices with coefficients (n,), NaN where the body has none, and of obstacles (m,)."""
    for place in range(len(contacts.kind)):
        c = np.uint64(place)
        obstacle = contacts.obstacle[c]
        other = at(of_obstacles, obstacle) if obstacle >= 0 else at(of_vertices, contacts.vertices[c, 2])
        contacts.friction[c] = friction_between(at(of_vertices, contacts.vertices[c, 0]), other, otherwise)


@inlined
def friction_between(one, other, otherwise):
    """Of two materials in contact: the geometric mean, so that one without friction slides on all.  If only one has a
    coefficient (the other is NaN) it is that one's, if none has it is `otherwise`.
    """
    if math.isnan(one):
        return otherwise if math.isnan(other) else other
    if one == other:  # the root of a square, which is exact
        return one
    return one if math.isnan(other) else math.sqrt(one * other)

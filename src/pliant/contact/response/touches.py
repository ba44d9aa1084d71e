"""All contacts of a step in one list: between vertices of the scene, and of vertices with obstacles."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from pliant.contact.contact_set import Contacts
from pliant.elements.closest import VERTEX_TRIANGLE
from pliant.lanes.compiled import at, cached, compiled, inlined
from pliant.model import ContactModel


class Touches(NamedTuple):
    """Contacts of up to four vertices, and perhaps a point of an obstacle.

    s = sum_i w_i x_i + outside point  leads from one side to the other; all weights sum to zero.
    """

    vertices: np.ndarray  # (k, 4) of the scene, -1 where there are fewer
    weights: np.ndarray  # (k, 4)
    outside: np.ndarray  # (k,) weight of the obstacle's point: -1, or 0 where there is none
    points: np.ndarray  # (k, 3) of the obstacle at the end of the step [m]
    motions: np.ndarray  # (k, 3) of that point in the step [m]
    normals: np.ndarray  # (k, 3) towards the first vertex's side
    gaps: np.ndarray  # (k,) distance to be kept [m]
    friction: np.ndarray  # (k,) coefficient
    follows: np.ndarray  # (k,) bool: the closest point moves with the vertices


def all_touches(pairs: Sequence[Contacts], near: Sequence[Touches], model: ContactModel) -> Touches:
    """Contacts between vertices, with the friction of their bodies, and then those with obstacles."""
    total = sum(len(part.kind) for part in pairs) + sum(len(part.gaps) for part in near)
    touches = Touches(
        np.empty((total, 4), np.int64),
        np.empty((total, 4)),
        np.empty(total),
        np.empty((total, 3)),
        np.empty((total, 3)),
        np.empty((total, 3)),
        np.empty(total),
        np.empty(total),
        np.empty(total, bool),
    )
    first = 0
    for contacts in pairs:
        cached(write_touches)(contacts, model.friction, model.settings.friction, first, touches)
        first += len(contacts.kind)
    for part in near:
        for whole, own in zip(touches, part, strict=True):
            whole[first : first + len(own)] = own
        first += len(part.gaps)
    return touches


@compiled
def write_touches(contacts, friction, otherwise, first, touches):
    """All that contacts between vertices tell, from a place in the lists on."""
    for place in range(len(contacts.kind)):
        c, k = np.uint64(place), np.uint64(first + place)
        for i in range(4):
            touches.vertices[k, i], touches.weights[k, i] = contacts.vertices[c, i], contacts.weights[c, i]
        for axis in range(3):
            touches.points[k, axis], touches.motions[k, axis] = 0.0, 0.0
            touches.normals[k, axis] = contacts.normals[c, axis]
        touches.outside[k], touches.gaps[k] = 0.0, contacts.gap[c]
        mu = at(friction, contacts.vertices[c, 0]), at(friction, contacts.vertices[c, 2])
        touches.friction[k] = friction_between(mu[0], mu[1], otherwise)
        touches.follows[k] = contacts.is_discrete[c] and contacts.kind[c] == VERTEX_TRIANGLE


@inlined
def friction_between(one, other, otherwise):
    """Of two materials in contact: the geometric mean, so that one without friction slides on all.  If only one has a
    coefficient (the other is NaN) it is that one's, if none has it is `otherwise`.
    """
    if math.isnan(one):
        return otherwise if math.isnan(other) else other
    return one if math.isnan(other) else math.sqrt(one * other)

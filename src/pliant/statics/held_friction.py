"""Friction that contacts hold from one load step to the next.

Friction is measured by how far two surfaces have moved along each other since the load step began, up to the slip at
which it reaches its limit. Were it forgotten as the next one begins, everything that sticks would have to move by as
much again, so that shear between stuck surfaces would be lost in proportion to the number of load steps. What slides
goes on with three quarters of its friction.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from pliant.contact.contact_set import ContactSet
from pliant.contact.response.potential import ContactPotential, separation_and_motion
from pliant.contact.tracking.identity import ID, contact_ids, places_among
from pliant.elements.contact import smoothing, tangential
from pliant.lanes.compiled import cached, compiled
from pliant.lanes.vectors import dot

KEPT = 0.5  # of the slip at most: what slides needs a little stiffness along the surface, or nothing holds its place


class HeldFriction(NamedTuple):
    """Of the contacts of the last equilibrium that have friction."""

    ids: np.ndarray  # (m, 5) int32
    motions: np.ndarray  # (m, 3) [m] along the surfaces, of which friction is made


def no_friction() -> HeldFriction:
    """Nothing was in contact."""
    return HeldFriction(np.zeros((0, ID), np.int32), np.zeros((0, 3)))


def friction_of(contacts: ContactPotential, x: np.ndarray) -> HeldFriction:
    """What contacts hold at the end of a load step at x (n, 3)."""
    motions = np.zeros((contacts.count, 3))
    cached(write_motions)(contacts.contacts, np.ascontiguousarray(x), contacts.x_prev, contacts.slip, motions)
    holds = motions.any(axis=1)
    return HeldFriction(contact_ids(contacts.contacts)[holds], motions[holds])


def hold_friction(contacts: ContactSet, held: HeldFriction) -> None:
    """Let contacts go on with the friction that they held, in place."""
    if not contacts.size or not len(held.ids):
        return
    places = places_among(contact_ids(contacts), held.ids)
    known = places >= 0
    contacts.tangential_shift[known] = held.motions[places[known]]


@compiled
def write_motions(contacts, x, x_prev, slip, motions):
    for place in range(len(motions)):
        c = np.uint64(place)
        limit = contacts.friction_limit[c]
        if limit > 0.0:
            _, u, n = separation_and_motion(c, contacts, x, x_prev)
            t, most = tangential(u, n), KEPT * smoothing(contacts.stiffness[c], limit, slip)
            length = dot(t, t) ** 0.5
            part = most / length if length > most else 1.0
            for axis in range(3):
                motions[c, axis] = part * t[axis]

"""How hard contacts answer that are all found again in every step: stiffness, friction and offsets in one call.

Convex bodies have their planes in each step (decision 0075), so that nothing need be known of who pressed before
(tracking.pressing), and no contact stays nearer than it should (tracking.shortfalls).
"""

from __future__ import annotations

import numpy as np

from pliant.contact.contact_set import ContactSet
from pliant.contact.response.friction import write_friction
from pliant.contact.response.hardness import KEPT, find_penalties
from pliant.contact.response.potential import ContactPotential, start_friction
from pliant.contact.response.scale import ContactScale, write_pushes
from pliant.contact.tracking.pressing import write_offsets
from pliant.lanes.compiled import allocating, cached
from pliant.model import ContactModel


def hard_potential(
    contacts: ContactSet, model: ContactModel, scale: ContactScale, x_prev: np.ndarray, h: float
) -> ContactPotential:
    """Of contacts that a step of h [s] begins with at x_prev (n, 3) [m], before they press with multipliers."""
    depths, obstacles = np.empty(contacts.size), np.array([shape.friction for shape in model.shapes], dtype=float)
    masses = (scale.inertia, scale.resistance, model.body, len(model.allowed))
    friction = (model.friction, obstacles, float(model.general_friction[0]))
    cached(write_answers)(contacts, x_prev, *masses, *friction, model.edge, model.gravity, h, KEPT, depths)
    return ContactPotential(contacts, 0.0, 0.0, x_prev, has_multipliers=True, start_depths=depths)


@allocating
def write_answers(
    contacts, x, inertia, resistance, body, bodies, friction, obstacles, otherwise, edge, gravity, h, kept, depths
):
    k = len(depths)
    rho, shorter, most, nothing = np.empty(k), np.empty(k), np.empty(k), np.empty(k)
    shortfalls, is_known = np.empty(k), np.empty(k, np.bool_)
    find_penalties(contacts, inertia, resistance, body, bodies, rho)
    for c in range(k):
        contacts.stiffness[c] = max(rho[c], contacts.stiffness[c])
        most[c], nothing[c], shortfalls[c], is_known[c] = 0.0, 0.0, 0.0, False
    write_friction(contacts, friction, obstacles, otherwise)
    write_pushes(contacts, edge, gravity, h, shorter, most)
    write_offsets(contacts, x, nothing, most, shorter, shortfalls, is_known, kept)
    start_friction(contacts, x, depths)

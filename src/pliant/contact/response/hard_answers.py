"""How hard contacts of convex rigid bodies answer that are all found again in every step: one call writes the set.

Convex bodies have their planes in each step (decision 0075), so that nothing need be known of who pressed before
(tracking.pressing), and no contact stays nearer than it should (tracking.shortfalls). Contacts between the same two
bodies, or a body and an obstacle, follow each other and have the same masses, friction and edges.
"""

from __future__ import annotations

import numpy as np

from pliant.contact.contact_set import empty_contacts
from pliant.contact.response.friction import friction_between
from pliant.contact.response.hardness import CARRIED, KEPT, PENALTY, press_with_multipliers
from pliant.contact.response.potential import ContactPotential
from pliant.contact.response.scale import ContactScale, push_of, stiffness_of
from pliant.contact.search.planes_and_obstacles import RigidSearch, write_near, write_planes
from pliant.contact.tracking.identity import ID
from pliant.contact.tracking.multipliers import Multipliers, table_size, write_multipliers
from pliant.elements.closest import closest_separation, positions_of, row
from pliant.geometry.components import join, root_of
from pliant.lanes.compiled import allocating, cached, compiled, inlined
from pliant.lanes.vectors import add, dot


def hard_potential(
    search: RigidSearch,
    found: tuple[int, int],
    scale: ContactScale,
    x_prev: np.ndarray,
    h: float,
    kept: Multipliers,
    is_first: bool,
) -> ContactPotential:
    """Of the contacts that a search has found in a step of h [s] from x_prev (n, 3) [m], which begin with the
    multipliers that are kept for them; is_first: as of hardness.begin_multipliers.
    """
    model, count = search.model, sum(found)
    contacts, depths = empty_contacts(count), np.empty(count)
    obstacles = np.array([shape.friction for shape in model.shapes], dtype=float)
    masses = (scale.inertia, scale.resistance, model.body, len(model.allowed))
    friction = (model.friction, obstacles, float(model.general_friction[0]))
    table = np.full(table_size(len(kept.ids)), -1, np.int32)
    sizes = (model.radius, model.clearance, model.edge, model.gravity)
    where = (search.planes.room[:4], search.near, *found, x_prev, h)
    cached(write_contacts)(*where, *sizes, *masses, *friction, kept, table, is_first, contacts, depths)
    return ContactPotential(contacts, 0.0, 0.0, x_prev, has_multipliers=True, start_depths=depths)


@allocating
def write_contacts(
    planes, near, count, near_count, x, h, radius, clearance, edge, gravity, inertia, resistance, body, bodies,
    friction, obstacles, otherwise, kept, table, is_first, contacts, depths,
):  # fmt: skip
    """Fill in contacts: `count` of planes and `near_count` of obstacles; table: of -1, room to look ids up."""
    k = count + near_count
    write_planes(planes, count, radius, clearance, contacts)
    write_near(near, near_count, count, radius, contacts)
    starts, pairs = np.empty(k + 1, np.int64), np.empty((k, 2), np.int64)
    runs = list_runs(contacts, body, bodies, starts, pairs)
    heaviest, parent = np.zeros(bodies), np.arange(bodies)  # heaviest [kg/s^2] of an island
    join_runs(contacts, runs, starts, pairs, body, inertia, heaviest, parent)
    for r in range(runs):
        c, a, b = np.uint64(starts[r]), pairs[r, 0], pairs[r, 1]
        one, obstacle = contacts.vertices[c, 0], contacts.obstacle[c]
        most = heaviest[root_of(parent, a)]
        if obstacle < 0:
            most = max(most, heaviest[root_of(parent, b)])
        rho = max(PENALTY * stiffness_of(c, contacts, inertia, resistance), CARRIED * most) / (
            starts[r + 1] - starts[r]
        )
        other = obstacles[obstacle] if obstacle >= 0 else friction[contacts.vertices[c, 2]]
        shorter = edge[one] if obstacle >= 0 else min(edge[one], edge[contacts.vertices[c, 2]])
        push, mu = push_of(shorter, gravity, h), friction_between(friction[one], other, otherwise)
        for place in range(starts[r], starts[r + 1]):
            write_answer(np.uint64(place), contacts, x, rho, mu, push, depths)
    if len(kept.ids) > 0 and k > 0:
        places = np.full(k, -1, np.int64)
        write_multipliers(contacts, kept, np.empty((k, ID), np.int32), table, places)
    press_with_multipliers(contacts, 0.0, is_first)


@compiled
def list_runs(contacts, body, bodies, starts, pairs):
    """Contacts of the same two, one after another: the first of each, and the two bodies, numbers from `bodies` on for
    obstacles; how many there are.
    """
    runs = 0
    for place in range(len(contacts.kind)):
        c = np.uint64(place)
        obstacle, a = contacts.obstacle[c], np.int64(body[contacts.vertices[c, 0]])
        b = np.int64(bodies + obstacle) if obstacle >= 0 else np.int64(body[contacts.vertices[c, 2]])
        one, other = min(a, b), max(a, b)
        if runs == 0 or pairs[runs - 1, 0] != one or pairs[runs - 1, 1] != other:
            starts[runs], pairs[runs, 0], pairs[runs, 1] = place, one, other
            runs += 1
    starts[runs] = len(contacts.kind)
    return runs


@compiled
def join_runs(contacts, runs, starts, pairs, body, inertia, heaviest, parent):
    """Islands of moving bodies that contacts join, and the largest inertia in each; of what is held it is infinite."""
    for r in range(runs):
        for i in range(0, 4, 2):  # a vertex of each side, the second none at an obstacle
            v = contacts.vertices[np.uint64(starts[r]), i]
            if v >= 0 and inertia[v] < np.inf:
                heaviest[body[v]] = max(heaviest[body[v]], inertia[v])
    for r in range(runs):
        a, b = pairs[r, 0], pairs[r, 1]
        if b < len(heaviest) and heaviest[a] > 0.0 and heaviest[b] > 0.0:
            a, b = root_of(parent, a), root_of(parent, b)
            if a != b:
                join(parent, a, b)
                heaviest[min(a, b)] = max(heaviest[a], heaviest[b])


@inlined
def write_answer(c, contacts, x, rho, mu, push, depths):
    """Stiffness, friction and offset of one contact, and its depth [m] at the start of the step, x (n, 3) [m]."""
    s, n = closest_separation(c, positions_of(c, contacts, x), contacts), row(contacts.normals, c)
    late = contacts.thickness[c] - dot(add(s, row(contacts.motions, c)), n)
    offset = max(max(late - push, 0.0), KEPT * late)  # tracking.pressing.write_offsets of what nobody knows
    contacts.stiffness[c], contacts.friction[c], contacts.offset[c] = rho, mu, offset
    contacts.thickness[c] -= offset
    depths[c] = max(contacts.thickness[c] - dot(s, n), 0.0)
    contacts.friction_limit[c] = mu * rho * depths[c]

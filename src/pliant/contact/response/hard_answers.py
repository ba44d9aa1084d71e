"""How hard contacts of convex rigid bodies answer that are all found again in every step: one call writes the set.

Convex bodies have their planes in each step (decision 0075), so that nothing need be known of who pressed before
(tracking.pressing), and no contact stays nearer than it should (tracking.shortfalls). Contacts between the same two
bodies, or a body and an obstacle, follow each other and have the same masses, friction and edges.
"""

from __future__ import annotations

import numpy as np

from pliant.contact.contact_set import empty_contacts
from pliant.contact.response.friction import friction_between
from pliant.contact.response.hardness import CARRIED, KEPT, PENALTY, press
from pliant.contact.response.potential import ContactPotential
from pliant.contact.response.scale import ContactScale, push_of, stiffness_of
from pliant.contact.search.planes_and_obstacles import RigidSearch, write_near, write_plane
from pliant.contact.tracking.identity import ID, fill_table, table_size, take_place, write_id
from pliant.contact.tracking.multipliers import Multipliers, write_multiplier
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
    starts, pairs, ids = np.empty(k + 1, np.int64), np.empty((k, 2), np.int64), np.empty((1, ID), np.int32)
    runs = list_runs(planes, near, count, k, body, bodies, starts, pairs)
    heaviest, parent = np.zeros(bodies), np.arange(bodies)  # heaviest [kg/s^2] of an island
    join_runs(planes, near, count, runs, starts, pairs, body, inertia, heaviest, parent)
    fill_table(kept.ids, table)
    for r in range(runs):
        for place in range(starts[r], starts[r + 1]):
            if place < count:
                write_plane(np.uint64(place), planes, radius, clearance, contacts)
            else:
                write_near(np.uint64(place), np.uint64(place - count), near, radius, contacts)
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
            c = np.uint64(place)
            write_answer(c, contacts, x, rho, mu, push, depths)
            write_id(c, 0, contacts.kind, contacts.vertices, contacts.obstacle, ids)
            known = take_place(ids, 0, kept.ids, table)
            if known >= 0:
                write_multiplier(c, known, kept, contacts)
            press(c, contacts, 0.0, is_first)


@compiled
def list_runs(planes, near, count, k, body, bodies, starts, pairs):
    """Contacts of the same two, one after another: the first of each, and the two bodies, numbers from `bodies` on for
    obstacles; how many there are.
    """
    runs, vertices = 0, planes[1]
    for place in range(k):
        c = np.uint64(place)
        if place < count:
            a, b = np.int64(body[vertices[c, 0]]), np.int64(body[vertices[c, 2]])
        else:
            c -= np.uint64(count)
            a, b = np.int64(body[near.vertices[c]]), bodies + near.obstacles[c]
        one, other = min(a, b), max(a, b)
        if runs == 0 or pairs[runs - 1, 0] != one or pairs[runs - 1, 1] != other:
            starts[runs], pairs[runs, 0], pairs[runs, 1] = place, one, other
            runs += 1
    starts[runs] = k
    return runs


@compiled
def join_runs(planes, near, count, runs, starts, pairs, body, inertia, heaviest, parent):
    """Islands of moving bodies that contacts join, and the largest inertia in each; of what is held it is infinite."""
    for r in range(runs):
        c = starts[r]
        note_inertia(planes[1][c, 0] if c < count else near.vertices[c - count], body, inertia, heaviest)
        if c < count:
            note_inertia(planes[1][c, 2], body, inertia, heaviest)
    for r in range(runs):
        a, b = pairs[r, 0], pairs[r, 1]
        if b < len(heaviest) and heaviest[a] > 0.0 and heaviest[b] > 0.0:
            a, b = root_of(parent, a), root_of(parent, b)
            if a != b:
                join(parent, a, b)
                heaviest[min(a, b)] = max(heaviest[a], heaviest[b])


@inlined
def note_inertia(v, body, inertia, heaviest):
    if inertia[v] < np.inf:
        heaviest[body[v]] = inertia[v]


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

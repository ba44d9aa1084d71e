"""Hard contacts: multipliers instead of penetration (decision 0028).

A contact of penalty rho and multiplier lambda is one of the same energy whose thickness is larger by lambda / rho, and
whose motion along the surface is counted from lambda_T / rho before: multipliers enter as shifts, so that no energy
knows of them. After an iteration (kernels.contact_multipliers) a multiplier is the force that was felt in it.

A material stiffness K of contacts gives the compliant form, which ends at lambda = K d for any rho:

    stiffness = K rho / (K + rho),     lambda = stiffness (d + lambda_before / rho)

rho follows from masses and the step. Between rigid bodies, obstacles and what is held it is

    rho = max(8 k, 2 M / h^2) / c

with the k of contacts that are not hard, the largest mass M among the bodies that press on each other, whom a light
body between heavy ones has to carry, and the number c of contacts between the two. It is not larger for one that is
listed alone than for one of many: they share the load.
"""

from __future__ import annotations

import numpy as np

from pliant.contact.contact_set import ContactSet
from pliant.contact.response.potential import ContactPotential, StepEnd, add_end, multiplier_force
from pliant.contact.response.scale import ContactScale, stiffness_of
from pliant.elements.closest import closest_separation, positions_of, row
from pliant.geometry.components import root_of
from pliant.lanes.compiled import allocating, cached, compiled, inlined
from pliant.lanes.vectors import dot, subtract

KEPT = 0.99  # of what overlaps or has drifted when a step begins: stays for later steps, so that it gives no speed
PENALTY = 8.0  # of the stiffness of contacts that are not hard
CARRIED = 2.0  # of the largest mass that presses
SIDES = 2**31  # more than bodies and obstacles there are
STICKING = 1 - 1e-6  # of the friction limit: below it a contact sticks


def penalties(contacts: ContactSet, scale: ContactScale, body: np.ndarray, bodies: int) -> np.ndarray:
    """rho (k,) [N/m]; body (n,): of each vertex."""
    rho = np.empty(contacts.size)
    cached(find_penalties)(contacts, scale.inertia, scale.resistance, body, bodies, rho)
    return rho


@allocating
def find_penalties(contacts, inertia, resistance, body, bodies, rho):
    k = len(rho)
    names, pairs, rigid, own = (
        np.empty(k, np.int64),
        np.empty((k, 2), np.int64),
        np.empty(k, np.int64),
        np.empty((k, 2)),
    )
    count = list_rigid(contacts, inertia, resistance, body, bodies, rho, names, pairs, rigid, own)
    numbers = np.empty(count, np.int64)
    count_alike(names, numbers)
    write_penalties(numbers, pairs, rigid, own, bodies, rho)


@compiled
def list_rigid(contacts, inertia, resistance, body, bodies, rho, names, pairs, rigid, own_inertia):
    """rho of contacts that are not hard, and those of which neither side is soft: `names`, equal for those between the
    same two, `pairs` of bodies, the second -1 for an obstacle, numbers among all contacts, and inertia of both; how
    many there are.
    """
    count = 0
    for c in range(len(contacts.kind)):
        rho[c] = stiffness_of(c, contacts, inertia, resistance)
        obstacle = contacts.obstacle[c]
        a = contacts.vertices[c, 0]
        b = a if obstacle >= 0 else contacts.vertices[c, 2]
        if resistance[a] < np.inf or resistance[b] < np.inf:
            continue
        one, other = np.int64(body[a]), np.int64(bodies + obstacle) if obstacle >= 0 else np.int64(body[b])
        names[count] = min(one, other) * SIDES + max(one, other)
        pairs[count, 0], pairs[count, 1] = one, -1 if obstacle >= 0 else other
        own_inertia[count, 0], own_inertia[count, 1] = inertia[a], inertia[b]
        rigid[count] = c
        count += 1
    return count


@allocating
def count_alike(names, numbers):
    """How many have the same name as each of the first (k,): by a table (open addressing) of the first of each name."""
    size = 16
    while size < 2 * len(numbers):
        size *= 2
    table, first = np.full(size, -1, np.int64), np.empty(len(numbers), np.int64)
    for c in range(len(numbers)):
        place = np.int64((np.uint64(names[c]) * np.uint64(11400714819323198485)) >> np.uint64(32)) & (size - 1)
        while table[place] >= 0 and names[table[place]] != names[c]:
            place = (place + 1) & (size - 1)
        if table[place] < 0:
            table[place] = c
            numbers[c] = 0
        first[c] = table[place]
        numbers[first[c]] += 1
    for c in range(len(numbers)):
        numbers[c] = numbers[first[c]]


@allocating
def write_penalties(numbers, pairs, rigid, inertia, bodies, rho):
    """rho of the contacts `rigid` between pairs of bodies (`list_rigid`); numbers (k,): of contacts between the same
    two; inertia: infinite for what is held.
    """
    largest = np.zeros(bodies)  # [kg/s^2] of an island
    parent = np.arange(bodies)
    for c in range(len(numbers)):
        for side in range(2):
            if pairs[c, side] >= 0 and inertia[c, side] < np.inf:
                largest[pairs[c, side]] = max(largest[pairs[c, side]], inertia[c, side])
    for c in range(len(numbers)):
        if pairs[c, 1] < 0 or inertia[c, 0] == np.inf or inertia[c, 1] == np.inf:
            continue
        a, b = root_of(parent, pairs[c, 0]), root_of(parent, pairs[c, 1])
        if a != b:
            a, b = min(a, b), max(a, b)
            parent[b] = a
            largest[a] = max(largest[a], largest[b])
    for c in range(len(numbers)):
        heaviest = largest[root_of(parent, pairs[c, 0])]
        if pairs[c, 1] >= 0:
            heaviest = max(heaviest, largest[root_of(parent, pairs[c, 1])])
        rho[rigid[c]] = max(PENALTY * rho[rigid[c]], CARRIED * heaviest) / numbers[c]


def begin_multipliers(contacts: ContactSet, compliance: float, is_first: bool) -> None:
    """Let contacts press with the multipliers they have; compliance: 1 / K [m/N].

    is_first: the step begins. Then a contact begins with the force that has lasted for two steps: that of an impact
    does not last.
    """
    cached(press_with_multipliers)(contacts, compliance, is_first)


@compiled
def press_with_multipliers(contacts, compliance, is_first):
    for place in range(len(contacts.kind)):
        press(np.uint64(place), contacts, compliance, is_first)


@inlined
def press(c, contacts, compliance, is_first):
    normal, stiffness, part = contacts.normal_multiplier[c], contacts.stiffness[c], 1.0
    if is_first:
        lasting = min(normal, contacts.earlier_multiplier[c])
        part = lasting / normal if normal > 0.0 else 0.0
        contacts.earlier_multiplier[c] = normal
        contacts.normal_multiplier[c] = normal = lasting
    shift = normal * (1.0 / stiffness - compliance)  # lambda / rho
    contacts.thickness[c] += shift
    contacts.offset[c] -= shift
    for axis in range(3):
        contacts.tangential_multiplier[c, axis] *= part
        held = contacts.tangential_multiplier[c, axis] / stiffness
        contacts.tangential_shift[c, axis] = (1.0 - KEPT) * contacts.drift[c, axis] - held


def end_hard(potential: ContactPotential, x: np.ndarray) -> tuple[np.ndarray, StepEnd]:
    """What `at_end` gives of a step that ends at x (n, 3) [m]; and what sticking contacts have moved along the surface
    in the step is added to their drift.
    """
    own, x = np.empty(potential.count), np.ascontiguousarray(x, dtype=float)
    return own, StepEnd(*cached(write_hard_end)(potential.contacts, x, potential.x_prev, own))


@compiled
def write_hard_end(contacts, x, x_prev, own):
    total = (0.0, 0.0, 0, 0.0, 0.0, 0.0)
    for place in range(len(own)):
        c = np.uint64(place)
        s = closest_separation(c, positions_of(c, contacts, x), contacts)
        before = closest_separation(c, positions_of(c, contacts, x_prev), contacts)
        u = subtract(subtract(s, before), row(contacts.motions, c))
        own[c], total = add_end(c, contacts, s, u, multiplier_force(c, contacts), total)
        write_drift(c, contacts, u)
    return total


@inlined
def write_drift(c, contacts, u):
    """After a step in which both sides have moved by u [m] against each other."""
    held = row(contacts.tangential_multiplier, c)
    limit = STICKING * contacts.friction[c] * contacts.normal_multiplier[c]
    sticks = dot(held, held) < limit * limit
    n, drift = row(contacts.normals, c), row(contacts.drift, c)
    across = dot(u, n) + dot(drift, n)
    for axis in range(3):
        contacts.drift[c, axis] = drift[axis] + u[axis] - across * n[axis] if sticks else 0.0

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
import scipy.sparse as sp

from pliant.contact.contact_set import ContactSet, positions_of
from pliant.contact.response.scale import ContactScale, chosen_stiffness
from pliant.elements.closest import closest_separation, row
from pliant.lanes.compiled import cached, compiled
from pliant.lanes.vectors import dot, subtract

KEPT = 0.99  # of what overlaps or has drifted when a step begins: stays for later steps, so that it gives no speed
PENALTY = 8.0  # of the stiffness of contacts that are not hard
CARRIED = 2.0  # of the largest mass that presses
STICKING = 1 - 1e-6  # of the friction limit: below it a contact sticks


def penalties(contacts: ContactSet, scale: ContactScale, body: np.ndarray, bodies: int) -> np.ndarray:
    """rho (k,) [N/m]; body (n,): of each vertex."""
    rho = chosen_stiffness(contacts, scale)
    v, has_obstacle = contacts.vertices, contacts.obstacle >= 0
    last = np.where(has_obstacle, 0, 2)
    ends = np.column_stack([v[:, 0], np.take_along_axis(v, last[:, None], axis=1)[:, 0]])
    rigid = np.flatnonzero(np.isinf(scale.resistance[ends]).all(axis=1))
    if not len(rigid):
        return rho
    pairs = body[ends[rigid]]
    other = np.where(has_obstacle[rigid], bodies + contacts.obstacle[rigid], pairs[:, 1])
    names = np.minimum(pairs[:, 0], other) * np.int64(bodies + 1 + max(contacts.obstacle.max(), 0)) + np.maximum(
        pairs[:, 0], other
    )
    _, group, count = np.unique(names, return_inverse=True, return_counts=True)
    inertia = scale.inertia[ends[rigid]]
    moves = np.isfinite(inertia)
    joins = moves.all(axis=1) & ~has_obstacle[rigid]
    graph = sp.coo_matrix((joins[joins], (pairs[joins, 0], pairs[joins, 1])), shape=(bodies, bodies))
    _, island = sp.csgraph.connected_components(graph, directed=False)
    largest = np.zeros(bodies)
    np.maximum.at(largest, island[pairs[moves]], inertia[moves])
    heaviest = np.maximum(largest[island[pairs[:, 0]]], largest[island[pairs[:, 1]]])
    rho[rigid] = np.maximum(PENALTY * rho[rigid], CARRIED * heaviest) / count[group.ravel()]
    return rho


def begin_multipliers(contacts: ContactSet, compliance: float, is_first: bool) -> None:
    """Let contacts press with the multipliers they have; compliance: 1 / K [m/N].

    is_first: the step begins. Then a contact begins with the force that has lasted for two steps: that of an impact
    does not last.
    """
    normal, tangential = contacts.normal_multiplier, contacts.tangential_multiplier
    if is_first:
        lasting = np.minimum(normal, contacts.earlier_multiplier)
        tangential *= np.divide(lasting, normal, out=np.zeros_like(normal), where=normal > 0)[:, None]
        contacts.earlier_multiplier[:] = normal
        normal[:] = lasting
    shift = normal * (1 / contacts.stiffness - compliance)  # lambda / rho
    contacts.thickness[:] += shift
    contacts.offset[:] -= shift
    contacts.tangential_shift[:] = (1 - KEPT) * contacts.drift - tangential / contacts.stiffness[:, None]


def end_drifts(contacts: ContactSet, x: np.ndarray, x_prev: np.ndarray) -> None:
    """Add what sticking contacts have moved along the surface in a step from x_prev to x (n, 3) [m] to their drift."""
    cached(write_drifts)(contacts, x, x_prev, STICKING)


@compiled
def write_drifts(contacts, x, x_prev, sticking):
    for place in range(len(contacts.kind)):
        c = np.uint64(place)
        held = row(contacts.tangential_multiplier, c)
        limit = sticking * contacts.friction[c] * contacts.normal_multiplier[c]
        sticks = dot(held, held) < limit * limit
        s = closest_separation(c, positions_of(c, contacts, x), contacts)
        before = closest_separation(c, positions_of(c, contacts, x_prev), contacts)
        u = subtract(subtract(s, before), row(contacts.motions, c))
        n, drift = row(contacts.normals, c), row(contacts.drift, c)
        across = dot(u, n) + dot(drift, n)
        for axis in range(3):
            contacts.drift[c, axis] = drift[axis] + u[axis] - across * n[axis] if sticks else 0.0

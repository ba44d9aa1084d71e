"""Force, Hessian block and energy of the contacts of a pack (contacts.py), in lanes; and its buffered positions."""

from __future__ import annotations

import numpy as np

from pliant.elements.contact import add_contact, contact_energy, is_felt
from pliant.kernels.contacts import (
    COLOUR_MULTIPLICITY,
    CONSTANTS,
    HIGH_BIT,
    LIMIT,
    LOW_BIT,
    NORMAL,
    OBSTACLE_CONSTANTS,
    OTHERS,
    PAIR_STIFFNESS,
    POINT,
    PREV,
    STIFFNESS,
    THICKNESS,
)
from pliant.lanes import count, lane_sum, load, load3, number, select, store3, width_of
from pliant.lanes.rows import add_rows, gather4, prefetch_rows
from pliant.lanes.vectors import (
    add,
    add_scaled,
    add_symmetric,
    physics,
    subtract,
    sum_over_lanes,
    sum_symmetric_over_lanes,
)

CACHED = 20_000  # contacts whose records, 48 bytes each, are in the nearer caches all the time


@physics
def _number(contacts, k, i, like):
    return load(contacts.vertex_obstacle, (k * OBSTACLE_CONSTANTS + i) * width_of(like), like)


@physics
def _vector(contacts, k, i, like):
    return (_number(contacts, k, i, like), _number(contacts, k, i + 1, like), _number(contacts, k, i + 2, like))


@physics
def _of_obstacle(xi, contacts, k):
    """s, u, normal, thickness, stiffness and friction limit of entry k of the list of obstacles."""
    s = subtract(xi, _vector(contacts, k, POINT, xi[0]))
    u = subtract(s, _vector(contacts, k, PREV, xi[0]))
    n, thickness = _vector(contacts, k, NORMAL, xi[0]), _number(contacts, k, THICKNESS, xi[0])
    return s, u, n, thickness, _number(contacts, k, STIFFNESS, xi[0]), _number(contacts, k, LIMIT, xi[0])


@physics
def _turned(w, low, high):
    """Weights with that of the vertex itself first, and the others in cyclic order: by one corner, and by two."""
    zero = number(0.0, low)
    w = (
        select(low > zero, w[1], w[0]),
        select(low > zero, w[2], w[1]),
        select(low > zero, w[3], w[2]),
        select(low > zero, w[0], w[3]),
    )
    return (
        select(high > zero, w[2], w[0]),
        select(high > zero, w[3], w[1]),
        select(high > zero, w[0], w[2]),
        select(high > zero, w[1], w[3]),
    )


@physics
def _of_vertices(x, contacts, k, like):
    """Weight of the vertex itself, s, u, normal, thickness, stiffness and friction limit of entry k of the list of
    other vertices.

    The vertex itself is where the buffer says.
    """
    width = width_of(like)
    xi = gather4(contacts.buffer, contacts.own, k * width, like)
    n = gather4(contacts.normal_rows, contacts.record, k * width, like)
    prev = gather4(contacts.prev_rows, contacts.record, k * width, like)
    low = load(contacts.constants, (k * CONSTANTS + LOW_BIT) * width, like)
    high = load(contacts.constants, (k * CONSTANTS + HIGH_BIT) * width, like)
    w = _turned(gather4(contacts.weight_rows, contacts.record, k * width, like), low, high)
    stiffness = load(contacts.constants, (k * CONSTANTS + PAIR_STIFFNESS) * width, like)
    z = number(0.0, like)
    s = (z, z, z)
    for j in range(OTHERS):
        xj = gather4(x, contacts.others, (k * OTHERS + j) * width, like)
        wj = w[1] if j == 0 else (w[2] if j == 1 else w[3])
        s = add_scaled(s, wj, (xj[0] - xi[0], xj[1] - xi[1], xj[2] - xi[2]))
    if contacts.has_anchors[0] > 0:  # weights sum to 1 with an obstacle, to 0 else
        q = gather4(contacts.anchor_rows, contacts.record, k * width, like)
        s = add_scaled(s, q[3], (xi[0] - q[0], xi[1] - q[1], xi[2] - q[2]))
    u = (s[0] - prev[0], s[1] - prev[1], s[2] - prev[2])
    return w[0], s, u, (n[0], n[1], n[2]), prev[3], stiffness, n[3]


@physics
def _ask_for(x, contacts, k, like):
    """Have what entry k of the list of other vertices reads come near, while the one before is computed."""
    first = k * width_of(like)
    prefetch_rows(contacts.normal_rows, contacts.record, first, like)
    prefetch_rows(contacts.prev_rows, contacts.record, first, like)
    prefetch_rows(contacts.weight_rows, contacts.record, first, like)
    for j in range(OTHERS):
        prefetch_rows(x, contacts.others, OTHERS * first + j * width_of(like), like)


@physics
def contact_force_and_hessian(p, x, xi, way, moved, has_moved, contacts, is_wide):
    """Sum over the contacts of the vertices of pack p, were they `moved` from xi, if they have moved; way: to their
    inertial targets.

    Of a contact whose m vertices are moved at the same time each counts its motion m times: E(sum_i w_i d_i) is at most
    the mean of E(m w_i d_i), E being convex, so that vertices that each do not raise the mean do not raise E.
    """
    z = number(0.0, xi[0])
    one = number(1.0, z)
    slip, damping = _settings(contacts, z)
    f, H = (z, z, z), (z, z, z, z, z, z)
    is_hard = contacts.compliance[0] < np.inf
    way = way if is_hard else (z, z, z)
    for k in range(contacts.vertex_obstacle_start[p], contacts.vertex_obstacle_start[p + 1]):
        s, u, n, thickness, stiffness, limit = _of_obstacle(xi, contacts, k)
        s, u = add(s, moved), add(u, moved)
        if is_hard or count(is_felt(s, n, thickness, limit)) > 0:
            f, H = add_contact(f, H, one, s, u, n, thickness, stiffness, limit, slip, damping, one, way)
    if contacts.start[p + 1] > contacts.start[p]:
        width = width_of(z)
        own = way if is_hard else moved
        store3(contacts.buffer, p * width, xi[0], xi[1], xi[2])
        store3(contacts.ways, p * width, own[0], own[1], own[2])
        store3(contacts.forces, p * width, z, z, z)
        store3(contacts.upper, p * width, z, z, z)
        store3(contacts.lower, p * width, z, z, z)
        end = contacts.start[len(contacts.start) - 1]  # of all lists: that of the next pack follows
        asks = not has_moved and len(contacts.normal_rows) > CACHED
        for k in range(contacts.start[p], contacts.start[p + 1]):
            if asks and k + 1 < end:
                _ask_for(x, contacts, k + 1, z)
            w, s, u, n, thickness, stiffness, limit = _of_vertices(x, contacts, k, z)
            multiplicity = load(contacts.constants, (k * CONSTANTS + COLOUR_MULTIPLICITY) * width, z)
            ahead = (z, z, z)
            if is_hard | has_moved:
                own = gather4(contacts.ways, contacts.own, k * width, z)
                ahead = (own[0], own[1], own[2])
                if not is_hard:
                    s, u = add_scaled(s, w * multiplicity, ahead), add_scaled(u, w * multiplicity, ahead)
                    ahead = (z, z, z)
            if is_hard or count(is_felt(s, n, thickness, limit)) > 0:
                a, B = add_contact(
                    (z, z, z), (z, z, z, z, z, z), w, s, u, n, thickness, stiffness, limit, slip, damping, multiplicity,
                    ahead,
                )  # fmt: skip
                add_rows(contacts.forces, contacts.own, k * width, a[0], a[1], a[2])
                add_rows(contacts.upper, contacts.own, k * width, B[0], B[1], B[2])
                add_rows(contacts.lower, contacts.own, k * width, B[3], B[4], B[5])
        f = add(f, load3(contacts.forces, p * width, z))
        B, C = load3(contacts.upper, p * width, z), load3(contacts.lower, p * width, z)
        H = add_symmetric(H, one, (B[0], B[1], B[2], C[0], C[1], C[2]))
    if is_wide:
        f, H = sum_over_lanes(f), sum_symmetric_over_lanes(H)
    return f, H


@physics
def has_contacts(p, contacts):
    """Whether anything touches the vertices of pack p."""
    obstacles, start = contacts.vertex_obstacle_start, contacts.start
    return (obstacles[p + 1] > obstacles[p]) | (start[p + 1] > start[p])


@physics
def _settings(contacts, like):
    """Slip and damping, in all lanes."""
    return number(contacts.slip[0], like), number(contacts.damping[0], like)


@physics
def contacts_energy(p, x, xi, contacts, is_wide, is_shared):
    """Energy of the contacts of pack p's vertices, were they at xi; is_shared: only a vertex's share of each."""
    z = number(0.0, xi[0])
    slip, damping = _settings(contacts, z)
    energy = z
    for k in range(contacts.vertex_obstacle_start[p], contacts.vertex_obstacle_start[p + 1]):
        s, u, n, thickness, stiffness, limit = _of_obstacle(xi, contacts, k)
        energy = energy + contact_energy(s, u, n, thickness, stiffness, limit, slip, damping)
    if contacts.start[p + 1] > contacts.start[p]:
        width = width_of(z)
        store3(contacts.buffer, p * width, xi[0], xi[1], xi[2])
        store3(contacts.forces, p * width, z, z, z)
        for k in range(contacts.start[p], contacts.start[p + 1]):
            _, s, u, n, thickness, stiffness, limit = _of_vertices(x, contacts, k, z)
            own = contact_energy(s, u, n, thickness, stiffness, limit, slip, damping)
            add_rows(contacts.forces, contacts.own, k * width, own, z, z)
        own = load3(contacts.forces, p * width, z)[0]
        energy = energy + (own * 0.25 if is_shared else own)
    if is_wide:
        energy = lane_sum(energy)
    return energy


@physics
def show_buffered(x, contacts, first, last, width):
    """Make the new positions of packs first..last with contacts visible."""
    for p in range(first, last):
        if contacts.start[p + 1] > contacts.start[p]:
            for row in range(p * width, (p + 1) * width):
                for k in range(3):
                    x[row, k] = contacts.buffer[row, k]

"""Contacts of the vertices of a pack, as lists that are filled anew whenever contacts are detected.

Contacts join vertices that the colouring does not know of, perhaps two of one colour.  So a pack with contacts writes
its new positions to a buffer, and they become visible when all threads are done with the colour (VBD 3.9): no vertex
sees a half-finished colour, and the result does not depend on the threads.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numba import njit

from pliant.elements.contact import add_contact, contact_energy
from pliant.kernels.threads import share
from pliant.lanes import gather3, lane_sum, load, load3, number, width_of
from pliant.lanes.vectors import add_scaled, physics, subtract, sum_over_lanes, sum_symmetric_over_lanes

OTHERS = 3
CONSTANTS = 18
# places among the constants of an entry
WEIGHTS, OUTSIDE, POINT, MOTION, NORMAL = 0, 3, 4, 7, 10
THICKNESS, STIFFNESS, LIMIT, SHARE, TOGETHER = 13, 14, 15, 16, 17


class ContactRows(NamedTuple):
    """Contacts in the order of packs. A contact holds up to four vertices, and perhaps a point of an obstacle."""

    start: np.ndarray  # (packs + 1,) first entry of each pack's list
    others: np.ndarray  # flat (entries, 3, width) rows of the other vertices
    constants: np.ndarray  # flat (entries, CONSTANTS, width); zero in padding
    place: np.ndarray  # (contacts, 4) entry * width + lane of each vertex's entry, -1 where there is none
    rows: np.ndarray  # (contacts, 4) rows of the vertices, the first repeated where there are fewer
    weights: np.ndarray  # (contacts, 4)
    normals: np.ndarray  # (contacts, 3)
    outside: np.ndarray  # (contacts,) weight of the obstacle's point: -1 or 0
    points: np.ndarray  # (contacts, 3) of the obstacle [m]
    gaps: np.ndarray  # (contacts,) distance to be kept [m]
    grips: np.ndarray  # (contacts,) mu k [N/m]: the friction limit over the depth
    follows: np.ndarray  # (contacts,) 1 where the closest point is found anew in every iteration
    x_start: np.ndarray  # (rows, 4) positions at the start of the step
    buffer: np.ndarray  # (rows, 4) new positions of packs with contacts
    collided: np.ndarray  # (rows,) 1 for vertices that had a contact in this step
    slip: np.ndarray  # (1,) friction_speed h [m]
    damping: np.ndarray  # (1,) k_d / h of contacts


@physics
def _constant(contacts, k, i, like):
    return load(contacts.constants, (k * CONSTANTS + i) * width_of(like), like)


@physics
def _vector(contacts, k, i, like):
    return (
        _constant(contacts, k, i, like),
        _constant(contacts, k, i + 1, like),
        _constant(contacts, k, i + 2, like),
    )


@physics
def _separation_and_motion(p, x, xi, contacts, k):
    """Weight of the vertex itself, s and u of entry k."""
    width = width_of(xi[0])
    moved = subtract(xi, load3(contacts.x_start, p * width, xi[0]))
    outside = _constant(contacts, k, OUTSIDE, xi[0])
    s = subtract(_vector(contacts, k, POINT, xi[0]), xi)
    s = (outside * s[0], outside * s[1], outside * s[2])
    obstacle_motion = _vector(contacts, k, MOTION, xi[0])
    u = (outside * obstacle_motion[0], outside * obstacle_motion[1], outside * obstacle_motion[2])
    w = -outside
    for j in range(OTHERS):
        wj = _constant(contacts, k, WEIGHTS + j, xi[0])
        xj = gather3(x, contacts.others, (k * OTHERS + j) * width, xi[0])
        xj_start = gather3(contacts.x_start, contacts.others, (k * OTHERS + j) * width, xi[0])
        s = add_scaled(s, wj, subtract(xj, xi))
        u = add_scaled(u, wj, subtract(xj, xj_start))
        w = w - wj
    return w, s, add_scaled(u, w, moved)


@physics
def contact_force_and_hessian(p, x, xi, contacts, is_wide):
    """Sum over the contacts of the vertices of pack p."""
    z = number(0.0, xi[0])
    slip, damping = number(contacts.slip[0], z), number(contacts.damping[0], z)
    f, H = (z, z, z), (z, z, z, z, z, z)
    for k in range(contacts.start[p], contacts.start[p + 1]):
        w, s, u = _separation_and_motion(p, x, xi, contacts, k)
        n = _vector(contacts, k, NORMAL, z)
        thickness, stiffness = _constant(contacts, k, THICKNESS, z), _constant(contacts, k, STIFFNESS, z)
        limit = _constant(contacts, k, LIMIT, z)
        together = _constant(contacts, k, TOGETHER, z)
        f, H = add_contact(f, H, w, s, u, n, thickness, stiffness, limit, slip, damping, together)
    if is_wide:
        f, H = sum_over_lanes(f), sum_symmetric_over_lanes(H)
    return f, H


@physics
def contacts_energy(p, x, xi, contacts, is_wide, is_shared):
    """Energy of the contacts of pack p's vertices, were they at xi; is_shared: only a vertex's share of each."""
    z = number(0.0, xi[0])
    slip, damping = number(contacts.slip[0], z), number(contacts.damping[0], z)
    energy = z
    for k in range(contacts.start[p], contacts.start[p + 1]):
        _, s, u = _separation_and_motion(p, x, xi, contacts, k)
        n = _vector(contacts, k, NORMAL, z)
        thickness, stiffness = _constant(contacts, k, THICKNESS, z), _constant(contacts, k, STIFFNESS, z)
        limit = _constant(contacts, k, LIMIT, z)
        own = contact_energy(s, u, n, thickness, stiffness, limit, slip, damping)
        energy = energy + (own * _constant(contacts, k, SHARE, z) if is_shared else own)
    if is_wide:
        energy = lane_sum(energy)
    return energy


@njit(nogil=True, error_model="numpy", forceinline=True)
def refresh_contacts(thread, threads, x, contacts, width, closest):
    """Before an iteration: find closest points anew where they follow, and set the friction limit mu k d.

    closest: function of the four positions and the last normal that gives weights and normal.
    """
    # Arrays are taken out of the tuple once: each time is counted, and threads wait for each other at the count.
    rows, place, weights, normals = contacts.rows, contacts.place, contacts.weights, contacts.normals
    outside, points, gaps, grips = contacts.outside, contacts.points, contacts.gaps, contacts.grips
    constants, follows = contacts.constants, contacts.follows
    first, last = share(0, len(rows), thread, threads)
    for c in range(first, last):
        y = (_point(x, rows[c, 0]), _point(x, rows[c, 1]), _point(x, rows[c, 2]), _point(x, rows[c, 3]))
        if follows[c]:
            w, n = closest(y, _point(normals, c))
            for i in range(4):
                weights[c, i] = w[i]
            for axis in range(3):
                normals[c, axis] = n[axis]
            write_geometry(c, place, weights, normals, constants, width)
        if grips[c] > 0.0:
            limit = grips[c] * _depth(c, y, weights, normals, outside, points, gaps)
            for i in range(4):
                if place[c, i] >= 0:
                    constants[_at(place[c, i], LIMIT, width)] = limit


@njit(nogil=True, error_model="numpy", forceinline=True)
def _depth(c, y, weights, normals, outside, points, gaps):
    """d of Equation 12 [m], relative to the first vertex so that large coordinates cancel."""
    separation = 0.0
    for axis in range(3):
        s = outside[c] * (points[c, axis] - y[0][axis])
        for i in range(1, 4):
            s += weights[c, i] * (y[i][axis] - y[0][axis])
        separation += s * normals[c, axis]
    return max(0.0, gaps[c] - separation)


@njit(nogil=True, error_model="numpy", forceinline=True)
def _at(place, i, width):
    """Index of constant i of the entry at a place."""
    return ((place // width) * CONSTANTS + i) * width + place % width


@njit(nogil=True, error_model="numpy", forceinline=True)
def _point(x, row):
    return (np.float64(x[row, 0]), np.float64(x[row, 1]), np.float64(x[row, 2]))


@njit(nogil=True, error_model="numpy", forceinline=True)
def write_geometry(c, place, weights, normals, constants, width):
    """Normal, and weights of the other three vertices in cyclic order, into the entry of each vertex of contact c."""
    for i in range(4):
        if place[c, i] >= 0:
            entry, lane = place[c, i] // width, place[c, i] % width
            for j in range(OTHERS):
                constants[(entry * CONSTANTS + WEIGHTS + j) * width + lane] = weights[c, (i + 1 + j) % 4]
            for axis in range(3):
                constants[(entry * CONSTANTS + NORMAL + axis) * width + lane] = normals[c, axis]


@njit(nogil=True, error_model="numpy")
def show_buffered(x, contacts, first, last, width):
    """Make the new positions of packs first..last with contacts visible."""
    for p in range(first, last):
        if contacts.start[p + 1] > contacts.start[p]:
            for row in range(p * width, (p + 1) * width):
                for k in range(3):
                    x[row, k] = contacts.buffer[row, k]


@njit(cache=True, nogil=True)
def count_entries(vertices, row_of_vertex, is_wide, width, counts, start):
    """Entries of each pack (start, packs + 1) for contacts of vertices (c, 4), -1 for none; counts (rows,): scratch."""
    counts[:] = 0
    moving = len(is_wide) * width
    for c in range(len(vertices)):
        for i in range(4):
            if vertices[c, i] >= 0 and row_of_vertex[vertices[c, i]] < moving:
                counts[row_of_vertex[vertices[c, i]]] += 1
    start[0] = 0
    for p in range(len(is_wide)):
        longest = 0
        if is_wide[p]:
            longest = -(-counts[p * width] // width)
        else:
            for lane in range(width):
                longest = max(longest, counts[p * width + lane])
        start[p + 1] = start[p] + longest


@njit(cache=True, nogil=True)
def fill_entries(vertices, numbers, row_of_vertex, packs_wide, colour_of_pack, width, filled, contacts):
    """Write all contacts into the lists; numbers (c, CONSTANTS - 4): from OUTSIDE on; filled (rows,) is scratch.

    Vertices (c, 4) of the scene, -1 for none; `contacts` has its arrays sized, and weights and normals filled. Rows of
    missing vertices repeat the first: their weight is zero. colour_of_pack (packs,): packs of one colour move at the
    same time; all different where it does not matter.
    """
    start, others, constants = contacts.start, contacts.others, contacts.constants
    place, rows, collided = contacts.place, contacts.rows, contacts.collided
    weights, normals = contacts.weights, contacts.normals
    filled[:] = 0
    for c in range(len(vertices)):
        for i in range(4):
            rows[c, i] = row_of_vertex[vertices[c, i] if vertices[c, i] >= 0 else vertices[c, 0]]
        for i in range(4):
            place[c, i] = -1
            row = rows[c, i]
            pack, lane = row // width, row % width
            if vertices[c, i] < 0 or pack >= len(packs_wide):
                continue
            k = filled[row]
            filled[row] += 1
            if packs_wide[pack]:
                k, lane = k // width, k % width
            k += start[pack]
            place[c, i] = k * width + lane
            collided[row] = 1
            for j in range(OTHERS):
                others[(k * OTHERS + j) * width + lane] = rows[c, (i + 1 + j) % 4]
            for number_index in range(TOGETHER - OUTSIDE):
                constants[(k * CONSTANTS + OUTSIDE + number_index) * width + lane] = numbers[c, number_index]
            together = 0
            for j in range(4):
                other = rows[c, j] // width
                if vertices[c, j] >= 0 and other < len(packs_wide):
                    together += j == i or (colour_of_pack[other] == colour_of_pack[pack] and colour_of_pack[pack] >= 0)
            constants[(k * CONSTANTS + TOGETHER) * width + lane] = together
        write_geometry(c, place, weights, normals, constants, width)
    for p in range(len(packs_wide)):
        for lane in range(width):
            taken = filled[p * width] if packs_wide[p] else filled[p * width + lane]
            first = (taken - lane + width - 1) // width if packs_wide[p] else taken
            for k in range(start[p] + first, start[p + 1]):
                leave_empty(k, p, lane, others, constants, width)


@njit(nogil=True, forceinline=True)
def leave_empty(k, pack, lane, others, constants, width):
    """A place in entry k that no contact takes: its weights are zero."""
    for j in range(OTHERS):
        others[(k * OTHERS + j) * width + lane] = pack * width + lane
    for i in range(CONSTANTS):
        constants[(k * CONSTANTS + i) * width + lane] = 0

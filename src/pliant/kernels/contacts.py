"""Contacts of the vertices of a pack, as lists that are filled anew whenever contacts are detected.

A vertex that touches an obstacle has its numbers in its own lane.  A contact of four vertices has one record, which all
four read: it is found anew in every iteration, and would else be written to four places.  Few vertices of a pack may
have many such contacts, so they fill lanes in any order, and what they give is added to the rows of their vertices.

Contacts join vertices that the colouring does not know of, perhaps two of one colour.  So a pack with such contacts
writes its new positions to a buffer, and they become visible when all threads are done with the colour (VBD 3.9): no
vertex sees a half-finished colour, and the result does not depend on the threads.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numba import njit

from pliant.kernels.threads import share

OTHERS = 3
# Numbers of an entry of a pack's list: which corner of the contact a vertex is, as two bits; how many of them move at
# the same time.
LOW_BIT, HIGH_BIT, COLOUR_MULTIPLICITY = 0, 1, 2
CONSTANTS = 3
# Numbers of a contact with an obstacle: its point, s at the start of the step, the normal.
POINT, START, NORMAL, GAP, LIMIT = 0, 3, 6, 9, 10
VERTEX_OBSTACLE_CONSTANTS = 11


class ContactRows(NamedTuple):
    """Contacts in the order of packs: of a vertex vertex_obstacle with a point of an obstacle, and of four vertices."""

    vertex_obstacle_start: np.ndarray  # (packs + 1,) first entry of each pack's list of obstacles
    vertex_obstacle: np.ndarray  # flat (entries, VERTEX_OBSTACLE_CONSTANTS, width); zero in padding
    place: np.ndarray  # (contacts,) entry * width + lane with an obstacle, -1 for others
    start: np.ndarray  # (packs + 1,) first entry of each pack's list of contacts with other vertices
    own: np.ndarray  # flat (entries, width) four times the row of the vertex
    others: np.ndarray  # flat (entries, 3, width) four times the rows of the others, in cyclic order after it
    record: np.ndarray  # flat (entries, width) four times the contact's number; that of an empty one in padding
    constants: np.ndarray  # flat (entries, CONSTANTS, width)
    normal_rows: np.ndarray  # (contacts + 1, 4) normal and friction limit mu k d [N]
    start_rows: np.ndarray  # (contacts + 1, 4) s at the start of the step [m] and the distance to be kept [m]
    weight_rows: np.ndarray  # (contacts + 1, 4) weights
    rows: np.ndarray  # (contacts, 4) rows of the vertices, the first repeated where there are fewer
    weights: np.ndarray  # (contacts, 4)
    normals: np.ndarray  # (contacts, 3)
    points: np.ndarray  # (contacts, 3) of the obstacle [m]
    gaps: np.ndarray  # (contacts,) distance to be kept [m]
    grips: np.ndarray  # (contacts,) mu k [N/m]: the friction limit over the depth
    follows: np.ndarray  # (contacts,) 1 where the closest point is found anew in every iteration
    x_prev: np.ndarray  # (rows, 4) positions at the start of the step
    buffer: np.ndarray  # (rows, 4) new positions of packs with contacts
    forces: np.ndarray  # (rows, 4) of contacts with other vertices: scratch
    upper: np.ndarray  # (rows, 4) first half of their Hessian blocks: xx, xy, xz
    lower: np.ndarray  # (rows, 4) second half: yy, yz, zz
    collided: np.ndarray  # (rows,) 1 for vertices that had a contact in this step
    stiffness: np.ndarray  # (1,) k [N/m]
    slip: np.ndarray  # (1,) friction_speed h [m]
    damping: np.ndarray  # (1,) k_d / h of contacts


@njit(nogil=True, error_model="numpy", forceinline=True)
def refresh_contacts(thread, threads, x, contacts, width, closest):
    """Before an iteration: find closest points anew where they follow, and set the friction limit mu k d.

    closest: function of the four positions and the last normal that gives weights and normal.
    """
    # Arrays are taken out of the tuple once: each time is counted, and threads wait for each other at the count.
    rows, place, weights, normals = contacts.rows, contacts.place, contacts.weights, contacts.normals
    points, gaps, grips, follows = contacts.points, contacts.gaps, contacts.grips, contacts.follows
    vertex_obstacle, x_prev = contacts.vertex_obstacle, contacts.x_prev
    records = (contacts.normal_rows, contacts.start_rows, contacts.weight_rows)
    first, last = share(0, len(rows), thread, threads)
    for c in range(first, last):
        if place[c] >= 0:
            if grips[c] > 0.0:
                depth = gaps[c] - _along(_point(normals, c), _less(_point(x, rows[c, 0]), _point(points, c)))
                vertex_obstacle[_at(place[c], LIMIT, width)] = grips[c] * max(0.0, depth)
            continue
        y = _four(x, rows, c)
        if follows[c]:
            w, n = closest(y, _point(normals, c))
            for i in range(4):
                weights[c, i] = w[i]
            for axis in range(3):
                normals[c, axis] = n[axis]
            write_record(c, rows, weights, normals, x_prev, records)
        if grips[c] > 0.0:
            depth = gaps[c] - _along(_point(normals, c), _separation(y, weights, c))
            records[0][c, 3] = grips[c] * max(0.0, depth)


@njit(nogil=True, error_model="numpy", forceinline=True)
def write_record(c, rows, weights, normals, x_prev, records):
    """Normal, s at the start of the step, and weights of a contact of four vertices."""
    normal_rows, start_rows, weight_rows = records
    y = _four(x_prev, rows, c)
    s = _separation(y, weights, c)
    for axis in range(3):
        normal_rows[c, axis], start_rows[c, axis] = normals[c, axis], s[axis]
    for i in range(4):
        weight_rows[c, i] = weights[c, i]


@njit(nogil=True, error_model="numpy", forceinline=True)
def _separation(y, weights, c):
    """s [m] of four positions, relative to the first so that large coordinates cancel."""
    a, b, d = _less(y[1], y[0]), _less(y[2], y[0]), _less(y[3], y[0])
    u, v, w = weights[c, 1], weights[c, 2], weights[c, 3]
    return (u * a[0] + v * b[0] + w * d[0], u * a[1] + v * b[1] + w * d[1], u * a[2] + v * b[2] + w * d[2])


@njit(nogil=True, error_model="numpy", forceinline=True)
def _less(a, b):
    return (a[0] - b[0], a[1] - b[1], a[2] - b[2])


@njit(nogil=True, error_model="numpy", forceinline=True)
def _along(n, s):
    return n[0] * s[0] + n[1] * s[1] + n[2] * s[2]


@njit(nogil=True, error_model="numpy", forceinline=True)
def _at(place, i, width):
    """Index of constant i of a contact with an obstacle."""
    return ((place // width) * VERTEX_OBSTACLE_CONSTANTS + i) * width + place % width


@njit(nogil=True, error_model="numpy", forceinline=True)
def _point(x, row):
    return (np.float64(x[row, 0]), np.float64(x[row, 1]), np.float64(x[row, 2]))


@njit(nogil=True, error_model="numpy", forceinline=True)
def _four(x, rows, c):
    return (_point(x, rows[c, 0]), _point(x, rows[c, 1]), _point(x, rows[c, 2]), _point(x, rows[c, 3]))


@njit(cache=True, nogil=True)
def count_entries(rows, is_vertex_obstacle, is_wide, width, counts, vertex_obstacle_start, start):
    """Entries of each pack: for its obstacles (vertex_obstacle_start) and for its other contacts (start), each
    (packs + 1,).

    rows (c, 4); counts (rows,): scratch, obstacles of each row.
    """
    counts[:] = 0
    vertex_obstacle_start[:] = 0
    start[:] = 0
    packs = len(is_wide)
    for c in range(len(rows)):
        if is_vertex_obstacle[c]:
            if rows[c, 0] < packs * width:
                counts[rows[c, 0]] += 1
            continue
        for i in range(4):
            if rows[c, i] < packs * width:
                start[rows[c, i] // width + 1] += 1
    for p in range(packs):
        longest = 0
        if is_wide[p]:
            longest = -(-counts[p * width] // width)
        else:
            for lane in range(width):
                longest = max(longest, counts[p * width + lane])
        vertex_obstacle_start[p + 1] = vertex_obstacle_start[p] + longest
        start[p + 1] = start[p] + -(-start[p + 1] // width)


@njit(cache=True, nogil=True)
def fill_vertex_obstacle(is_vertex_obstacle, contacts, is_wide, width, limits, motions, filled):
    """Contacts with obstacles, which have moved by motions (c, 3) [m], into lanes; filled (rows,) is scratch."""
    rows, place, vertex_obstacle, collided = contacts.rows, contacts.place, contacts.vertex_obstacle, contacts.collided
    normals, points, x_prev, gaps = contacts.normals, contacts.points, contacts.x_prev, contacts.gaps
    filled[:] = 0
    vertex_obstacle[: contacts.vertex_obstacle_start[-1] * VERTEX_OBSTACLE_CONSTANTS * width] = 0
    for c in range(len(rows)):
        place[c] = -1
        row = rows[c, 0]
        pack, lane = row // width, row % width
        if not is_vertex_obstacle[c] or pack >= len(is_wide):
            continue
        k = filled[row]
        filled[row] += 1
        if is_wide[pack]:
            k, lane = k // width, k % width
        k += contacts.vertex_obstacle_start[pack]
        place[c] = k * width + lane
        collided[row] = 1
        at = k * VERTEX_OBSTACLE_CONSTANTS * width + lane
        for axis in range(3):
            vertex_obstacle[at + (POINT + axis) * width] = points[c, axis]
            rounded = vertex_obstacle[at + (POINT + axis) * width]
            vertex_obstacle[at + (START + axis) * width] = x_prev[row, axis] - rounded + motions[c, axis]
            vertex_obstacle[at + (NORMAL + axis) * width] = normals[c, axis]
        vertex_obstacle[at + GAP * width], vertex_obstacle[at + LIMIT * width] = gaps[c], limits[c]


@njit(cache=True, nogil=True)
def fill_entries(is_vertex_obstacle, contacts, packs_wide, colour_of_pack, width, filled):
    """Contacts of four vertices into the lists of each of them; filled (packs,) is scratch.

    colour_of_pack (packs,): packs of one colour move at the same time; all different where it does not matter.
    """
    rows, own, others, record = contacts.rows, contacts.own, contacts.others, contacts.record
    constants, collided, start = contacts.constants, contacts.collided, contacts.start
    packs = len(packs_wide)
    filled[:] = 0
    for c in range(len(rows)):
        if is_vertex_obstacle[c]:
            continue
        for i in range(4):
            row = rows[c, i]
            pack = row // width
            if pack >= packs:
                continue
            k, lane = start[pack] + filled[pack] // width, filled[pack] % width
            filled[pack] += 1
            collided[row] = 1
            own[k * width + lane], record[k * width + lane] = 4 * row, 4 * c
            for j in range(OTHERS):
                others[(k * OTHERS + j) * width + lane] = 4 * rows[c, (i + 1 + j) % 4]
            colour_multiplicity = 0
            for j in range(4):
                other = rows[c, j] // width
                if other < packs:
                    colour_multiplicity += j == i or (
                        colour_of_pack[other] == colour_of_pack[pack] and colour_of_pack[pack] >= 0
                    )
            constants[(k * CONSTANTS + LOW_BIT) * width + lane] = i % 2
            constants[(k * CONSTANTS + HIGH_BIT) * width + lane] = i // 2
            constants[(k * CONSTANTS + COLOUR_MULTIPLICITY) * width + lane] = colour_multiplicity
    for p in range(packs):
        for place in range(start[p] * width + filled[p], start[p + 1] * width):
            leave_empty(place, p, len(rows), own, others, record, constants, width)


@njit(nogil=True, forceinline=True)
def leave_empty(place, pack, nothing, own, others, record, constants, width):
    """A place that no contact takes: it reads the record that is zero."""
    k, lane = place // width, place % width
    own[place], record[place] = 4 * pack * width, 4 * nothing
    for j in range(OTHERS):
        others[(k * OTHERS + j) * width + lane] = 4 * pack * width
    for i in range(CONSTANTS):
        constants[(k * CONSTANTS + i) * width + lane] = 0


@njit(cache=True, nogil=True, error_model="numpy")
def fill_records(is_vertex_obstacle, contacts, limits):
    """Records of contacts of four vertices, with friction limits (c,) [N], and the empty one."""
    records = (contacts.normal_rows, contacts.start_rows, contacts.weight_rows)
    normal_rows, start_rows, weight_rows = records
    normal_rows[-1], start_rows[-1], weight_rows[-1] = 0, 0, 0
    for c in range(len(is_vertex_obstacle)):
        if is_vertex_obstacle[c]:
            normal_rows[c], start_rows[c], weight_rows[c] = 0, 0, 0
            continue
        write_record(c, contacts.rows, contacts.weights, contacts.normals, contacts.x_prev, records)
        normal_rows[c, 3], start_rows[c, 3] = limits[c], contacts.gaps[c]

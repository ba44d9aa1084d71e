"""Contacts of the vertices of a pack, as lists that are filled again whenever contacts are detected.

A vertex that touches an obstacle has its numbers in its own lane.  A contact of up to four vertices has one record,
which all of them read: it changes in every iteration, and would otherwise be written to four places.  Few vertices of
a pack may have many such contacts, so they fill lanes in any order, and what they give is added to the rows of their
vertices.

Contacts join vertices that the colouring does not know of, perhaps two of one colour.  So a pack with such contacts
writes its new positions to a buffer, and they become visible when all threads are done with the colour (VBD 3.9): no
vertex sees a half-finished colour, and the result does not depend on the threads.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from pliant.kernels.contact_refresh import refresh_block, refresh_contact, refresh_held_block
from pliant.kernels.threads import share
from pliant.lanes import width_of
from pliant.lanes.compiled import lower_bound
from pliant.lanes.entry import entry
from pliant.lanes.inner import inner
from pliant.lanes.vectors import physics

OTHERS = 3
# Numbers of an entry of a pack's list: which corner of the contact a vertex is, as two bits; how many of its vertices
# have the same colour; its stiffness.
LOW_BIT, HIGH_BIT, COLOUR_MULTIPLICITY, PAIR_STIFFNESS = 0, 1, 2, 3
CONSTANTS = 4
# Numbers of a contact with an obstacle: its point, s at the start of the step, the normal.
POINT, PREV, NORMAL, THICKNESS, LIMIT, STIFFNESS = 0, 3, 6, 9, 10, 11
OBSTACLE_CONSTANTS = 12
# Blocks of contacts: all are of `refresh_block`, all of `refresh_held_block`, or neither.
MIXED, FOLLOWING, HELD = 0, 1, 2


class ContactRows(NamedTuple):
    """A ContactSet in the order of packs: contacts of a vertex with an obstacle, and of four vertices."""

    vertex_obstacle_start: np.ndarray  # (packs + 1,) first entry of each pack's list of obstacles
    vertex_obstacle: np.ndarray  # flat (entries, OBSTACLE_CONSTANTS, width); zero in padding
    place: np.ndarray  # (contacts,) entry * width + lane with an obstacle, -1 for others
    start: np.ndarray  # (packs + 1,) first entry of each pack's list of contacts with other vertices
    own: np.ndarray  # flat (entries, width) four times the row of the vertex
    others: np.ndarray  # flat (entries, 3, width) four times the rows of the others, in cyclic order after it
    record: np.ndarray  # flat (entries, width) four times the contact's number; that of an empty one in padding
    constants: np.ndarray  # flat (entries, CONSTANTS, width)
    normal_rows: np.ndarray  # (contacts + 1, 4) normal and friction limit mu k d [N]
    prev_rows: np.ndarray  # (contacts + 1, 4) s at the start of the step [m] and the thickness [m]
    weight_rows: np.ndarray  # (contacts + 1, 4) weights
    anchor_rows: np.ndarray  # (contacts + 1, 4) the obstacle's point [m] and 1, or zero where there is none
    has_anchors: np.ndarray  # (1,) uint8: whether any has an obstacle
    rows: np.ndarray  # (contacts, 4) rows of the vertices, the first repeated where there are fewer
    corners: np.ndarray  # flat (blocks, 4, width) four times these rows, of blocks of `width` contacts
    in_lanes: np.ndarray  # (blocks,) int8 FOLLOWING, HELD or MIXED
    sides: np.ndarray  # (contacts,) of the triangles
    contacts: Any  # the ContactSet
    x_prev: np.ndarray  # (rows, 4) positions at the start of the step
    buffer: np.ndarray  # (rows, 4) new positions of packs with contacts
    forces: np.ndarray  # (rows, 4) of contacts with other vertices: scratch
    upper: np.ndarray  # (rows, 4) first half of their Hessian blocks: xx, xy, xz
    lower: np.ndarray  # (rows, 4) second half: yy, yz, zz
    collided: np.ndarray  # (rows,) 1 for vertices that had a contact in this step
    origin: np.ndarray  # (3,) [m] of the rows' positions, in double precision
    slip: np.ndarray  # (1,) friction_speed h [m]
    damping: np.ndarray  # (1,) k_d / h of contacts
    compliance: np.ndarray  # (1,) 1 / K [m/N] of hard contacts, infinite for others
    visits: np.ndarray  # (1,) how often contacts of a vertex are asked in an iteration, at most
    ways: np.ndarray  # (rows, 4) from vertices of packs with contacts to their targets [m], for hard ones: scratch


@physics
def refresh_contacts(thread, threads, x, table, like):
    """Before an iteration: refresh all contacts at x (rows, 4), and copy what has changed to where lanes read it; like:
    a number of the kernel's kind.

    Blocks of contacts are shared, whatever the number of threads, so that each is refreshed by the same instructions.
    """
    width = width_of(like)
    first, last = share(0, (len(table.rows) + width - 1) // width, thread, threads)
    for block in range(first, last):
        if table.in_lanes[block] == FOLLOWING:
            refresh_block(block, x, table, like)
        elif table.in_lanes[block] == HELD:
            refresh_held_block(block, x, table, like)
        else:
            for c in range(block * width, min((block + 1) * width, len(table.rows))):
                _refresh_one(c, x, table, width)


@inner(nogil=True, error_model="numpy", forceinline=True, _nrt=False)
def _refresh_one(c, x, table, width):
    contacts, rows, place = table.contacts, table.rows, table.place
    has_friction, is_moving = contacts.friction[c] > 0.0, contacts.updates_closest_point[c]
    if not (has_friction or is_moving):
        return
    refresh_contact(c, _placed(_four(x, rows, c), table.origin), contacts)
    if place[c] >= 0:
        table.vertex_obstacle[_at(place[c], LIMIT, width)] = contacts.friction_limit[c]
        return
    if is_moving:
        records = (table.normal_rows, table.prev_rows, table.weight_rows, table.anchor_rows)
        write_record(c, rows, contacts, table.x_prev, table.origin, records)
    table.normal_rows[c, 3] = contacts.friction_limit[c]


@inner(nogil=True, error_model="numpy", forceinline=True, _nrt=False)
def write_record(c, rows, contacts, x_prev, origin, records):
    """Normal, s at the start of the step, weights and the obstacle's point of a contact of up to four vertices."""
    normal_rows, prev_rows, weight_rows, anchor_rows = records
    y = _four(x_prev, rows, c)
    s = _separation(y, contacts.weights, c)
    has_anchor = contacts.obstacle[c] >= 0
    anchor_rows[c, 3] = 1 if has_anchor else 0
    for axis in range(3):
        normal_rows[c, axis], prev_rows[c, axis], anchor_rows[c, axis] = contacts.normals[c, axis], s[axis], 0
        if has_anchor:
            anchor_rows[c, axis] = contacts.points[c, axis] - origin[axis]
            prev_rows[c, axis] += y[0][axis] - anchor_rows[c, axis] + contacts.motions[c, axis]
        prev_rows[c, axis] -= contacts.tangential_shift[c, axis]
    for i in range(4):
        weight_rows[c, i] = contacts.weights[c, i]


@inner(nogil=True, error_model="numpy", forceinline=True, _nrt=False)
def _is_repeated(rows, c, i):
    """Whether a corner only fills a place: a contact has fewer than four."""
    for j in range(i):  # noqa: SIM110 (a loop compiles, any() over a generator does not)
        if rows[c, i] == rows[c, j]:
            return True
    return False


@inner(nogil=True, error_model="numpy", forceinline=True, _nrt=False)
def _separation(y, weights, c):
    """s [m] of four positions, relative to the first so that large coordinates cancel."""
    a, b, d = _less(y[1], y[0]), _less(y[2], y[0]), _less(y[3], y[0])
    u, v, w = weights[c, 1], weights[c, 2], weights[c, 3]
    return (u * a[0] + v * b[0] + w * d[0], u * a[1] + v * b[1] + w * d[1], u * a[2] + v * b[2] + w * d[2])


@inner(nogil=True, error_model="numpy", forceinline=True, _nrt=False)
def _placed(y, origin):
    """Four positions in space, of those relative to the origin."""
    o = (-origin[0], -origin[1], -origin[2])
    return (_less(y[0], o), _less(y[1], o), _less(y[2], o), _less(y[3], o))


@inner(nogil=True, error_model="numpy", forceinline=True, _nrt=False)
def _less(a, b):
    return (a[0] - b[0], a[1] - b[1], a[2] - b[2])


@inner(nogil=True, error_model="numpy", forceinline=True, _nrt=False)
def _at(place, i, width):
    """Index of constant i of a contact with an obstacle."""
    return ((place // width) * OBSTACLE_CONSTANTS + i) * width + place % width


@inner(nogil=True, error_model="numpy", forceinline=True, _nrt=False)
def _point(x, row):
    return (np.float64(x[row, 0]), np.float64(x[row, 1]), np.float64(x[row, 2]))


@inner(nogil=True, error_model="numpy", forceinline=True, _nrt=False)
def _four(x, rows, c):
    return (_point(x, rows[c, 0]), _point(x, rows[c, 1]), _point(x, rows[c, 2]), _point(x, rows[c, 3]))


@entry(nogil=True)
def count_entries(rows, has_obstacle, is_wide, width, counts, vertex_obstacle_start, start):
    """Entries of each pack: for its obstacles (vertex_obstacle_start) and for its other contacts (start), both
    (packs + 1,).

    rows (c, 4); counts (rows,): scratch, obstacles of each row.
    """
    counts[:] = 0
    vertex_obstacle_start[:] = 0
    start[:] = 0
    packs = len(is_wide)
    for c in range(len(rows)):
        if has_obstacle[c]:
            if rows[c, 0] < packs * width:
                counts[rows[c, 0]] += 1
            continue
        for i in range(4):
            if rows[c, i] < packs * width and not _is_repeated(rows, c, i):
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


@entry(nogil=True)
def fill_vertex_obstacle(has_obstacle, table, is_wide, width, filled):
    """Contacts with obstacles into lanes; filled (rows,) is scratch."""
    rows, place, lanes, collided = table.rows, table.place, table.vertex_obstacle, table.collided
    contacts, x_prev = table.contacts, table.x_prev
    normals, points, motions = contacts.normals, contacts.points, contacts.motions
    filled[:] = 0
    lanes[: table.vertex_obstacle_start[-1] * OBSTACLE_CONSTANTS * width] = 0
    for c in range(len(rows)):
        place[c] = -1
        row = rows[c, 0]
        pack, lane = row // width, row % width
        if not has_obstacle[c] or pack >= len(is_wide):
            continue
        k = filled[row]
        filled[row] += 1
        if is_wide[pack]:
            k, lane = k // width, k % width
        k += table.vertex_obstacle_start[pack]
        place[c] = k * width + lane
        collided[row] = 1
        at = k * OBSTACLE_CONSTANTS * width + lane
        for axis in range(3):
            lanes[at + (POINT + axis) * width] = points[c, axis] - table.origin[axis]
            rounded = lanes[at + (POINT + axis) * width]
            prev = x_prev[row, axis] - rounded + motions[c, axis]
            lanes[at + (PREV + axis) * width] = prev - contacts.tangential_shift[c, axis]
            lanes[at + (NORMAL + axis) * width] = normals[c, axis]
        lanes[at + THICKNESS * width], lanes[at + LIMIT * width] = contacts.thickness[c], contacts.friction_limit[c]
        lanes[at + STIFFNESS * width] = contacts.stiffness[c]


@entry(nogil=True, error_model="numpy", _nrt=False)
def fill_entries(thread, threads, barrier, has_obstacle, table, packs_wide, colour_of_pack, width, filled):
    """Contacts of several vertices into the lists of each of them; filled (packs,) is scratch.

    colour_of_pack (packs,): packs of one colour move at the same time; all different where it does not matter. Each
    thread looks at all contacts, and fills the lists of packs of its own, which have about as many entries as others'.
    """
    start, packs = table.start, len(packs_wide)
    first = lower_bound(start, start[packs] * thread // threads)
    last = lower_bound(start, start[packs] * (thread + 1) // threads) if thread + 1 < threads else packs
    for p in range(first, last):
        filled[p] = 0
    for c in range(len(has_obstacle)):
        if not has_obstacle[c]:
            fill_entries_of(np.uint64(c), first, last, table, packs, colour_of_pack, width, filled)
    for p in range(first, last):
        for place in range(start[p] * width + filled[p], start[p + 1] * width):
            leave_empty(place, p, len(has_obstacle), table.own, table.others, table.record, table.constants, width)


@inner(nogil=True, error_model="numpy", forceinline=True, _nrt=False)
def fill_entries_of(c, first, last, table, packs, colour_of_pack, width, filled):
    """The entries of contact c in the lists of packs from first to last."""
    rows, own, others, record, constants = table.rows, table.own, table.others, table.record, table.constants
    for i in range(4):
        row = rows[c, i]
        pack = row // width
        if pack < first or pack >= last or _is_repeated(rows, c, i):
            continue
        k, lane = table.start[pack] + filled[pack] // width, filled[pack] % width
        filled[pack] += 1
        table.collided[row] = 1
        own[k * width + lane], record[k * width + lane] = 4 * row, 4 * c
        for j in range(OTHERS):
            others[(k * OTHERS + j) * width + lane] = 4 * rows[c, (i + 1 + j) % 4]
        multiplicity = 0
        for j in range(4):
            other = rows[c, j] // width
            if other < packs and not _is_repeated(rows, c, j):
                is_same = colour_of_pack[other] == colour_of_pack[pack] and colour_of_pack[pack] >= 0
                multiplicity += j == i or is_same
        constants[(k * CONSTANTS + LOW_BIT) * width + lane] = i % 2
        constants[(k * CONSTANTS + HIGH_BIT) * width + lane] = i // 2
        constants[(k * CONSTANTS + COLOUR_MULTIPLICITY) * width + lane] = multiplicity
        constants[(k * CONSTANTS + PAIR_STIFFNESS) * width + lane] = table.contacts.stiffness[c]


@inner(nogil=True, forceinline=True)
def leave_empty(place, pack, nothing, own, others, record, constants, width):
    """A place that no contact takes: it reads the record that is zero."""
    k, lane = place // width, place % width
    own[place], record[place] = 4 * pack * width, 4 * nothing
    for j in range(OTHERS):
        others[(k * OTHERS + j) * width + lane] = 4 * pack * width
    for i in range(CONSTANTS):
        constants[(k * CONSTANTS + i) * width + lane] = 0


@entry(nogil=True, error_model="numpy", _nrt=False)
def fill_records(thread, threads, barrier, has_obstacle, table):
    """Records of contacts of several vertices, and the empty one."""
    contacts, rows, x_prev = table.contacts, table.rows, table.x_prev
    records = (table.normal_rows, table.prev_rows, table.weight_rows, table.anchor_rows)
    normal_rows, prev_rows, weight_rows, anchor_rows = records
    first, last = share(0, len(has_obstacle) + 1, thread, threads)
    for c in range(first, last):
        if c == len(has_obstacle) or has_obstacle[c]:
            for i in range(4):
                normal_rows[c, i], prev_rows[c, i], weight_rows[c, i], anchor_rows[c, i] = 0, 0, 0, 0
            continue
        write_record(c, rows, contacts, x_prev, table.origin, records)
        normal_rows[c, 3], prev_rows[c, 3] = contacts.friction_limit[c], contacts.thickness[c]

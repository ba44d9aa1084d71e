"""Hard contacts of rigid bodies with each other and with what is held, in the bodies' own axes (decision 0075).

A contact acts between a point of one body and a point of another, or a place in space: its arms are sums over its
vertices of weights times offsets. Seen by a body it is one row across the surface and two along it,

    s = (p_a + R_a r_a) - (p_b + R_b r_b),    d = thickness - s . n,    force = k max(0, d) n - c t

with c = min(k, limit / |t|) of the motion t along the surface (elements.contact, slip 0), all in double precision.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from pliant.elements.closest import EDGE_EDGE, closest_separation, positions_of, row
from pliant.geometry.components import join
from pliant.kernels.contact_refresh import refresh_contact
from pliant.lanes.inner import inner
from pliant.lanes.vectors import add_scaled

# Columns of a contact's numbers, four by four as lanes read them: the normal and the thickness; s at the start of the
# step less the shift of friction, and the friction limit; arms of both sides [m], or places in space of sides that are
# held, and how far along the normal each would be without contact [m]; where both points are now [m], and with each the
# stiffness; multipliers; the shift and the coefficient of friction.
NORMAL, THICKNESS, PREV, LIMIT, ARM, GOAL, OTHER_ARM, OTHER_GOAL = 0, 3, 4, 7, 8, 11, 12, 15
PLACE, STIFFNESS, OTHER_PLACE, OTHER_STIFFNESS, RUBBED, PRESSED, SHIFT, FRICTION = 16, 19, 20, 23, 24, 27, 28, 31
COLUMNS = 32
MOST_COLOURS = 64
# Of the way from a multiplier to the force that is felt it goes all in the first iterations of a step, then a part, and
# less and less: with all of it, some steps end in a cycle of two and more (decision 0075).
WHOLE_STRIDES, STRIDE, LONG_STRIDES = 12, 0.8, 20.0

inlined = inner(nogil=True, error_model="numpy", forceinline=True, _nrt=False)


class RigidContacts(NamedTuple):
    """k contacts of b bodies."""

    contacts: object  # the ContactSet
    first: np.ndarray  # (k,) the body of the first side, -1 for what is held
    second: np.ndarray  # (k,) and of the second
    numbers: np.ndarray  # (k padded, COLUMNS)
    start: np.ndarray  # (b + 1,) first of a body's entries
    entries: np.ndarray  # (2 k,) 2 c, or 2 c + 1 for the second side
    order: np.ndarray  # (b,) bodies colour after colour: those of one colour do not touch each other
    sorted: np.ndarray  # (b,) scratch
    colour_start: np.ndarray  # (MOST_COLOURS + 1,)
    joined_start: np.ndarray  # (b + 1,) first of the bodies that elements join with each
    joined: np.ndarray  # which they are
    island: np.ndarray  # (b,) the lowest number of a body that contacts join it with, step by step
    compliance: np.ndarray  # (1,) 1 / K [m/N]
    refreshes: np.ndarray  # (1,) whether closest points of some change with the positions


@inlined
def turned(R, b, v):
    """R v of body b, R (b, 9)."""
    return (
        R[b, 0] * v[0] + R[b, 1] * v[1] + R[b, 2] * v[2],
        R[b, 3] * v[0] + R[b, 4] * v[1] + R[b, 5] * v[2],
        R[b, 6] * v[0] + R[b, 7] * v[1] + R[b, 8] * v[2],
    )


@inlined
def three(numbers, c, at):
    return (numbers[c, at], numbers[c, at + 1], numbers[c, at + 2])


@inlined
def place_of(body, arm, poses, R):
    """A point of a body, or a place in space [m]."""
    if body < 0:
        return arm
    a = turned(R, body, arm)
    return (poses[body, 0] + a[0], poses[body, 1] + a[1], poses[body, 2] + a[2])


@inlined
def separation(c, numbers):
    """s [m] of contact c."""
    a, b = three(numbers, c, PLACE), three(numbers, c, OTHER_PLACE)
    return (a[0] - b[0], a[1] - b[1], a[2] - b[2])


@inlined
def write_place(c, at, arm, body, numbers, poses, R):
    """Where one side of contact c is now."""
    place = place_of(body, three(numbers, c, arm), poses, R)
    numbers[c, at], numbers[c, at + 1], numbers[c, at + 2] = place


@inlined
def write_places(c, table, bodies):
    """Where both sides of contact c are now, and where they would be without contact."""
    numbers, n = table.numbers, three(table.numbers, c, NORMAL)
    write_place(c, PLACE, ARM, table.first[c], numbers, bodies.poses, bodies.R)
    write_place(c, OTHER_PLACE, OTHER_ARM, table.second[c], numbers, bodies.poses, bodies.R)
    goal = place_of(table.first[c], three(numbers, c, ARM), bodies.targets, bodies.target_R)
    numbers[c, GOAL] = goal[0] * n[0] + goal[1] * n[1] + goal[2] * n[2]
    goal = place_of(table.second[c], three(numbers, c, OTHER_ARM), bodies.targets, bodies.target_R)
    numbers[c, OTHER_GOAL] = goal[0] * n[0] + goal[1] * n[1] + goal[2] * n[2]


@inlined
def write_side(k, at, c, from_, to, sign, body, weights, corners, rows, offsets, x, numbers):
    """The arm of one side of contact c, from its corners (contacts, 4): in the axes of their body, or in space; k: its
    row of numbers.
    """
    total = (0.0, 0.0, 0.0)
    for i in range(4):
        w = weights[c, i]
        if from_ <= i < to and w != 0.0:
            v = corners[c, i]
            place = row(x, v) if body < 0 else row(offsets, rows[np.uint64(v)])
            total = add_scaled(total, sign * w, place)
    numbers[k, at], numbers[k, at + 1], numbers[k, at + 2] = total


@inlined
def middle_of(contacts, c):
    """The first vertex of the second side."""
    if contacts.obstacle[c] >= 0:
        return 4
    return 2 if contacts.kind[c] == EDGE_EDGE else 1


@inlined
def write_geometry(c, table, rows, offsets, x, x_prev):
    """Arms, normal and s at the start of the step of contact c; x (n, 3): where held vertices are."""
    contacts, numbers = table.contacts, table.numbers
    middle = middle_of(contacts, c)
    weights, v = contacts.weights, contacts.vertices
    write_side(c, ARM, c, 0, middle, 1.0, table.first[c], weights, v, rows, offsets, x, numbers)
    write_side(c, OTHER_ARM, c, middle, 4, -1.0, table.second[c], weights, v, rows, offsets, x, numbers)
    before = closest_separation(c, positions_of(c, contacts, x_prev), contacts)
    for axis in range(3):
        if contacts.obstacle[c] >= 0:
            numbers[c, OTHER_ARM + axis] = contacts.points[c, axis]
        numbers[c, NORMAL + axis] = contacts.normals[c, axis]
        numbers[c, PREV + axis] = before[axis] + contacts.motions[c, axis] - contacts.tangential_shift[c, axis]


@inner(nogil=True, error_model="numpy", _nrt=False)
def load_contacts(table, carrier, rows, offsets, x, x_prev):
    """Fill in what a detection has found for a step from x_prev to the guess x (n, 3) [m]; carrier, rows (n,): the body
    of each vertex, -1 for held ones, and its row of offsets (., 3) [m].
    """
    contacts, numbers, start = table.contacts, table.numbers, table.start
    start[:] = 0
    table.refreshes[0] = 0
    for place in range(len(table.first)):
        c = np.uint64(place)
        if contacts.updates_closest_point[c]:
            table.refreshes[0] = 1
        a, b = carrier[contacts.vertices[c, 0]], np.int64(-1)
        if contacts.obstacle[c] < 0:
            b = carrier[contacts.vertices[c, middle_of(contacts, c)]]
        table.first[c], table.second[c] = a, b
        if a >= 0:
            start[a + 1] += 1
        if b >= 0:
            start[b + 1] += 1
        write_geometry(c, table, rows, offsets, x, x_prev)
        numbers[c, THICKNESS] = contacts.thickness[c]
        numbers[c, STIFFNESS] = numbers[c, OTHER_STIFFNESS] = contacts.stiffness[c]
        s, n = closest_separation(c, positions_of(c, contacts, x), contacts), row(contacts.normals, c)
        d = max(0.0, contacts.thickness[c] - (s[0] * n[0] + s[1] * n[1] + s[2] * n[2]))
        numbers[c, FRICTION], numbers[c, LIMIT] = contacts.friction[c], contacts.friction[c] * contacts.stiffness[c] * d
        numbers[c, PRESSED] = contacts.normal_multiplier[c]
        for axis in range(3):
            numbers[c, RUBBED + axis] = contacts.tangential_multiplier[c, axis]
            numbers[c, SHIFT + axis] = contacts.tangential_shift[c, axis]
    list_entries(table)
    colour_bodies(table)
    join_islands(table)


@inner(nogil=True, error_model="numpy", _nrt=False)
def list_entries(table):
    """The contacts of each body, in their order; `start` has been counted."""
    start, entries = table.start, table.entries
    count = len(start) - 1
    for b in range(count):
        start[b + 1] += start[b]
    for c in range(len(table.first)):  # start[b] moves on to the end of body b
        if table.first[c] >= 0:
            entries[start[table.first[c]]] = 2 * c
            start[table.first[c]] += 1
        if table.second[c] >= 0:
            entries[start[table.second[c]]] = 2 * c + 1
            start[table.second[c]] += 1
    for b in range(count, 0, -1):
        start[b] = start[b - 1]
    start[0] = 0


@inner(nogil=True, error_model="numpy", _nrt=False)
def colour_bodies(table):
    """The first colour that no neighbour has, body after body; bodies with neighbours of all colours take the last,
    which one thread solves alone.
    """
    order, colour_start, count = table.order, table.colour_start, len(table.order)
    colour_start[:] = 0
    colours = order  # scratch until it is sorted
    for b in range(count):
        used = np.uint64(0)
        for k in range(table.start[b], table.start[b + 1]):
            c = table.entries[k] // 2
            other = table.second[c] if table.first[c] == b else table.first[c]
            if 0 <= other < b:
                used |= np.uint64(1) << np.uint64(colours[other])
        for k in range(table.joined_start[b], table.joined_start[b + 1]):
            if table.joined[k] < b:
                used |= np.uint64(1) << np.uint64(colours[table.joined[k]])
        colour = 0
        while colour < MOST_COLOURS - 1 and (used >> np.uint64(colour)) & np.uint64(1):
            colour += 1
        colours[b] = colour
        colour_start[colour + 1] += 1
    for k in range(MOST_COLOURS):
        colour_start[k + 1] += colour_start[k]
    for b in range(count):  # by colour, then by number
        table.sorted[colour_start[colours[b]]] = b
        colour_start[colours[b]] += 1
    for k in range(MOST_COLOURS, 0, -1):
        colour_start[k] = colour_start[k - 1]
    colour_start[0] = 0
    for k in range(count):
        order[k] = table.sorted[k]


@inner(nogil=True, error_model="numpy", _nrt=False)
def join_islands(table):
    """Which bodies contacts join, by way of other bodies that move too."""
    island = table.island
    for b in range(len(island)):
        island[b] = b
    for c in range(len(table.first)):
        if table.first[c] >= 0 and table.second[c] >= 0:
            join(island, table.first[c], table.second[c])
    for b in range(len(island)):  # a body's number is above that of who stands for it, which is final by then
        island[b] = island[island[b]]


@inlined
def refresh_moving(c, table, rows, offsets, x, x_prev, bodies):
    """Closest point and normal of a contact where they change with the positions."""
    contacts, poses, R = table.contacts, bodies.poses, bodies.R
    v, middle = contacts.vertices, middle_of(contacts, c)
    y0 = vertex_place(v[c, 0], table.first[c], rows, offsets, x, poses, R)
    y1 = vertex_place(v[c, 1], table.first[c] if middle == 2 else table.second[c], rows, offsets, x, poses, R)
    y2 = vertex_place(v[c, 2], table.second[c], rows, offsets, x, poses, R)
    y3 = vertex_place(v[c, 3], table.second[c], rows, offsets, x, poses, R)
    refresh_contact(c, (y0, y1, y2, y3), contacts)
    for axis in range(3):
        contacts.tangential_shift[c, axis] = table.numbers[c, SHIFT + axis]
    write_geometry(c, table, rows, offsets, x, x_prev)
    write_places(c, table, bodies)


@inlined
def vertex_place(v, body, rows, offsets, x, poses, R):
    return row(x, v) if body < 0 else place_of(body, row(offsets, rows[v]), poses, R)


@inlined
def stride_after(done):
    """Of the next multipliers, after so many iterations of a step."""
    return 1.0 if done < WHOLE_STRIDES else STRIDE * min(1.0, LONG_STRIDES / (1 + done))


@inlined
def store_contacts(table):
    """Write to the ContactSet what iterations have changed."""
    contacts, numbers = table.contacts, table.numbers
    for c in range(len(table.first)):
        contacts.offset[c] -= numbers[c, THICKNESS] - contacts.thickness[c]
        contacts.thickness[c] = numbers[c, THICKNESS]
        contacts.friction_limit[c] = numbers[c, LIMIT]
        contacts.normal_multiplier[c] = numbers[c, PRESSED]
        for axis in range(3):
            contacts.tangential_multiplier[c, axis] = numbers[c, RUBBED + axis]
            contacts.tangential_shift[c, axis] = numbers[c, SHIFT + axis]

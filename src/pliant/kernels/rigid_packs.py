"""Rigid bodies of one colour side by side in lanes, with their contacts (decision 0126).

A pack is as many bodies of one colour as a register has doubles, those with the most contacts first, so that bodies of
a pack have about as many. Its slots are their first, second, ... contacts; a body with fewer has the empty contact in
the others, and a place without a body has one that nothing moves. A body is solved by the same arithmetic in any lane.
"""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np

from pliant.elements.closest import row
from pliant.kernels.rigid_blocks import write_targets
from pliant.kernels.rigid_contacts import (
    COLUMNS,
    MOST_COLOURS,
    PLACE,
    STIFFNESS,
    THICKNESS,
    RigidContacts,
    load_contacts,
)
from pliant.lanes.entry import entry
from pliant.lanes.host import default_width
from pliant.lanes.inner import inner
from pliant.lanes.memory import load
from pliant.lanes.types import make_zero

WIDTH = default_width("double")  # bodies in a pack
zero = make_zero("double", WIDTH)

# Rows of a pack's numbers: pose, rotation, w, second moments (xx, xy, xz, yy, yz, zz), K, target, inverse of the tensor
# of inertia over h^2; where the step starts and h^2 |g|; whether the body still moves; errors as RigidBodies has them,
# 1 / m that they are compared with, the way in the step, and the last motions.
P, Q, R, W, J, K, Y, INVERSE, START, FALL, MOVES = 0, 3, 7, 16, 17, 23, 32, 35, 41, 44, 45
ERROR, SEEN, OWED, RATE, SCALE, WAY, MOVED = 46, 47, 48, 49, 50, 51, 52
WINDOW = 4  # iterations whose motions are compared with those of as many before
ROWS = MOVED + 2 * WINDOW
NEVER = -1e30  # [m] thickness of the empty contact
ACROSS = (0, 1, 2, 4, 5, 8)  # places of xx, xy, xz, yy, yz, zz in a matrix

inlined = inner(nogil=True, error_model="numpy", forceinline=True, _nrt=False)


class RigidPacks(NamedTuple):
    """p packs with s slots in all, colour after colour."""

    colour_start: np.ndarray  # (MOST_COLOURS + 1,) first pack of each colour
    members: np.ndarray  # (p WIDTH,) bodies, -1 for none
    base: np.ndarray  # (b,) place of a body's first number in `numbers`; the others follow at steps of WIDTH
    numbers: np.ndarray  # (p ROWS WIDTH,)
    slot_start: np.ndarray  # (p + 1,)
    rows: np.ndarray  # (s WIDTH,) uint32 where the numbers of a contact start
    own: np.ndarray  # (s WIDTH,) uint32 the place of this body's point among them
    other: np.ndarray  # (s WIDTH,) uint32 and of the other's
    signs: np.ndarray  # (s WIDTH,) 1 for the first side, -1 for the second
    contact_rows: np.ndarray  # (k padded,) uint32 where the numbers of all contacts start, one after another
    masks: np.ndarray  # (threads, WIDTH) scratch


def padded(contacts: int) -> int:
    """Rows of numbers: at least one empty contact after all others, and whole packs."""
    return (contacts // WIDTH + 1) * WIDTH


def packs_for(table: RigidContacts, sizes: np.ndarray, threads: int) -> RigidPacks:
    """Room for the bodies of a table that is loaded; sizes (2,): packs and slots."""
    b, rows, packs, lanes = len(table.order), len(table.numbers), int(sizes[0]), int(sizes[1]) * WIDTH
    return RigidPacks(
        np.zeros(MOST_COLOURS + 1, np.int64),
        np.full(packs * WIDTH, -1, np.int64),
        np.empty(b, np.int64),
        np.zeros(packs * ROWS * WIDTH),
        np.zeros(packs + 1, np.int64),
        np.empty(lanes, np.uint32),
        np.empty(lanes, np.uint32),
        np.empty(lanes, np.uint32),
        np.empty(lanes),
        np.arange(0, rows * COLUMNS, COLUMNS, dtype=np.uint32),
        np.empty((threads, WIDTH)),
    )


@entry(nogil=True, error_model="numpy")
def load_table(table, carrier, rows, offsets, x, x_prev, sizes):
    """Take up the contacts of a detection (`load_contacts`), and sort bodies for packs."""
    load_contacts(table, carrier, rows, offsets, x, x_prev)
    sort_by_contacts(table, sizes)


@inner(nogil=True, error_model="numpy", _nrt=False)
def sort_by_contacts(table, sizes):
    """Sort the bodies of each colour by how many contacts they have, the most first; sizes (2,): packs and slots."""
    order, kept = table.order, table.sorted
    sizes[:] = 0
    for colour in range(MOST_COLOURS):
        first, last = table.colour_start[colour], table.colour_start[colour + 1]
        for place in range(first, last):
            kept[place] = order[place]
        if colour < MOST_COLOURS - 1:
            sort_colour(table, kept, first, last)
        width = WIDTH if colour < MOST_COLOURS - 1 else 1  # those may touch each other
        for place in range(first, last):
            order[place] = kept[place]
            if (place - first) % width == 0:
                sizes[0] += 1
                sizes[1] += contacts_of(table, kept[place])


@inlined
def contacts_of(table, b):
    return table.start[b + 1] - table.start[b]


@inlined
def sort_colour(table, kept, first, last):
    """Bodies kept[first : last], which are in order[first : last], by counting; equal ones stay in their order."""
    to, below = first, np.int64(2) ** 62
    while to < last:
        most = np.int64(-1)
        for place in range(first, last):
            count = contacts_of(table, table.order[place])
            most = count if most < count < below else most
        for place in range(first, last):
            if contacts_of(table, table.order[place]) == most:
                kept[to] = table.order[place]
                to += 1
        below = most


@entry(nogil=True, error_model="numpy")
def begin_bodies(bodies, masses, offsets, gravity, h, y, x):
    """Begin a step of h [s] from x (n, 3) [m], with targets y (n, 3) of MassPoints."""
    write_targets(bodies, masses, offsets, y, x, (0.0, 0.0, 0.0))
    for b in range(len(bodies.gravity)):
        g = row(gravity, masses.vertices[b, 0])
        bodies.gravity[b] = h * h * math.sqrt(g[0] * g[0] + g[1] * g[1] + g[2] * g[2])
    for i in range(len(bodies.progress)):
        bodies.progress[i] = 0


@entry(nogil=True, error_model="numpy")
def fill_packs(table, bodies, packs):
    """List bodies and contacts, and take over all that does not change in a step's iterations."""
    write_empty_contacts(table)
    p, slot = 0, 0
    for colour in range(MOST_COLOURS):
        width = WIDTH if colour < MOST_COLOURS - 1 else 1
        first, last = table.colour_start[colour], table.colour_start[colour + 1]
        for place in range(first, last, width):
            packs.slot_start[p] = slot
            for lane in range(WIDTH):
                b = table.order[place + lane] if lane < width and place + lane < last else np.int64(-1)
                packs.members[p * WIDTH + lane] = b
                at = p * ROWS * WIDTH + lane
                if b >= 0:
                    packs.base[b] = at
                    load_body(b, at, bodies, packs.numbers)
                else:
                    write_nobody(at, packs.numbers)
                list_slots(b, slot, lane, contacts_of(table, table.order[place]), table, packs)
            slot += contacts_of(table, table.order[place])
            p += 1
        packs.colour_start[colour + 1] = p
    packs.slot_start[p] = slot


@inlined
def write_empty_contacts(table):
    """What is padding, or stands for contacts that a body does not have."""
    for c in range(len(table.first), len(table.numbers)):
        for column in range(COLUMNS):
            table.numbers[c, column] = 0.0
        table.numbers[c, STIFFNESS], table.numbers[c, THICKNESS] = 1.0, NEVER


@inlined
def list_slots(b, slot, lane, count, table, packs):
    """The contacts of body b, -1 for none, in one lane of as many slots as the pack has."""
    own = contacts_of(table, b) if b >= 0 else 0
    for k in range(count):
        place, c, side = (slot + k) * WIDTH + lane, len(table.first), 0
        if k < own:
            c, side = table.entries[table.start[b] + k] >> 1, table.entries[table.start[b] + k] & 1
        row = c * COLUMNS
        packs.rows[place] = row
        packs.own[place], packs.other[place] = row + PLACE + 4 * side, row + PLACE + 4 * (1 - side)
        packs.signs[place] = 1.0 - 2.0 * side


@inlined
def load_body(b, at, bodies, numbers):
    numbers[at + W * WIDTH], numbers[at + FALL * WIDTH] = bodies.weight[b], bodies.gravity[b]
    for i in range(9):
        numbers[at + (K + i) * WIDTH] = bodies.spread[b, i]
    for i in range(3):
        numbers[at + (Y + i) * WIDTH] = bodies.targets[b, i]
        numbers[at + (START + i) * WIDTH] = bodies.start_places[b, i]
    for i in range(6):
        place = ACROSS[i]
        numbers[at + (J + i) * WIDTH] = bodies.moments[b, place]
        numbers[at + (INVERSE + i) * WIDTH] = bodies.inverse[b, place]


@inlined
def write_nobody(at, numbers):
    """A body of unit mass and inertia at rest."""
    for i in range(ROWS):
        numbers[at + i * WIDTH] = 0.0
    for i in (Q, R, R + 4, R + 8, W, J, J + 3, J + 5, K, K + 4, K + 8, INVERSE, INVERSE + 3, INVERSE + 5):
        numbers[at + i * WIDTH] = 1.0


@inlined
def load_pose(b, bodies, packs):
    """The pose of body b, which is still to be moved, and its last motions."""
    numbers, at = packs.numbers, packs.base[b]
    for i in range(7):
        numbers[at + (P + i) * WIDTH] = bodies.poses[b, i]
    for i in range(9):
        numbers[at + (R + i) * WIDTH] = bodies.R[b, i]
    for i in range(2 * WINDOW):
        numbers[at + (MOVED + i) * WIDTH] = bodies.moved[b, i]
    numbers[at + OWED * WIDTH], numbers[at + MOVES * WIDTH] = bodies.owed[b], 1.0


@inlined
def store_pose(b, bodies, packs):
    """The way back."""
    numbers, at = packs.numbers, packs.base[b]
    for i in range(7):
        bodies.poses[b, i] = numbers[at + (P + i) * WIDTH]
    for i in range(9):
        bodies.R[b, i] = numbers[at + (R + i) * WIDTH]
    for i in range(2 * WINDOW):
        bodies.moved[b, i] = numbers[at + (MOVED + i) * WIDTH]
    bodies.owed[b] = numbers[at + OWED * WIDTH]


@inlined
def store_errors(b, bodies, packs):
    """[m] over what forces do in the step."""
    numbers, at = packs.numbers, packs.base[b]
    scale = numbers[at + SCALE * WIDTH]
    bodies.errors[b, 0], bodies.errors[b, 1] = numbers[at + ERROR * WIDTH], numbers[at + SEEN * WIDTH]
    bodies.errors[b, 2], bodies.errors[b, 3] = numbers[at + OWED * WIDTH] * scale, numbers[at + RATE * WIDTH]


@inlined
def numbers_of(numbers, at, row):
    """A row of the pack whose numbers begin at a place, in lanes."""
    return load(numbers, at + row * WIDTH, zero())


@inlined
def three_of(numbers, at, row):
    return (numbers_of(numbers, at, row), numbers_of(numbers, at, row + 1), numbers_of(numbers, at, row + 2))


@inlined
def six_of(numbers, at, row):
    return three_of(numbers, at, row) + three_of(numbers, at, row + 3)


@inlined
def nine_of(numbers, at, row):
    return six_of(numbers, at, row) + three_of(numbers, at, row + 6)

"""What iterations read beside the rows: which act on whom, diagonals, packs, and colours; compiled, once per step."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from pliant.constraints.blocks import order_vertices
from pliant.constraints.one_row import write_diagonals
from pliant.constraints.packs import SINGLY, kind_of_pack, zeros_like
from pliant.constraints.rows import ENTRY_BITS, OF_TRIANGLE
from pliant.kernels.threads import barrier_wait, share
from pliant.lanes.compiled import inlined
from pliant.lanes.entry import entry
from pliant.lanes.inner import inner
from pliant.lanes.memory import width_of

COLOURS = 62  # constraints that fit in none of so many are in one more, which one thread does
PALETTE = COLOURS + 1
ROWS_OF_PALETTE = 1 << 16  # constraints of which one colour comes after another, so that their vertices stay in a cache


class Colours(NamedTuple):
    """The first ROWS_OF_PALETTE constraints colour by colour, then as many that follow, and so on: those of one colour
    share no vertex. In arrays that may be longer.
    """

    order: np.ndarray  # (m,) int32
    starts: np.ndarray  # (b PALETTE + 1,) int64 first place of each colour
    packs: np.ndarray  # (b PALETTE + 1,) int64 first pack of each colour
    kinds: np.ndarray  # (p,) int8 of packs (constraints.packs)


def room_for_colours(capacity: int) -> Colours:
    """For so many constraints, in packs of 4 or more."""
    colours = (capacity // ROWS_OF_PALETTE + 1) * PALETTE
    return Colours(
        np.zeros(capacity, np.int32), np.zeros(colours + 1, np.int64), np.zeros(colours + 1, np.int64),
        np.zeros(capacity // 4 + colours, np.int8),
    )  # fmt: skip


@inlined
def slots_of(rows, i):
    """How many vertices a constraint has: 1, 2 or 4."""
    at = np.uint64(i)
    if rows.vertices[at, 1] < 0:
        return 1
    return 2 if rows.vertices[at, 2] < 0 else 4


@inner(nogil=True, error_model="numpy", _nrt=False)
def list_vertices(rows, count, bodies, cursor):
    """Loads of vertices, and the rows of each: entries 8 i + slot, and OF_TRIANGLE more at corners of triangles.
    cursor (as long as the vertices, or longer) is scratch.
    """
    start, one = bodies.start, np.uint64(1)
    start[:] = 0
    bodies.load[:] = 0.0
    for i in range(count):
        for slot in range(slots_of(rows, i)):
            vertex = np.uint64(rows.vertices[np.uint64(i), slot])
            start[vertex + one] += 1
            bodies.load[vertex] += rows.factor[np.uint64(i)]
    for k in range(len(start) - 1):
        start[k + 1] += start[k]
        cursor[k] = start[k]
    for i in range(count):
        slots = slots_of(rows, i)
        corner = OF_TRIANGLE if slots == 4 else 0
        for slot in range(slots):
            vertex = np.uint64(rows.vertices[np.uint64(i), slot])
            bodies.entries[np.uint64(cursor[vertex])] = (i << ENTRY_BITS) + slot + (corner if slot > 0 else 0)
            cursor[vertex] += 1


@inner(nogil=True, error_model="numpy", _nrt=False)
def list_bodies(rows, count, rigid, cursor):
    """The same of rigid bodies: entries 2 i + side."""
    start = rigid.start
    start[:] = 0
    rigid.load[:] = 0.0
    for i in range(count):
        for side in range(2):
            b = rows.carrier[i, side]
            if b >= 0:
                start[b + 1] += 1
                rigid.load[b] += rows.factor[i]
    for k in range(len(start) - 1):
        start[k + 1] += start[k]
        cursor[k] = start[k]
    for i in range(count):
        for side in range(2):
            b = rows.carrier[i, side]
            if b >= 0:
                rigid.entries[cursor[b]] = 2 * i + side
                cursor[b] += 1


@entry(nogil=True, error_model="numpy")
def prepare(
    thread, threads, barrier, rows, count, bodies, blocks, cursor, scheme, gamma, packs_singly, kinds, keeps_lists
):
    """Lists of the vertices, blocks, diagonals, delta = gamma / h C(x_t) (Equation 28), and kinds of packs (p,);
    keeps_lists: lists, blocks and kinds are those of the step before.

    Deviation: a gap may close within the step, delta = C / h where C > 0; gamma would stop spheres before they touch.
    """
    if thread == 0 and not keeps_lists:
        if len(bodies.rigid.twist) > 0:
            list_bodies(rows, count, bodies.rigid, cursor)
        list_vertices(rows, count, bodies, cursor)
        order_vertices(count, bodies, blocks)
    width = width_of(zeros_like(rows.rest))
    first, last = share(0, 0 if keeps_lists else len(kinds), thread, threads)
    no_order = rows.source[:0]
    for pack in range(first, last):
        kinds[pack] = SINGLY if packs_singly else kind_of_pack(rows, no_order, pack * width, count, width)
    barrier_wait(barrier, threads)
    first, last = share(0, count, thread, threads)
    for k in range(first, last):
        i = np.uint64(k)
        write_diagonals(rows, bodies, i)
        value = -rows.rest[i]
        for axis in range(3):
            value += rows.normal[i, axis] * rows.separation[i, axis]
        is_gap = value > 0.0 and rows.kind[i] == 1
        rows.bias[i] = value / scheme.h * (1.0 if is_gap or rows.compliance[i] > 0.0 else gamma)


@entry(nogil=True, error_model="numpy")
def colour_rows(rows, count, inverse_mass, used, colour, colours, packs_singly):
    """Greedy colours by bit masks of the vertices and of the bodies after them: used (n + b,) uint64, colour (m,)."""
    order, starts = colours.order, colours.starts
    used[:] = 0
    starts[:] = 0
    one, n = np.uint64(1), len(inverse_mass)
    sides = 2 if len(used) > n else 0
    for k in range(count):
        mask, i, slots = np.uint64(0), np.uint64(k), slots_of(rows, k)
        for slot in range(slots):
            vertex = np.uint64(rows.vertices[i, slot])
            if inverse_mass[vertex] > 0.0:
                mask |= used[vertex]
        for side in range(sides):
            if rows.carrier[i, side] >= 0:
                mask |= used[n + rows.carrier[i, side]]
        c = 0
        while c < COLOURS and (mask >> np.uint64(c)) & one:
            c += 1
        colour[i] = c
        starts[group_of(k, c) + 1] += 1
        if c < COLOURS:
            for slot in range(slots):
                used[np.uint64(rows.vertices[i, slot])] |= one << np.uint64(c)
            for side in range(sides):
                if rows.carrier[i, side] >= 0:
                    used[n + rows.carrier[i, side]] |= one << np.uint64(c)
    for group in range(len(starts) - 1):
        starts[group + 1] += starts[group]
        colours.packs[group] = starts[group]  # where the next constraint of the colour goes
    for k in range(count):
        group = group_of(k, colour[np.uint64(k)])
        order[np.uint64(colours.packs[group])] = k
        colours.packs[group] += 1
    width, pack = width_of(zeros_like(rows.rest)), 0
    for group in range(len(starts) - 1):
        colours.packs[group] = pack
        for first in range(starts[group], starts[group + 1], width):
            singly = packs_singly or group % PALETTE == COLOURS
            colours.kinds[pack] = SINGLY if singly else kind_of_pack(rows, order, first, starts[group + 1], width)
            pack += 1
    return pack


@inlined
def group_of(i, colour):
    """Number among all colours."""
    return np.int64(i) // ROWS_OF_PALETTE * PALETTE + colour

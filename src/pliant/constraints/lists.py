"""Which rows act on whom, and colours; compiled, once per step."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from pliant.constraints.blocks import FEWEST_ROWS
from pliant.constraints.packs import SINGLY, STILL, WALL, kind_of_pack, zeros_like
from pliant.constraints.rows import CONTACT, ENTRY_BITS, OF_TRIANGLE
from pliant.kernels.threads import barrier_wait, share
from pliant.lanes.bits import lowest_bit
from pliant.lanes.compiled import inlined
from pliant.lanes.entry import entry
from pliant.lanes.inner import inner
from pliant.lanes.memory import width_of

COLOURS = 62  # constraints that fit in none of so many are in one more, whose constraints may share vertices
FORMS = 4  # of constraints that share no pack
GROUPS = FORMS * (COLOURS + 1)  # of a palette
PALETTE = 65_536  # constraints of which one colour comes after another, where there are no blocks


class Colours(NamedTuple):
    """The constraints of a palette, which is a block if there are several, colour by colour, then those of the next:
    those of one colour share no vertex. Each colour has FORMS groups: springs, contacts of two vertices, with
    obstacles, with triangles. The first pack of a group is filled up, before its own constraints, with copies of the
    first of them. In arrays that may be longer.
    """

    order: np.ndarray  # (p width,) int32 constraints pack by pack, with copies
    sizes: np.ndarray  # (b GROUPS,) int64 constraints of each group
    packs: np.ndarray  # (b GROUPS + 1,) int64 first pack of each group
    kinds: np.ndarray  # (p,) int8 of packs (constraints.packs)
    copies: np.ndarray  # (p,) int8 how many places of a pack have copies
    palettes: np.ndarray  # (3,) int64 how many there are; constraints of each; colours


def room_for_colours(capacity: int) -> Colours:
    """For so many constraints, in packs of 4 or more."""
    groups = (capacity // FEWEST_ROWS + 1) * GROUPS
    packs = capacity // 4 + groups
    return Colours(
        np.zeros(capacity + 16 * groups, np.int32), np.zeros(groups, np.int64), np.zeros(groups + 1, np.int64),
        np.zeros(packs, np.int8), np.zeros(packs, np.int8), np.array([1, PALETTE, 1]),
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
    start, load = bodies.start, bodies.load
    start[:] = 0
    load[:] = 0.0
    for k in range(count):
        i = np.uint64(k)
        factor, second, third = rows.factor[i], rows.vertices[i, 1], rows.vertices[i, 2]
        count_entry(start, load, rows.vertices[i, 0], factor)
        if second >= 0:
            count_entry(start, load, second, factor)
        if third >= 0:
            count_entry(start, load, third, factor)
            count_entry(start, load, rows.vertices[i, 3], factor)
    for k in range(len(start) - 1):
        start[k + 1] += start[k]
        cursor[k] = start[k]
    for k in range(count):
        i = np.uint64(k)
        second, third, entry = rows.vertices[i, 1], rows.vertices[i, 2], k << ENTRY_BITS
        corner, source = OF_TRIANGLE if third >= 0 else 0, rows.source[i] if rows.kind[i] == CONTACT else -1
        put_entry(bodies, cursor, rows.vertices[i, 0], entry, source)
        if second >= 0:
            put_entry(bodies, cursor, second, entry + 1 + corner, -1)
        if third >= 0:
            put_entry(bodies, cursor, third, entry + 2 + corner, -1)
            put_entry(bodies, cursor, rows.vertices[i, 3], entry + 3 + corner, -1)


@inlined
def count_entry(start, load, vertex, factor):
    """One more constraint of a vertex."""
    at = np.uint64(vertex)
    start[at + np.uint64(1)] += 1
    load[at] += factor


@inlined
def put_entry(bodies, cursor, vertex, entry, source):
    """The next entry of a vertex."""
    at = np.uint64(vertex)
    place = cursor[at]
    bodies.entries[np.uint64(place)] = entry
    bodies.sources[np.uint64(place)] = source
    cursor[at] = place + 1


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
def colour_rows(thread, threads, barrier, rows, count, blocks, inverse_mass, used, colour, colours, packs_singly):
    """Greedy colours of each palette by bit masks of the vertices and of the bodies after them; used (threads, n + b)
    uint64 is zero before and afterwards, colour (m,) scratch.
    """
    palettes, packs = colours.palettes, colours.packs
    if thread == 0:
        palettes[1] = blocks.numbers[2] if blocks.numbers[0] > 1 else PALETTE
        palettes[0] = (count - 1) // palettes[1] + 1
    barrier_wait(barrier, threads)
    first, last = share(0, palettes[0], thread, threads)
    for palette in range(first, last):
        colour_palette(palette, rows, count, inverse_mass, used[thread], colour, colours)
    barrier_wait(barrier, 2 * threads)
    width = width_of(zeros_like(rows.rest))
    if thread == 0:
        total, most = 0, 0
        packs[0] = 0
        for group in range(palettes[0] * GROUPS):
            if colours.sizes[group] > 0:
                most = max(most, (group % GROUPS) // FORMS + 1)
            total += (colours.sizes[group] + width - 1) // width
            packs[group + 1] = width * total - colours.sizes[group]  # where the next constraint of the group goes
        palettes[2] = most
    barrier_wait(barrier, 3 * threads)
    for palette in range(first, last):
        order_palette(palette, rows, count, colour, colours, packs_singly, width)


@inlined
def colour_palette(palette, rows, count, inverse_mass, used, colour, colours):
    """Colours of the constraints of a palette, and how many there are in each group."""
    one, n, sizes = np.uint64(1), len(inverse_mass), colours.sizes
    sides = 2 if len(used) > n else 0
    first, last = palette * colours.palettes[1], min((palette + 1) * colours.palettes[1], count)
    for group in range(palette * GROUPS, (palette + 1) * GROUPS):
        sizes[group] = 0
    for k in range(first, last):
        mask, i, slots = np.uint64(0), np.uint64(k), slots_of(rows, k)
        for slot in range(slots):
            vertex = np.uint64(rows.vertices[i, slot])
            if inverse_mass[vertex] > 0.0:
                mask |= used[vertex]
        for side in range(sides):
            if rows.carrier[i, side] >= 0:
                mask |= used[n + rows.carrier[i, side]]
        c = min(lowest_bit(~mask), COLOURS)
        colour[i] = c
        sizes[group_of(rows, k, c, palette)] += 1
        if c < COLOURS:
            for slot in range(slots):
                used[np.uint64(rows.vertices[i, slot])] |= one << np.uint64(c)
            for side in range(sides):
                if rows.carrier[i, side] >= 0:
                    used[n + rows.carrier[i, side]] |= one << np.uint64(c)
    for k in range(first, last):
        i = np.uint64(k)
        for slot in range(slots_of(rows, k)):
            used[np.uint64(rows.vertices[i, slot])] = np.uint64(0)
        for side in range(sides):
            if rows.carrier[i, side] >= 0:
                used[n + rows.carrier[i, side]] = np.uint64(0)


@inlined
def order_palette(palette, rows, count, colour, colours, packs_singly, width):
    """The order of the constraints of a palette, and what its packs are."""
    order, packs = colours.order, colours.packs
    first, last = palette * colours.palettes[1], min((palette + 1) * colours.palettes[1], count)
    for k in range(first, last):
        group = group_of(rows, k, colour[np.uint64(k)], palette)
        order[np.uint64(packs[group + 1])] = k
        packs[group + 1] += 1
    for group in range(palette * GROUPS, (palette + 1) * GROUPS):
        packs[group + 1] //= width
        size = (colours.sizes[group] + width - 1) // width
        begin, copies = packs[group + 1] - size, size * width - colours.sizes[group]
        for place in range(begin * width, begin * width + copies):
            order[place] = order[begin * width + copies]
        for pack in range(begin, begin + size):
            colours.copies[pack] = copies if pack == begin else 0
            colours.kinds[pack] = kind_in_group(rows, order, pack * width, width, group % FORMS, packs_singly)


@inlined
def kind_in_group(rows, order, first, width, form, packs_singly):
    """What the constraints order[first : first + width] of a form are done as."""
    if packs_singly or form == 3:
        return SINGLY
    if form == 0:
        return kind_of_pack(rows, order, first, width)
    if form == 1:
        return CONTACT
    for place in range(first, first + width):
        i = np.uint64(order[place])
        if rows.weights[i, 0] != 0.0 or rows.weights[i, 1] != 0.0 or rows.weights[i, 2] != 0.0:
            return WALL
    return STILL


@inlined
def group_of(rows, i, colour, palette):
    """Number among all groups."""
    at = np.uint64(i)
    form = 0
    if rows.kind[at] == CONTACT:
        form = 2 if rows.vertices[at, 1] < 0 else 1 if rows.vertices[at, 2] < 0 else 3
    return palette * GROUPS + FORMS * colour + form

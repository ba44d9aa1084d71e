"""All pairs of primitives of two trees whose boxes overlap, or of one with itself.

Pairs come out by block of the first tree, so their order does not depend on the number of threads.  They are counted
first and then filled in, so there is no capacity to run out of.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from pliant.contact.search.bvh import FAN, FAN_BITS, Tree, box_at, boxes_overlapping
from pliant.contact.search.ccd_culling import (
    ALL,
    LANES,
    CcdCulling,
    Pack,
    coarse_cull,
    fine_cull,
    no_culling,
)
from pliant.contact.search.motion import ROW
from pliant.elements.closest import VERTEX_TET
from pliant.kernels.threads import Team, next_part
from pliant.lanes import load, make_zero, number
from pliant.lanes.compiled import allocating, at, cached, compiled, inlined, put
from pliant.lanes.masks import count_bits, lowest_bit, mask_bits

if TYPE_CHECKING:
    from pliant.contact.search.broad_phase import Rules

STACK = 128  # 15 waiting siblings a level, and 16^8 primitives do not fit any history
SLOTS = 128  # pairs of a block that are kept while they are counted
zero = make_zero("double", LANES)  # holds the number of a row exactly
CLOSE, FOUND = 0, 1  # places in Work.tally
EIGHT = 8
# The bits that are set in each number below 256, in eight places.
SET_BITS = np.array([([i for i in range(EIGHT) if n >> i & 1] + EIGHT * [0])[:EIGHT] for n in range(2**EIGHT)]).ravel()
QUEUE = LANES + FAN + EIGHT  # pairs: less than a pack, what one primitive adds, and what `add` writes beyond
CHUNK = 8  # blocks a thread takes at once: contacts are not spread evenly


class Pairs(NamedTuple):
    """Numbers of primitives that may touch."""

    first: np.ndarray  # (k,) in the first tree
    second: np.ndarray  # (k,) in the second tree


class Search(NamedTuple):
    """What is searched, and where the pairs go."""

    first: Tree
    second: Tree
    is_same: bool
    rules: Rules
    no_self_contact: np.ndarray  # (bodies,) bool: cannot touch themselves
    culling: CcdCulling
    start: np.ndarray  # (blocks + 1,) first pair of each lowest block of the first tree
    kept: np.ndarray  # (blocks * SLOTS, 2) the first pairs of each block, from counting


class Work(NamedTuple):
    """Scratch memory of a thread."""

    blocks: np.ndarray  # (STACK,) still to be opened
    levels: np.ndarray  # (STACK,) of them
    ours: np.ndarray  # (QUEUE,) of pairs that wait for a first look: where in the first tree's rows their corners begin
    theirs: np.ndarray  # (QUEUE,) where in the second's
    our_close: np.ndarray  # (LANES,) the same of pairs that wait for a second look
    their_close: np.ndarray  # (LANES,)
    corners: np.ndarray  # (4 * FAN,) of the block that is searched for
    tally: np.ndarray  # (2,) how many pairs are in `close`, and how many the block has found


def overlaps(
    team: Team,
    first: Tree,
    second: Tree,
    is_same: bool,
    rules: Rules,
    culling: CcdCulling | None = None,
    no_self_contact: np.ndarray | None = None,
) -> Pairs:
    """All pairs (i, j) of primitives with overlapping boxes, no common corner, allowed by the rules, and let through by
    the culling.  If both trees are the same, each pair comes once, i < j.

    no_self_contact (bodies,) bool: bodies whose own parts are not to be compared.  Groups of both trees are bodies.
    """
    no_self_contact = np.zeros(len(rules.allowed), bool) if no_self_contact is None else no_self_contact
    blocks = int(first.level_start[1])
    start, kept = np.zeros(blocks + 1, np.int64), np.empty((blocks * SLOTS, 2), np.int32)
    search = Search(
        first, second, is_same, rules, no_self_contact, no_culling() if culling is None else culling, start, kept
    )
    if len(first.order) and len(second.order):
        nowhere = Pairs(np.zeros(0, np.int32), np.zeros(0, np.int32))
        team.run_for(1000 * blocks, cached(find_pairs), search, nowhere, False)
        longest = start.max()
        np.cumsum(start, out=start)
    pairs = Pairs(np.empty(start[-1], np.int32), np.empty(start[-1], np.int32))
    if start[-1] and longest > SLOTS:
        team.run(cached(find_pairs), search, pairs, True)
    elif start[-1]:
        cached(copy_kept)(start, kept, pairs)
    return pairs


@allocating
def find_pairs(thread, threads, barrier, search, pairs, is_filling):
    """Count (into start[block + 1]) or fill in (from start[block]) the pairs of each lowest block of the first tree."""
    work = Work(
        np.empty(STACK, np.int64),
        np.empty(STACK, np.int64),
        np.zeros(QUEUE, np.int64),
        np.zeros(QUEUE, np.int64),
        np.zeros(LANES, np.int64),
        np.zeros(LANES, np.int64),
        np.empty(4 * FAN),
        np.zeros(2, np.int64),
    )
    blocks = search.first.level_start[1]
    first = CHUNK * next_part(barrier)
    while first < blocks:
        search_blocks(first, min(first + CHUNK, blocks), search, work, pairs, is_filling)
        first = CHUNK * next_part(barrier)


@compiled
def copy_kept(start, kept, pairs):
    """Fill in pairs that have all been kept when they were counted."""
    for own in range(len(start) - 1):
        copy_block(own, start, kept, pairs)


@inlined
def copy_block(own, start, kept, pairs):
    for k in range(start[own + 1] - start[own]):
        pairs.first[start[own] + k] = kept[own * SLOTS + k, 0]
        pairs.second[start[own] + k] = kept[own * SLOTS + k, 1]


@compiled
def search_blocks(first, last, search, work, pairs, is_filling):
    """Fill in the few pairs that were kept when they were counted; search for the others."""
    start, kept = search.start, search.kept
    for own in range(first, last):
        if is_filling and start[own + 1] - start[own] <= SLOTS:
            copy_block(own, start, kept, pairs)
            continue
        work.tally[FOUND] = start[own] if is_filling else 0
        search_block(own, search, work, pairs, is_filling)
        if not is_filling:
            start[own + 1] = work.tally[FOUND]


@inlined
def search_block(own, search, work, pairs, is_filling):
    """Walk down the second tree with the box of a block of the first."""
    ours, tree = search.first, search.second
    box = box_at(ours, ours.level_start[1] + own // FAN, own % FAN)
    group = at(ours.groups, ours.level_start[1] * FAN + own)
    write_corners(work.corners, ours, own)
    queued, height = 0, 1
    work.blocks[0], work.levels[0] = 0, len(tree.level_start) - 2
    while height > 0:
        height -= 1
        block, level = at(work.blocks, height), at(work.levels, height)
        here = at(tree.level_start, level)
        hits = boxes_overlapping(box, tree, here + block)
        while hits:
            child = block * FAN + lowest_bit(hits)
            hits &= hits - 1
            # If both trees are the same, blocks before this one have already found their pairs with it.
            if search.is_same and (child + 1) << (FAN_BITS * (level - 1)) <= own:
                continue
            other = at(tree.groups, here * FAN + child)
            if not can_touch(group, other, search):
                continue
            if level > 1:
                put(work.blocks, height, child)
                put(work.levels, height, level - 1)
                height += 1
            else:
                is_apart = group >= 0 and other >= 0 and group != other  # two bodies have no common corner
                queued = compare_blocks(own, box, child, is_apart, queued, search, work, pairs, is_filling)
    if queued:
        cull_pack(0, queued, search, work, pairs, is_filling)
    cull_close(search, work, pairs, is_filling)


@inlined
def write_corners(corners, tree, block):
    """Rows of the corners of a block's primitives, corner by corner, as numbers for lanes."""
    first = block * tree.corners * FAN
    for k in range(tree.corners * FAN):
        put(corners, k, float(at(tree.rows, first + k)))


@inlined
def without_common_corners(corners, sides, theirs, place):
    """In which primitives of a block, of so many sides each, no corner of another one is one too, as bits.

    corners: of the block, as of `write_corners`; place: where those of the other one begin in its tree's rows.
    """
    common = 0
    for q in range(theirs.corners):
        row = number(float(at(theirs.rows, place + q * FAN)), zero())
        for p in range(sides):
            for k in range(0, FAN, LANES):
                common |= mask_bits(load(corners, p * FAN + k, zero()) == row) << k
    return ~common


@inlined
def compare_blocks(own, box, child, is_apart, queued, search, work, pairs, is_filling):
    """Queue the pairs of two lowest blocks whose boxes meet; how many wait in the queue now."""
    a, b = search.first, search.second
    there = box_at(b, b.level_start[1] + child // FAN, child % FAN)
    ours, theirs = boxes_overlapping(there, a, own), boxes_overlapping(box, b, child)
    our_place, their_place = own * a.corners * FAN, child * b.corners * FAN
    # One by one those of the side that has fewer: points, say, are in fewer boxes than boxes have points.
    one_by_one = is_apart and count_bits(ours) < count_bits(theirs)
    rest = ours if one_by_one else (theirs if ours else 0)
    while rest:
        lane = lowest_bit(rest)
        rest &= rest - 1
        if one_by_one:
            touching = boxes_overlapping(box_at(a, own, lane), b, child)
        else:
            touching = boxes_overlapping(box_at(b, child, lane), a, own)
            if search.is_same and child == own:  # only those before it
                touching &= (1 << lane) - 1
            if touching and not is_apart:
                touching &= without_common_corners(work.corners, a.corners, b, their_place + lane)
        if not touching:
            continue
        if one_by_one:
            queued = add(queued, our_place + lane, work.ours, their_place, work.theirs, touching)
        else:
            queued = add(queued, their_place + lane, work.theirs, our_place, work.ours, touching)
        while queued >= LANES:
            queued -= LANES
            cull_pack(queued, LANES, search, work, pairs, is_filling)
    return queued


@inlined
def add(queued, one, ones, first, numbers, bits):
    """Put the pairs of one with those that bits tell from `first` on into the queue; how many are in it now."""
    for k in range(0, FAN, EIGHT):
        eight = (bits >> k) & (2**EIGHT - 1)
        for i in range(EIGHT):  # all eight at once, of which the last are overwritten by the next
            put(ones, queued + i, one)
        for i in range(EIGHT):
            put(numbers, queued + i, first + k + at(SET_BITS, EIGHT * eight + i))
        queued += count_bits(eight)
    return queued


@inlined
def cull_pack(first, size, search, work, pairs, is_filling):
    """Take those pairs of a pack that pass a first look: deliver them, or have them wait for a second."""
    culling, passing = search.culling, (1 << size) - 1
    if culling.kind != ALL:
        pack = Pack(first, work.ours, work.theirs, search.first.rows, search.second.rows)
        passing = coarse_cull(pack, passing, culling)
    is_moving = culling.kind not in (ALL, VERTEX_TET)
    while passing:
        lane = first + lowest_bit(passing)
        passing &= passing - 1
        our, their = at(work.ours, lane), at(work.theirs, lane)
        if not is_moving:
            deliver(our, their, search, work, pairs, is_filling)
            continue
        waiting = work.tally[CLOSE]
        put(work.our_close, waiting, our)
        put(work.their_close, waiting, their)
        work.tally[CLOSE] = waiting + 1
        if waiting + 1 == LANES:
            cull_close(search, work, pairs, is_filling)


@compiled
def cull_close(search, work, pairs, is_filling):
    """Deliver those of the pairs that wait for a second look that pass it."""
    passing, culling = (1 << work.tally[CLOSE]) - 1, search.culling
    work.tally[CLOSE] = 0
    if passing == 0:
        return
    pack = Pack(0, work.our_close, work.their_close, search.first.rows, search.second.rows)
    passing = fine_cull(pack, passing, culling)
    while passing:
        lane = lowest_bit(passing)
        passing &= passing - 1
        deliver(work.our_close[lane], work.their_close[lane], search, work, pairs, is_filling)


@inlined
def can_touch(body, other, search):
    """Whether two bodies may touch; MIXED may be any."""
    if body < 0 or other < 0:
        return True
    return search.rules.allowed[body, other] and not (body == other and search.no_self_contact[body])


@inlined
def is_allowed(our, their, search):
    """Whether two bodies may touch and none of the vertices is excluded; by where corners begin in the trees' rows."""
    a, b, rules = search.first, search.second, search.rules
    if not can_touch(rules.body[a.rows[our] // ROW], rules.body[b.rows[their] // ROW], search):
        return False
    for p in range(a.corners):
        if rules.excluded[a.rows[our + p * FAN] // ROW]:
            return False
    for q in range(b.corners):  # noqa: SIM110 (a loop compiles, any() over a generator does not)
        if rules.excluded[b.rows[their + q * FAN] // ROW]:
            return False
    return True


@inlined
def deliver(our, their, search, work, pairs, is_filling):
    """Write a pair of primitives after those that have been found, if it is allowed."""
    if not is_allowed(our, their, search):
        return
    own, other = our // (search.first.corners * FAN), their // (search.second.corners * FAN)
    i, j = search.first.order[own * FAN + our % FAN], search.second.order[other * FAN + their % FAN]
    p, q = (j, i) if search.is_same and j < i else (i, j)
    found = work.tally[FOUND]
    if is_filling:
        pairs.first[found], pairs.second[found] = p, q
    elif found < SLOTS:
        search.kept[own * SLOTS + found, 0], search.kept[own * SLOTS + found, 1] = p, q
    work.tally[FOUND] = found + 1

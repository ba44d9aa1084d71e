"""All pairs of primitives of two trees whose boxes overlap, or of one with itself.

Pairs come out by block of the first tree, so their order does not depend on the number of threads.  They are counted
first and then filled in, so there is no capacity to run out of.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from pliant.contact.bvh import FAN, FAN_BITS, Tree, box_at, meeting
from pliant.contact.compiled import allocating, cached, compiled, inlined
from pliant.contact.sieve import ALL, CORNERS, LANES, Sieve, let_through, name_corners, open_sieve
from pliant.kernels.threads import Team, next_part
from pliant.lanes import load, make_zero, number
from pliant.lanes.masks import lowest_bit, mask_bits

if TYPE_CHECKING:
    from pliant.contact.broad_phase import Rules

STACK = 128  # 15 waiting siblings a level, and 16^8 primitives do not fit any memory
SLOTS = 128  # pairs of a block that are kept while they are counted
zero = make_zero("double", LANES)  # holds a vertex's number exactly
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
    unfolded: np.ndarray  # (bodies,) bool: cannot touch themselves
    sieve: Sieve
    start: np.ndarray  # (blocks + 1,) first pair of each lowest block of the first tree
    kept: np.ndarray  # (blocks * SLOTS, 2) the first pairs of each block, from counting


class Work(NamedTuple):
    """Memory of a thread."""

    waiting: np.ndarray  # (STACK, 2) blocks still to be opened, and their levels
    queue: np.ndarray  # (LANES, 2) places of pairs that wait for the sieve
    starts: np.ndarray  # (CORNERS * LANES,) uint32 for the sieve
    vertices: np.ndarray  # (4 * FAN,) corners of the block that is searched for, as numbers in lanes


def overlaps(
    team: Team,
    first: Tree,
    second: Tree,
    is_same: bool,
    rules: Rules,
    sieve: Sieve | None = None,
    unfolded: np.ndarray | None = None,
) -> Pairs:
    """All pairs (i, j) of primitives with overlapping boxes, no common corner, allowed by the rules, and let through by
    the sieve.  If both trees are the same, each pair comes once, i < j.

    unfolded (bodies,) bool: bodies whose own parts are not to be compared.  Groups of both trees are bodies.
    """
    unfolded = np.zeros(len(rules.allowed), bool) if unfolded is None else unfolded
    blocks = int(first.level_start[1])
    start, kept = np.zeros(blocks + 1, np.int64), np.empty((blocks * SLOTS, 2), np.int32)
    search = Search(first, second, is_same, rules, unfolded, open_sieve() if sieve is None else sieve, start, kept)
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
        np.empty((STACK, 2), np.int64),
        np.zeros((LANES, 2), np.int64),
        np.zeros(CORNERS * LANES, np.uint32),
        np.empty(4 * FAN),
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
        found = search_block(own, search, work, pairs, start[own] if is_filling else 0, is_filling)
        if not is_filling:
            start[own + 1] = found


@inlined
def search_block(own, search, work, pairs, found, is_filling):
    """Walk down the second tree with the box of a block of the first."""
    tree, waiting = search.second, work.waiting
    box = box_at(search.first.bounds, search.first.level_start[1] + own // FAN, own % FAN)
    group = search.first.groups[search.first.level_start[1] * FAN + own]
    write_corners(work.vertices, search.first.corners, own)
    queued = 0
    waiting[0, 0], waiting[0, 1], height = 0, len(tree.level_start) - 2, 1
    while height > 0:
        height -= 1
        block, level = waiting[height, 0], waiting[height, 1]
        hits = meeting(box, tree.bounds, tree.level_start[level] + block)
        while hits:
            child = block * FAN + lowest_bit(hits)
            hits &= hits - 1
            # If both trees are the same, blocks before this one have already found their pairs with it.
            if search.is_same and (child + 1) << (FAN_BITS * (level - 1)) <= own:
                continue
            other = tree.groups[tree.level_start[level] * FAN + child]
            if not can_touch(group, other, search):
                continue
            if level > 1:
                waiting[height, 0], waiting[height, 1] = child, level - 1
                height += 1
            else:
                is_apart = group >= 0 and other >= 0 and group != other  # two bodies have no common corner
                found, queued = compare_blocks(
                    own, box, child, is_apart, search, work, pairs, found, queued, is_filling
                )
    return sift(own, search, work, pairs, found, queued, is_filling)


@inlined
def write_corners(vertices, corners, block):
    """Corners of the primitives of a block, corner by corner."""
    for k in range(FAN):
        place = min(block * FAN + k, len(corners) - 1)  # a place without a primitive meets no box
        for c in range(corners.shape[1]):
            vertices[c * FAN + k] = corners[place, c]


@inlined
def without_common_corners(vertices, sides, corners, place):
    """In which primitives of a block, whose corners are in `vertices`, no corner of another one is one too, as bits."""
    common = 0
    for q in range(corners.shape[1]):
        v = number(np.float64(corners[place, q]), zero())
        for p in range(sides):
            for k in range(0, FAN, LANES):
                common |= mask_bits(load(vertices, p * FAN + k, zero()) == v) << k
    return ~common


@inlined
def compare_blocks(own, box, child, is_apart, search, work, pairs, found, queued, is_filling):
    """Queue the pairs of two lowest blocks whose boxes meet; how many the first has found now, and how many wait."""
    a, b = search.first, search.second
    there = box_at(b.bounds, b.level_start[1] + child // FAN, child % FAN)
    near = meeting(box, b.bounds, child) if meeting(there, a.bounds, own) else 0
    while near:
        lane = lowest_bit(near)
        near &= near - 1
        touching = meeting(box_at(b.bounds, child, lane), a.bounds, own)
        if search.is_same and child == own:  # only those before it
            touching &= (1 << lane) - 1
        if touching and not is_apart:
            touching &= without_common_corners(work.vertices, a.corners.shape[1], b.corners, child * FAN + lane)
        while touching:
            work.queue[queued, 0], work.queue[queued, 1] = own * FAN + lowest_bit(touching), child * FAN + lane
            touching &= touching - 1
            queued += 1
            if queued == LANES:
                found, queued = sift(own, search, work, pairs, found, queued, is_filling), 0
    return found, queued


@inlined
def sift(own, search, work, pairs, found, queued, is_filling):
    """Deliver those of the pairs in the queue that pass the sieve; how many have been found now."""
    if queued == 0:
        return found
    passing = (1 << queued) - 1
    if search.sieve.kind != ALL:
        name_corners(work.starts, work.queue, search.first.corners, search.second.corners)
        passing = let_through(work.starts, passing, search.sieve)
    while passing:
        lane = lowest_bit(passing)
        passing &= passing - 1
        place, other = work.queue[lane, 0], work.queue[lane, 1]
        if is_allowed(search.first.corners, place, search.second.corners, other, search):
            deliver(own, place, other, search, found, pairs, is_filling)
            found += 1
    return found


@inlined
def can_touch(body, other, search):
    """Whether two bodies may touch; MIXED may be any."""
    if body < 0 or other < 0:
        return True
    return search.rules.allowed[body, other] and not (body == other and search.unfolded[body])


@inlined
def is_allowed(corners_a, place, corners_b, other, search):
    """Whether two bodies may touch and none of the vertices is excluded."""
    rules = search.rules
    if not can_touch(rules.body[corners_a[place, 0]], rules.body[corners_b[other, 0]], search):
        return False
    for p in range(corners_a.shape[1]):
        if rules.excluded[corners_a[place, p]]:
            return False
    for q in range(corners_b.shape[1]):  # noqa: SIM110 (a loop compiles, any() over a generator does not)
        if rules.excluded[corners_b[other, q]]:
            return False
    return True


@inlined
def deliver(own, place, other, search, found, pairs, is_filling):
    """Write a pair of primitives, of which `found` are before it."""
    i, j = search.first.order[place], search.second.order[other]
    p, q = (j, i) if search.is_same and j < i else (i, j)
    if is_filling:
        pairs.first[found], pairs.second[found] = p, q
    elif found < SLOTS:
        search.kept[own * SLOTS + found, 0], search.kept[own * SLOTS + found, 1] = p, q

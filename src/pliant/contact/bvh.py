"""A tree of bounding boxes over primitives, for finding all pairs that overlap.

Primitives (points, edges, triangles, tets) are sorted along a Hilbert curve, and every FAN neighbours in that order
share a parent box, level by level: the tree is the order alone, without pointers, so that new positions only need new
boxes (`refit`).  Primitives much larger than the median come after the others, class by class, so that one huge
triangle widens the boxes of its own kind and not those of its small neighbours.

    level 1        [ 0 ... 7 ]       [ 8 9 10 + + + + + ]      boxes of the blocks of level 0
    level 0        0 1 2 ... 7        8 9 10                   boxes of primitives, in tree order

Boxes are kept in blocks of FAN, coordinate by coordinate: one box is compared with a block in SIMD lanes.  Places
without a box (+) hold an empty one, which meets nothing.  The highest level is one block.
Pairs come out by block of the first tree, so their order does not depend on the number of threads.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from pliant.contact.compiled import cached, compiled, inlined
from pliant.contact.sieve import ALL, LANES, ROOM, Sieve, let_through, open_sieve, write_pair
from pliant.geometry.ordering import spatial_order
from pliant.kernels.threads import Team, meet, share
from pliant.lanes import load, make_zero
from pliant.lanes.masks import lowest_bit, mask_bits

FAN_BITS = 3
FAN = 1 << FAN_BITS
STACK = 128  # 7 waiting siblings a level, and 8^16 primitives do not fit any memory
SLOTS = 64  # pairs of a block that are kept while they are counted
CANDIDATES = 64  # that wait for the sieve
SIZE_CLASS = 4.0  # primitives of more than 4, 16, 64 ... times the median extent are kept apart
BLOCK = 6 * FAN  # numbers a block: lowest x of all its boxes, lowest y, z, highest x, y, z
zero = make_zero("double", FAN)


class Tree(NamedTuple):
    """Boxes of m primitives and of blocks of them."""

    order: np.ndarray  # (m,) primitive at each place of level 0
    corners: np.ndarray  # (m, c) vertices of the primitive at each place
    bounds: np.ndarray  # (blocks * BLOCK,) boxes of all levels [m]
    level_start: np.ndarray  # (levels + 1,) first block of each level


class Pairs(NamedTuple):
    """Numbers of primitives that may touch."""

    first: np.ndarray  # (k,) in the first tree
    second: np.ndarray  # (k,) in the second tree


def build(team: Team, corners: np.ndarray, x0: np.ndarray, x1: np.ndarray, margin: float) -> Tree:
    """Tree over primitives with corners (m, c), for their motion from x0 to x1 (n, 3) [m], boxes wider by margin
    [m].
    """
    corners = np.ascontiguousarray(corners, dtype=np.int32)
    blocks = [-(-len(corners) // FAN)]
    while blocks[-1] > 1 or len(blocks) == 1:
        blocks.append(-(-blocks[-1] // FAN))
    level_start = np.concatenate([[0], np.cumsum(blocks)]).astype(np.int64)
    order = _tree_order(corners, x0, x1)
    tree = Tree(order, corners[order], np.empty(level_start[-1] * BLOCK), level_start)
    refit(team, tree, x0, x1, margin)
    return tree


def refit(team: Team, tree: Tree, x0: np.ndarray, x1: np.ndarray, margin: float) -> None:
    """New boxes for new positions; the order stays."""
    if len(tree.order):
        team.run(cached(fit), tree, x0, x1, float(margin))


def block_extent(tree: Tree) -> float:
    """Sum of the edge lengths of all lowest blocks' boxes [m]: grows as a refitted tree gets worse."""
    blocks = tree.bounds[tree.level_start[1] * BLOCK : tree.level_start[2] * BLOCK].reshape(-1, 2, 3, FAN)
    return float(np.maximum(blocks[:, 1] - blocks[:, 0], 0.0).sum())


def overlaps(team: Team, first: Tree, second: Tree, is_same: bool, rules: tuple, sieve: Sieve | None = None) -> Pairs:
    """All pairs (i, j) of primitives with overlapping boxes, no common corner, allowed by the rules, and let through by
    the sieve.

    If both trees are the same, each pair comes once, i < j.  Pairs are counted first and then filled in, so there is no
    capacity to run out of; the first SLOTS of each block are kept while counting, so that most blocks need not be
    searched again.
    """
    blocks = int(first.level_start[1])
    start = np.zeros(blocks + 1, np.int64)
    kept = np.empty((blocks * SLOTS, 2), np.int32)
    none = np.zeros(0, np.int32)
    asked = (rules, open_sieve() if sieve is None else sieve)
    if len(first.order) and len(second.order):
        team.run(cached(find_pairs), first, second, is_same, *asked, start, kept, none, none, False)
        np.cumsum(start, out=start)
    pairs = Pairs(np.empty(start[-1], np.int32), np.empty(start[-1], np.int32))
    if start[-1]:
        team.run(cached(find_pairs), first, second, is_same, *asked, start, kept, *pairs, True)
    return pairs


def _tree_order(corners: np.ndarray, x0: np.ndarray, x1: np.ndarray) -> np.ndarray:
    """Along a Hilbert curve, large primitives after the others."""
    if not len(corners):
        return np.zeros(0, np.int32)
    points = np.concatenate([x0[corners], x1[corners]], axis=1)
    low, high = points.min(axis=1), points.max(axis=1)
    extent = (high - low).max(axis=1)
    typical = float(np.median(extent))
    order = spatial_order(0.5 * (low + high))
    if typical > 0.0 and extent.max() > SIZE_CLASS * typical:
        size_class = np.floor(np.log(np.maximum(extent / typical, 1.0)) / np.log(SIZE_CLASS))
        order = order[np.argsort(size_class[order], kind="stable")]
    return order.astype(np.int32)


@compiled
def fit(thread, threads, barrier, tree, x0, x1, margin):
    """Boxes of all primitives, then of blocks of them, level by level."""
    corners, bounds, level_start = tree.corners, tree.bounds, tree.level_start
    first, last = share(0, level_start[1], thread, threads)
    for place in range(first * FAN, last * FAN):
        low_x, low_y, low_z = np.inf, np.inf, np.inf
        high_x, high_y, high_z = -np.inf, -np.inf, -np.inf
        if place < len(corners):
            for c in range(corners.shape[1]):
                v = corners[place, c]
                low_x, high_x = min(low_x, min(x0[v, 0], x1[v, 0])), max(high_x, max(x0[v, 0], x1[v, 0]))
                low_y, high_y = min(low_y, min(x0[v, 1], x1[v, 1])), max(high_y, max(x0[v, 1], x1[v, 1]))
                low_z, high_z = min(low_z, min(x0[v, 2], x1[v, 2])), max(high_z, max(x0[v, 2], x1[v, 2]))
        s = (place // FAN) * BLOCK + place % FAN
        bounds[s], bounds[s + FAN], bounds[s + 2 * FAN] = low_x - margin, low_y - margin, low_z - margin
        s += 3 * FAN
        bounds[s], bounds[s + FAN], bounds[s + 2 * FAN] = high_x + margin, high_y + margin, high_z + margin
    for level in range(1, len(level_start) - 1):
        meet(barrier, level * threads)
        below, here, above = level_start[level - 1], level_start[level], level_start[level + 1]
        first, last = share(0, (above - here) * FAN, thread, threads)
        for node in range(first, last):
            block, lane = here + node // FAN, node % FAN
            child = (below + node) * BLOCK
            for k in range(3):
                low, high = np.inf, -np.inf
                if below + node < here:
                    for other in range(FAN):
                        low = min(low, bounds[child + k * FAN + other])
                        high = max(high, bounds[child + (3 + k) * FAN + other])
                bounds[block * BLOCK + k * FAN + lane] = low
                bounds[block * BLOCK + (3 + k) * FAN + lane] = high


@inlined
def box_at(bounds, block, lane):
    """Lowest and highest x, y, z of a box."""
    s = block * BLOCK + lane
    return (
        bounds[s],
        bounds[s + FAN],
        bounds[s + 2 * FAN],
        bounds[s + 3 * FAN],
        bounds[s + 4 * FAN],
        bounds[s + 5 * FAN],
    )


@inlined
def meeting(box, bounds, block):
    """Which boxes of a block share a point with a box, as bits."""
    s = block * BLOCK
    z = zero()
    return mask_bits(
        (load(bounds, s, z) <= box[3])
        & (load(bounds, s + FAN, z) <= box[4])
        & (load(bounds, s + 2 * FAN, z) <= box[5])
        & (load(bounds, s + 3 * FAN, z) >= box[0])
        & (load(bounds, s + 4 * FAN, z) >= box[1])
        & (load(bounds, s + 5 * FAN, z) >= box[2])
    )


@inlined
def have_common_corner(corners_a, place, corners_b, other):
    for p in range(corners_a.shape[1]):
        for q in range(corners_b.shape[1]):
            if corners_a[place, p] == corners_b[other, q]:
                return True
    return False


@inlined
def has_excluded(corners, place, excluded):
    for p in range(corners.shape[1]):  # noqa: SIM110 (a loop compiles, any() over a generator does not)
        if excluded[corners[place, p]]:
            return True
    return False


@inlined
def sift(candidates, n, corners_a, corners_b, excluded, kind, x0, x1, separation, room):
    """Keep those of the first n candidates that the sieve lets through and of which no vertex is excluded; how many."""
    kept = 0
    for first in range(0, n, LANES):
        many = min(LANES, n - first)
        passing = (1 << LANES) - 1
        if kind != ALL:
            for lane in range(LANES):
                k = first + min(lane, many - 1)
                i, j = candidates[k, 0], candidates[k, 1]
                write_pair(room, lane, kind, corners_a, i, corners_b, j, x0, x1)
            passing = let_through(room, kind, separation)
        passing &= (1 << many) - 1
        while passing:
            k = first + lowest_bit(passing)
            passing &= passing - 1
            i, j = candidates[k, 0], candidates[k, 1]
            if not (has_excluded(corners_a, i, excluded) or has_excluded(corners_b, j, excluded)):
                candidates[kept, 0], candidates[kept, 1] = i, j
                kept += 1
    return kept


@inlined
def deliver(candidates, n, order_a, order_b, is_same, own, found, kept, firsts, seconds, is_filling):
    """Write the first n candidates as pairs of primitives; how many the block has found now."""
    for k in range(n):
        i, j = order_a[candidates[k, 0]], order_b[candidates[k, 1]]
        p, q = (j, i) if is_same and j < i else (i, j)
        if is_filling:
            firsts[found], seconds[found] = p, q
        elif found < SLOTS:
            kept[own * SLOTS + found, 0], kept[own * SLOTS + found, 1] = p, q
        found += 1
    return found


@compiled
def find_pairs(
    thread, threads, barrier, tree_a, tree_b, is_same, rules, sieve, start, kept, firsts, seconds, is_filling
):
    """Count (into start[block + 1]) or fill in (from start[block]) the pairs of each lowest block of the first tree.

    Walks down the second tree with the box of that block; `waiting` holds blocks still to be opened.
    """
    order_a, corners_a, bounds_a, start_a = tree_a.order, tree_a.corners, tree_a.bounds, tree_a.level_start
    order_b, corners_b, bounds_b, start_b = tree_b.order, tree_b.corners, tree_b.bounds, tree_b.level_start
    body, allowed, excluded = rules.body, rules.allowed, rules.excluded
    kind, x0, x1, separation = sieve.kind, sieve.x0, sieve.x1, sieve.separation
    waiting, waiting_level = np.empty(STACK, np.int64), np.empty(STACK, np.int64)
    candidates, room = np.empty((CANDIDATES + FAN, 2), np.int64), np.empty(ROOM)
    first, last = share(0, start_a[1], thread, threads)
    for own in range(first, last):
        if is_filling and start[own + 1] - start[own] <= SLOTS:
            for k in range(start[own + 1] - start[own]):
                firsts[start[own] + k], seconds[start[own] + k] = kept[own * SLOTS + k, 0], kept[own * SLOTS + k, 1]
            continue
        found, n = start[own] if is_filling else 0, 0
        box = box_at(bounds_a, start_a[1] + own // FAN, own % FAN)
        waiting[0], waiting_level[0], height = 0, len(start_b) - 2, 1
        while height > 0:
            height -= 1
            level, block = waiting_level[height], waiting[height]
            hits = meeting(box, bounds_b, start_b[level] + block)
            while hits:
                child = block * FAN + lowest_bit(hits)
                hits &= hits - 1
                if level > 1:
                    waiting[height], waiting_level[height] = child, level - 1
                    height += 1
                    continue
                # If both trees are the same, blocks before this one have already found their pairs with it.
                if is_same and child < own:
                    continue
                there = box_at(bounds_b, start_b[1] + block, child % FAN)
                near = meeting(there, bounds_a, own)
                while near:
                    lane = lowest_bit(near)
                    near &= near - 1
                    place = own * FAN + lane
                    touching = meeting(box_at(bounds_a, own, lane), bounds_b, child)
                    if is_same and child == own:  # only those after it
                        touching &= -(2 << lane)
                    own_body = body[corners_a[place, 0]]
                    while touching:
                        other = child * FAN + lowest_bit(touching)
                        touching &= touching - 1
                        if have_common_corner(corners_a, place, corners_b, other):
                            continue
                        if allowed[own_body, body[corners_b[other, 0]]]:
                            candidates[n, 0], candidates[n, 1] = place, other
                            n += 1
                    if n >= CANDIDATES:
                        n = sift(candidates, n, corners_a, corners_b, excluded, kind, x0, x1, separation, room)
                        found = deliver(
                            candidates, n, order_a, order_b, is_same, own, found, kept, firsts, seconds, is_filling
                        )
                        n = 0
        n = sift(candidates, n, corners_a, corners_b, excluded, kind, x0, x1, separation, room)
        found = deliver(candidates, n, order_a, order_b, is_same, own, found, kept, firsts, seconds, is_filling)
        if not is_filling:
            start[own + 1] = found

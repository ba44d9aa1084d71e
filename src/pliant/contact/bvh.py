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
from llvmlite import ir
from numba import types
from numba.extending import intrinsic

from pliant.contact.compiled import cached, compiled, inlined
from pliant.geometry.ordering import spatial_order
from pliant.kernels.threads import Team, meet, share
from pliant.lanes import load, make_zero

FAN_BITS = 3
FAN = 1 << FAN_BITS
STACK = 128  # 7 waiting siblings a level, and 8^16 primitives do not fit any memory
SLOTS = 64  # pairs of a block that are kept while they are counted
SIZE_CLASS = 4.0  # primitives of more than 4, 16, 64 ... times the median extent are kept apart
BLOCK = 6 * FAN  # numbers a block: lowest x of all its boxes, lowest y, z, highest x, y, z
zero = make_zero("double", FAN)


class Tree(NamedTuple):
    """Boxes of m primitives and of blocks of them."""

    order: np.ndarray  # (m,) primitive at each place of level 0
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
    tree = Tree(_tree_order(corners, x0, x1), np.empty(level_start[-1] * BLOCK), level_start)
    refit(team, tree, corners, x0, x1, margin)
    return tree


def refit(team: Team, tree: Tree, corners: np.ndarray, x0: np.ndarray, x1: np.ndarray, margin: float) -> None:
    """New boxes for new positions; the order stays."""
    if len(tree.order):
        corners = np.ascontiguousarray(corners, dtype=np.int32)
        team.run(cached(fit), tree, corners, x0, x1, float(margin))


def block_extent(tree: Tree) -> float:
    """Sum of the edge lengths of all lowest blocks' boxes [m]: grows as a refitted tree gets worse."""
    blocks = tree.bounds[tree.level_start[1] * BLOCK : tree.level_start[2] * BLOCK].reshape(-1, 2, 3, FAN)
    return float(np.maximum(blocks[:, 1] - blocks[:, 0], 0.0).sum())


def overlaps(team: Team, first: Tree, second: Tree, is_same: bool, corners: tuple, rules: tuple) -> Pairs:
    """All pairs (i, j) of primitives with overlapping boxes, no common corner, and allowed by the rules.

    corners are those of the first and the second tree's primitives.  If both trees are the same, each pair comes once,
    i < j.  Pairs are counted first and then filled in, so there is no capacity to run out of; the first SLOTS of each
    block are kept while counting, so that most blocks need not be searched again.
    """
    blocks = int(first.level_start[1])
    start = np.zeros(blocks + 1, np.int64)
    kept = np.empty((blocks * SLOTS, 2), np.int32)
    none = np.zeros(0, np.int32)
    if len(first.order) and len(second.order):
        team.run(cached(find_pairs), first, second, is_same, *corners, rules, start, kept, none, none, False)
        np.cumsum(start, out=start)
    pairs = Pairs(np.empty(start[-1], np.int32), np.empty(start[-1], np.int32))
    if start[-1]:
        team.run(cached(find_pairs), first, second, is_same, *corners, rules, start, kept, *pairs, True)
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
def fit(thread, threads, barrier, tree, corners, x0, x1, margin):
    """Boxes of all primitives, then of blocks of them, level by level."""
    order, bounds, level_start = tree.order, tree.bounds, tree.level_start
    first, last = share(0, level_start[1], thread, threads)
    for place in range(first * FAN, last * FAN):
        block, lane = place // FAN, place % FAN
        for k in range(3):
            low, high = np.inf, -np.inf
            if place < len(order):
                i = order[place]
                for c in range(corners.shape[1]):
                    a, b = x0[corners[i, c], k], x1[corners[i, c], k]
                    low, high = min(low, min(a, b)), max(high, max(a, b))
            bounds[block * BLOCK + k * FAN + lane] = low - margin
            bounds[block * BLOCK + (3 + k) * FAN + lane] = high + margin
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


@intrinsic
def _bits(typingctx, mask):
    """A mask as a whole number, lane 0 the lowest bit."""

    def codegen(context, builder, signature, args):
        return builder.zext(builder.bitcast(args[0], ir.IntType(mask.width)), ir.IntType(64))

    return types.int64(mask), codegen


@intrinsic
def _lowest_bit(typingctx, bits):
    """Number of the lowest bit that is set; bits are not zero."""

    def codegen(context, builder, signature, args):
        return builder.cttz(args[0], ir.IntType(1)(1))

    return types.int64(types.int64), codegen


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
    return _bits(
        (load(bounds, s, z) <= box[3])
        & (load(bounds, s + FAN, z) <= box[4])
        & (load(bounds, s + 2 * FAN, z) <= box[5])
        & (load(bounds, s + 3 * FAN, z) >= box[0])
        & (load(bounds, s + 4 * FAN, z) >= box[1])
        & (load(bounds, s + 5 * FAN, z) >= box[2])
    )


@inlined
def may_touch(corners_a, i, corners_b, j, body, allowed, excluded):
    """Whether primitives i and j have no vertex in common, none that is excluded, and bodies that may touch."""
    if not allowed[body[corners_a[i, 0]], body[corners_b[j, 0]]]:
        return False
    for p in range(corners_a.shape[1]):
        v = corners_a[i, p]
        if excluded[v]:
            return False
        for q in range(corners_b.shape[1]):
            if v == corners_b[j, q]:
                return False
    for q in range(corners_b.shape[1]):  # noqa: SIM110 (a loop compiles, any() over a generator does not)
        if excluded[corners_b[j, q]]:
            return False
    return True


@compiled
def find_pairs(
    thread,
    threads,
    barrier,
    tree_a,
    tree_b,
    is_same,
    corners_a,
    corners_b,
    rules,
    start,
    kept,
    firsts,
    seconds,
    is_filling,
):
    """Count (into start[block + 1]) or fill in (from start[block]) the pairs of each lowest block of the first tree.

    Walks down the second tree with the box of that block; `waiting` holds blocks still to be opened.
    """
    order_a, bounds_a, start_a = tree_a.order, tree_a.bounds, tree_a.level_start
    order_b, bounds_b, start_b = tree_b.order, tree_b.bounds, tree_b.level_start
    body, allowed, excluded = rules.body, rules.allowed, rules.excluded
    waiting, waiting_level = np.empty(STACK, np.int64), np.empty(STACK, np.int64)
    first, last = share(0, start_a[1], thread, threads)
    for own in range(first, last):
        if is_filling and start[own + 1] - start[own] <= SLOTS:
            for k in range(start[own + 1] - start[own]):
                firsts[start[own] + k], seconds[start[own] + k] = kept[own * SLOTS + k, 0], kept[own * SLOTS + k, 1]
            continue
        found = start[own] if is_filling else 0
        box = box_at(bounds_a, start_a[1] + own // FAN, own % FAN)
        waiting[0], waiting_level[0], height = 0, len(start_b) - 2, 1
        while height > 0:
            height -= 1
            level, block = waiting_level[height], waiting[height]
            hits = meeting(box, bounds_b, start_b[level] + block)
            while hits:
                child = block * FAN + _lowest_bit(hits)
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
                    place = own * FAN + _lowest_bit(near)
                    near &= near - 1
                    touching = meeting(box_at(bounds_a, own, place % FAN), bounds_b, child)
                    while touching:
                        other = child * FAN + _lowest_bit(touching)
                        touching &= touching - 1
                        if is_same and other <= place:
                            continue
                        i, j = order_a[place], order_b[other]
                        if may_touch(corners_a, i, corners_b, j, body, allowed, excluded):
                            p, q = (j, i) if is_same and j < i else (i, j)
                            if is_filling:
                                firsts[found], seconds[found] = p, q
                            elif found < SLOTS:
                                kept[own * SLOTS + found, 0], kept[own * SLOTS + found, 1] = p, q
                            found += 1
        if not is_filling:
            start[own + 1] = found

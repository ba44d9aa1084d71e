"""A tree of bounding boxes over primitives, for finding all pairs that overlap (overlaps.py).

Primitives (points, edges, triangles, tets) are sorted along a Hilbert curve, and every FAN neighbours in that order
share a parent box, level by level: the tree is the order alone, without pointers, so that new positions only need new
boxes (`refit`).  Primitives much larger than the median come after the others, class by class, so that one huge
triangle widens the boxes of its own kind and not those of its small neighbours.

    level 1        [ 0 ... 15 ]      [ 16 17 18 + + + ... ]    boxes of the blocks of level 0
    level 0        0 1 2 ... 15       16 17 18                 boxes of primitives, in tree order

Boxes are kept in blocks of FAN, coordinate by coordinate: one box is compared with a block in SIMD lanes.  Places
without a box (+) hold an empty one, which meets nothing; a body begins with a new block, unless it is small.  The
highest level is one block.

Boxes are around all of the way of a step, or, if that is long, around its start and around its end. All move straight:
two boxes of which one is below the other along an axis at the start and at the end are apart on all of the way, with
whatever speed both move.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from pliant.contact.search.motion import ROW, Motion
from pliant.geometry.ordering import spatial_order
from pliant.kernels.threads import Team, barrier_wait, share
from pliant.lanes import load, make_zero, maximum, minimum, number, store
from pliant.lanes.compiled import at, cached, compiled, inlined
from pliant.lanes.masks import mask_bits
from pliant.lanes.rows import gather4

FAN_BITS = 4
FAN = 1 << FAN_BITS
SMALL = 2 * FAN  # primitives of a group that share blocks with others
SIZE_CLASS = 4.0  # primitives of more than 4, 16, 64 ... times the median extent are kept apart
MIXED = -1  # no one group
NOTHING = -1  # no primitive
TOGETHER = 3  # trees that are fitted in one run; fewer are filled up, for `fit` is compiled for each number of them
NONE = np.iinfo(np.int32).max
BLOCK = 6 * FAN  # numbers a block: lowest x of all its boxes, lowest y, z, highest x, y, z
zero = make_zero("single", FAN)


class Tree(NamedTuple):
    """Boxes of m primitives of c corners each, at so many places or more, and of blocks of them."""

    order: np.ndarray  # (places,) primitive at each place of level 0, or NOTHING
    rows: (
        np.ndarray
    )  # flat (blocks of level 0, c, FAN) uint32 where rows of a Motion begin, of the corners at each place
    corners: int  # c
    bounds: np.ndarray  # (blocks * BLOCK,) float32 boxes of all levels, seen from `origin` [m]
    later: np.ndarray  # the same at the end of the way, of which `bounds` then are the start; empty: they are of all
    origin: np.ndarray  # (3,) [m]
    groups: np.ndarray  # (blocks * FAN,) int32 group of all that is in a box, MIXED if there are several
    level_start: np.ndarray  # (levels + 1,) first block of each level


def _empty() -> Tree:
    integers, numbers = np.zeros(0, np.int32), np.zeros(0, np.float32)
    rows = np.zeros(0, np.uint32)
    return Tree(integers, rows, 1, numbers, numbers, np.zeros(3), integers, np.zeros(2, np.int64))


EMPTY = _empty()


def build(team: Team, corners: np.ndarray, motion: Motion, group: np.ndarray | None = None) -> Tree:
    """Tree over primitives with corners (m, c), for vertices in motion.

    group (n,): bodies, say, which are kept together; a primitive belongs to the group of its first corner.
    """
    corners = np.ascontiguousarray(corners, dtype=np.int32)
    group = np.zeros(len(corners), np.int32) if group is None else group[corners[:, 0]]
    return _over(team, _tree_order(corners, motion, group), corners, motion, group)


def part(team: Team, tree: Tree, chosen: np.ndarray, corners: np.ndarray, motion: Motion, body: np.ndarray) -> Tree:
    """Tree over the chosen ones, (m,) bool, of the primitives of a tree, in its order; others as of `build`."""
    order = tree.order[tree.order != NOTHING]
    order, group = order[chosen[order]], body[corners[:, 0]]
    places = _in_blocks(order, group[order][:, None]) if len(order) else order
    return _over(team, places, corners, motion, group)


def _over(team: Team, order: np.ndarray, corners: np.ndarray, motion: Motion, group: np.ndarray) -> Tree:
    """Tree over primitives at places, NOTHING at some; group (m,): of each primitive."""
    blocks = [len(order) // FAN]
    while blocks[-1] > 1 or len(blocks) == 1:
        blocks.append(-(-blocks[-1] // FAN))
    level_start = np.concatenate([[0], np.cumsum(blocks)]).astype(np.int64)
    no_vertex = len(motion.low) // ROW - 1
    vertices = np.where((order == NOTHING)[:, None], no_vertex, corners[order])
    rows = ROW * vertices.reshape(-1, FAN, corners.shape[1]).transpose(0, 2, 1).ravel()
    groups = _groups_of_boxes(order, group, blocks)
    bounds = np.empty(level_start[-1] * BLOCK, np.float32)
    nothing = np.zeros(0, np.float32)
    tree = Tree(order, rows.astype(np.uint32), corners.shape[1], bounds, nothing, np.zeros(3), groups, level_start)
    return refit(team, (tree,), motion)[0]


def refit(team: Team, trees: tuple[Tree, ...], motion: Motion) -> tuple[Tree, ...]:
    """The trees with new boxes for new positions, written over the old ones; the order stays."""
    has_ends = len(motion.later_low) > 0
    trees = tuple(
        tree._replace(later=np.empty(len(tree.bounds) if has_ends else 0, np.float32))
        if (len(tree.later) > 0) != has_ends
        else tree
        for tree in trees
    )
    for tree in trees:
        tree.origin[:] = motion.origin
    for first in range(0, len(trees), TOGETHER):
        some = trees[first : first + TOGETHER]
        padded = (*some, *[EMPTY] * (TOGETHER - len(some)))
        team.run_for(5 * sum(len(tree.order) for tree in some), cached(fit), padded, motion)
    return trees


def block_extent(tree: Tree) -> float:
    """Sum of the edge lengths of all lowest blocks' boxes [m]: grows as a refitted tree gets worse."""
    return float(cached(sum_extents)(tree.bounds, *tree.level_start[1:3].tolist()))


def _groups_of_boxes(order: np.ndarray, group: np.ndarray, blocks: list[int]) -> np.ndarray:
    """Groups of the boxes of all levels, from those of primitives (m,)."""
    is_free = order == NOTHING
    at_place = group[order] if len(group) else np.zeros(len(order), np.int32)
    levels, low, high = [], np.where(is_free, NONE, at_place), np.where(is_free, -1, at_place)
    for count in blocks:
        low, high = (np.concatenate([a, np.full(count * FAN - len(a), fill)]) for a, fill in ((low, NONE), (high, -1)))
        levels.append(np.where((low == high) | (high < 0), high, MIXED))
        low, high = low.reshape(-1, FAN).min(axis=1), high.reshape(-1, FAN).max(axis=1)
    return np.concatenate(levels).astype(np.int32)


def _tree_order(corners: np.ndarray, motion: Motion, group: np.ndarray) -> np.ndarray:
    """Along a Hilbert curve, group by group, which are on such a curve too; large primitives after the others."""
    if not len(corners):
        return np.zeros(0, np.int32)
    boxes = motion.low.reshape(-1, ROW)[corners].astype(float)
    low, high = boxes[:, :, 0:3].min(axis=1), boxes[:, :, 4:7].max(axis=1)
    extent = (high - low).max(axis=1)
    typical = float(np.median(extent))
    middle = 0.5 * (low + high)
    order = spatial_order(middle)
    number, group = np.unique(group, return_inverse=True)
    if len(number) > 1:
        size = np.bincount(group)
        rank = np.empty(len(number), np.int64)
        means = np.column_stack([np.bincount(group, middle[:, k]) / size for k in range(3)])
        rank[spatial_order(means)] = np.arange(len(number))
        order = order[np.argsort(rank[group[order]], kind="stable")]
    size_class = np.zeros(len(corners))
    if typical > 0.0 and extent.max() > SIZE_CLASS * typical:
        size_class = np.floor(np.log(np.maximum(extent / typical, 1.0)) / np.log(SIZE_CLASS))
        order = order[np.argsort(size_class[order], kind="stable")]
    return _in_blocks(order, np.column_stack([size_class, group])[order])


def _in_blocks(order: np.ndarray, kind: np.ndarray) -> np.ndarray:
    """The order (m,) with places of NOTHING: many neighbours of one kind (m, ...) fill blocks of their own."""
    is_new = np.r_[True, (kind[1:] != kind[:-1]).any(axis=1)]
    start = np.flatnonzero(is_new)
    is_small = np.diff(np.r_[start, len(order)]) < SMALL
    part = start[~(is_small & np.r_[False, is_small[:-1]])]  # small ones one after another share blocks
    size = np.diff(np.r_[part, len(order)])
    first = np.cumsum(np.r_[0, -(-size // FAN) * FAN])
    places = np.full(first[-1], NOTHING, np.int32)
    places[np.arange(len(order)) + np.repeat(first[:-1] - part, size)] = order
    return places


@compiled
def fit(thread, threads, barrier, trees, motion):
    """Boxes of all primitives, then of blocks of them, level by level."""
    arrivals = 0
    for tree in trees:
        first, last = share(0, tree.level_start[1], thread, threads)
        fit_primitives(first, last, tree.rows, tree.corners, motion.low, motion.high, tree.bounds)
        if len(tree.later):
            fit_primitives(first, last, tree.rows, tree.corners, motion.later_low, motion.later_high, tree.later)
        for level in range(1, len(tree.level_start) - 1):
            arrivals += threads
            barrier_wait(barrier, arrivals)
            first, last = share(0, (tree.level_start[level + 1] - tree.level_start[level]) * FAN, thread, threads)
            fit_level(first, last, level, tree.level_start, tree.bounds)
            if len(tree.later):
                fit_level(first, last, level, tree.level_start, tree.later)


@inlined
def fit_primitives(first, last, rows, corners, lows, highs, bounds):
    """Boxes of the lowest level, of blocks first..last."""
    z = zero()
    for block in range(first, last):
        place = block * corners * FAN
        low_x, low_y, low_z, _ = gather4(lows, rows, place, z)
        high_x, high_y, high_z, _ = gather4(highs, rows, place, z)
        for _ in range(1, corners):
            place += FAN
            low, high = gather4(lows, rows, place, z), gather4(highs, rows, place, z)
            low_x, low_y, low_z = minimum(low_x, low[0]), minimum(low_y, low[1]), minimum(low_z, low[2])
            high_x, high_y, high_z = maximum(high_x, high[0]), maximum(high_y, high[1]), maximum(high_z, high[2])
        s = block * BLOCK
        store(bounds, s, low_x)
        store(bounds, s + FAN, low_y)
        store(bounds, s + 2 * FAN, low_z)
        store(bounds, s + 3 * FAN, high_x)
        store(bounds, s + 4 * FAN, high_y)
        store(bounds, s + 5 * FAN, high_z)


@inlined
def fit_level(first, last, level, level_start, bounds):
    """Boxes first..last of a level, of the blocks of the level below."""
    below, here = level_start[level - 1], level_start[level]
    for node in range(first, last):
        child, s = (below + node) * BLOCK, (here + node // FAN) * BLOCK + node % FAN
        for k in range(3):
            low, high = np.float32(np.inf), np.float32(-np.inf)
            if below + node < here:
                low, high = least_and_most(bounds, child + k * FAN, child + (3 + k) * FAN)
            bounds[s + k * FAN], bounds[s + (3 + k) * FAN] = low, high


@inlined
def least_and_most(bounds, lows, highs):
    """Least of the FAN numbers from `lows` on, and the largest of those from `highs` on."""
    low, high = bounds[lows], bounds[highs]
    for other in range(1, FAN):
        low, high = min(low, bounds[lows + other]), max(high, bounds[highs + other])
    return low, high


@compiled
def sum_extents(bounds, first, last):
    """Of the boxes of blocks first..last; empty ones have none."""
    total = 0.0
    for block in range(first, last):
        for k in range(3 * FAN):
            total += max(at(bounds, block * BLOCK + 3 * FAN + k) - at(bounds, block * BLOCK + k), 0.0)
    return total


@inlined
def box_at(tree, block, lane):
    """Lowest and highest x, y, z of a box, and the same at the end of the way, if boxes are of both ends."""
    box = numbers_at(tree.bounds, block * BLOCK + lane)
    return (box, numbers_at(tree.later, block * BLOCK + lane) if len(tree.later) else box)


@inlined
def numbers_at(bounds, s):
    return (
        at(bounds, s),
        at(bounds, s + FAN),
        at(bounds, s + 2 * FAN),
        at(bounds, s + 3 * FAN),
        at(bounds, s + 4 * FAN),
        at(bounds, s + 5 * FAN),
    )


@inlined
def boxes_overlapping(box, tree, block):
    """Which boxes of a block may share a point with a box at any time, as bits."""
    if len(tree.later):
        return overlapping_on_way(box[0], box[1], tree.bounds, tree.later, block * BLOCK)
    return overlapping(box[0], tree.bounds, block * BLOCK)


@inlined
def overlapping_on_way(start, end, bounds, later, s):
    """Of boxes that move from `bounds` to `later`, which are not on one side along an axis at both ends, as bits."""
    z = zero()
    return mask_bits(
        reaches(bounds, later, s, start, end, 0, z)
        & reaches(bounds, later, s, start, end, 1, z)
        & reaches(bounds, later, s, start, end, 2, z)
    )


@inlined
def reaches(bounds, later, s, start, end, k, z):
    """Which boxes are not on one side of a box along axis k at both ends of the way."""
    low, high = s + k * FAN, s + (3 + k) * FAN
    below = (load(bounds, low, z) <= number(start[3 + k], z)) | (load(later, low, z) <= number(end[3 + k], z))
    above = (load(bounds, high, z) >= number(start[k], z)) | (load(later, high, z) >= number(end[k], z))
    return below & above


@inlined
def overlapping(box, bounds, s):
    """Which boxes from s on share a point with a box, as bits."""
    z = zero()
    return mask_bits(
        (load(bounds, s, z) <= number(box[3], z))
        & (load(bounds, s + FAN, z) <= number(box[4], z))
        & (load(bounds, s + 2 * FAN, z) <= number(box[5], z))
        & (load(bounds, s + 3 * FAN, z) >= number(box[0], z))
        & (load(bounds, s + 4 * FAN, z) >= number(box[1], z))
        & (load(bounds, s + 5 * FAN, z) >= number(box[2], z))
    )

"""A tree of bounding boxes over primitives, for finding all pairs that overlap (overlaps.py).

Primitives (points, edges, triangles, tets) are sorted along a Hilbert curve, and every FAN neighbours in that order
share a parent box, level by level: the tree is the order alone, without pointers, so that new positions only need new
boxes (`refit`).  Primitives much larger than the median come after the others, class by class, so that one huge
triangle widens the boxes of its own kind and not those of its small neighbours.

    level 1        [ 0 ... 15 ]      [ 16 17 18 + + + ... ]    boxes of the blocks of level 0
    level 0        0 1 2 ... 15       16 17 18                 boxes of primitives, in tree order

Boxes are kept in blocks of FAN, coordinate by coordinate: one box is compared with a block in SIMD lanes.  Places
without a box (+) hold an empty one, which meets nothing.  The highest level is one block.  Boxes are in single
precision, rounded outwards, and seen from the first vertex of the scene, so that a scene far from the origin does not
suffer: `boxes_of_motion` makes those of vertices, for all trees that are to be compared.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from pliant.contact.compiled import cached, compiled, inlined
from pliant.geometry.ordering import spatial_order
from pliant.kernels.threads import Team, meet, share
from pliant.lanes import load, make_zero, number
from pliant.lanes.masks import mask_bits

FAN_BITS = 4
FAN = 1 << FAN_BITS
SIZE_CLASS = 4.0  # primitives of more than 4, 16, 64 ... times the median extent are kept apart
MIXED = -1  # no one group
NONE = np.iinfo(np.int32).max
BLOCK = 6 * FAN  # numbers a block: lowest x of all its boxes, lowest y, z, highest x, y, z
ROUNDING = 3e-7  # part of a coordinate by which boxes grow: more than single precision and a difference lose
zero = make_zero("single", FAN)


class Tree(NamedTuple):
    """Boxes of m primitives and of blocks of them."""

    order: np.ndarray  # (m,) primitive at each place of level 0
    corners: np.ndarray  # (m, c) vertices of the primitive at each place
    bounds: np.ndarray  # (blocks * BLOCK,) float32 boxes of all levels, seen from `origin` [m]
    origin: np.ndarray  # (3,) [m]
    groups: np.ndarray  # (blocks * FAN,) int32 group of all that is in a box, MIXED if there are several
    level_start: np.ndarray  # (levels + 1,) first block of each level


class Boxes(NamedTuple):
    """Boxes of n vertices on their way."""

    sides: np.ndarray  # (n, 8) float32 lowest x, y, z, nothing, highest x, y, z, nothing [m], seen from `origin`
    origin: np.ndarray  # (3,) [m]


def boxes_of_motion(team: Team, x0: np.ndarray, x1: np.ndarray, margin: float) -> Boxes:
    """Boxes of the motion from x0 to x1 (n, 3) [m], wider by margin [m]."""
    origin = x0[:1].sum(axis=0)  # the first vertex; zero if there is none
    boxes = Boxes(np.empty((len(x0), 8), np.float32), origin)
    team.run_for(8 * len(x0), cached(surround), x0, x1, float(margin), *boxes)
    return boxes


def build(team: Team, corners: np.ndarray, boxes: Boxes, group: np.ndarray | None = None) -> Tree:
    """Tree over primitives with corners (m, c), vertices with boxes.

    group (n,): bodies, say, which are kept together; a primitive belongs to the group of its first corner.
    """
    corners = np.ascontiguousarray(corners, dtype=np.int32)
    blocks = [-(-len(corners) // FAN)]
    while blocks[-1] > 1 or len(blocks) == 1:
        blocks.append(-(-blocks[-1] // FAN))
    level_start = np.concatenate([[0], np.cumsum(blocks)]).astype(np.int64)
    group = np.zeros(len(corners), np.int32) if group is None else group[corners[:, 0]]
    order = _tree_order(corners, boxes, group)
    groups = _groups_of_boxes(group[order], blocks)
    bounds = np.empty(level_start[-1] * BLOCK, np.float32)
    tree = Tree(order, corners[order], bounds, np.zeros(3), groups, level_start)
    refit(team, (tree,), boxes)
    return tree


def refit(team: Team, trees: tuple[Tree, ...], boxes: Boxes) -> None:
    """New boxes for new positions; the order stays."""
    for tree in trees:
        tree.origin[:] = boxes.origin
    team.run_for(12 * sum(len(tree.order) for tree in trees), cached(fit), trees, boxes.sides)


def block_extent(tree: Tree) -> float:
    """Sum of the edge lengths of all lowest blocks' boxes [m]: grows as a refitted tree gets worse."""
    blocks = tree.bounds[tree.level_start[1] * BLOCK : tree.level_start[2] * BLOCK].reshape(-1, 2, 3, FAN)
    return float(np.maximum(blocks[:, 1] - blocks[:, 0], 0.0).sum())


def _groups_of_boxes(group: np.ndarray, blocks: list[int]) -> np.ndarray:
    """Groups of the boxes of all levels, from those of the places (m,) of the lowest."""
    levels, low, high = [], group, group
    for count in blocks:
        low, high = (np.concatenate([a, np.full(count * FAN - len(a), fill)]) for a, fill in ((low, NONE), (high, -1)))
        levels.append(np.where((low == high) | (high < 0), high, MIXED))
        low, high = low.reshape(-1, FAN).min(axis=1), high.reshape(-1, FAN).max(axis=1)
    return np.concatenate(levels).astype(np.int32)


def _tree_order(corners: np.ndarray, boxes: Boxes, group: np.ndarray) -> np.ndarray:
    """Along a Hilbert curve, group by group, which are on such a curve too; large primitives after the others."""
    if not len(corners):
        return np.zeros(0, np.int32)
    sides = boxes.sides[corners].astype(float)
    low, high = sides[:, :, 0:3].min(axis=1), sides[:, :, 4:7].max(axis=1)
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
    if typical > 0.0 and extent.max() > SIZE_CLASS * typical:
        size_class = np.floor(np.log(np.maximum(extent / typical, 1.0)) / np.log(SIZE_CLASS))
        order = order[np.argsort(size_class[order], kind="stable")]
    return order.astype(np.int32)


@compiled
def surround(thread, threads, barrier, x0, x1, margin, sides, origin):
    """Boxes of vertices, rounded outwards."""
    first, last = share(0, len(x0), thread, threads)
    for v in range(first, last):
        for k in range(3):
            low, high = min(x0[v, k], x1[v, k]) - margin - origin[k], max(x0[v, k], x1[v, k]) + margin - origin[k]
            sides[v, k], sides[v, 4 + k] = low - ROUNDING * abs(low), high + ROUNDING * abs(high)
        sides[v, 3], sides[v, 7] = 0.0, 0.0


@compiled
def fit(thread, threads, barrier, trees, sides):
    """Boxes of all primitives, then of blocks of them, level by level."""
    arrivals = 0
    for tree in trees:
        first, last = share(0, tree.level_start[1], thread, threads)
        fit_primitives(first * FAN, last * FAN, tree.corners, sides, tree.bounds)
        for level in range(1, len(tree.level_start) - 1):
            arrivals += threads
            meet(barrier, arrivals)
            first, last = share(0, (tree.level_start[level + 1] - tree.level_start[level]) * FAN, thread, threads)
            fit_level(first, last, level, tree.level_start, tree.bounds)


@inlined
def fit_primitives(first, last, corners, sides, bounds):
    """Boxes of the lowest level, of places first..last."""
    for place in range(first, last):
        s = (place // FAN) * BLOCK + place % FAN
        if place >= len(corners):
            for k in range(3):
                bounds[s + k * FAN], bounds[s + (3 + k) * FAN] = np.inf, -np.inf
            continue
        v = np.uint64(corners[place, 0])  # unsigned: no look whether it is negative
        low_x, low_y, low_z = sides[v, 0], sides[v, 1], sides[v, 2]
        high_x, high_y, high_z = sides[v, 4], sides[v, 5], sides[v, 6]
        for c in range(1, corners.shape[1]):
            v = np.uint64(corners[place, c])
            low_x, high_x = min(low_x, sides[v, 0]), max(high_x, sides[v, 4])
            low_y, high_y = min(low_y, sides[v, 1]), max(high_y, sides[v, 5])
            low_z, high_z = min(low_z, sides[v, 2]), max(high_z, sides[v, 6])
        bounds[s], bounds[s + FAN], bounds[s + 2 * FAN] = low_x, low_y, low_z
        bounds[s + 3 * FAN], bounds[s + 4 * FAN], bounds[s + 5 * FAN] = high_x, high_y, high_z


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
        (load(bounds, s, z) <= number(box[3], z))
        & (load(bounds, s + FAN, z) <= number(box[4], z))
        & (load(bounds, s + 2 * FAN, z) <= number(box[5], z))
        & (load(bounds, s + 3 * FAN, z) >= number(box[0], z))
        & (load(bounds, s + 4 * FAN, z) >= number(box[1], z))
        & (load(bounds, s + 5 * FAN, z) >= number(box[2], z))
    )

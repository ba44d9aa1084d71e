"""A tree of bounding boxes over primitives, for finding all pairs that overlap.

Primitives (points, edges, triangles, tets) are sorted along a Hilbert curve, and every FAN neighbours in that order share
a parent box, level by level up to one root: the tree is the order alone, without pointers, so that new positions only need
new boxes (`refit`).  Primitives much larger than the median come after the others, class by class, so that one huge
triangle widens the boxes of its own kind and not those of its small neighbours.

    level 2                [        root        ]            bounds[level_start[2]]
    level 1        [ 0 1 2 3 ]        [ 4 5 6 ]              bounds[level_start[1] ...]
    level 0        0   1   2   3      4   5   6              bounds[0 ...]: primitives in tree order

Pairs come out by leaf of the first tree, so their order does not depend on the number of threads.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from pliant.contact.compiled import cached, compiled
from pliant.geometry.ordering import spatial_order
from pliant.kernels.threads import Team, meet, share

FAN = 4
STACK = 64  # 3 waiting siblings a level, and 4^21 primitives do not fit any memory
SIZE_CLASS = 4.0  # primitives of more than 4, 16, 64 ... times the median extent are kept apart


class Tree(NamedTuple):
    """Boxes of m primitives and of groups of them."""

    order: np.ndarray  # (m,) primitive at each place of level 0
    bounds: np.ndarray  # (boxes, 6) lowest and highest x, y, z of each box [m]
    level_start: np.ndarray  # (levels + 1,) first box of each level; the last level is the root


class Pairs(NamedTuple):
    """Numbers of primitives whose boxes overlap."""

    first: np.ndarray  # (k,) in the first tree
    second: np.ndarray  # (k,) in the second tree


def build(team: Team, corners: np.ndarray, x0: np.ndarray, x1: np.ndarray, margin: float) -> Tree:
    """Tree over primitives with corners (m, c), for their motion from x0 to x1 (n, 3) [m], boxes wider by margin [m]."""
    corners = np.ascontiguousarray(corners, dtype=np.int32)
    sizes = [len(corners)]
    while sizes[-1] > 1 or len(sizes) == 1:
        sizes.append(-(-sizes[-1] // FAN))
    level_start = np.concatenate([[0], np.cumsum(sizes)]).astype(np.int64)
    tree = Tree(_tree_order(corners, x0, x1), np.empty((level_start[-1], 6)), level_start)
    refit(team, tree, corners, x0, x1, margin)
    return tree


def refit(team: Team, tree: Tree, corners: np.ndarray, x0: np.ndarray, x1: np.ndarray, margin: float) -> None:
    """New boxes for new positions; the order stays."""
    if len(tree.order):
        corners = np.ascontiguousarray(corners, dtype=np.int32)
        team.run(cached(fit), tree, corners, x0, x1, float(margin))


def overlaps(team: Team, first: Tree, second: Tree, accept: Any, rule: tuple) -> Pairs:
    """All pairs (i, j) of overlapping boxes for which the compiled function accept(rule, i, j) holds."""
    if not len(first.order) or not len(second.order):
        return Pairs(np.zeros(0, np.int32), np.zeros(0, np.int32))
    leaves = first.level_start[2] - first.level_start[1]
    start = np.zeros(leaves + 1, np.int64)
    none = np.zeros(0, np.int32)
    team.run(cached(accept), first, second, rule, start, Pairs(none, none), False)
    np.cumsum(start, out=start)
    pairs = Pairs(np.empty(start[-1], np.int32), np.empty(start[-1], np.int32))
    team.run(cached(accept), first, second, rule, start, pairs, True)
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
    """Boxes of all primitives, then of their parents, level by level."""
    bounds = tree.bounds
    first, last = share(0, len(tree.order), thread, threads)
    for place in range(first, last):
        i = tree.order[place]
        for k in range(3):
            low, high = np.inf, -np.inf
            for c in range(corners.shape[1]):
                a, b = x0[corners[i, c], k], x1[corners[i, c], k]
                low, high = min(low, min(a, b)), max(high, max(a, b))
            bounds[place, k], bounds[place, 3 + k] = low - margin, high + margin
    for level in range(1, len(tree.level_start) - 1):
        meet(barrier, level * threads)
        below, here, above = tree.level_start[level - 1], tree.level_start[level], tree.level_start[level + 1]
        first, last = share(here, above, thread, threads)
        for node in range(first, last):
            child = below + FAN * (node - here)
            end = min(child + FAN, here)
            for k in range(3):
                low, high = bounds[child, k], bounds[child, 3 + k]
                for other in range(child + 1, end):
                    low, high = min(low, bounds[other, k]), max(high, bounds[other, 3 + k])
                bounds[node, k], bounds[node, 3 + k] = low, high


@compiled
def boxes_meet(a, i, b, j):
    """Whether box i of a and box j of b share a point."""
    return (
        a[i, 0] <= b[j, 3]
        and b[j, 0] <= a[i, 3]
        and a[i, 1] <= b[j, 4]
        and b[j, 1] <= a[i, 4]
        and a[i, 2] <= b[j, 5]
        and b[j, 2] <= a[i, 5]
    )

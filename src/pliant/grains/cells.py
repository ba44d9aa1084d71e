"""Spheres in cells of a uniform grid, sorted, and how far each has to look for others within a step.

Cells are counted along one axis after another, so that those along the last follow each other in memory. The first is
the one along which spheres that follow each other by number are nearest: then those that are near each other in cells
are near in the arrays of the scene too. Where spheres are so far apart that there would be too many cells, these share
buckets. All that is said of axes in Cells is in that order.

A sphere looks for those that get no farther than itself, radius and way together. They have levels, twice as far each:
so one fast or large sphere among many does not make all of them look far.
"""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np

from pliant.grains.record import bucket_of
from pliant.lanes.compiled import compiled, inlined
from pliant.lanes.entry import entry
from pliant.lanes.vectors import dot, subtract

CELLS_ACROSS = 2_000_000  # at most along an axis, so that the three numbers of a cell fit in one
AXIS_BITS = 21  # of a number of a cell along an axis
NEAR = 12  # contacts of a sphere with others that are kept from counting to writing
EDGE = 1.25  # of a cell, in mean diameters with the tolerance: fewer rows of cells to look at, with more in each
LEVELS = 16
FIRST_LEVEL = 1.25  # mean radii: radius and way of the lowest level
FOLLOWING = 8.0  # of the largest radius: gap from which a sphere may still meet one that another contact stops
LANES = 16  # numbers in a register, at most
ROUNDING = 1e-6  # of the size of the scene: more than what places in single precision are wrong by
RADIUS, LENGTH, WAY = 3, 4, 5  # columns of places, after the coordinates; a way has three


class Cells(NamedTuple):
    """p spheres in the order of their cells: each has a place."""

    home: np.ndarray  # (p,) int32 bucket by number of the sphere
    starts: np.ndarray  # (buckets + 1,) int32; buckets are a power of two
    order: np.ndarray  # (p,) int32 numbers of the spheres, place by place
    keys: np.ndarray  # (p,) int64 the three numbers of the cell as one
    places: np.ndarray  # (p, 8) [m] where they are, radius, length of the way, way
    who: np.ndarray  # (p, 2) int32 number in the rows; twice the body, and 1 more if it moves; -1 if it touches nothing
    friction: np.ndarray  # (p,) coefficient
    coarse: np.ndarray  # (4, p + LANES) [m] float32 places from the first cell on, radius and way together, rounded up
    level: np.ndarray  # (p,) int8
    counts: np.ndarray  # (3,) int64 cells along the axes, with an empty one at each end
    frame: np.ndarray  # (6,) [m] lower corner of the first cell with spheres, edge of a cell, rounding in `coarse`;
    # 1 / edge
    ways: np.ndarray  # (LEVELS, 6) [m] least and largest ways along the axes, of a level and those below
    largest: np.ndarray  # (LEVELS,) [m] radius, of a level and those below
    numbers: np.ndarray  # (3,) int64 lowest level with spheres; 1 if each cell has a bucket of its own; 1 if listed
    near: np.ndarray  # (p, NEAR) int32 places of those that touch one
    near_count: np.ndarray  # (p,) int32
    listed: np.ndarray  # (l,) int32 places of those near each, one place after another (grains.near_lists)
    list_ends: np.ndarray  # (p + 1,) int32
    axes: np.ndarray  # (3,) int64 of the scene, the slowest first
    ranks: np.ndarray  # (3,) int64 which of them an axis of the scene is
    edge: float  # [m] wanted of a cell
    base: float  # [m] radius and way of the lowest level, at most
    following: float  # [m] see FOLLOWING


def room_for_cells(points: np.ndarray, radius: np.ndarray, tolerance: float) -> Cells:
    """For spheres of these radii (p,) that touch from gaps of `tolerance` [m] on and start at points (p, 3) [m]."""
    axes = np.argsort(np.abs(np.diff(points, axis=0)).sum(axis=0), kind="stable")
    p, mean, largest = len(radius), float(radius.mean()) if len(radius) else 1.0, float(radius.max(initial=0.0))
    buckets = 1 << max(4, int(4 * p - 1).bit_length())
    return Cells(
        np.zeros(p, np.int32), np.zeros(buckets + 1, np.int32), np.zeros(p, np.int32), np.zeros(p, np.int64),
        np.zeros((p, 8)), np.zeros((p, 2), np.int32), np.zeros(p), np.zeros((4, p + LANES), np.float32),
        np.zeros(p, np.int8), np.zeros(3, np.int64), np.zeros(6), np.zeros((LEVELS, 6)),
        np.zeros(LEVELS), np.zeros(3, np.int64), np.zeros((p, NEAR), np.int32), np.zeros(p, np.int32),
        np.zeros(0, np.int32), np.zeros(p + 1, np.int32), axes, np.argsort(axes),
        EDGE * (2 * mean + tolerance), FIRST_LEVEL * mean, FOLLOWING * largest,
    )  # fmt: skip


@inlined
def key_of(x, y, z):
    return (np.int64(x) << 2 * AXIS_BITS) | (np.int64(y) << AXIS_BITS) | np.int64(z)


@inlined
def cell_of(key):
    """The three numbers of a cell."""
    mask = (1 << AXIS_BITS) - 1
    return key >> 2 * AXIS_BITS, (key >> AXIS_BITS) & mask, key & mask


@inlined
def bucket(grid, x, y, z):
    """The bucket of a cell."""
    if grid.numbers[1] == 1:
        return (np.int64(x) * grid.counts[1] + y) * grid.counts[2] + z
    return bucket_of(x, y, z, len(grid.starts) - 2)


@inlined
def cell_along(grid, axis, value):
    """Number of the cell at a coordinate, or of the nearest one that may have spheres."""
    return min(np.int64(max(value - grid.frame[axis], 0.0) * grid.frame[5]) + 1, grid.counts[axis] - 2)


@inlined
def in_order(grid, x, i):
    """Row i of an array (n, 3), by the axes of the cells."""
    at = np.uint64(i)
    return (x[at, grid.axes[0]], x[at, grid.axes[1]], x[at, grid.axes[2]])


@inlined
def level_of(grid, distance):
    """Level of a sphere whose radius and way are so long together [m]."""
    level, limit = 0, grid.base
    while distance > limit and level < LEVELS - 1:
        level, limit = level + 1, 2.0 * limit
    return level


@entry(nogil=True, error_model="numpy")
def sort_into_cells(grains, motion, grid):
    """Sort p spheres by buckets of cells. Returns the length of a cell's edge [m], longer than `grid.edge` in a very
    wide scene, and the largest part of a cell's volume that spheres with their centres in it take up.
    """
    starts, order, home = grid.starts, grid.order, grid.home
    p = len(order)
    frame_cells(grains, motion, grid)
    starts[:] = 0
    for k in range(p):
        x = in_order(grid, motion.start, grains.vertices[k])
        home[k] = bucket(grid, cell_along(grid, 0, x[0]), cell_along(grid, 1, x[1]), cell_along(grid, 2, x[2]))
        starts[home[k] + 1] += 1
    for b in range(len(starts) - 1):
        starts[b + 1] += starts[b]
    for k in range(p - 1, -1, -1):
        b = home[k]
        starts[b + 1] -= 1
        put_at_place(starts[b + 1], k, grains, motion, grid)
    for b in range(len(starts) - 2):  # the loop above has moved each start to its bucket's begin
        starts[b] = starts[b + 1]
    starts[len(starts) - 2] = starts[len(starts) - 1]
    starts[len(starts) - 1] = p
    collect_levels(grid)
    return grid.frame[3], fullest_cell(grid)


@compiled
def frame_cells(grains, motion, grid):
    """Where cells begin, how large they are and how many there are."""
    lower, upper = (math.inf, math.inf, math.inf), (-math.inf, -math.inf, -math.inf)
    for k in range(len(grid.order)):
        x = in_order(grid, motion.start, grains.vertices[k])
        lower = (min(lower[0], x[0]), min(lower[1], x[1]), min(lower[2], x[2]))
        upper = (max(upper[0], x[0]), max(upper[1], x[1]), max(upper[2], x[2]))
    size, edge, total = subtract(upper, lower), grid.edge, 1.0
    for axis in range(3):
        edge = max(edge, size[axis] / CELLS_ACROSS)
        grid.frame[axis] = lower[axis]
    for axis in range(3):
        grid.counts[axis] = np.int64(size[axis] * (1.0 / edge)) + 3
        total *= grid.counts[axis]
    grid.frame[5] = 1.0 / edge
    grid.frame[3], grid.frame[4] = edge, ROUNDING * max(max(size[0], size[1]), size[2])
    grid.numbers[1] = 1 if total < len(grid.starts) else 0


@inlined
def put_at_place(place, k, grains, motion, grid):
    """Write what a search reads of sphere k."""
    grid.order[place] = k
    length = put_motion(place, k, grains, motion, grid)
    x = (grid.places[place, 0], grid.places[place, 1], grid.places[place, 2])
    grid.keys[place] = key_of(cell_along(grid, 0, x[0]), cell_along(grid, 1, x[1]), cell_along(grid, 2, x[2]))
    reach = grains.radius[k] + length
    grid.level[place] = level_of(grid, reach)
    for axis in range(3):
        grid.coarse[axis, place] = x[axis] - grid.frame[axis]
    grid.coarse[3, place] = (1.0 + ROUNDING) * reach + grid.frame[4]


@inlined
def put_motion(place, k, grains, motion, grid):
    """Write where sphere k is and goes, and who it is; how far it goes [m]."""
    at, own, i = np.uint64(place), np.uint64(k), grains.vertices[np.uint64(k)]
    x = in_order(grid, motion.start, i)
    way = subtract(in_order(grid, motion.end, i), x)
    length = math.sqrt(dot(way, way))
    for axis in range(3):
        grid.places[at, axis], grid.places[at, WAY + axis] = x[axis], way[axis]
    grid.places[at, RADIUS], grid.places[at, LENGTH] = grains.radius[own], length
    moves = 1 if motion.inverse_mass[np.uint64(i)] > 0.0 else 0
    grid.who[at, 0] = grains.numbers[own]
    grid.who[at, 1] = -1 if grains.is_excluded[own] else 2 * grains.body[own] + moves
    grid.friction[at] = grains.friction[own]
    return length


@compiled
def collect_levels(grid):
    """Bounds of the ways and radii of each level and those below."""
    grid.largest[:], grid.ways[:, :3], grid.ways[:, 3:] = 0.0, math.inf, -math.inf
    for place in range(len(grid.order)):
        level = grid.level[place]
        grid.largest[level] = max(grid.largest[level], grid.places[place, RADIUS])
        for axis in range(3):
            way = grid.places[place, WAY + axis]
            grid.ways[level, axis] = min(grid.ways[level, axis], way)
            grid.ways[level, axis + 3] = max(grid.ways[level, axis + 3], way)
    grid.numbers[0] = 0
    for level in range(LEVELS):
        if grid.numbers[0] == level and grid.largest[level] == 0.0:
            grid.numbers[0] = level + 1
        if level > 0:
            grid.largest[level] = max(grid.largest[level], grid.largest[level - 1])
            for axis in range(3):
                grid.ways[level, axis] = min(grid.ways[level, axis], grid.ways[level - 1, axis])
                grid.ways[level, axis + 3] = max(grid.ways[level, axis + 3], grid.ways[level - 1, axis + 3])


@compiled
def fullest_cell(grid):
    """Largest part of a cell's volume that the spheres in it take up; far above 1 only if they lie in each other."""
    fullest = 0.0
    for b in range(len(grid.starts) - 1):
        first, last = grid.starts[b], grid.starts[b + 1]
        if last - first > 64:
            total = 0.0
            for place in range(first, last):
                if grid.keys[place] == grid.keys[first]:
                    total += 4.19 * grid.places[place, RADIUS] ** 3
            fullest = max(fullest, total / grid.frame[3] ** 3)
    return fullest

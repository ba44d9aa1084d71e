"""Spheres near spheres: cells of a uniform grid, sorted, and half of the 27 cells around each.

Cells are counted along z, then y, then x, so that the three around a place along z follow each other in memory. Where
spheres are so far apart that there would be too many cells, these share buckets.
"""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np

from pliant.contact.response.friction import friction_between
from pliant.elements.closest import row
from pliant.grains.record import bucket_of, write_contact, write_rolling
from pliant.lanes.compiled import compiled, inlined
from pliant.lanes.entry import entry
from pliant.lanes.vectors import dot, subtract

CELLS_ACROSS = 2_000_000  # at most along an axis, so that the three numbers of a cell fit in one
NEAR = 12  # contacts of a sphere with others after it that are kept from counting to writing


class Cells(NamedTuple):
    """p spheres in the order of their cells."""

    cells: np.ndarray  # (p, 3) int32 by number of the sphere
    keys: np.ndarray  # (p,) int64 the same as one number
    starts: np.ndarray  # (buckets + 1,) int32; buckets are a power of two
    order: np.ndarray  # (p,) int32 numbers of the spheres
    places: np.ndarray  # (p, 3) [m] where they are, in that order
    across: np.ndarray  # (2,) int64 cells along y and along z, or 0 where cells share buckets
    near: np.ndarray  # (p, NEAR) int32 places of those that touch one
    near_count: np.ndarray  # (p,) int32
    farthest: float  # [m] centres that are farther apart do not meet within the step


def room_for_cells(p: int) -> Cells:
    """For p spheres."""
    buckets = 1 << max(4, int(4 * p - 1).bit_length())
    return Cells(
        np.zeros((p, 3), np.int32), np.zeros(p, np.int64), np.zeros(buckets + 1, np.int32), np.zeros(p, np.int32),
        np.zeros((p, 3)), np.zeros(2, np.int64), np.zeros((p, NEAR), np.int32), np.zeros(p, np.int32), 0.0,
    )  # fmt: skip


@inlined
def key_of(x, y, z):
    return (np.int64(x) << 42) | (np.int64(y) << 21) | np.int64(z)


@inlined
def bucket(grid, x, y, z):
    """The bucket of a cell."""
    if grid.across[0] > 0:
        return (np.int64(x) * grid.across[0] + y) * grid.across[1] + z
    return bucket_of(x, y, z, len(grid.starts) - 2)


@entry(nogil=True, error_model="numpy")
def longest_way(vertices, motion):
    """The longest way that any of the vertices goes in the step [m]."""
    longest = 0.0
    for vertex in vertices:
        way = subtract(row(motion.end, vertex), row(motion.start, vertex))
        longest = max(longest, dot(way, way))
    return math.sqrt(longest)


@entry(nogil=True, error_model="numpy")
def sort_into_cells(grains, motion, cell, grid):
    """Sort p spheres by buckets of cells. Returns the length of a cell's edge [m], longer than `cell` in a very wide
    scene, and the largest part of a cell's volume that spheres with their centres in it take up.
    """
    cells, keys, starts, order = grid.cells, grid.keys, grid.starts, grid.order
    p = len(order)
    lower, upper = np.full(3, np.inf), np.full(3, -np.inf)
    for k in range(p):
        for axis in range(3):
            value = motion.start[grains.vertices[k], axis]
            lower[axis], upper[axis] = min(lower[axis], value), max(upper[axis], value)
    counts = np.zeros(3)
    for axis in range(3):
        cell = max(cell, (upper[axis] - lower[axis]) / CELLS_ACROSS)
    for axis in range(3):  # with an empty one at each end
        counts[axis] = math.floor((upper[axis] - lower[axis]) / cell) + 3.0
    is_dense = counts[0] * counts[1] * counts[2] < len(starts)
    grid.across[0], grid.across[1] = (counts[1], counts[2]) if is_dense else (0.0, 0.0)
    starts[:] = 0
    for k in range(p):
        for axis in range(3):
            cells[k, axis] = np.int64((motion.start[grains.vertices[k], axis] - lower[axis]) / cell) + 1
        keys[k] = key_of(cells[k, 0], cells[k, 1], cells[k, 2])
        starts[bucket(grid, cells[k, 0], cells[k, 1], cells[k, 2]) + 1] += 1
    for b in range(len(starts) - 1):
        starts[b + 1] += starts[b]
    for k in range(p - 1, -1, -1):
        b = bucket(grid, cells[k, 0], cells[k, 1], cells[k, 2])
        starts[b + 1] -= 1
        order[starts[b + 1]] = k
        for axis in range(3):
            grid.places[starts[b + 1], axis] = motion.start[grains.vertices[k], axis]
    for b in range(len(starts) - 2):  # the loop above has moved each start to its bucket's begin
        starts[b] = starts[b + 1]
    starts[len(starts) - 2] = starts[len(starts) - 1]
    starts[len(starts) - 1] = p
    return cell, fullest_cell(grains, keys, starts, order, cell)


@compiled
def fullest_cell(grains, keys, starts, order, cell):
    """Largest part of a cell's volume that the spheres in it take up; far above 1 only if they lie in each other."""
    fullest = 0.0
    for b in range(len(starts) - 1):
        if starts[b + 1] - starts[b] > 64:
            total = 0.0
            for place in range(starts[b], starts[b + 1]):
                if keys[order[place]] == keys[order[starts[b]]]:
                    total += 4.19 * grains.radius[order[place]] ** 3
            fullest = max(fullest, total / cell**3)
    return fullest


@inlined
def count_pairs(place, grains, motion, grid):
    """How many contacts the sphere at a place has with spheres after it; the first NEAR are kept in `grid`."""
    k, found = grid.order[place], 0
    x, y, z = grid.cells[k, 0], grid.cells[k, 1], grid.cells[k, 2]
    if grid.across[0] > 0:
        own = bucket(grid, x, y, z)
        found = keep_near(place, place + 1, grid.starts[own + 2], 0, grains, motion, grid, found)
        for step in range(4):  # the next along y, and the three along y of the next along x
            b = bucket(grid, x + min(step, 1), y + (1 if step == 0 else step - 2), z)
            found = keep_near(place, grid.starts[b - 1], grid.starts[b + 2], 0, grains, motion, grid, found)
    else:
        last = grid.starts[bucket(grid, x, y, z) + 1]
        found = keep_near(place, place + 1, last, grid.keys[k], grains, motion, grid, found)
        for step in range(14, 27):
            dx, dy, dz = step // 9 - 1, step // 3 % 3 - 1, step % 3 - 1
            b, key = bucket(grid, x + dx, y + dy, z + dz), key_of(x + dx, y + dy, z + dz)
            found = keep_near(place, grid.starts[b], grid.starts[b + 1], key, grains, motion, grid, found)
    grid.near_count[place] = found
    return found


@inlined
def keep_near(place, first, last, key, grains, motion, grid, found):
    """How many contacts there are with those of places first to last too, after `found` before; of cells with a key
    alone, unless it is 0.
    """
    p = row(grid.places, place)
    for other in range(first, last):
        s = subtract(p, row(grid.places, other))
        is_near = dot(s, s) <= grid.farthest * grid.farthest and (key == 0 or grid.keys[grid.order[other]] == key)
        if is_near and touches(grid.order[place], grid.order[other], s, grains, motion):
            if found < NEAR:
                grid.near[place, found] = other
            found += 1
    return found


@inlined
def write_pairs(place, grains, motion, grid, rows, at):
    """Write the contacts of the sphere at a place, as they were counted, into rows from `at` on."""
    found, k = grid.near_count[place], grid.order[place]
    if found > NEAR:
        write_many(place, grains, motion, grid, rows, at)
    else:
        for c in range(found):
            write_pair(k, grid.order[grid.near[place, c]], grains, motion, rows, at + c)
    return found


@compiled
def write_many(place, grains, motion, grid, rows, at):
    """The same of a sphere with more contacts than were kept: those of all spheres after it are looked at."""
    p, k, found = row(grid.places, place), grid.order[place], 0
    x, y, z = grid.cells[k, 0], grid.cells[k, 1], grid.cells[k, 2]
    for step in range(13, 27):
        dx, dy, dz = step // 9 - 1, step // 3 % 3 - 1, step % 3 - 1
        b, key = bucket(grid, x + dx, y + dy, z + dz), key_of(x + dx, y + dy, z + dz)
        for other in range(max(grid.starts[b], place + 1) if step == 13 else grid.starts[b], grid.starts[b + 1]):
            s, j = subtract(p, row(grid.places, other)), grid.order[other]
            is_near = dot(s, s) <= grid.farthest * grid.farthest and grid.keys[j] == key
            if is_near and touches(k, j, s, grains, motion):
                write_pair(k, j, grains, motion, rows, at + found)
                found += 1


@inlined
def closing(s, distance, i, j, motion):
    """By how much two spheres may come nearer within the step [m]: both move as they would without constraints, or one
    of them is stopped by something else.
    """
    here = -dot(s, subtract(row(motion.end, i), row(motion.start, i))) / distance
    there = dot(s, subtract(row(motion.end, j), row(motion.start, j))) / distance
    return max(here, 0.0) + max(there, 0.0)


@inlined
def touches(a, b, s, grains, motion):
    """Whether spheres a and b, with s from b to a, touch or may touch within the step."""
    distance2 = dot(s, s)
    reach = grains.radius[a] + grains.radius[b] + grains.tolerance
    i, j = grains.vertices[a], grains.vertices[b]
    if distance2 > reach * reach:
        distance = math.sqrt(distance2)
        if distance - closing(s, distance, i, j, motion) > reach:
            return False
    if grains.is_excluded[a] or grains.is_excluded[b] or not grains.allowed[grains.body[a], grains.body[b]]:
        return False
    return motion.inverse_mass[i] + motion.inverse_mass[j] > 0.0


@inlined
def write_pair(a, b, grains, motion, rows, at):
    """The contact of two spheres."""
    i, j = grains.vertices[a], grains.vertices[b]
    if i > j:  # so that the same two are the same contact in every step
        a, b, i, j = b, a, j, i
    s = subtract(row(motion.start, i), row(motion.start, j))
    rest, distance = grains.radius[a] + grains.radius[b], math.sqrt(dot(s, s))
    n = (0.0, 0.0, 1.0)
    if distance > 0.0:
        n = (s[0] / distance, s[1] / distance, s[2] / distance)
    least = min(grains.radius[a], grains.radius[b])
    mu = friction_between(grains.friction[a], grains.friction[b], grains.otherwise)
    write_contact(rows, at, i, (j, -1, -1), j, (1.0, 0.0, 0.0), s, n, rest, least, mu)
    both = math.sqrt(grains.rolling[a] * grains.rolling[b])
    write_rolling(rows, at, both, grains.radius[b] / rest, grains.radius[a] / rest)

"""Spheres near spheres: cells of a uniform grid, sorted, and half of the 27 cells around each."""

from __future__ import annotations

import math

import numpy as np

from pliant.contact.response.friction import friction_between
from pliant.elements.closest import row
from pliant.grains.record import bucket_of, write_contact, write_rolling
from pliant.lanes.compiled import compiled, inlined
from pliant.lanes.entry import entry
from pliant.lanes.vectors import dot, subtract

CELLS_ACROSS = 2_000_000  # at most along an axis, so that the three numbers of a cell fit in one


@compiled
def key_of(x, y, z):
    return (np.int64(x) << 42) | (np.int64(y) << 21) | np.int64(z)


@entry(nogil=True, error_model="numpy")
def sort_into_cells(grains, motion, cell, cells, keys, starts, order):
    """Sort p spheres by buckets of cells: cells (p, 3), keys (p,), starts (buckets + 1,), order (p,). Returns the
    length of a cell's edge [m], longer than `cell` in a very wide scene, and the largest part of a cell's volume that
    spheres with their centres in it take up.
    """
    p = len(order)
    lower, upper = np.full(3, np.inf), np.full(3, -np.inf)
    for k in range(p):
        for axis in range(3):
            value = motion.start[grains.vertices[k], axis]
            lower[axis], upper[axis] = min(lower[axis], value), max(upper[axis], value)
    for axis in range(3):
        cell = max(cell, (upper[axis] - lower[axis]) / CELLS_ACROSS)
    mask = len(starts) - 2
    starts[:] = 0
    for k in range(p):
        for axis in range(3):
            cells[k, axis] = np.int64((motion.start[grains.vertices[k], axis] - lower[axis]) / cell) + 1
        keys[k] = key_of(cells[k, 0], cells[k, 1], cells[k, 2])
        starts[bucket_of(cells[k, 0], cells[k, 1], cells[k, 2], mask) + 1] += 1
    for b in range(len(starts) - 1):
        starts[b + 1] += starts[b]
    for k in range(p - 1, -1, -1):
        b = bucket_of(cells[k, 0], cells[k, 1], cells[k, 2], mask)
        starts[b + 1] -= 1
        order[starts[b + 1]] = k
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


@compiled
def pairs_of(k, grains, motion, cells, keys, starts, order, rows, at, writes):
    """Contacts of sphere k with spheres after it; if `writes`, into rows from `at` on. How many there are."""
    mask, found = len(starts) - 2, 0
    for step in range(14):  # own cell, then the 13 that come after it
        dx, dy, dz = (step + 13) // 9 - 1, (step + 13) // 3 % 3 - 1, (step + 13) % 3 - 1
        x, y, z = cells[k, 0] + dx, cells[k, 1] + dy, cells[k, 2] + dz
        key = key_of(x, y, z)
        b = bucket_of(x, y, z, mask)
        for place in range(starts[b], starts[b + 1]):
            other = order[place]
            if keys[other] == key and (step > 0 or other > k):
                found += pair(k, other, grains, motion, rows, at + found, writes)
    return found


@inlined
def closing(s, distance, i, j, motion):
    """By how much two spheres may come nearer within the step [m]: both move as they would without constraints, or one
    of them is stopped by something else.
    """
    here = -dot(s, subtract(row(motion.end, i), row(motion.start, i))) / distance
    there = dot(s, subtract(row(motion.end, j), row(motion.start, j))) / distance
    return max(here, 0.0) + max(there, 0.0)


@compiled
def pair(a, b, grains, motion, rows, at, writes):
    """1 if two spheres touch or may touch within the step, else 0."""
    i, j = grains.vertices[a], grains.vertices[b]
    if i > j:  # so that the same two are the same contact in every step
        a, b, i, j = b, a, j, i
    s = subtract(row(motion.start, i), row(motion.start, j))
    rest = grains.radius[a] + grains.radius[b]
    distance2 = dot(s, s)
    reach = rest + grains.tolerance
    if distance2 > reach * reach:
        distance = math.sqrt(distance2)
        if distance - closing(s, distance, i, j, motion) > reach:
            return 0
    if grains.is_excluded[a] or grains.is_excluded[b] or not grains.allowed[grains.body[a], grains.body[b]]:
        return 0
    if motion.inverse_mass[i] + motion.inverse_mass[j] == 0.0:
        return 0
    if writes:
        distance = math.sqrt(distance2)
        n = (0.0, 0.0, 1.0)
        if distance > 0.0:
            n = (s[0] / distance, s[1] / distance, s[2] / distance)
        least = min(grains.radius[a], grains.radius[b])
        mu = friction_between(grains.friction[a], grains.friction[b], grains.otherwise)
        write_contact(rows, at, i, (j, -1, -1), j, (1.0, 0.0, 0.0), s, n, rest, least, mu)
        both = math.sqrt(grains.rolling[a] * grains.rolling[b])
        write_rolling(rows, at, both, grains.radius[b] / rest, grains.radius[a] / rest)
    return 1

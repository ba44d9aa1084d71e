"""Spheres that touch spheres, or may within the step.

Two are in contact if their gap is below the tolerance, if they meet on the straight ways that they would go without
constraints, or if one meets the other where something else stops it on its way: then the ways themselves come nearer
than the two radii. So no sphere goes through another, however fast it is.
"""

from __future__ import annotations

import math

import numpy as np

from pliant.constraints.packs import zeros_like
from pliant.contact.response.friction import friction_between
from pliant.elements.closest import closest_edge_edge, combine, row
from pliant.grains.cells import LENGTH, NEAR, RADIUS, ROUNDING, WAY, bucket, cell_along, cell_of, key_of
from pliant.grains.record import write_contact, write_rolling
from pliant.lanes.compiled import at as at_place
from pliant.lanes.compiled import compiled, inlined
from pliant.lanes.masks import lowest_bit, mask_bits
from pliant.lanes.math import number
from pliant.lanes.memory import load, width_of
from pliant.lanes.vectors import add, add_scaled, dot, subtract

ANY, LATER = -1, -2  # in place of the key of a cell


@inlined
def reach_along(axis, p, way, around, grid, level):
    """First and last cell along an axis in which spheres of a level and of those below may be whom one meets that goes
    `way` from p; around: the sum of two radii and of the tolerance.

    Another at q, that goes w, is met after a part t of the step if q = p + t (way - w) within `around`; or, with a gap
    of `following` at most, where the two ways cross.
    """
    least, most = grid.ways[level, axis], grid.ways[level, axis + 3]
    lower, upper = min(way - most, 0.0), max(way - least, 0.0)
    back, ahead = min(way, 0.0) - max(most, 0.0), max(way, 0.0) - min(least, 0.0)
    lower, upper = min(lower, max(back, -grid.following)), max(upper, min(ahead, grid.following))
    return cell_along(grid, axis, p + lower - around), cell_along(grid, axis, p + upper + around)


@inlined
def count_pairs(place, grains, grid, skipped):
    """How many contacts the sphere at a place has with spheres of lower levels, and with those of its own in later
    cells, or with those of its list; NEAR of them after the first `skipped` are kept in `grid`.
    """
    if grid.numbers[2] == 1:
        return count_listed(place, grains, grid, skipped)
    here = np.uint64(place)
    level, found, p, way = grid.level[here], 0, row(grid.places, here), way_of(grid, place)
    around = grid.places[here, RADIUS] + grid.largest[level] + grains.tolerance
    x0, x1 = reach_along(0, p[0], way[0], around, grid, level)
    y0, y1 = reach_along(1, p[1], way[1], around, grid, level)
    z0, z1 = reach_along(2, p[2], way[2], around, grid, level)
    is_dense, is_half = grid.numbers[1] == 1, grid.numbers[0] == level
    if (x1 - x0 + 1) * (y1 - y0 + 1) * (1 if is_dense else z1 - z0 + 1) > len(grid.order):
        first = place + 1 if is_half and is_dense else 0
        return keep_near(place, first, len(grid.order), ANY, grains, grid, found, skipped)
    own = cell_of(grid.keys[here])
    for x in range(max(x0, own[0]) if is_half else x0, x1 + 1):
        in_slice = is_half and x == own[0]
        for y in range(max(y0, own[1]) if in_slice else y0, y1 + 1):
            first_z = max(z0, own[2]) if in_slice and y == own[1] else z0
            if is_dense:
                first = at_place(grid.starts, bucket(grid, x, y, first_z))
                last = at_place(grid.starts, bucket(grid, x, y, z1) + 1)
                first = max(first, place + 1) if is_half else first
                found = keep_near(place, first, last, LATER if is_half else ANY, grains, grid, found, skipped)
            else:
                for z in range(first_z, z1 + 1):
                    b = bucket(grid, x, y, z)
                    first, last, key = grid.starts[b], grid.starts[b + 1], key_of(x, y, z)
                    found = keep_near(place, first, last, key, grains, grid, found, skipped)
    return found


@inlined
def count_listed(place, grains, grid, skipped):
    """The same, if whom it may meet is listed (grains.near_lists)."""
    found, here = 0, np.uint64(place)
    p = row(grid.places, here)
    alone = grid.places[here, RADIUS] + grid.places[here, LENGTH] + grains.tolerance
    for entry in range(grid.list_ends[here], grid.list_ends[here + np.uint64(1)]):
        other = grid.listed[np.uint64(entry)]
        at = np.uint64(other)
        s = subtract(p, row(grid.places, at))
        farthest = alone + grid.places[at, RADIUS] + grid.places[at, LENGTH]
        if dot(s, s) > farthest * farthest:
            continue
        if comes_near(place, other, s, grains.tolerance, grid) and may_touch(place, other, grains, grid):
            if skipped <= found < skipped + NEAR:
                grid.near[here, np.uint64(found - skipped)] = other
            found += 1
    return found


@inlined
def keep_near(place, first, last, key, grains, grid, found, skipped):
    """How many contacts there are with those of places first to last too, after `found` before; of the cell with a key
    alone, unless it is ANY or LATER: of no lower level, and in later places.
    """
    here = np.uint64(place)
    p, level, own = row(grid.places, here), grid.level[here], grid.keys[here]
    alone = grid.places[here, RADIUS] + grid.places[here, LENGTH] + grains.tolerance
    width = width_of(zeros_like(grid.coarse))
    for begin in range(first, last, width):
        near = coarse_neighbours(place, begin, grains.tolerance, grid)
        if last - begin < width:
            near &= (1 << (last - begin)) - 1
        while near != 0:
            other = begin + lowest_bit(near)
            near &= near - 1
            at = np.uint64(other)
            s = subtract(p, row(grid.places, at))
            farthest = alone + grid.places[at, RADIUS] + grid.places[at, LENGTH]
            if dot(s, s) > farthest * farthest or grid.level[at] > level:
                continue
            if key >= 0 and grid.keys[at] != key:
                continue
            is_own = key != LATER and grid.level[at] == level
            if is_own and (grid.keys[at] < own or (grid.keys[at] == own and other <= place)):
                continue  # the other one finds it
            if comes_near(place, other, s, grains.tolerance, grid) and may_touch(place, other, grains, grid):
                if skipped <= found < skipped + NEAR:
                    grid.near[here, np.uint64(found - skipped)] = other
                found += 1
    return found


@inlined
def coarse_neighbours(place, begin, tolerance, grid):
    """Which of the spheres at places `begin`, begin + 1, ... may get as near to that at a place as the two go: as bits,
    and in single precision, in which nobody is missed.
    """
    like, wide, here = zeros_like(grid.coarse), grid.coarse.shape[1], np.uint64(place)
    own = (1.0 + ROUNDING) * (grid.coarse[3, here] + tolerance)
    reach = number(own, like) + load(grid.coarse, 3 * wide + begin, like)
    distance2 = like
    for axis in range(3):
        s = load(grid.coarse, axis * wide + begin, like) - number(grid.coarse[axis, here], like)
        distance2 = distance2 + s * s
    return mask_bits(distance2 <= reach * reach)


@compiled
def keep_more(place, grains, grid, skipped):
    """Keep contacts of a sphere that has more than NEAR, after the first `skipped`."""
    count_pairs(place, grains, grid, skipped)


@inlined
def write_pairs(place, grains, grid, rows, at):
    """Write the contacts of the sphere at a place, as they were counted, into rows from `at` on."""
    found, own = at_place(grid.near_count, place), np.uint64(place)
    for c in range(found):
        if c > 0 and c % NEAR == 0:
            keep_more(place, grains, grid, c)
        write_pair(place, grid.near[own, np.uint64(c % NEAR)], grains, grid, rows, at + c)
    return found


@inlined
def closing(s, distance, here, there):
    """By how much two spheres may come nearer within the step [m], along s from the second to the first: both go their
    ways, or one of them is stopped by something else.
    """
    return max(-dot(s, here) / distance, 0.0) + max(dot(s, there) / distance, 0.0)


@inlined
def meeting_time(s, way, reach):
    """Part of a step after which two, of which one is at s from the other and goes `way` relative to it, come nearer
    than `reach`; 2 if they do not.
    """
    a, b, c = dot(way, way), dot(way, s), dot(s, s) - reach * reach
    root = b * b - a * c
    if b >= 0.0 or root < 0.0:
        return 2.0
    return min((-b - math.sqrt(root)) / a, 2.0)


@inlined
def way_of(grid, place):
    """Where the sphere at a place would go in the step without constraints [m]."""
    at = np.uint64(place)
    return (grid.places[at, WAY], grid.places[at, WAY + 1], grid.places[at, WAY + 2])


@inlined
def comes_near(place, other, s, tolerance, grid):
    """Whether the spheres at two places, with s from the second to the first, touch or come to touch in the step."""
    distance2 = dot(s, s)
    reach = grid.places[np.uint64(place), RADIUS] + grid.places[np.uint64(other), RADIUS] + tolerance
    if distance2 <= reach * reach:
        return True
    here, there, distance = way_of(grid, place), way_of(grid, other), math.sqrt(distance2)
    if distance - closing(s, distance, here, there) > reach:
        return False
    if meeting_time(s, subtract(here, there), reach) <= 1.0:
        return True
    return distance - reach <= grid.following and ways_apart(s, here, there) <= reach


@inlined
def may_touch(place, other, grains, grid):
    """Whether the spheres at two places are two that contacts are asked for, and one of them moves."""
    one, two = grid.who[np.uint64(place), 1], grid.who[np.uint64(other), 1]
    if one < 0 or two < 0 or not grains.allowed[np.uint64(one >> 1), np.uint64(two >> 1)]:
        return False
    return (one | two) & 1 == 1


@compiled
def ways_apart(s, here, there):
    """Distance [m] of the ways of two spheres, of which the first begins at s from the second."""
    y = (s, add(s, here), (0.0, 0.0, 0.0), there)
    r = combine(closest_edge_edge(y), y)
    return math.sqrt(dot(r, r))


@inlined
def in_scene(grid, place, first):
    """Three columns of places from the first on, by the axes of the scene."""
    at, ranks = np.uint64(place), grid.ranks
    return (grid.places[at, first + ranks[0]], grid.places[at, first + ranks[1]], grid.places[at, first + ranks[2]])


@inlined
def write_pair(place, other, grains, grid, rows, i):
    """The contact of two spheres: the normal is that of the place where they meet, if they are on their way there."""
    a, b = np.uint64(place), np.uint64(other)
    if grid.who[a, 0] > grid.who[b, 0]:  # so that the same two are the same contact in every step
        a, b = b, a
    s = subtract(in_scene(grid, a, 0), in_scene(grid, b, 0))
    here, opposite = grid.places[a, RADIUS], grid.places[b, RADIUS]
    rest, distance = here + opposite, math.sqrt(dot(s, s))
    n = (0.0, 0.0, 1.0)
    if distance > rest + grains.tolerance:
        way = subtract(in_scene(grid, a, WAY), in_scene(grid, b, WAY))
        time = meeting_time(s, way, rest)
        met = add_scaled(s, time if time <= 1.0 else 0.0, way)
        size = math.sqrt(dot(met, met))
        n = (met[0] / size, met[1] / size, met[2] / size)
    elif distance > 0.0:
        n = (s[0] / distance, s[1] / distance, s[2] / distance)
    mu = friction_between(grid.friction[a], grid.friction[b], grains.otherwise)
    second = grid.who[b, 0]
    about = (second, -1, -1), second, (1.0, 0.0, 0.0)
    write_contact(rows, i, grid.who[a, 0], *about, s, n, rest, min(here, opposite), mu)
    if len(rows.rolling) > 0:
        both = grains.rolling[np.uint64(grid.order[a])] * grains.rolling[np.uint64(grid.order[b])]
        write_rolling(rows, i, math.sqrt(both), opposite / rest, here / rest)

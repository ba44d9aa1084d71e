"""All contacts of spheres in a step: counted on all threads, then written where the counts say."""

from __future__ import annotations

import numpy as np

from pliant.elements.closest import row
from pliant.grains.cells import RADIUS, WAY
from pliant.grains.faces import faces_of
from pliant.grains.pairs import count_pairs, in_scene, write_pairs
from pliant.grains.walls import FACES, walls_of
from pliant.kernels.threads import barrier_wait, share
from pliant.lanes.compiled import at, inlined
from pliant.lanes.entry import entry
from pliant.lanes.vectors import add

GROUP = 64  # spheres whose contacts with others are written before those with the rest: not far from each other


@entry(nogil=True, error_model="numpy")
def search(thread, threads, barrier, grains, motion, grid, obstacles, faces, base, ends, rows, writes):
    """Count contacts, of each of p spheres with others and then of all q spheres and vertices with the rest: `ends`
    (p + q + 1,) then holds which row from `base` on is the first of each, and how many there are in all; or write them
    into rows.
    """
    spheres, points = len(grid.order), len(grains.vertices)
    first, last = share(0, points, thread, threads)
    for place in range(first, last):
        if place < spheres:
            if writes:
                write_pairs(place, grains, grid, rows, ends[place])
            else:
                grid.near_count[place] = ends[place] = count_pairs(place, grains, grid, 0)
        if not writes or ends[spheres + place] < end_of_rest(ends, place, spheres):
            found = search_rest(place, grains, motion, grid, obstacles, faces, ends[spheres + place], rows, writes)
            if not writes:
                ends[spheres + place] = found
    barrier_wait(barrier, threads)
    if not writes and thread == 0:
        total = base
        for group in range(0, points, GROUP):
            for place in range(group, min(group + GROUP, spheres)):
                ends[place], total = total, total + ends[place]
            for place in range(group, min(group + GROUP, points)):
                ends[spheres + place], total = total, total + ends[spheres + place]
        ends[spheres + points] = total


@inlined
def search_rest(place, grains, motion, grid, obstacles, faces, begin, rows, writes):
    """The same of one sphere or vertex with the rest, into rows from `begin` on; how many there are."""
    k, n, found, own = place, len(motion.start), 0, np.uint64(place)
    if place < len(grid.order):
        k, radius, x = at(grid.order, place), grid.places[own, RADIUS], in_scene(grid, place, 0)
        x_end, moves = add(x, in_scene(grid, place, WAY)), grid.who[own, 1] > 0 and grid.who[own, 1] & 1 == 1
    else:
        i = at(grains.vertices, place)
        radius, x, x_end = grains.radius[own], row(motion.start, i), row(motion.end, i)
        moves = not grains.is_excluded[own] and at(motion.inverse_mass, i) > 0.0
    if moves:
        found = walls_of(k, radius, x, x_end, grains, motion, obstacles, n, rows, begin, writes)
    if len(faces.vertices) > 0:
        first_source = n + FACES * len(obstacles.kinds)
        found += faces_of(k, grains, motion, faces, first_source, rows, begin + found, writes)
    return found


@inlined
def end_of_rest(ends, place, spheres):
    """The row after the contacts of a sphere or vertex with the rest."""
    following = place + 1
    if following % GROUP == 0 and following < spheres:
        return ends[following]
    return ends[spheres + following]

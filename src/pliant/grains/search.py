"""All contacts of spheres in a step: counted on all threads, then written where the counts say."""

from __future__ import annotations

from pliant.grains.faces import faces_of
from pliant.grains.pairs import count_pairs, write_pairs
from pliant.grains.walls import FACES, walls_of
from pliant.kernels.threads import barrier_wait, share
from pliant.lanes.compiled import at, inlined
from pliant.lanes.entry import entry

GROUP = 4096  # spheres whose contacts with others are written before those with the rest: then packs are of one kind,
# and contacts of a sphere are not far from each other


@entry(nogil=True, error_model="numpy")
def search(thread, threads, barrier, grains, motion, grid, obstacles, faces, base, ends, rows, writes):
    """Count contacts, of each of p spheres with others and then of all q spheres and vertices with the rest: `ends`
    (p + q + 1,) then holds which row from `base` on is the first of each, and how many there are in all; or write them
    into rows.
    """
    spheres, points = len(grid.order), len(grains.vertices)
    first, last = share(0, points, thread, threads)
    n = len(motion.start)
    for place in range(first, last):
        k, rest = place, spheres + place
        if place < spheres:
            k = at(grid.order, place)
            if writes:
                write_pairs(place, grains, motion, grid, rows, ends[place])
            else:
                grid.near_count[place] = ends[place] = count_pairs(place, grains, motion, grid, 0)
        if not writes or ends[rest] < end_of_rest(ends, place, spheres):
            begin = ends[rest]
            found = walls_of(k, grains, motion, obstacles, n, rows, begin, writes)
            found += faces_of(k, grains, motion, faces, n + FACES * len(obstacles.kinds), rows, begin + found, writes)
            if not writes:
                ends[rest] = found
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
def end_of_rest(ends, place, spheres):
    """The row after the contacts of a sphere or vertex with the rest."""
    following = place + 1
    if following % GROUP == 0 and following < spheres:
        return ends[following]
    return ends[spheres + following]

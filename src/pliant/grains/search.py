"""All contacts of spheres in a step: counted on all threads, then written where the counts say."""

from __future__ import annotations

from pliant.grains.faces import faces_of
from pliant.grains.pairs import count_pairs, write_pairs
from pliant.grains.walls import FACES, walls_of
from pliant.kernels.threads import barrier_wait, share
from pliant.lanes.entry import entry


@entry(nogil=True, error_model="numpy")
def search(thread, threads, barrier, grains, motion, grid, obstacles, faces, base, ends, rows, writes):
    """Count contacts into `ends` (p + q + 1,), of each of p spheres with others and then of all q spheres and vertices
    with the rest, which then holds sums from `base` on; or write them into rows.
    """
    spheres, points = len(grid.order), len(grains.vertices)
    first, last = share(0, points, thread, threads)
    n = len(motion.start)
    for place in range(first, last):
        k, rest = place, spheres + place
        if place < spheres:
            k = grid.order[place]
            if writes:
                write_pairs(place, grains, motion, grid, rows, ends[place])
            else:
                grid.near_count[place] = ends[place + 1] = count_pairs(place, grains, motion, grid, 0)
        at = ends[rest]
        if not writes or at < ends[rest + 1]:
            found = walls_of(k, grains, motion, obstacles, n, rows, at, writes)
            found += faces_of(k, grains, motion, faces, n + FACES * len(obstacles.kinds), rows, at + found, writes)
            if not writes:
                ends[rest + 1] = found
    barrier_wait(barrier, threads)
    if not writes and thread == 0:
        ends[0] = base
        for place in range(spheres + points):
            ends[place + 1] += ends[place]

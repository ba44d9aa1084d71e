"""Lists of spheres that are near each other, for several steps (Verlet 1967).

Two are in a list if their gap is below the tolerance and twice a reach. As long as no sphere has moved so far since,
together with the way that it would go in the step, whoever meets is in the lists, and nobody has to be searched for.
Lists are made where the longest way of a step is short, so that they last for some steps; others are searched step by
step. What is listed, and in which order, follows from where spheres were when it was made: that is all a checkpoint
has to know.
"""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np

from pliant.grains.cells import NEAR, Cells, put_motion
from pliant.grains.pairs import count_pairs, keep_more
from pliant.kernels.threads import barrier_wait, share
from pliant.lanes.entry import entry
from pliant.lanes.vectors import dot, subtract

LONGEST_WAY = 0.1  # of the mean radius in a step: with longer ones lists would not last
LASTING = 4.0  # times the longest way: reach of a list
LEAST_REACH = 0.1  # of the mean radius
STRIDE = 8  # numbers from one thread's maxima to the next


class NearLists(NamedTuple):
    """When lists are good."""

    places: np.ndarray  # (p, 3) [m] where spheres were when lists were made, vertex by vertex; (0, 3) if there are none
    reach: float  # [m] how far each may have moved, with its way in the step


NO_LISTS = NearLists(np.zeros((0, 3)), 0.0)


def reach_of_lists(way: float, radius: float) -> float:
    """For spheres of a mean radius [m] with such a longest way [m]; 0: lists are not worth making."""
    return 0.0 if way > LONGEST_WAY * radius else max(LASTING * way, LEAST_REACH * radius)


@entry(nogil=True, error_model="numpy")
def find_ways(thread, threads, barrier, vertices, motion, places, farthest):
    """The longest way of the step of p vertices, and the longest with what they have moved since they were at places
    (p, 3) [m] or, if there are none, in the step, into farthest[STRIDE * thread] and the number after it.
    """
    first, last = share(0, len(vertices), thread, threads)
    longest, total = 0.0, 0.0
    for k in range(first, last):
        at, i = np.uint64(k), np.uint64(vertices[np.uint64(k)])
        x = (motion.start[i, 0], motion.start[i, 1], motion.start[i, 2])
        way = subtract((motion.end[i, 0], motion.end[i, 1], motion.end[i, 2]), x)
        length = math.sqrt(dot(way, way))
        longest = max(longest, length)
        if len(places) > 0:
            moved = subtract(x, (places[at, 0], places[at, 1], places[at, 2]))
            total = max(total, length + math.sqrt(dot(moved, moved)))
    farthest[STRIDE * thread], farthest[STRIDE * thread + 1] = longest, total


@entry(nogil=True, error_model="numpy")
def make_lists(thread, threads, barrier, grains, grid, writes):
    """Count those near each sphere into list_ends, or write their places; grid: of these spheres at rest."""
    first, last = share(0, len(grid.order), thread, threads)
    for place in range(first, last):
        if not writes:
            found = count_pairs(place, grains, grid, 0)
            grid.near_count[place], grid.list_ends[place + 1] = found, found
            continue
        at = grid.list_ends[place]
        for c in range(grid.near_count[place]):
            if c > 0 and c % NEAR == 0:
                keep_more(place, grains, grid, c)
            grid.listed[at + c] = grid.near[place, c % NEAR]
    barrier_wait(barrier, threads)
    if thread == 0 and not writes:
        for place in range(len(grid.order)):
            grid.list_ends[place + 1] += grid.list_ends[place]


@entry(nogil=True, error_model="numpy")
def move_places(thread, threads, barrier, grains, motion, grid):
    """Where spheres are and go in this step, in the order of the lists."""
    first, last = share(0, len(grid.order), thread, threads)
    for place in range(first, last):
        put_motion(place, grid.order[place], grains, motion, grid)


def with_lists_room(grid: Cells) -> Cells:
    """Room for all that were counted."""
    needed = int(grid.list_ends[-1])
    if len(grid.listed) >= needed:
        return grid
    return grid._replace(listed=np.zeros(needed + needed // 4 + 64, np.int32))

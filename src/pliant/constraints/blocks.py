"""Blocks of constraints: what one thread does at a time.

Constraints that follow each other act on vertices near each other, as detection writes them cell by cell. Blocks that
are as far apart as `skew` share no vertices. So every skew-th block is of one phase: its blocks are done at the same
time, and threads wait for each other once per phase.

Millions of constraints are in no cache: an iteration over all of them waits for memory. So while the first iteration is
at one block, the second one goes over a block some way behind, which is still in a cache, the third one as far behind
that, and each of them may be another thread's:

    wave:       0    1    2    3    4    5           (blocks that the iterations go over; `skew` 2)
    first       0    1    2    3    4    5
    second                0    1    2    3
    third                           0    1

With Jacobi's method a vertex takes the pushes of its constraints after the last block in which it has one. Two
iterations are so far apart that all vertices of a block have had those of the iteration before: numbers are the same,
to the last bit, as those of one iteration after another. Each block has colours of its own, a palette.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from pliant.constraints.rows import ENTRY_BITS
from pliant.lanes.compiled import inlined
from pliant.lanes.inner import inner

ROWS_OF_BLOCK = 2048  # in waves
FEWEST_ROWS = 1024  # of a block in phases: few packs are filled up with copies
DEPTH = 6  # iterations of a wave at most: what they are at has to fit into a cache that others use too
WAVES_FROM = 98_304  # constraints: fewer fit into a cache
FEWEST_SKEWS = 3  # times the blocks between two iterations: with fewer, iterations do not follow each other closely


class Blocks(NamedTuple):
    """Blocks of as many constraints, or one of all, and whose vertices take pushes after them."""

    vertices: np.ndarray  # (b + 1,) int64 first place of a block's vertices in Bodies.order; may be longer
    counts: np.ndarray  # (b + 1,) int64 scratch
    numbers: np.ndarray  # (4,) int64 how many blocks there are; skew: blocks between two that share no vertices, and
    # between two iterations; constraints of each; 1 if iterations go in waves


def room_for_blocks(constraints: int) -> Blocks:
    """For so many."""
    blocks = constraints // ROWS_OF_BLOCK + 2
    return Blocks(np.zeros(blocks, np.int64), np.zeros(blocks, np.int64), np.array([1, 1, 1, 0]))


def have_room(blocks: Blocks, constraints: int) -> bool:
    """Whether so many fit."""
    return len(blocks.vertices) >= constraints // ROWS_OF_BLOCK + 2


@inlined
def rows_of_block(block, block_count, size, count):
    """First row of a block of `count` constraints, and the one after its last."""
    if block_count == 1:
        return 0, count
    return block * size, min((block + 1) * size, count)


@inner(nogil=True, error_model="numpy", _nrt=False)
def farthest_row(bodies):
    """How many rows later a vertex has a constraint than its first one, at most."""
    start, farthest = bodies.start, 0
    for vertex in range(len(start) - 1):
        if start[vertex] < start[vertex + 1]:
            first, last = bodies.entries[start[vertex]], bodies.entries[start[vertex + 1] - 1]
            farthest = max(farthest, (last >> ENTRY_BITS) - (first >> ENTRY_BITS))
    return farthest


@inner(nogil=True, error_model="numpy", _nrt=False)
def plan_blocks(count, bodies, blocks):
    """Blocks of `count` constraints, whose vertices have lists; and the order of vertices: by their last blocks."""
    numbers, n = blocks.numbers, len(bodies.start) - 1
    numbers[0], numbers[1], numbers[2], numbers[3] = 1, 1, count, 0
    if len(bodies.rigid.twist) == 0 and count >= 4 * FEWEST_ROWS:
        farthest = max(farthest_row(bodies), 1)
        if count > WAVES_FROM:
            skew, all_blocks = (farthest - 1) // ROWS_OF_BLOCK + 2, (count - 1) // ROWS_OF_BLOCK + 1
            if FEWEST_SKEWS * skew < all_blocks:
                numbers[0], numbers[1], numbers[2], numbers[3] = all_blocks, skew, ROWS_OF_BLOCK, 1
        if numbers[0] == 1:
            plan_phases(count, farthest, numbers)
    blocks.vertices[0], blocks.vertices[numbers[0] if numbers[3] == 1 else 1] = 0, n
    if numbers[3] == 1:
        order_vertices(bodies, blocks)
    else:
        for vertex in range(n):
            bodies.order[vertex] = vertex


@inlined
def plan_phases(count, farthest, numbers):
    """Two phases, or three, of an even number of blocks each, if blocks are long enough for that."""
    for skew in range(2, 4):
        least = max((farthest - 1) // (skew - 1) + 1, FEWEST_ROWS)
        all_blocks = count // least // (2 * skew) * (2 * skew)
        if numbers[0] == 1 and all_blocks > 0:
            numbers[0], numbers[1], numbers[2] = all_blocks, skew, (count - 1) // all_blocks + 1


@inlined
def order_vertices(bodies, blocks):
    """The order of vertices: by their last blocks."""
    counts, numbers = blocks.counts, blocks.numbers
    n = len(bodies.start) - 1
    for block in range(numbers[0] + 1):
        counts[block] = 0
    for vertex in range(n):
        counts[last_block(bodies, vertex) + 1] += 1
    for block in range(numbers[0]):
        counts[block + 1] += counts[block]
        blocks.vertices[block] = counts[block]
    for vertex in range(n):
        block = last_block(bodies, vertex)
        bodies.order[counts[block]] = vertex
        counts[block] += 1


@inlined
def last_block(bodies, vertex):
    """The block of a vertex' last constraint, or the first one if it has none."""
    first, last = bodies.start[vertex], bodies.start[vertex + 1]
    return (bodies.entries[last - 1] >> ENTRY_BITS) // ROWS_OF_BLOCK if first < last else 0

"""Blocks of constraints, over which several iterations go in one wave.

Millions of constraints are in no cache: an iteration over all of them waits for memory. Constraints that follow each
other act on vertices near each other, as detection writes them cell by cell. So while the first iteration is at one
block, the second one goes over a block some way behind, which is still in a cache, the third one as far behind that:

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

BLOCK_BITS = 13
ROWS_OF_BLOCK = 1 << BLOCK_BITS  # so many that few packs of a colour are filled up with copies
DEPTH = 5  # iterations of a wave at most: what they are at has to fit into a cache that others use too
FEWEST = 12  # blocks: fewer fit into a cache
FEWEST_SKEWS = 3  # times the blocks between two iterations: with fewer, iterations do not follow each other closely


class Blocks(NamedTuple):
    """Blocks of ROWS_OF_BLOCK constraints, or one of all, and whose vertices take pushes after them."""

    vertices: np.ndarray  # (b + 1,) int64 first place of a block's vertices in Bodies.order; may be longer
    counts: np.ndarray  # (b + 1,) int64 scratch
    numbers: np.ndarray  # (2,) int64 how many blocks there are; skew: blocks between two iterations


def room_for_blocks(constraints: int) -> Blocks:
    """For so many."""
    blocks = constraints // ROWS_OF_BLOCK + 2
    return Blocks(np.zeros(blocks, np.int64), np.zeros(blocks, np.int64), np.ones(2, np.int64))


def have_room(blocks: Blocks, constraints: int) -> bool:
    """Whether so many fit."""
    return len(blocks.vertices) >= constraints // ROWS_OF_BLOCK + 2


@inlined
def rows_of_block(block, block_count, count):
    """First row of a block of `count` constraints, and the one after its last."""
    if block_count == 1:
        return 0, count
    return block * ROWS_OF_BLOCK, min((block + 1) * ROWS_OF_BLOCK, count)


@inner(nogil=True, error_model="numpy", _nrt=False)
def farthest_block(bodies):
    """How many blocks later a vertex has a constraint than its first one, at most."""
    start, farthest = bodies.start, 0
    for vertex in range(len(start) - 1):
        if start[vertex] < start[vertex + 1]:
            first, last = bodies.entries[start[vertex]], bodies.entries[start[vertex + 1] - 1]
            apart = (last >> ENTRY_BITS) // ROWS_OF_BLOCK - (first >> ENTRY_BITS) // ROWS_OF_BLOCK
            farthest = max(farthest, apart)
    return farthest


@inner(nogil=True, error_model="numpy", _nrt=False)
def order_vertices(count, bodies, blocks):
    """Blocks of `count` constraints, whose vertices have lists; and the order of vertices: by their last blocks."""
    start, counts, numbers = bodies.start, blocks.counts, blocks.numbers
    n = len(start) - 1
    numbers[0], numbers[1] = 1, 1
    if len(bodies.rigid.twist) == 0 and count > FEWEST * ROWS_OF_BLOCK:
        all_blocks, skew = (count - 1) // ROWS_OF_BLOCK + 1, farthest_block(bodies) + 1
        if FEWEST_SKEWS * skew < all_blocks:
            numbers[0], numbers[1] = all_blocks, skew
    blocks.vertices[0], blocks.vertices[numbers[0]] = 0, n
    if numbers[0] == 1:
        for vertex in range(n):
            bodies.order[vertex] = vertex
        return
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

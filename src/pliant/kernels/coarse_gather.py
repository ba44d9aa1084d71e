"""The Galerkin matrix of aggregates (coarse_levels) summed straight from Hessians of elements.

Corner i of an element moves as its aggregate does, by h_i = (1, r_i) times that aggregate's unknowns. So the block of
aggregates a and b gets  sum over corners i in a and j in b of  h_i h_j^T x B_ij,  with the element's 3x3 blocks B_ij. A
thread owns the rows of every so-manieth aggregate and takes all elements in order: any number of threads gives the
same bits. While sums are made, a block lies as (3, 3, 4, 4), rows of h_j in the four lanes of a vector.
"""

from __future__ import annotations

import numpy as np

from pliant.kernels.threads import share
from pliant.lanes.inner import inner
from pliant.lanes.memory import load, store
from pliant.lanes.types import make_zero

_nothing = make_zero("double", 4)


@inner(nogil=True, error_model="numpy")
def gather(thread, threads, barrier, elements, members, buffer, width, matrix, sums):
    """Add elements (k, corners), vertices of the scene; buffer: flat (packs, pairs i <= j, 9, width) of B_ij [N/m].

    sums: (m + blocks, 12, 12) in double precision, those on the diagonal first.
    """
    corners = elements.shape[1]
    pairs = corners * (corners + 1) // 2
    aggregate, inside, h = np.empty(corners, np.int64), np.empty(corners, np.int64), np.ones(4 * corners)
    B, blocks = np.empty((corners, corners, 9)), sums.reshape(-1)
    for e in range(len(elements)):
        is_own = False
        for i in range(corners):
            vertex = elements[e, i]
            aggregate[i] = members.of_vertex[vertex]
            is_own |= aggregate[i] >= 0 and aggregate[i] % threads == thread
            for s in range(3):
                h[4 * i + s + 1] = members.offset[vertex, s]
        if not is_own:
            continue
        _load(buffer, (e // width) * pairs * 9 * width + e % width, width, corners, B)
        for j in range(corners):
            b = aggregate[j]
            if b < 0 or _was_before(aggregate, j):
                continue
            together = _of_aggregate(aggregate, b, inside)
            for i in range(corners):
                a = aggregate[i]
                if 0 <= a <= b and a % threads == thread:
                    _add(B, i, h, inside, together, blocks, 144 * _find(matrix, a, b))


@inner(nogil=True, error_model="numpy")
def arrange(thread, threads, barrier, sums, matrix):
    """Let the matrix have sums, whose blocks lie as (3, 3, 4, 4), as blocks (12, 12) in the order of unknowns."""
    m = len(matrix.own)
    first, last = share(0, len(sums), thread, threads)
    for number in range(first, last):
        for x in range(3):
            for y in range(3):
                for s in range(4):
                    for t in range(4):
                        place = 16 * (3 * x + y) + 4 * s + t
                        value = sums[number, place // 12, place % 12]
                        if number < m:
                            matrix.own[number, 3 * s + x, 3 * t + y] = value
                        else:
                            matrix.blocks[number - m, 3 * s + x, 3 * t + y] = value


@inner(nogil=True, error_model="numpy")
def _load(buffer, place, width, corners, B):
    """All blocks of an element, those below the diagonal too."""
    for i in range(corners):
        for j in range(i, corners):
            for x in range(3):
                for y in range(3):
                    value = buffer[place]
                    B[i, j, 3 * x + y] = value
                    B[j, i, 3 * y + x] = value
                    place += width


@inner(nogil=True, error_model="numpy")
def _was_before(aggregate, j):
    """Whether an earlier corner is of the same aggregate."""
    count = 0
    for i in range(j):
        count += aggregate[i] == aggregate[j]
    return count > 0


@inner(nogil=True, error_model="numpy")
def _of_aggregate(aggregate, b, inside):
    """How many corners are of an aggregate; which they are is written to `inside`."""
    count = 0
    for j in range(len(aggregate)):
        if aggregate[j] == b:
            inside[count] = j
            count += 1
    return count


@inner(nogil=True, error_model="numpy")
def _add(B, i, h, inside, together, blocks, place):
    """h_i times the sum of B_ij h_j over the corners j of an aggregate."""
    for k in range(9):
        total = _nothing()
        for m in range(together):
            j = inside[m]
            total = total + B[i, j, k] * load(h, 4 * j, total)
        for s in range(4):
            row = place + 16 * k + 4 * s
            store(blocks, row, load(blocks, row, total) + h[4 * i + s] * total)


@inner(nogil=True, error_model="numpy")
def _find(matrix, a, b):
    """The place of the block (a, b) among the sums, a <= b."""
    k = matrix.diagonal[a]
    while matrix.column[k] != b:
        k += 1
    return a if a == b else len(matrix.own) + matrix.number[k]

"""The Galerkin matrix of aggregates (coarse_levels) summed straight from Hessians of elements.

Corner i of an element moves as its aggregate does, by h_i = (1, r_i) times that aggregate's unknowns. So the block of
aggregates a and b gets  sum over corners i in a and j in b of  h_i h_j^T x B_ij,  with the element's 3x3 blocks B_ij. A
thread owns the rows of every so-manieth aggregate and takes all elements in order: any number of threads gives the
same bits.
"""

from __future__ import annotations

import numpy as np
from numba import njit

from pliant.kernels.threads import share


@njit(nogil=True, error_model="numpy")
def clear(thread, threads, matrix):
    """Let all blocks be zero."""
    first, last = share(0, len(matrix.blocks), thread, threads)
    matrix.blocks[first:last] = 0.0


@njit(nogil=True, error_model="numpy")
def gather(thread, threads, elements, row_of_vertex, of_row, offset, buffer, width, matrix):
    """Add elements (k, corners), vertices of the scene; buffer: flat (packs, pairs i <= j, 9, width) of B_ij [N/m]."""
    corners = elements.shape[1]
    pairs = corners * (corners + 1) // 2
    aggregate, h = np.empty(corners, np.int64), np.ones((corners, 4))
    B, half = np.empty((corners, corners, 3, 3)), np.empty((3, 12))
    for e in range(len(elements)):
        is_own = False
        for i in range(corners):
            row = row_of_vertex[elements[e, i]]
            aggregate[i] = of_row[row] if row >= 0 else -1
            is_own |= row >= 0 and aggregate[i] % threads == thread
            for s in range(3):
                h[i, s + 1] = offset[row, s] if row >= 0 else 0.0
        if not is_own:
            continue
        _load(buffer, (e // width) * pairs * 9 * width + e % width, width, corners, B)
        for i in range(corners):
            a = aggregate[i]
            if a < 0 or a % threads != thread:
                continue
            for j in range(corners):
                if aggregate[j] < a or _was_before(aggregate, j):
                    continue
                _sum_columns(B[i], h, aggregate, aggregate[j], half)
                block = matrix.blocks[_find(matrix, a, aggregate[j])]
                for s in range(4):
                    for x in range(3):
                        for c in range(12):
                            block[3 * s + x, c] += h[i, s] * half[x, c]


@njit(nogil=True, error_model="numpy")
def _load(buffer, place, width, corners, B):
    """All blocks of an element, those below the diagonal too."""
    for i in range(corners):
        for j in range(i, corners):
            for x in range(3):
                for y in range(3):
                    value = buffer[place]
                    B[i, j, x, y] = value
                    B[j, i, y, x] = value
                    place += width


@njit(nogil=True, error_model="numpy")
def _was_before(aggregate, j):
    """Whether an earlier corner is of the same aggregate."""
    count = 0
    for i in range(j):
        count += aggregate[i] == aggregate[j]
    return count > 0


@njit(nogil=True, error_model="numpy")
def _sum_columns(B, h, aggregate, b, half):
    """sum over corners j in b of B_ij (x) h_j."""
    half[:] = 0.0
    for j in range(len(aggregate)):
        if aggregate[j] == b:
            for x in range(3):
                for s in range(4):
                    for y in range(3):
                        half[x, 3 * s + y] += h[j, s] * B[j, x, y]


@njit(nogil=True, error_model="numpy")
def _find(matrix, a, b):
    """The number of the block (a, b), a <= b."""
    k = matrix.diagonal[a]
    while matrix.column[k] != b:
        k += 1
    return matrix.number[k]

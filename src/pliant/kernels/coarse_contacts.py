"""The Galerkin matrix of contacts (coarse_levels) beside that of elements: aggregates that touch need be no neighbours.

A contact with the Hessian B and the weights w_i of its corners adds  u_a u_b^T x R_a^T B R_b  to the block of
aggregates a and b, where u_a is the sum of w_i (1, r_i) over its corners i in a. A thread owns the rows of every
so-manieth aggregate and takes its contacts in order: any number of threads gives the same bits.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from pliant.lanes.inner import inner
from pliant.lanes.memory import load, store
from pliant.lanes.types import make_zero

_nothing = make_zero("double", 4)


class Touching(NamedTuple):
    """Contacts as the coarse levels see them."""

    aggregate: np.ndarray  # (k, 4) of the finest level that a corner is of; -1 where it does not move
    vertex: np.ndarray  # (k, 4) of a corner; -1 where it does not move
    weight: np.ndarray  # (k, 4)
    block: np.ndarray  # (k, 3, 3) [N/m]
    start: np.ndarray  # (m + 1,) first entry of each aggregate
    entry: np.ndarray  # 4 contact + corner


@inner(nogil=True, error_model="numpy")
def place_corners(vertices, of_vertex, touching):
    """Vertices and aggregates of the corners of contacts that press, listed by aggregate."""
    aggregate, start, weight, m = touching.aggregate, touching.start, touching.weight, len(touching.start) - 1
    start[:] = 0
    for c in range(len(vertices)):
        B = touching.block[c]
        presses = B[0, 0] + B[1, 1] + B[2, 2] > 0.0
        for n in range(4):
            is_moved = presses and weight[c, n] != 0.0
            aggregate[c, n] = of_vertex[vertices[c, n]] if is_moved else -1
            touching.vertex[c, n] = vertices[c, n] if aggregate[c, n] >= 0 else -1
            if aggregate[c, n] >= 0:
                start[aggregate[c, n] + 1] += 1
    for a in range(m):
        start[a + 1] += start[a]
    for c in range(len(vertices)):
        for n in range(4):
            a = aggregate[c, n]
            if a >= 0:
                touching.entry[start[a]] = 4 * c + n
                start[a] += 1
    for a in range(m, 0, -1):
        start[a] = start[a - 1]
    start[0] = 0


@inner(nogil=True, error_model="numpy")
def find_pattern(touching, start, column, number, diagonal):
    """Entries of the matrix in compressed rows; returns how many blocks beside the diagonal are stored."""
    m, count = len(diagonal), 0
    seen = np.full(m, -1, np.int64)
    for a in range(m):
        start[a], column[count], seen[a] = count, a, a
        count += 1
        for place in range(touching.start[a], touching.start[a + 1]):
            for n in range(4):
                b = touching.aggregate[touching.entry[place] // 4, n]
                if b >= 0 and seen[b] != a:
                    seen[b] = a
                    at = count
                    while at > start[a] and column[at - 1] > b:
                        column[at] = column[at - 1]
                        at -= 1
                    column[at] = b
                    count += 1
    start[m] = count
    return _number_blocks(start, column, number, diagonal, seen)


@inner(nogil=True, error_model="numpy")
def _number_blocks(start, column, number, diagonal, following):
    """Blocks above the diagonal are numbered row by row; those below are found again as rows go on."""
    blocks = 0
    for a in range(len(diagonal)):
        for k in range(start[a], start[a + 1]):
            b = column[k]
            if b < a:
                number[k] = number[following[b]]
                following[b] += 1
                continue
            if b == a:
                diagonal[a], following[a], number[k] = k, k + 1, a
                continue
            number[k] = blocks
            blocks += 1
    return blocks


@inner(nogil=True, error_model="numpy")
def gather_contacts(thread, threads, barrier, touching, members, matrix, sums):
    """Sum what contacts add; blocks lie as those of `gather` until they are arranged."""
    m, blocks = len(matrix.diagonal), sums.reshape(-1)
    own, other, half, D = np.empty(4), np.empty(4), np.empty((3, 3)), np.empty((3, 3))
    number = np.empty(m, np.int64)  # of the block in this row
    for a in range(thread, m, threads):
        number[a] = a
        for k in range(matrix.diagonal[a] + 1, matrix.start[a + 1]):
            number[matrix.column[k]] = m + matrix.number[k]
        before = -1
        for place in range(touching.start[a], touching.start[a + 1]):
            c = touching.entry[place] // 4
            if c == before:
                continue
            before = c
            _sum_corners(touching, members, c, a, own)
            _multiply_turned(members.frame[a], touching.block[c], half)
            for n in range(4):
                b = touching.aggregate[c, n]
                if b < a or _is_listed(touching.aggregate[c], n):
                    continue
                _sum_corners(touching, members, c, b, other)
                _multiply(half, members.frame[b], D)
                _add(blocks, 144 * number[b], own, other, D)


@inner(nogil=True, error_model="numpy")
def _is_listed(aggregates, n):
    """Whether an earlier corner is of the same aggregate."""
    count = 0
    for i in range(n):
        count += aggregates[i] == aggregates[n]
    return count > 0


@inner(nogil=True, error_model="numpy")
def _sum_corners(touching, members, c, a, out):
    """w (1, r) summed over the corners of a contact that are in an aggregate."""
    for s in range(4):
        out[s] = 0.0
    for n in range(4):
        if touching.aggregate[c, n] == a:
            w, r = touching.weight[c, n], members.offset[touching.vertex[c, n]]
            out[0] += w
            for s in range(3):
                out[s + 1] += w * r[s]


@inner(nogil=True, error_model="numpy")
def _multiply_turned(R, B, out):
    """R^T B."""
    for x in range(3):
        for y in range(3):
            out[x, y] = R[0, x] * B[0, y] + R[1, x] * B[1, y] + R[2, x] * B[2, y]


@inner(nogil=True, error_model="numpy")
def _multiply(A, S, out):
    """A S."""
    for x in range(3):
        for y in range(3):
            out[x, y] = A[x, 0] * S[0, y] + A[x, 1] * S[1, y] + A[x, 2] * S[2, y]


@inner(nogil=True, error_model="numpy")
def _add(blocks, place, own, other, D):
    """Add (own other^T) x D to a block that lies as (3, 3, 4, 4)."""
    lanes = load(other, 0, _nothing())
    for x in range(3):
        for y in range(3):
            part = D[x, y] * lanes
            for s in range(4):
                row = place + 16 * (3 * x + y) + 4 * s
                store(blocks, row, load(blocks, row, lanes) + own[s] * part)

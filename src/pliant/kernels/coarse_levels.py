"""Coarse levels of a mesh: motions of aggregates of vertices, their Galerkin matrix, and its solution.

Vertex i of aggregate a moves by  u_i = R (b + A r_i),  r_i = (X_i - c_a) / s_a:  12 unknowns v = (b, columns of A) of
an aggregate with centre c_a and radius s_a, in the frame R of its body since the matrix was assembled at positions X.
An aggregate of a coarser level holds whole aggregates of the finest one, so that its motions are motions of theirs.
Every sum is in one order: any number of threads gives the same bits.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from pliant.kernels.threads import share
from pliant.lanes.inner import inner

UNKNOWNS = 12


class Members(NamedTuple):
    """Vertices of the aggregates of the finest level."""

    start: np.ndarray  # (m + 1,)
    rows: np.ndarray  # of the moving vertices, in the order of the fine matrix
    vertex: np.ndarray  # (rows,) in the scene's order
    offset: np.ndarray  # (rows, 3) r
    frame: np.ndarray  # (m, 3, 3) R


class CoarseMatrix(NamedTuple):
    """Blocks of 12x12 of the finest coarse level in compressed rows; those below the diagonal are not stored."""

    start: np.ndarray  # (m + 1,)
    column: np.ndarray  # (entries,) ascending in each row
    number: np.ndarray  # (entries,) of the block; below the diagonal, of the one that is to be transposed
    diagonal: np.ndarray  # (m,) entry on the diagonal
    blocks: np.ndarray  # (blocks, 12, 12) [N/m]


class Joined(NamedTuple):
    """Aggregates of all coarser levels, one level after another; the last level from `top` on."""

    parent: np.ndarray  # (levels, m) of every aggregate of the finest level
    shift: np.ndarray  # (levels, m, 3) from the parent's centre, over the parent's radius
    scale: np.ndarray  # (levels, m) radius over the parent's
    child_start: np.ndarray  # (M + 1,)
    child: np.ndarray  # aggregates of the finest level
    top: int


class Touching(NamedTuple):
    """Contacts as the coarse levels see them."""

    corner: np.ndarray  # (k, 4) rows of moving vertices, -1 for others
    aggregate: np.ndarray  # (k, 4) of the finest level
    weight: np.ndarray  # (k, 4)
    block: np.ndarray  # (k, 3, 3) [N/m]
    entry_start: np.ndarray  # (m + 1,) of each aggregate
    entry: np.ndarray  # 4 contact + corner
    force: np.ndarray  # (k, 3) room


class Inverses(NamedTuple):
    """Preconditioner: inverse blocks of the diagonals, and the inverse of the last level's matrix."""

    finest: np.ndarray  # (m, 12, 12), or none where the last level is the finest
    joined: np.ndarray  # (top, 12, 12), or of all joined aggregates if the last level has no matrix of its own
    top: np.ndarray  # (12 t, 12 t), or (0, 0)


class Room(NamedTuple):
    """Vectors of conjugate gradients."""

    v: np.ndarray  # (m, 12) the solution
    r: np.ndarray  # right-hand side, then what is left of it
    z: np.ndarray
    p: np.ndarray
    q: np.ndarray
    joined: np.ndarray  # (M, 12)
    solved: np.ndarray  # (M, 12)
    sums: np.ndarray  # (2, m)
    outcome: np.ndarray  # (2,) iterations, and 1 if a direction without curvature was met


@inner(nogil=True, error_model="numpy")
def join(matrix, joined, blocks, top):
    """Diagonal blocks of the joined aggregates, and the whole matrix of the last level if there is room for it."""
    half, whole = np.empty((UNKNOWNS, UNKNOWNS)), np.empty((UNKNOWNS, UNKNOWNS))
    for level in range(len(joined.parent)):
        for a in range(len(matrix.diagonal)):
            for k in range(matrix.diagonal[a], matrix.start[a + 1]):
                b = matrix.column[k]
                one, other = joined.parent[level, a], joined.parent[level, b]
                is_top = one >= joined.top and len(top)
                if one != other and not is_top:
                    continue
                for row in range(UNKNOWNS):
                    _raise_one(joined, level, b, matrix.blocks[matrix.number[k], row], half[row])
                for column in range(UNKNOWNS):
                    _raise_one(joined, level, a, half[:, column], whole[:, column])
                if is_top:
                    _add_block(top, UNKNOWNS * (one - joined.top), UNKNOWNS * (other - joined.top), whole, a != b)
                else:
                    _add_block(blocks[one], 0, 0, whole, a != b)


@inner(nogil=True, error_model="numpy")
def _add_block(out, i, j, block, is_turned):
    """Add a block at a place of a matrix, and transposed at the transposed place too."""
    for row in range(UNKNOWNS):
        for column in range(UNKNOWNS):
            out[i + row, j + column] += block[row, column]
    if is_turned:
        for row in range(UNKNOWNS):
            for column in range(UNKNOWNS):
                out[j + row, i + column] += block[column, row]


@inner(nogil=True, error_model="numpy")
def join_contacts(touching, members, joined, finest, blocks, top):
    """Add contacts to diagonal blocks of all levels and to the matrix of the last."""
    h, sums, own = np.empty((4, 4)), np.empty((4, 4)), np.empty((4, 4, 3, 3))
    group, aggregates = np.empty(4, np.int64), np.empty(4, np.int64)
    for c in range(len(touching.block)):
        count = _group_corners(touching, c, group, aggregates)
        for p in range(count):
            for q in range(count):
                _turned(members.frame[aggregates[p]], touching.block[c], members.frame[aggregates[q]], own[p, q])
        for level in range(-1 if len(finest) else 0, len(joined.parent)):
            _lever_arms(touching, members, joined, c, level, h)
            _sum_groups(touching.weight[c], h, group, count, sums)
            for p in range(count):
                for q in range(count):
                    a, b = aggregates[p], aggregates[q]
                    if level < 0:
                        if a == b:
                            _add_pair(finest[a], sums[p], sums[q], own[p, q])
                        continue
                    i, j = joined.parent[level, a], joined.parent[level, b]
                    if i >= joined.top and len(top):
                        i, j = UNKNOWNS * (i - joined.top), UNKNOWNS * (j - joined.top)
                        _add_pair(top[i : i + UNKNOWNS, j : j + UNKNOWNS], sums[p], sums[q], own[p, q])
                    elif i == j:
                        _add_pair(blocks[i], sums[p], sums[q], own[p, q])


@inner(nogil=True, error_model="numpy")
def _group_corners(touching, c, group, aggregates):
    """How many aggregates of the finest level a contact touches; they are written, and of each corner which it is of,
    -1 for corners that do not move.
    """
    count = 0
    for n in range(4):
        group[n] = -1
        if touching.corner[c, n] < 0:
            continue
        g = 0
        while g < count and aggregates[g] != touching.aggregate[c, n]:
            g += 1
        if g == count:
            aggregates[g] = touching.aggregate[c, n]
            count += 1
        group[n] = g
    return count


@inner(nogil=True, error_model="numpy")
def _sum_groups(weight, h, group, count, sums):
    """Sums of lever arms h times weights over the corners of each group."""
    for g in range(count):
        for s in range(4):
            sums[g, s] = 0.0
    for n in range(4):
        if group[n] >= 0:
            for s in range(4):
                sums[group[n], s] += weight[n] * h[n, s]


@inner(nogil=True, error_model="numpy")
def _lever_arms(touching, members, joined, c, level, h):
    """(1, r) of the vertices of a contact in their aggregates of a level, -1 for the finest."""
    for n in range(4):
        i, a = touching.corner[c, n], touching.aggregate[c, n]
        h[n, 0] = 1.0
        for s in range(3):
            own = members.offset[i, s]
            h[n, s + 1] = own if level < 0 else joined.shift[level, a, s] + joined.scale[level, a] * own


@inner(nogil=True, error_model="numpy")
def _turned(R, B, S, out):
    """R^T B S."""
    for x in range(3):
        for y in range(3):
            total = 0.0
            for p in range(3):
                for q in range(3):
                    total += R[p, x] * B[p, q] * S[q, y]
            out[x, y] = total


@inner(nogil=True, error_model="numpy")
def _add_pair(block, h, g, own):
    """block += (h g^T) x own, as unknowns are ordered."""
    for s in range(4):
        for t in range(4):
            for x in range(3):
                for y in range(3):
                    block[3 * s + x, 3 * t + y] += h[s] * g[t] * own[x, y]


@inner(nogil=True, error_model="numpy")
def _raise_one(joined, level, a, child, out):
    """What the unknowns of an aggregate's parent do to its own, transposed: Q^T child."""
    for x in range(3):
        out[x] = child[x]
    for s in range(3):
        for x in range(3):
            up = joined.shift[level, a, s] * child[x] + joined.scale[level, a] * child[3 * s + 3 + x]
            out[3 * s + 3 + x] = up


@inner(nogil=True, error_model="numpy")
def restrict(thread, threads, barrier, members, force, out):
    """P^T force, force (n, 3) in the scene's order."""
    first, last = share(0, len(members.start) - 1, thread, threads)
    for a in range(first, last):
        for c in range(UNKNOWNS):
            out[a, c] = 0.0
        for place in range(members.start[a], members.start[a + 1]):
            i = members.rows[place]
            f, R = force[members.vertex[i]], members.frame[a]
            for x in range(3):
                turned = R[0, x] * f[0] + R[1, x] * f[1] + R[2, x] * f[2]
                out[a, x] += turned
                for s in range(3):
                    out[a, 3 * s + 3 + x] += members.offset[i, s] * turned


@inner(nogil=True, error_model="numpy")
def prolong(thread, threads, barrier, members, v, out):
    """P v, out (n, 3) in the scene's order."""
    first, last = share(0, len(members.start) - 1, thread, threads)
    for a in range(first, last):
        R = members.frame[a]
        for place in range(members.start[a], members.start[a + 1]):
            i = members.rows[place]
            u0, u1, u2 = affine_motion(v[a], members.offset[i])
            for x in range(3):
                out[members.vertex[i], x] = R[x, 0] * u0 + R[x, 1] * u1 + R[x, 2] * u2


@inner(nogil=True, error_model="numpy")
def affine_motion(v, r):
    """b + A r."""
    return (
        v[0] + v[3] * r[0] + v[6] * r[1] + v[9] * r[2],
        v[1] + v[4] * r[0] + v[7] * r[1] + v[10] * r[2],
        v[2] + v[5] * r[0] + v[8] * r[1] + v[11] * r[2],
    )

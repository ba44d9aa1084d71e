"""Coarse levels of a mesh: motions of aggregates of vertices, their Galerkin matrix, and its solution.

Vertex i of aggregate a moves by  u_i = R (b + A r_i),  r_i = (X_i - c_a) / s_a:  12 unknowns v = (b, columns of A) of
an aggregate with centre c_a and radius s_a, in the frame R of its body since the matrix was assembled at positions X.
An aggregate of a coarser level holds whole aggregates of the finest one, so that its motions are motions of theirs.
Every sum is in one order: any number of threads gives the same bits.
"""

from __future__ import annotations

from functools import cache
from types import ModuleType
from typing import NamedTuple

import numpy as np
from numba import njit

from pliant.kernels.threads import barrier_wait, share
from pliant.lanes.cache import load_module

UNKNOWNS = 12


class Members(NamedTuple):
    """Vertices of the aggregates of the finest level."""

    start: np.ndarray  # (m + 1,)
    rows: np.ndarray  # of the moving vertices, in the order of the fine matrix
    vertex: np.ndarray  # (rows,) in the scene's order
    offset: np.ndarray  # (rows, 3) r
    frame: np.ndarray  # (m, 3, 3) R


class CoarseMatrix(NamedTuple):
    """Blocks of 12x12 of the finest coarse level in compressed rows."""

    start: np.ndarray  # (m + 1,)
    column: np.ndarray  # (blocks,)
    diagonal: np.ndarray  # (m,) number of the block on the diagonal
    of_fine: np.ndarray  # (fine blocks,) the block that a 3x3 block of vertices goes to
    blocks: np.ndarray  # (blocks, 12, 12) [N/m], transposed: rows of a block are unknowns of its column


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


@njit(nogil=True, error_model="numpy")
def assemble(thread, threads, column, start, values, members, matrix):
    """P^T H P of a fine matrix of 3x3 blocks."""
    first, last = share(0, len(members.start) - 1, thread, threads)
    scaled = np.empty((3, UNKNOWNS))
    for a in range(first, last):
        for block in range(matrix.start[a], matrix.start[a + 1]):
            matrix.blocks[block] = 0.0
        for place in range(members.start[a], members.start[a + 1]):
            i = members.rows[place]
            for k in range(start[i], start[i + 1]):
                own, other = members.offset[i], members.offset[column[k]]
                for y in range(3):
                    for x in range(3):
                        scaled[y, x] = values[k, x, y]
                        for s in range(3):
                            scaled[y, 3 * s + 3 + x] = own[s] * values[k, x, y]
                block = matrix.blocks[matrix.of_fine[k]]
                for y in range(3):
                    for c in range(UNKNOWNS):
                        block[y, c] += scaled[y, c]
                        block[3 + y, c] += other[0] * scaled[y, c]
                        block[6 + y, c] += other[1] * scaled[y, c]
                        block[9 + y, c] += other[2] * scaled[y, c]


@njit(nogil=True, error_model="numpy")
def join(matrix, joined, blocks, top):
    """Diagonal blocks of the joined aggregates, and the whole matrix of the last level if there is room for it."""
    half, whole = np.empty((UNKNOWNS, UNKNOWNS)), np.empty((UNKNOWNS, UNKNOWNS))
    for level in range(len(joined.parent)):
        for a in range(len(matrix.diagonal)):
            for k in range(matrix.start[a], matrix.start[a + 1]):
                b = matrix.column[k]
                one, other = joined.parent[level, a], joined.parent[level, b]
                is_top = one >= joined.top and len(top)
                if one != other and not is_top:
                    continue
                for row in range(UNKNOWNS):
                    _raise_one(joined, level, a, matrix.blocks[k, row], half[row])
                for column in range(UNKNOWNS):
                    _raise_one(joined, level, b, half[:, column], whole[:, column])
                if is_top:
                    i, j = UNKNOWNS * (one - joined.top), UNKNOWNS * (other - joined.top)
                    top[j : j + UNKNOWNS, i : i + UNKNOWNS] += whole
                else:
                    blocks[one] += whole


@njit(nogil=True, error_model="numpy")
def join_contacts(touching, members, joined, finest, blocks, top):
    """Add contacts to diagonal blocks of all levels and to the matrix of the last."""
    h, own = np.empty((4, 4)), np.empty((3, 3))
    for c in range(len(touching.block)):
        for level in range(-1 if len(finest) else 0, len(joined.parent)):
            _lever_arms(touching, members, joined, c, level, h)
            for n in range(16):
                one, other = n // 4, n % 4
                if touching.corner[c, one] < 0 or touching.corner[c, other] < 0:
                    continue
                a, b = touching.aggregate[c, one], touching.aggregate[c, other]
                weight = touching.weight[c, one] * touching.weight[c, other]
                _turned(weight, members.frame[a], touching.block[c], members.frame[b], own)
                if level < 0:
                    if a == b:
                        _add_pair(finest[a], h[one], h[other], own)
                    continue
                i, j = joined.parent[level, a], joined.parent[level, b]
                if i >= joined.top and len(top):
                    i, j = UNKNOWNS * (i - joined.top), UNKNOWNS * (j - joined.top)
                    _add_pair(top[i : i + UNKNOWNS, j : j + UNKNOWNS], h[one], h[other], own)
                elif i == j:
                    _add_pair(blocks[i], h[one], h[other], own)


@njit(nogil=True, error_model="numpy")
def _lever_arms(touching, members, joined, c, level, h):
    """(1, r) of the vertices of a contact in their aggregates of a level, -1 for the finest."""
    for n in range(4):
        i, a = touching.corner[c, n], touching.aggregate[c, n]
        h[n, 0] = 1.0
        for s in range(3):
            own = members.offset[i, s]
            h[n, s + 1] = own if level < 0 else joined.shift[level, a, s] + joined.scale[level, a] * own


@njit(nogil=True, error_model="numpy")
def _turned(weight, R, B, S, out):
    """weight R^T B S."""
    for x in range(3):
        for y in range(3):
            total = 0.0
            for p in range(3):
                for q in range(3):
                    total += R[p, x] * B[p, q] * S[q, y]
            out[x, y] = weight * total


@njit(nogil=True, error_model="numpy")
def _add_pair(block, h, g, own):
    """block += (h g^T) x own, as unknowns are ordered."""
    for s in range(4):
        for t in range(4):
            for x in range(3):
                for y in range(3):
                    block[3 * s + x, 3 * t + y] += h[s] * g[t] * own[x, y]


@njit(nogil=True, error_model="numpy")
def _raise_one(joined, level, a, child, out):
    """What the unknowns of an aggregate's parent do to its own, transposed: Q^T child."""
    for x in range(3):
        out[x] = child[x]
    for s in range(3):
        for x in range(3):
            up = joined.shift[level, a, s] * child[x] + joined.scale[level, a] * child[3 * s + 3 + x]
            out[3 * s + 3 + x] = up


@njit(nogil=True, error_model="numpy")
def restrict(thread, threads, members, force, out):
    """P^T force, force (n, 3) in the scene's order."""
    first, last = share(0, len(members.start) - 1, thread, threads)
    for a in range(first, last):
        out[a] = 0.0
        for place in range(members.start[a], members.start[a + 1]):
            i = members.rows[place]
            f, R = force[members.vertex[i]], members.frame[a]
            for x in range(3):
                turned = R[0, x] * f[0] + R[1, x] * f[1] + R[2, x] * f[2]
                out[a, x] += turned
                for s in range(3):
                    out[a, 3 * s + 3 + x] += members.offset[i, s] * turned


@njit(nogil=True, error_model="numpy")
def prolong(thread, threads, members, v, out):
    """P v, out (n, 3) in the scene's order."""
    first, last = share(0, len(members.start) - 1, thread, threads)
    for a in range(first, last):
        R = members.frame[a]
        for place in range(members.start[a], members.start[a + 1]):
            i = members.rows[place]
            u0, u1, u2 = _motion(v[a], members.offset[i])
            for x in range(3):
                out[members.vertex[i], x] = R[x, 0] * u0 + R[x, 1] * u1 + R[x, 2] * u2


@njit(nogil=True, error_model="numpy")
def _motion(v, r):
    """b + A r."""
    return (
        v[0] + v[3] * r[0] + v[6] * r[1] + v[9] * r[2],
        v[1] + v[4] * r[0] + v[7] * r[1] + v[10] * r[2],
        v[2] + v[5] * r[0] + v[8] * r[1] + v[11] * r[2],
    )


@njit(nogil=True, error_model="numpy")
def solve(thread, threads, barrier, matrix, members, joined, touching, inverses, tolerance, limit, room):
    """Conjugate gradients on (K + contacts) v = r until |r| in the norm of the preconditioner has fallen enough."""
    m = len(matrix.diagonal)
    first, last = share(0, m, thread, threads)
    room.v[first:last] = 0.0
    arrivals = _precondition(thread, threads, barrier, 0, joined, inverses, room)
    room.p[first:last] = room.z[first:last]
    product = start = np.sum(room.sums[0])
    arrivals += threads
    barrier_wait(barrier, arrivals)
    for iteration in range(limit):
        if not product > 0:
            return
        _press(thread, threads, members, touching, room.p)
        arrivals += threads
        barrier_wait(barrier, arrivals)
        _multiply(first, last, matrix, members, touching, room)
        arrivals += threads
        barrier_wait(barrier, arrivals)
        curvature = np.sum(room.sums[1])
        if thread == 0:
            room.outcome[0], room.outcome[1] = iteration + 1, not curvature > 0
        if not curvature > 0:
            return
        alpha = product / curvature
        for a in range(first, last):
            for c in range(UNKNOWNS):
                room.v[a, c] += alpha * room.p[a, c]
                room.r[a, c] -= alpha * room.q[a, c]
        arrivals += threads
        barrier_wait(barrier, arrivals)
        arrivals = _precondition(thread, threads, barrier, arrivals, joined, inverses, room)
        before, product = product, np.sum(room.sums[0])
        if product <= tolerance**2 * start:
            return
        for a in range(first, last):
            for c in range(UNKNOWNS):
                room.p[a, c] = room.z[a, c] + product / before * room.p[a, c]
        arrivals += threads
        barrier_wait(barrier, arrivals)


@njit(nogil=True, error_model="numpy")
def _multiply(first, last, matrix, members, touching, room):
    """q = (K + contacts) p and the shares of p . q."""
    for a in range(first, last):
        room.q[a] = 0.0
        for k in range(matrix.start[a], matrix.start[a + 1]):
            block, p = matrix.blocks[k], room.p[matrix.column[k]]
            for d in range(UNKNOWNS):
                for c in range(UNKNOWNS):
                    room.q[a, c] += block[d, c] * p[d]
        R = members.frame[a]
        for place in range(touching.entry_start[a], touching.entry_start[a + 1]):
            c, n = touching.entry[place] // 4, touching.entry[place] % 4
            i, w, f = touching.corner[c, n], touching.weight[c, n], touching.force[c]
            for x in range(3):
                turned = w * (R[0, x] * f[0] + R[1, x] * f[1] + R[2, x] * f[2])
                room.q[a, x] += turned
                for s in range(3):
                    room.q[a, 3 * s + 3 + x] += members.offset[i, s] * turned
        total = 0.0
        for c in range(UNKNOWNS):
            total += room.p[a, c] * room.q[a, c]
        room.sums[1, a] = total


@njit(nogil=True, error_model="numpy")
def _press(thread, threads, members, touching, p):
    """Forces of contacts where aggregates move by p."""
    first, last = share(0, len(touching.block), thread, threads)
    for c in range(first, last):
        d0 = d1 = d2 = 0.0
        for n in range(4):
            i, a, w = touching.corner[c, n], touching.aggregate[c, n], touching.weight[c, n]
            if i >= 0:
                u0, u1, u2 = _motion(p[a], members.offset[i])
                R = members.frame[a]
                d0 += w * (R[0, 0] * u0 + R[0, 1] * u1 + R[0, 2] * u2)
                d1 += w * (R[1, 0] * u0 + R[1, 1] * u1 + R[1, 2] * u2)
                d2 += w * (R[2, 0] * u0 + R[2, 1] * u1 + R[2, 2] * u2)
        for x in range(3):
            B = touching.block[c, x]
            touching.force[c, x] = B[0] * d0 + B[1] * d1 + B[2] * d2


@njit(nogil=True, error_model="numpy")
def _precondition(thread, threads, barrier, arrivals, joined, inverses, room):
    """z = sum over levels of Q D^-1 Q^T r, and the shares of r . z; returns the arrivals so far."""
    M, m = len(joined.child_start) - 1, len(room.r)
    first, last = share(0, M, thread, threads)
    for g in range(first, last):
        level = _level_of(g, joined)
        own = room.joined[g]
        own[:] = 0.0
        for place in range(joined.child_start[g], joined.child_start[g + 1]):
            a = joined.child[place]
            r = room.r[a]
            for x in range(3):
                own[x] += r[x]
                for s in range(3):
                    own[3 * s + 3 + x] += joined.shift[level, a, s] * r[x] + joined.scale[level, a] * r[3 * s + 3 + x]
        if g < len(inverses.joined):
            for c in range(UNKNOWNS):
                total = 0.0
                for d in range(UNKNOWNS):
                    total += inverses.joined[g, c, d] * own[d]
                room.solved[g, c] = total
    arrivals += threads
    barrier_wait(barrier, arrivals)
    right = room.joined[joined.top :].reshape(-1)
    first, last = share(joined.top, M if len(inverses.top) else joined.top, thread, threads)
    for g in range(first, last):
        for c in range(UNKNOWNS):
            row = inverses.top[UNKNOWNS * (g - joined.top) + c]
            total = 0.0
            for d in range(len(right)):
                total += row[d] * right[d]
            room.solved[g, c] = total
    arrivals += threads
    barrier_wait(barrier, arrivals)
    first, last = share(0, m, thread, threads)
    for a in range(first, last):
        z = room.z[a]
        z[:] = 0.0
        if len(inverses.finest):
            for c in range(UNKNOWNS):
                for d in range(UNKNOWNS):
                    z[c] += inverses.finest[a, c, d] * room.r[a, d]
        for level in range(len(joined.parent)):
            v = room.solved[joined.parent[level, a]]
            for x in range(3):
                z[x] += v[x]
                for s in range(3):
                    z[x] += joined.shift[level, a, s] * v[3 * s + 3 + x]
                    z[3 * s + 3 + x] += joined.scale[level, a] * v[3 * s + 3 + x]
        total = 0.0
        for c in range(UNKNOWNS):
            total += z[c] * room.r[a, c]
        room.sums[0, a] = total
    arrivals += threads
    barrier_wait(barrier, arrivals)
    return arrivals


@njit(nogil=True, error_model="numpy")
def _level_of(g, joined):
    """The level of a joined aggregate: that on which its first child has it for a parent."""
    a, level = joined.child[joined.child_start[g]], 0
    while joined.parent[level, a] != g:
        level += 1
    return level


@cache
def levels_module() -> ModuleType:
    """These functions as entry points that Numba keeps compiled on disk."""
    return load_module("coarse_levels", _SOURCE, "coarse levels")


_SOURCE = '''"""Entry points of pliant.kernels.coarse_levels: change that, not this."""
from numba import njit

from pliant.kernels import coarse_levels as levels


@njit(cache=True, nogil=True, error_model="numpy")
def assemble(thread, threads, barrier, column, start, values, members, matrix):
    levels.assemble(thread, threads, column, start, values, members, matrix)


@njit(cache=True, nogil=True, error_model="numpy")
def join(matrix, joined, blocks, top):
    levels.join(matrix, joined, blocks, top)


@njit(cache=True, nogil=True, error_model="numpy")
def join_contacts(touching, members, joined, finest, blocks, top):
    levels.join_contacts(touching, members, joined, finest, blocks, top)


@njit(cache=True, nogil=True, error_model="numpy")
def restrict(thread, threads, barrier, members, force, out):
    levels.restrict(thread, threads, members, force, out)


@njit(cache=True, nogil=True, error_model="numpy")
def prolong(thread, threads, barrier, members, v, out):
    levels.prolong(thread, threads, members, v, out)


@njit(cache=True, nogil=True, error_model="numpy")
def solve(thread, threads, barrier, matrix, members, joined, touching, inverses, tolerance, limit, room):
    levels.solve(thread, threads, barrier, matrix, members, joined, touching, inverses, tolerance, limit, room)
'''

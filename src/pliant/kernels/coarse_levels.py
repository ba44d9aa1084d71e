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
    vertex: np.ndarray  # of one aggregate after another
    of_vertex: np.ndarray  # (n,) aggregate of each vertex, -1 for those that do not move
    offset: np.ndarray  # (n, 3) r, in the precision of the solver
    frame: np.ndarray  # (m, 3, 3) R


class CoarseMatrix(NamedTuple):
    """Blocks of 12x12 of the finest coarse level in compressed rows; those below the diagonal are not stored."""

    start: np.ndarray  # (m + 1,)
    column: np.ndarray  # (entries,) ascending in each row
    number: np.ndarray  # (entries,) of the block; below the diagonal, of the one to transpose; on it that of the row
    diagonal: np.ndarray  # (m,) entry on the diagonal
    own: np.ndarray  # (m, 12, 12) blocks on the diagonal [N/m], in double precision: rigid bodies are very stiff there
    blocks: np.ndarray  # (blocks, 12, 12) [N/m] of the others, in the precision of the solver


class Joined(NamedTuple):
    """Aggregates of all coarser levels, one level after another; the last level from `top` on."""

    parent: np.ndarray  # (levels, m) of every aggregate of the finest level
    shift: np.ndarray  # (levels, m, 3) from the parent's centre, over the parent's radius
    scale: np.ndarray  # (levels, m) radius over the parent's
    child_start: np.ndarray  # (M + 1,)
    child: np.ndarray  # aggregates of the finest level
    top: int


class Inverses(NamedTuple):
    """Preconditioner: inverse blocks of the diagonals, and the inverse of the last level's matrix."""

    finest: np.ndarray  # (m, ROOT) W of W^T W (definite_inverse), or none where the last level is the finest
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
    block = np.empty((UNKNOWNS, UNKNOWNS))
    for level in range(len(joined.parent)):
        for a in range(len(matrix.diagonal)):
            for k in range(matrix.diagonal[a], matrix.start[a + 1]):
                b = matrix.column[k]
                one, other = joined.parent[level, a], joined.parent[level, b]
                is_top = one >= joined.top and len(top)
                if one != other and not is_top:
                    continue
                for row in range(UNKNOWNS):
                    for column in range(UNKNOWNS):
                        if a == b:
                            block[row, column] = matrix.own[a, row, column]
                        else:
                            block[row, column] = matrix.blocks[matrix.number[k], row, column]
                    _raise_one(joined, level, b, block[row], half[row])
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
            i = members.vertex[place]
            f, R = force[i], members.frame[a]
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
            i = members.vertex[place]
            u0, u1, u2 = affine_motion(v[a], members.offset[i])
            for x in range(3):
                out[i, x] = R[x, 0] * u0 + R[x, 1] * u1 + R[x, 2] * u2


@inner(nogil=True, error_model="numpy")
def affine_motion(v, r):
    """b + A r."""
    return (
        v[0] + v[3] * r[0] + v[6] * r[1] + v[9] * r[2],
        v[1] + v[4] * r[0] + v[7] * r[1] + v[10] * r[2],
        v[2] + v[5] * r[0] + v[8] * r[1] + v[11] * r[2],
    )

"""Conjugate gradients on a sparse matrix of 3x3 blocks, by a team of threads: what is done between two solutions of
the coarse system.

Sums are over runs of rows and then over runs, so that any number of threads gives the same bits.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from pliant.kernels.threads import barrier_wait, share
from pliant.lanes.inner import inner

ROWS_A_SUM = 128


class CgVectors(NamedTuple):
    """Each (rows, 3), but the sums."""

    x: np.ndarray  # the solution
    r: np.ndarray  # what is left of the right-hand side; that itself at the beginning
    z: np.ndarray  # the same, preconditioned
    p: np.ndarray  # direction
    Ap: np.ndarray
    sums: np.ndarray  # (2, runs) r . z and p . A p


class Coarse(NamedTuple):
    """A few motions of each aggregate of rows."""

    basis: np.ndarray  # (rows, 3, k)
    of_row: np.ndarray  # (rows,)
    start: np.ndarray  # (m + 1,)
    order: np.ndarray  # (rows,) by aggregates
    load: np.ndarray  # (m, k) r along the motions


def cg_vectors(b: np.ndarray) -> CgVectors:
    """For the right-hand side b (rows, 3)."""
    runs = -(-len(b) // ROWS_A_SUM)
    x, z, p, Ap = (np.zeros_like(b) for _ in range(4))
    return CgVectors(x, b.copy(), z, p, Ap, np.zeros((2, runs)))


@inner(nogil=True, error_model="numpy")
def begin(thread, threads, barrier, inverses, coarse, v):
    """z of the diagonal's blocks, and the coarse load."""
    _precondition(inverses, v.r, v.z, _rows(v, thread, threads))
    _restrict(coarse, v.r, thread, threads)


@inner(nogil=True, error_model="numpy")
def multiply(thread, threads, barrier, start, column, values, beta, v):
    """p = z + beta p, and A p."""
    rows = _rows(v, thread, threads)
    for i in range(rows[0], rows[1]):
        for a in range(3):
            v.p[i, a] = v.z[i, a] + beta * v.p[i, a]
    barrier_wait(barrier, threads)
    _multiply(start, column, values, v.p, v.Ap, rows)
    _sum_products(v.p, v.Ap, rows, v.sums[1])


@inner(nogil=True, error_model="numpy")
def advance(thread, threads, barrier, alpha, inverses, coarse, v):
    """x += alpha p, r -= alpha A p; z of the diagonal's blocks, and the coarse load."""
    rows = _rows(v, thread, threads)
    for i in range(rows[0], rows[1]):
        for a in range(3):
            v.x[i, a] += alpha * v.p[i, a]
            v.r[i, a] -= alpha * v.Ap[i, a]
    _precondition(inverses, v.r, v.z, rows)
    barrier_wait(barrier, threads)
    _restrict(coarse, v.r, thread, threads)


@inner(nogil=True, error_model="numpy")
def correct(thread, threads, barrier, motion, coarse, v):
    """z += what the aggregates' motions (m, k) do to the rows."""
    rows = _rows(v, thread, threads)
    for i in range(rows[0], rows[1]):
        own = motion[coarse.of_row[i]]
        for a in range(3):
            for k in range(len(own)):
                v.z[i, a] += coarse.basis[i, a, k] * own[k]
    _sum_products(v.r, v.z, rows, v.sums[0])


@inner(nogil=True, error_model="numpy")
def _rows(v, thread, threads):
    """The rows of a thread, whole runs."""
    first, last = share(0, v.sums.shape[1], thread, threads)
    return first * ROWS_A_SUM, min(last * ROWS_A_SUM, len(v.r))


@inner(nogil=True, error_model="numpy")
def _precondition(inverses, r, z, rows):
    for i in range(rows[0], rows[1]):
        for a in range(3):
            z[i, a] = inverses[i, a, 0] * r[i, 0] + inverses[i, a, 1] * r[i, 1] + inverses[i, a, 2] * r[i, 2]


@inner(nogil=True, error_model="numpy")
def _restrict(coarse, r, thread, threads):
    first, last = share(0, len(coarse.load), thread, threads)
    for m in range(first, last):
        own = coarse.load[m]
        own[:] = 0.0
        for at in range(coarse.start[m], coarse.start[m + 1]):
            i = coarse.order[at]
            for a in range(3):
                for k in range(len(own)):
                    own[k] += coarse.basis[i, a, k] * r[i, a]


@inner(nogil=True, error_model="numpy")
def _multiply(start, column, values, p, out, rows):
    for i in range(rows[0], rows[1]):
        x = y = z = 0.0
        for k in range(start[i], start[i + 1]):
            j = column[k]
            a, b, c = p[j, 0], p[j, 1], p[j, 2]
            x += values[k, 0, 0] * a + values[k, 0, 1] * b + values[k, 0, 2] * c
            y += values[k, 1, 0] * a + values[k, 1, 1] * b + values[k, 1, 2] * c
            z += values[k, 2, 0] * a + values[k, 2, 1] * b + values[k, 2, 2] * c
        out[i, 0], out[i, 1], out[i, 2] = x, y, z


@inner(nogil=True, error_model="numpy")
def _sum_products(a, b, rows, sums):
    for run in range(rows[0] // ROWS_A_SUM, -(-rows[1] // ROWS_A_SUM)):
        total = 0.0
        for i in range(run * ROWS_A_SUM, min((run + 1) * ROWS_A_SUM, len(a))):
            total += a[i, 0] * b[i, 0] + a[i, 1] * b[i, 1] + a[i, 2] * b[i, 2]
        sums[run] = total

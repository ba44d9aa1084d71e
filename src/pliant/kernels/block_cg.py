"""Conjugate gradients on a sparse matrix of 3x3 blocks, the whole loop in compiled code and by a team of threads.

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
    sums: np.ndarray  # (2, runs)
    outcome: np.ndarray  # (2,) iterations, and 1 if a direction of no curvature was met


def cg_vectors(b: np.ndarray) -> CgVectors:
    """For the right-hand side b (rows, 3)."""
    runs = -(-len(b) // ROWS_A_SUM)
    return CgVectors(
        np.zeros_like(b), b.copy(), np.zeros_like(b), np.zeros_like(b), np.zeros_like(b), np.zeros((2, runs)),
        np.zeros(2, np.int64),
    )  # fmt: skip


@inner(nogil=True, error_model="numpy")
def solve_by_cg(thread, threads, barrier, start, column, values, inverses, goal, limit, v):
    """A x = r until |r|_P <= goal, P the inverse blocks of the diagonal (rows, 3, 3), or `limit` iterations."""
    first, last = share(0, v.sums.shape[1], thread, threads)
    rows = (first * ROWS_A_SUM, min(last * ROWS_A_SUM, len(v.r)))
    arrivals = threads
    _precondition(inverses, v.r, v.z, rows)
    for i in range(rows[0], rows[1]):
        for a in range(3):
            v.p[i, a] = v.z[i, a]
    _sum_products(v.r, v.z, first, last, v.sums[0])
    barrier_wait(barrier, arrivals)
    product = np.sum(v.sums[0])
    for iteration in range(limit):
        _multiply(start, column, values, v.p, v.Ap, rows)
        _sum_products(v.p, v.Ap, first, last, v.sums[1])
        arrivals += threads
        barrier_wait(barrier, arrivals)
        curvature = np.sum(v.sums[1])
        if thread == 0:
            v.outcome[0], v.outcome[1] = iteration + 1, not curvature > 0
        if not curvature > 0:
            return
        _step(product / curvature, inverses, v, rows)
        _sum_products(v.r, v.z, first, last, v.sums[0])
        arrivals += threads
        barrier_wait(barrier, arrivals)
        before, product = product, np.sum(v.sums[0])
        if np.sqrt(product) <= goal:
            return
        for i in range(rows[0], rows[1]):
            for a in range(3):
                v.p[i, a] = v.z[i, a] + product / before * v.p[i, a]
        arrivals += threads
        barrier_wait(barrier, arrivals)


@inner(nogil=True, error_model="numpy")
def _step(alpha, inverses, v, rows):
    """x += alpha p, r -= alpha A p, z = P r."""
    for i in range(rows[0], rows[1]):
        for a in range(3):
            v.x[i, a] += alpha * v.p[i, a]
            v.r[i, a] -= alpha * v.Ap[i, a]
    _precondition(inverses, v.r, v.z, rows)


@inner(nogil=True, error_model="numpy")
def _precondition(inverses, r, z, rows):
    for i in range(rows[0], rows[1]):
        for a in range(3):
            z[i, a] = inverses[i, a, 0] * r[i, 0] + inverses[i, a, 1] * r[i, 1] + inverses[i, a, 2] * r[i, 2]


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
def _sum_products(a, b, first, last, sums):
    for run in range(first, last):
        total = 0.0
        for i in range(run * ROWS_A_SUM, min((run + 1) * ROWS_A_SUM, len(a))):
            total += a[i, 0] * b[i, 0] + a[i, 1] * b[i, 1] + a[i, 2] * b[i, 2]
        sums[run] = total

"""Vector arithmetic on rows (rows, 4) by a team of threads: sums in double precision and in one order, so that any
number of threads gives the same bits.
"""

from __future__ import annotations

import numpy as np

from pliant.kernels.threads import barrier_wait, share
from pliant.lanes.inner import inner

PACKS_A_SUM = 64  # packs whose products are summed before the sums are


@inner(nogil=True)
def sums_of_products(thread, threads, barrier, a, b, is_wide, width, packs, sums):
    """Sums of a . b over runs of packs; a wide pack's equal rows count once."""
    first, last = share(0, len(sums), thread, threads)
    for run in range(first, last):
        total = 0.0
        for p in range(run * PACKS_A_SUM, min((run + 1) * PACKS_A_SUM, packs)):
            rows = 1 if is_wide[p] else width
            x = y = z = 0.0
            for row in range(p * width, p * width + rows):
                x += np.float64(a[row, 0]) * b[row, 0]
                y += np.float64(a[row, 1]) * b[row, 1]
                z += np.float64(a[row, 2]) * b[row, 2]
            total += x + y + z
        sums[run] = total


@inner(nogil=True)
def scaled_sum(thread, threads, barrier, a, s, b, out, rows):
    """out = a + s b on the rows that move; out may be a or b."""
    first, last = share(0, rows, thread, threads)
    factor = a.dtype.type(s)
    for row in range(first, last):
        for k in range(4):
            out[row, k] = a[row, k] + factor * b[row, k]


@inner(nogil=True)
def remove_memory(thread, threads, barrier, steps, changes, order, inverse, q, factors, is_wide, width, packs, sums):
    """First loop of L-BFGS (Nocedal and Wright, Algorithm 7.4), newest pair first: q -= (s.q / s.y) y."""
    arrivals = 0
    for n in range(len(order) - 1, -1, -1):
        k = order[n]
        sums_of_products(thread, threads, barrier, steps[k], q, is_wide, width, packs, sums[k])
        arrivals += threads
        barrier_wait(barrier, arrivals)
        factor = inverse[k] * np.sum(sums[k])
        if thread == 0:
            factors[k] = factor
        scaled_sum(thread, threads, barrier, q, -factor, changes[k], q, packs * width)
        arrivals += threads
        barrier_wait(barrier, arrivals)


@inner(nogil=True)
def add_memory(thread, threads, barrier, steps, changes, order, inverse, q, factors, is_wide, width, packs, sums):
    """Second loop of L-BFGS, oldest pair first: q += (factor - y.q / s.y) s."""
    arrivals = 0
    for n in range(len(order)):
        k = order[n]
        sums_of_products(thread, threads, barrier, changes[k], q, is_wide, width, packs, sums[k])
        arrivals += threads
        barrier_wait(barrier, arrivals)
        scaled_sum(thread, threads, barrier, q, factors[k] - inverse[k] * np.sum(sums[k]), steps[k], q, packs * width)
        arrivals += threads
        barrier_wait(barrier, arrivals)

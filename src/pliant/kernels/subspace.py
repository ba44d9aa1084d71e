"""Products of differences from earlier points, and sums of them, on rows (rows, 4) by a team of threads.

Differences are formed before they are multiplied, so that products keep their figures however far from the origin
points lie. Sums are in double precision and in one order: any number of threads gives the same bits.
"""

from __future__ import annotations

import numpy as np

from pliant.kernels.row_vectors import PACKS_A_SUM
from pliant.kernels.threads import share
from pliant.lanes.inner import inner


@inner(nogil=True)
def products(thread, threads, barrier, points, forces, count, x, f, is_wide, width, packs, sums):
    """Sums over runs of packs, sums (runs, k, k + 1): (x_i - x) . (f_j - f), and last (x_i - x) . f."""
    first, last = share(0, len(sums), thread, threads)
    for run in range(first, last):
        for i in range(count):
            for j in range(count + 1):
                total = 0.0
                for p in range(run * PACKS_A_SUM, min((run + 1) * PACKS_A_SUM, packs)):
                    rows = 1 if is_wide[p] else width
                    for row in range(p * width, p * width + rows):
                        for k in range(3):
                            way = np.float64(points[i, row, k]) - x[row, k]
                            total += way * (np.float64(forces[j, row, k]) - f[row, k] if j < count else f[row, k])
                sums[run, i, j] = total


@inner(nogil=True)
def combine(thread, threads, barrier, points, parts, count, x, out, rows):
    """out = x + sum of parts_i (x_i - x) on the rows that move."""
    first, last = share(0, rows, thread, threads)
    for row in range(first, last):
        for k in range(3):
            total = 0.0
            for i in range(count):
                total += parts[i] * (np.float64(points[i, row, k]) - x[row, k])
            out[row, k] = x[row, k] + total

"""Products of differences from earlier points, and sums of them, on rows (rows, 4) by a team of threads.

Differences are formed before they are multiplied, so that products keep their figures however far from the origin
points lie. Sums are in double precision and in one order: any number of threads gives the same bits.
"""

from __future__ import annotations

import numpy as np

from pliant.kernels.threads import share
from pliant.lanes.inner import inner


@inner(nogil=True)
def products(thread, threads, barrier, points, forces, count, x, f, row_of_vertex, moving_rows, sums):
    """Sums over runs of vertices, sums (runs, k, k + 1): (x_i - x) . (f_j - f), and last (x_i - x) . f.

    In the order of vertices: that of rows is another one in a scene that has torn and in the same one when resumed.
    """
    first, last = share(0, len(sums), thread, threads)
    length = (len(row_of_vertex) + len(sums) - 1) // len(sums)
    for run in range(first, last):
        for i in range(count):
            for j in range(count + 1):
                total = 0.0
                for v in range(run * length, min((run + 1) * length, len(row_of_vertex))):
                    row = row_of_vertex[v]
                    if row >= moving_rows:
                        continue
                    for k in range(3):
                        way = np.float64(points[i, row, k]) - x[row, k]
                        total += way * (np.float64(forces[j, row, k]) - f[row, k] if j < count else f[row, k])
                sums[run, i, j] = total


@inner(nogil=True)
def combine(thread, threads, barrier, points, parts, count, x, out, rows):
    """out = x + sum of parts_i (x_i - x) on the rows that move; out may be one of the points."""
    first, last = share(0, rows, thread, threads)
    for row in range(first, last):
        for k in range(3):
            total = 0.0
            for i in range(count):
                total += parts[i] * (np.float64(points[i, row, k]) - x[row, k])
            out[row, k] = x[row, k] + total

"""Volumes of tets against those at rest."""

from __future__ import annotations

import numpy as np

from pliant.lanes.entry import entry


@entry(nogil=True, error_model="numpy")
def least_volume_ratio(tets, rest_volumes, x):
    """The smallest J = V / V_rest and the tet that has it."""
    least, worst = 1e300, -1
    for t in range(len(tets)):
        i, j, k, l = tets[t]
        ax, ay, az = x[j, 0] - x[i, 0], x[j, 1] - x[i, 1], x[j, 2] - x[i, 2]
        bx, by, bz = x[k, 0] - x[i, 0], x[k, 1] - x[i, 1], x[k, 2] - x[i, 2]
        cx, cy, cz = x[l, 0] - x[i, 0], x[l, 1] - x[i, 1], x[l, 2] - x[i, 2]
        det = ax * (by * cz - bz * cy) + ay * (bz * cx - bx * cz) + az * (bx * cy - by * cx)
        ratio = det / (6 * rest_volumes[t])
        if ratio != ratio:  # not a number: worse than any
            return -np.inf, t
        if ratio < least:
            least, worst = ratio, t
    return least, worst

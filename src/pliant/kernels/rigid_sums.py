"""What a force has to be changed by so that its sum and torque over a body are given ones, and the change."""

from __future__ import annotations

from pliant.lanes.entry import entry


@entry(nogil=True)
def rigid_sums(part, w, x, missing, middle, lacking, moments):
    """Of each part (n,), -1 for none: the centre (k, 4) of weights w with their sum last, force and torque (k, 6) of
    `missing` (n, 3), and moments of inertia (k, 3, 3); all zero before.
    """
    for i in range(len(part)):
        if part[i] >= 0:
            own = middle[part[i]]
            own[3] += w[i]
            for a in range(3):
                own[a] += w[i] * x[i, a]
    for k in range(len(middle)):
        for a in range(3):
            middle[k, a] /= middle[k, 3]
    for i in range(len(part)):
        if part[i] >= 0:
            k = part[i]
            r0, r1, r2 = x[i, 0] - middle[k, 0], x[i, 1] - middle[k, 1], x[i, 2] - middle[k, 2]
            f0, f1, f2 = missing[i, 0], missing[i, 1], missing[i, 2]
            lacking[k, 0] += f0
            lacking[k, 1] += f1
            lacking[k, 2] += f2
            lacking[k, 3] += r1 * f2 - r2 * f1
            lacking[k, 4] += r2 * f0 - r0 * f2
            lacking[k, 5] += r0 * f1 - r1 * f0
            r = (r0, r1, r2)
            square = r0 * r0 + r1 * r1 + r2 * r2
            for a in range(3):
                moments[k, a, a] += w[i] * square
                for b in range(3):
                    moments[k, a, b] -= w[i] * r[a] * r[b]


@entry(nogil=True)
def add_rigid_forces(part, w, x, middle, moved, turned, force):
    """force += w (moved + turned x r), r from the centre."""
    for i in range(len(part)):
        if part[i] >= 0:
            k = part[i]
            r0, r1, r2 = x[i, 0] - middle[k, 0], x[i, 1] - middle[k, 1], x[i, 2] - middle[k, 2]
            t0, t1, t2 = turned[k, 0], turned[k, 1], turned[k, 2]
            force[i, 0] += w[i] * (moved[k, 0] + t1 * r2 - t2 * r1)
            force[i, 1] += w[i] * (moved[k, 1] + t2 * r0 - t0 * r2)
            force[i, 2] += w[i] * (moved[k, 2] + t0 * r1 - t1 * r0)

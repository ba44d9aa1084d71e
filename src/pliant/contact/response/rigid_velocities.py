"""Velocities split into rigid motions of bodies and the rest, which has neither momentum nor angular momentum."""

from __future__ import annotations

import numpy as np

from pliant.elements.closest import row
from pliant.lanes.compiled import cached, compiled
from pliant.lanes.vectors import cross, subtract

THIN = 1e-10  # of the largest moment of inertia: about an axis with less a body does not turn
MASS, CENTRE, VELOCITY, MOMENTUM, MOMENTS = 0, 1, 4, 7, 10  # places in the sums of a body
SUMS = 16


def rigid_velocities(label: np.ndarray, count: int, mass: np.ndarray, x: np.ndarray, v: np.ndarray) -> np.ndarray:
    """(n, 3) [m/s] of the rigid motions with the momenta that v (n, 3) [m/s] has at x (n, 3) [m]; zero for vertices of
    no body.

    label (n,): body of each vertex, -1 for none; mass (n,) [kg].
    """
    sums = np.zeros((count, SUMS))
    cached(sum_momenta)(label, mass, x, v, sums)
    xx, yy, zz, xy, xz, yz = sums[:, MOMENTS:].T
    inertia = np.stack([yy + zz, -xy, -xz, -xy, xx + zz, -yz, -xz, -yz, xx + yy], axis=1).reshape(-1, 3, 3)
    inverse = np.linalg.pinv(inertia, rcond=THIN, hermitian=True)
    spin = np.einsum("kij,kj->ki", inverse, sums[:, MOMENTUM:MOMENTS])
    rigid = np.empty_like(v)
    cached(write_rigid)(label, x, sums, spin, rigid)
    return rigid


@compiled
def sum_momenta(label, mass, x, v, sums):
    """Of each body: its mass, centre and mean velocity, angular momentum about the centre, and second moments."""
    for i in range(len(label)):
        b = label[i]
        if b >= 0:
            sums[b, MASS] += mass[i]
            for k in range(3):
                sums[b, CENTRE + k] += mass[i] * x[i, k]
                sums[b, VELOCITY + k] += mass[i] * v[i, k]
    for b in range(len(sums)):
        for k in range(3):
            sums[b, CENTRE + k] /= max(sums[b, MASS], 1e-300)
            sums[b, VELOCITY + k] /= max(sums[b, MASS], 1e-300)
    for i in range(len(label)):
        b = label[i]
        if b >= 0:
            arm = arm_of(i, b, x, sums)
            speed = (v[i, 0] - sums[b, VELOCITY], v[i, 1] - sums[b, VELOCITY + 1], v[i, 2] - sums[b, VELOCITY + 2])
            momentum, place = cross(arm, speed), MOMENTS + 3
            for k in range(3):
                sums[b, MOMENTUM + k] += mass[i] * momentum[k]
                sums[b, MOMENTS + k] += mass[i] * arm[k] * arm[k]
            sums[b, place] += mass[i] * arm[0] * arm[1]
            sums[b, place + 1] += mass[i] * arm[0] * arm[2]
            sums[b, place + 2] += mass[i] * arm[1] * arm[2]


@compiled
def arm_of(i, b, x, sums):
    """From the centre of a body to vertex i."""
    return subtract(row(x, i), (sums[b, CENTRE], sums[b, CENTRE + 1], sums[b, CENTRE + 2]))


@compiled
def write_rigid(label, x, sums, spin, rigid):
    for i in range(len(label)):
        b = label[i]
        if b >= 0:
            turning = cross(row(spin, b), arm_of(i, b, x, sums))
            for k in range(3):
                rigid[i, k] = sums[b, VELOCITY + k] + turning[k]
        else:
            rigid[i, 0] = rigid[i, 1] = rigid[i, 2] = 0.0

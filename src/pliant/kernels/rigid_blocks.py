"""The block of a rigid body in its six unknowns (p, theta), as numbers of one body or of several in lanes:

    w (y - p) + sum f,                       w = m / h^2
    sum a_i x w (y_i - p) + sum a x f  =  antisymmetric part of R K + sum a x f,      K = sum w r (y_i - y)^T

Scenes in which elements act on bodies take one body after another from here (kernels.body_contacts); those that only
contacts join are solved in lanes (kernels.rigid_solve).
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from pliant.kernels.rigid_contacts import turned
from pliant.kernels.rigid_motion import inverse_of
from pliant.lanes.inner import inner

# force, torque, and of a body's block: translation (xx, xy, xz, yy, yz, zz), translation by rotation, rotation
NO_SUMS = (*(6 * (0.0,)), 6 * (0.0,), 9 * (0.0,), 6 * (0.0,))

# called in inner loops: handing the arrays over would take longer than the work
inlined = inner(nogil=True, error_model="numpy", forceinline=True, _nrt=False)


@inlined
def write_inertia(b, bodies, system):
    """The system of a body without contacts; xx, xy, xz, yy, yz, zz of its tensor of inertia over h^2."""
    R, J, K, w = bodies.R[b], bodies.moments[b], bodies.spread[b], bodies.weight[b]
    system[:] = 0.0
    for i in range(3):
        system[i, i] = w
        system[i, 6] = w * (bodies.targets[b, i] - bodies.poses[b, i])
    system[3, 6] = product(R, K, 1, 2) - product(R, K, 2, 1)
    system[4, 6] = product(R, K, 2, 0) - product(R, K, 0, 2)
    system[5, 6] = product(R, K, 0, 1) - product(R, K, 1, 0)
    xx, xy, xz = turned_moment(R, J, 0, 0), turned_moment(R, J, 0, 1), turned_moment(R, J, 0, 2)
    yy, yz, zz = turned_moment(R, J, 1, 1), turned_moment(R, J, 1, 2), turned_moment(R, J, 2, 2)
    system[3, 3], system[3, 4], system[3, 5] = yy + zz, -xy, -xz
    system[4, 4], system[4, 5], system[5, 5] = xx + zz, -yz, xx + yy
    return (yy + zz, -xy, -xz, xx + zz, -yz, xx + yy)


@inlined
def owed_by(b, bodies, f):
    """h^2 |M^-1 f|_M [m] of body b with force and torque f (6,)."""
    w = bodies.weight[b]
    own = turned_back(bodies.R, b, (f[3], f[4], f[5]))
    turn = turned(bodies.inverse, b, own)
    square = (f[0] * f[0] + f[1] * f[1] + f[2] * f[2]) / w + own[0] * turn[0] + own[1] * turn[1] + own[2] * turn[2]
    return (max(square, 0.0) / w) ** 0.5


@inlined
def product(A, B, i, j):
    """(A B)_ij of matrices (9,)."""
    return A[3 * i] * B[j] + A[3 * i + 1] * B[3 + j] + A[3 * i + 2] * B[6 + j]


@inlined
def turned_moment(R, J, i, j):
    """(R J R^T)_ij."""
    total = 0.0
    for k in range(3):
        total += R[3 * i + k] * (J[3 * k] * R[3 * j] + J[3 * k + 1] * R[3 * j + 1] + J[3 * k + 2] * R[3 * j + 2])
    return total


@inlined
def turned_back(R, b, v):
    """R^T v."""
    return (
        R[b, 0] * v[0] + R[b, 3] * v[1] + R[b, 6] * v[2],
        R[b, 1] * v[0] + R[b, 4] * v[1] + R[b, 7] * v[2],
        R[b, 2] * v[0] + R[b, 5] * v[1] + R[b, 8] * v[2],
    )


@inlined
def with_force(sums, a, f, n, k, slope):
    """Sums with a force f at an arm a, and the block of a spring that has k [N/m] along n and `slope` across it. They
    are one tuple of numbers, so that all contacts of a body are added up in registers.
    """
    f0, f1, f2, t0, t1, t2, A, B, C = sums
    m = (a[1] * n[2] - a[2] * n[1], a[2] * n[0] - a[0] * n[2], a[0] * n[1] - a[1] * n[0])
    q = k - slope
    r, z = (q * n[0], q * n[1], q * n[2]), (slope * a[0], slope * a[1], slope * a[2])
    square = z[0] * a[0] + z[1] * a[1] + z[2] * a[2]
    A = (
        A[0] + (r[0] * n[0] + slope), A[1] + r[0] * n[1], A[2] + r[0] * n[2],
        A[3] + (r[1] * n[1] + slope), A[4] + r[1] * n[2], A[5] + (r[2] * n[2] + slope),
    )  # fmt: skip
    B = (
        B[0] + r[0] * m[0], B[1] + (r[0] * m[1] + z[2]), B[2] + (r[0] * m[2] - z[1]),
        B[3] + (r[1] * m[0] - z[2]), B[4] + r[1] * m[1], B[5] + (r[1] * m[2] + z[0]),
        B[6] + (r[2] * m[0] + z[1]), B[7] + (r[2] * m[1] - z[0]), B[8] + r[2] * m[2],
    )  # fmt: skip
    s = (q * m[0], q * m[1], q * m[2])
    C = (
        C[0] + (s[0] * m[0] + (square - z[0] * a[0])), C[1] + (s[0] * m[1] - z[0] * a[1]),
        C[2] + (s[0] * m[2] - z[0] * a[2]), C[3] + (s[1] * m[1] + (square - z[1] * a[1])),
        C[4] + (s[1] * m[2] - z[1] * a[2]), C[5] + (s[2] * m[2] + (square - z[2] * a[2])),
    )  # fmt: skip
    t0, t1, t2 = t0 + (a[1] * f[2] - a[2] * f[1]), t1 + (a[2] * f[0] - a[0] * f[2]), t2 + (a[0] * f[1] - a[1] * f[0])
    return f0 + f[0], f1 + f[1], f2 + f[2], t0, t1, t2, A, B, C


@inlined
def add_sums(sums, system):
    """Add sums to the upper triangle and the right-hand side of a body's system (6, 7)."""
    f0, f1, f2, t0, t1, t2, A, B, C = sums
    add_row(system[0], 0, (A[0], A[1], A[2], B[0], B[1], B[2], f0))
    add_row(system[1], 1, (A[3], A[4], B[3], B[4], B[5], f1))
    add_row(system[2], 2, (A[5], B[6], B[7], B[8], f2))
    add_row(system[3], 3, (C[0], C[1], C[2], t0))
    add_row(system[4], 4, (C[3], C[4], t1))
    add_row(system[5], 5, (C[5], t2))


@inlined
def add_row(row_of_it, at, values):
    for k in range(len(values)):
        row_of_it[at + k] += values[k]


@inlined
def write_rotation(poses, b, R):
    w, i, j, k = poses[b, 3], poses[b, 4], poses[b, 5], poses[b, 6]
    R[b, 0], R[b, 1], R[b, 2] = 1 - 2 * (j * j + k * k), 2 * (i * j - w * k), 2 * (i * k + w * j)
    R[b, 3], R[b, 4], R[b, 5] = 2 * (i * j + w * k), 1 - 2 * (i * i + k * k), 2 * (j * k - w * i)
    R[b, 6], R[b, 7], R[b, 8] = 2 * (i * k - w * j), 2 * (j * k + w * i), 1 - 2 * (i * i + j * j)


class MassPoints(NamedTuple):
    """Of b bodies, four each."""

    vertices: np.ndarray  # (b, 4) of the scene
    rows: np.ndarray  # (b, 4) of their offsets
    inertia: np.ndarray  # (b, 4) w = m / h^2 [kg/s^2]


@inner(nogil=True, error_model="numpy", _nrt=False)
def write_targets(bodies, masses, offsets, y, x_start, origin):
    """Take over the targets y (n, 3) [m] of mass points, whose offsets are (., 3) [m], and where they start (n, 3) [m];
    both relative to an origin (3,) [m].
    """
    vertices, rows, inertia = masses.vertices, masses.rows, masses.inertia
    for b in range(len(vertices)):
        for i in range(3):
            total, before = 0.0, 0.0
            for k in range(vertices.shape[1]):
                w, v = inertia[b, k], vertices[b, k]
                total += w * (y[v, i] - origin[i])
                before += w * (x_start[v, i] - origin[i])
            bodies.targets[b, i], bodies.start_places[b, i] = total / bodies.weight[b], before / bodies.weight[b]
        for r in range(3):
            for i in range(3):
                total = 0.0
                for k in range(vertices.shape[1]):
                    away = y[vertices[b, k], i] - origin[i] - bodies.targets[b, i]
                    total += inertia[b, k] * offsets[rows[b, k], r] * away
                bodies.spread[b, 3 * r + i] = total
        J = bodies.moments[b]
        inverse = inverse_of((J[0], J[1], J[2], J[3], J[4], J[5], J[6], J[7], J[8]))
        for r in range(3):
            for i in range(3):  # K = J R^T
                bodies.target_R[b, 3 * i + r] = product(inverse, bodies.spread[b], r, i)

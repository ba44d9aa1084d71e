"""Rigid bodies among the packs: a block of six unknowns that moves all the points it carries (model.carried).

Bodies move after all vertices, colour by colour; who has which colour follows from the contacts of the step and the
elements that join bodies, so that none moves together with one it touches (decision 0104). Inertia and contacts are
rows of the body's own block, in double precision (kernels.rigid_blocks, kernels.body_contacts).

The points of a body fill packs of their own. Forces and Hessian blocks of the elements at them are found in lanes as
those of any vertex, and reach the body by the Jacobian of each point,

    dx_i/du = (Identity, c_i),    c_i theta = theta x a_i,    a_i = x_i - p

    sum_i f_i,   sum_i a_i x f_i,   sum_i (Identity, c_i)^T H_i (Identity, c_i)
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from pliant.kernels.turns import turned
from pliant.lanes import first_lane, lane_sum
from pliant.lanes.inner import inner
from pliant.lanes.vectors import add, add_symmetric, cross, dot, physics, symmetric_times


class Bodies(NamedTuple):
    """b rigid bodies and their k contacts; positions are relative to the origin of the step, matrices (b, 9) row after
    row, all in double precision (RigidBodies, RigidContacts).
    """

    pack_start: np.ndarray  # (b + 1,) first pack of each body; packs of bodies follow each other
    offsets: np.ndarray  # (rows of these packs, 3) r in the body's axes [m]
    has_elements: np.ndarray  # (b,) bool: more than contacts acts on it
    systems: np.ndarray  # (threads, 6, 7) matrix and right-hand side: scratch
    poses: np.ndarray  # (b, 7) position [m] and orientation
    R: np.ndarray
    weight: np.ndarray  # (b,)
    moments: np.ndarray
    inverse: np.ndarray
    targets: np.ndarray  # (b, 3)
    start_places: np.ndarray  # (b, 3) [m] where the step begins
    spread: np.ndarray
    target_R: np.ndarray
    owed: np.ndarray  # (b,) [m] by the residual before the last motion
    joined_start: np.ndarray  # (b + 1,)
    joined: np.ndarray
    order: np.ndarray  # (b,)
    sorted: np.ndarray  # (b,)
    colour_start: np.ndarray  # (MOST_COLOURS + 1,)
    carrier: np.ndarray  # (rows,) the body of each row, -1 for vertices
    offset_rows: np.ndarray  # (rows,) where its offset is
    x_start: np.ndarray  # (n, 3) [m] where all points were at the start of the step, in space
    contact: np.ndarray  # (k,) number among all contacts
    first: np.ndarray  # (k,) the body of the first side, -1 for vertices and what is held
    second: np.ndarray  # (k,)
    numbers: np.ndarray  # (k, COLUMNS)
    start: np.ndarray  # (b + 1,)
    entries: np.ndarray  # (2 k,)


@physics
def gather_at_body(sums, a, f, H):
    """Add what acts at arms a of points, forces f and blocks H, to force, torque, and three parts of the block."""
    force, torque, A, B, C = sums
    z = a[0] - a[0]
    cx, cy, cz = (z, -a[2], a[1]), (a[2], z, -a[0]), (-a[1], a[0], z)
    Hx, Hy, Hz = symmetric_times(H, cx), symmetric_times(H, cy), symmetric_times(H, cz)
    one = z + 1.0
    own = (dot(cx, Hx), dot(cx, Hy), dot(cx, Hz), dot(cy, Hy), dot(cy, Hz), dot(cz, Hz))
    B = (add(B[0], Hx), add(B[1], Hy), add(B[2], Hz))
    return add(force, f), add(torque, cross(a, f)), add_symmetric(A, one, H), B, add_symmetric(C, one, own)


@physics
def no_sums(z):
    """Zero force, torque and blocks."""
    three, six = (z, z, z), (z, z, z, z, z, z)
    return three, three, six, (three, three, three), six


@physics
def add_to_system(sums, system):
    """Add sums over all lanes to the upper triangle and right-hand side of the body's system (6, 7)."""
    force, torque, A, B, C = sums
    for k, total in enumerate(force):
        system[k, 6] += _total(total)
    for k, total in enumerate(torque):
        system[3 + k, 6] += _total(total)
    _add_symmetric(system, 0, A)
    _add_symmetric(system, 3, C)
    for k, column in enumerate(B):
        for i, total in enumerate(column):
            system[i, 3 + k] += _total(total)


@physics
def _add_symmetric(system, at, H):
    system[at, at] += _total(H[0])
    system[at, at + 1] += _total(H[1])
    system[at, at + 2] += _total(H[2])
    system[at + 1, at + 1] += _total(H[3])
    system[at + 1, at + 2] += _total(H[4])
    system[at + 2, at + 2] += _total(H[5])


@physics
def _total(a):
    """Sum over the lanes, in double precision."""
    return np.float64(first_lane(lane_sum(a)))


@inner(nogil=True, error_model="numpy", _nrt=False)
def solve_six(system):
    """Solve the system (6, 7) in place by H = L D L^T; the solution is its last column. Whether H is singular."""
    for k in range(6):
        pivot = system[k, k]
        for i in range(k + 1, 6):
            factor = system[k, i] / pivot
            for j in range(i, 6):
                system[i, j] -= factor * system[k, j]
            system[i, 6] -= factor * system[k, 6]
    for k in range(5, -1, -1):
        for j in range(k + 1, 6):
            system[k, 6] -= system[k, j] * system[j, 6]
        system[k, 6] /= system[k, k]
    is_sound = True
    for k in range(6):
        is_sound = is_sound and system[k, k] > 0.0 and abs(system[k, 6]) < np.inf
    return not is_sound


@inner(nogil=True, error_model="numpy", _nrt=False)
def move_pose(poses, b, system):
    """Move body b by the six numbers in the last column of a system: translation, rotation vector in world axes."""
    for k in range(3):
        poses[b, k] += system[k, 6]
    q = (poses[b, 3], poses[b, 4], poses[b, 5], poses[b, 6])
    poses[b, 3], poses[b, 4], poses[b, 5], poses[b, 6] = turned(q, (system[3, 6], system[4, 6], system[5, 6]))


@inner(nogil=True, error_model="numpy", _nrt=False)
def place_rows(bodies, b, first, last, width, x):
    """Write the points of body b in packs first..last to rows x (rows, 4)."""
    poses, offsets = bodies.poses, bodies.offsets
    w, i, j, k = poses[b, 3], poses[b, 4], poses[b, 5], poses[b, 6]
    R = ((1 - 2 * (j * j + k * k), 2 * (i * j - w * k), 2 * (i * k + w * j)),
         (2 * (i * j + w * k), 1 - 2 * (i * i + k * k), 2 * (j * k - w * i)),
         (2 * (i * k - w * j), 2 * (j * k + w * i), 1 - 2 * (i * i + j * j)))  # fmt: skip
    shift = bodies.pack_start[0] * width
    for row in range(first * width, last * width):
        r = offsets[row - shift]
        for n in range(3):
            x[row, n] = poses[b, n] + R[n][0] * r[0] + R[n][1] * r[1] + R[n][2] * r[2]

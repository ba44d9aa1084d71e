"""Augmented vertex block descent of rigid bodies that only contacts join: Gauss-Seidel over bodies (decision 0075).

A body goes to the minimum of the step's potential in its six unknowns (p, theta), by one step of Newton's method,

    w (y - p) + sum f,                       w = m / h^2
    sum a_i x w (y_i - p) + sum a x f  =  antisymmetric part of R K + sum a x f,      K = sum w r (y_i - y)^T

with contacts as whole rows of it, where the others are: those of one colour do not touch each other. After all colours
every multiplier becomes the force of its contact. How far a body is from the minimum is known from its own residual,

    |x - x*|_M <= h^2 |M^-1 dG/du|_M        (contract.error: `owed`)

and from its motions in the last iterations (`seen`). What moves need not be solved as well as what stands: the error of
a body may be a thousandth of the way that the fastest body goes whom contacts join it with, and 5 % of its own forces
(decision 0076).
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from pliant.kernels.bodies import move_pose, solve_six
from pliant.kernels.rigid_contacts import (
    ARM,
    GOAL,
    LIMIT,
    MOST_COLOURS,
    NORMAL,
    OTHER_ARM,
    OTHER_GOAL,
    OTHER_PLACE,
    PLACE,
    PREV,
    STIFFNESS,
    THICKNESS,
    refresh_moving,
    separation,
    stride_after,
    three,
    turned,
    update_multipliers,
    write_place,
    write_places,
)
from pliant.kernels.rigid_motion import inverse_of
from pliant.kernels.threads import barrier_wait, share
from pliant.lanes.entry import entry
from pliant.lanes.inner import inner

WINDOW = 4  # iterations whose motions are compared with those of as many before
SLOWEST = 0.95  # of one window to the next that is believed at most
AT_REST = 16 * 2.2e-16  # of its coordinates that a body without forces moves
MOVING = 1e-3  # of the longest way of an island in the step: an error that does not show among bodies which move
LOOSEST = 0.05  # of the step's forces, at most
DONE, ENDED, SINGULAR = 0, 1, 2  # places in `progress`
ERROR, SEEN, OWED, RATE = 0, 1, 2, 3  # columns of `errors`

# force, torque, and of a body's block: translation (xx, xy, xz, yy, yz, zz), translation by rotation, rotation
NO_SUMS = (*(6 * (0.0,)), 6 * (0.0,), 9 * (0.0,), 6 * (0.0,))

# called in inner loops: handing the arrays over would take longer than the work
inlined = inner(nogil=True, error_model="numpy", forceinline=True, _nrt=False)


class RigidBodies(NamedTuple):
    """b bodies; matrices are (b, 9), row after row."""

    poses: np.ndarray  # (b, 7) position [m] and orientation
    R: np.ndarray  # their rotations
    weight: np.ndarray  # (b,) w = m / h^2 [kg/s^2]
    moments: np.ndarray  # sum w r r^T in the bodies' axes [N m]
    inverse: np.ndarray  # of the tensor of inertia over h^2, in the bodies' axes
    targets: np.ndarray  # (b, 3) y [m]
    start_places: np.ndarray  # (b, 3) [m] where the step begins
    spread: np.ndarray  # K [N m]
    target_R: np.ndarray  # rotations of the targets
    gravity: np.ndarray  # (b,) h^2 |g| [m]
    systems: np.ndarray  # (threads, 6, 7) scratch
    moved: np.ndarray  # (b, 2 WINDOW) [m] root mean squares of the last motions, in turn
    owed: np.ndarray  # (b,) [m] by the residual before the last motion
    errors: np.ndarray  # (b, 4)
    ways: np.ndarray  # (b,) [m] the longest of an island in the step, at the number of the island
    worst: np.ndarray  # (b,) the largest error of an island, over what is allowed
    is_solved: np.ndarray  # (b,) bool: islands that have ended, while others go on
    progress: np.ndarray  # (4,) int64


@entry(nogil=True, error_model="numpy")
def sweep_bodies(thread, threads, barrier, n, tolerance, bodies, table, rows, offsets, x, x_prev):
    """n iterations, fewer where all errors are at most a tolerance; x (n, 3): where held vertices are."""
    arrivals = 0
    for k in range(n):
        for colour in range(MOST_COLOURS):
            start, end = table.colour_start[colour], table.colour_start[colour + 1]
            if start == end:
                break
            first, last = share(start, end, thread, threads)
            if colour == MOST_COLOURS - 1:
                first, last = (start, end) if thread == 0 else (start, start)
            for place in range(first, last):
                if not bodies.is_solved[table.island[table.order[place]]]:
                    solve_body(np.uint64(table.order[place]), bodies, table, bodies.systems[thread])
            arrivals += threads
            barrier_wait(barrier, arrivals)
        stride = stride_after(bodies.progress[DONE])
        first, last = share(0, len(table.first), thread, threads)
        for place in range(first, last):
            c = np.uint64(place)
            if bodies.is_solved[table.island[max(table.first[c], table.second[c])]]:
                continue
            update_multipliers(c, table.numbers, separation(c, table.numbers), table.compliance[0], stride)
            if table.contacts.updates_closest_point[c]:
                refresh_moving(c, table, rows, offsets, x, x_prev, bodies)
        arrivals += threads
        barrier_wait(barrier, arrivals)
        if thread == 0:
            bodies.progress[DONE] += 1
            if is_looked_at(bodies.progress[DONE]) or k == n - 1:
                measure(bodies, table.island, tolerance)
        arrivals += threads
        barrier_wait(barrier, arrivals)
        if bodies.progress[ENDED] > 0:
            break


@inlined
def is_looked_at(done):
    """Whether errors are measured after so many iterations: always at first, then in every second and fourth one."""
    return done < 2 * WINDOW or (done < 32 and done % 2 == 0) or done % 4 == 0


@inlined
def solve_body(b, bodies, table, system):
    """Move body b to the minimum in its six unknowns."""
    inertia = write_inertia(b, bodies, system)
    sums, p = NO_SUMS, three(bodies.poses, b, 0)
    for k in range(table.start[b], table.start[b + 1]):
        entry_of_it = np.uint64(table.entries[k])
        sums = with_contact(sums, p, entry_of_it >> np.uint64(1), entry_of_it & np.uint64(1) == 1, table.numbers)
    add_sums(sums, system)
    w = bodies.weight[b]
    bodies.owed[b] = owed_by(b, bodies, system[:, 6])
    if solve_six(system):
        bodies.progress[SINGULAR] = 1
        return
    t = (system[3, 6], system[4, 6], system[5, 6])
    square = (system[0, 6] ** 2 + system[1, 6] ** 2 + system[2, 6] ** 2) * w
    square += inertia[0] * t[0] * t[0] + inertia[3] * t[1] * t[1] + inertia[5] * t[2] * t[2]
    square += 2.0 * (inertia[1] * t[0] * t[1] + inertia[2] * t[0] * t[2] + inertia[4] * t[1] * t[2])
    bodies.moved[b, bodies.progress[DONE] % (2 * WINDOW)] = (max(square, 0.0) / w) ** 0.5
    move_pose(bodies.poses, b, system)
    write_rotation(bodies.poses, b, bodies.R)
    for k in range(table.start[b], table.start[b + 1]):
        c = np.uint64(table.entries[k]) >> np.uint64(1)
        if table.entries[k] & 1:
            write_place(c, OTHER_PLACE, OTHER_ARM, b, table.numbers, bodies.poses, bodies.R)
        else:
            write_place(c, PLACE, ARM, b, table.numbers, bodies.poses, bodies.R)


@inlined
def owed_by(b, bodies, f):
    """h^2 |M^-1 f|_M [m] of body b with force and torque f (6,)."""
    w = bodies.weight[b]
    own = turned_back(bodies.R, b, (f[3], f[4], f[5]))
    turn = turned(bodies.inverse, b, own)
    square = (f[0] * f[0] + f[1] * f[1] + f[2] * f[2]) / w + own[0] * turn[0] + own[1] * turn[1] + own[2] * turn[2]
    return (max(square, 0.0) / w) ** 0.5


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
def with_contact(sums, p, c, is_second, numbers):
    """Sums with force, torque and block of contact c on a body at p (elements.contact.add_contact, hard)."""
    sign, at = (-1.0, OTHER_PLACE) if is_second else (1.0, PLACE)
    n, k, limit, s = three(numbers, c, NORMAL), numbers[c, STIFFNESS], numbers[c, LIMIT], separation(c, numbers)
    gap = numbers[c, THICKNESS] - (s[0] * n[0] + s[1] * n[1] + s[2] * n[2])
    push, pressed, here = max(gap, 0.0), k, three(numbers, c, at)
    if gap <= 0.0:  # one that it would press on the way to its target has its block already
        height = here[0] * n[0] + here[1] * n[1] + here[2] * n[2]
        ahead = sign * (height - numbers[c, OTHER_GOAL if is_second else GOAL])
        if ahead <= 0.0 or gap + ahead <= 0.0:
            pressed = 0.0
    slope, t = 0.0, (0.0, 0.0, 0.0)
    if limit > 0.0:
        u = (s[0] - numbers[c, PREV], s[1] - numbers[c, PREV + 1], s[2] - numbers[c, PREV + 2])
        across = u[0] * n[0] + u[1] * n[1] + u[2] * n[2]
        t = (u[0] - across * n[0], u[1] - across * n[1], u[2] - across * n[2])
        length = (t[0] * t[0] + t[1] * t[1] + t[2] * t[2]) ** 0.5
        slope = k if k * length < limit else limit / length
    if pressed == 0.0 and slope == 0.0:
        return sums
    f0 = sign * (k * push * n[0] - slope * t[0])
    f1 = sign * (k * push * n[1] - slope * t[1])
    f2 = sign * (k * push * n[2] - slope * t[2])
    return with_force(sums, (here[0] - p[0], here[1] - p[1], here[2] - p[2]), (f0, f1, f2), n, pressed, slope)


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


@inlined
def measure(bodies, island, tolerance):
    """Write the errors of all bodies after an iteration, and whether they are small enough to end; island (b,): whom
    contacts join.
    """
    done = bodies.progress[DONE]
    bodies.ways[:] = 0.0
    bodies.worst[:] = 0.0
    for b in range(len(island)):
        bodies.ways[island[b]] = max(bodies.ways[island[b]], way_of(b, bodies))
    for place in range(len(island)):
        b, i = np.uint64(place), island[place]
        if bodies.is_solved[i]:
            continue
        error, seen, rate = bodies.owed[b], bodies.owed[b], 0.0
        if done >= 2 * WINDOW:
            recent, earlier = 0.0, 0.0
            for k in range(WINDOW):
                recent += bodies.moved[b, (done - 1 - k) % (2 * WINDOW)]
                earlier += bodies.moved[b, (done - 1 - WINDOW - k) % (2 * WINDOW)]
            left = min(recent / max(earlier, 1e-300), SLOWEST)
            seen, rate, t = recent * left / (1.0 - left), left ** (1.0 / WINDOW), min(0.5, 1.5 * left)
            error = min(error, max(seen, 1e-300) ** (1.0 - t) * max(error, 1e-300) ** t)
        scale = forces_of(b, bodies)
        bodies.errors[b, ERROR], bodies.errors[b, SEEN] = error * scale, seen * scale
        bodies.errors[b, OWED], bodies.errors[b, RATE] = bodies.owed[b] * scale, rate
        allowed = max(tolerance, min(MOVING * bodies.ways[i] * scale, LOOSEST), 1e-300)
        bodies.worst[i] = max(bodies.worst[i], error * scale / allowed) if error == error else np.inf
    has_ended = tolerance >= 0.0
    for b in range(len(island)):
        if tolerance >= 0.0 and bodies.worst[island[b]] <= 1.0:
            bodies.is_solved[island[b]] = True
        else:
            has_ended = False
    bodies.progress[ENDED] = 1 if has_ended else 0


@inlined
def way_of(b, bodies):
    """[m] that the centre of body b has gone in the step."""
    p, q = bodies.poses[b], bodies.start_places[b]
    return ((p[0] - q[0]) ** 2 + (p[1] - q[1]) ** 2 + (p[2] - q[2]) ** 2) ** 0.5


@inlined
def forces_of(b, bodies):
    """1 / m: what a length is to be multiplied by to be compared with what forces do to body b in the step."""
    w, J, p, y = bodies.weight[b], bodies.moments[b], bodies.poses[b], bodies.targets[b]
    trace = J[0] + J[4] + J[8]
    turns = 0.0
    for i in range(3):
        turns += product(bodies.R[b], bodies.spread[b], i, i)
    square, size = 2.0 * max(trace - turns, 0.0) / w, trace / w
    for i in range(3):
        square += (p[i] - y[i]) ** 2
        size += p[i] * p[i]
    forces, rounding = max(square**0.5, bodies.gravity[b]), AT_REST * size**0.5
    if forces <= rounding and bodies.owed[b] <= rounding:
        return 0.0
    return 1.0 / max(forces, rounding)


@entry(nogil=True, error_model="numpy")
def load_poses(poses, bodies, table):
    """Take poses (b, 7) over; all islands are still to be solved."""
    bodies.poses[:] = poses
    bodies.is_solved[:] = False
    for b in range(len(poses)):
        write_rotation(bodies.poses, b, bodies.R)
    for c in range(len(table.first)):
        write_places(np.uint64(c), table, bodies)


@entry(nogil=True, error_model="numpy")
def load_targets(bodies, masses, rows, offsets, inertia, y, x_start):
    """Take over the targets y (n, 3) [m] of mass points (b, 4), whose offsets (., 3) [m] are in `rows` (n,), and where
    they start (n, 3) [m]; inertia (n,): m / h^2 of the points [kg/s^2].
    """
    for b in range(len(masses)):
        for i in range(3):
            total, before = 0.0, 0.0
            for k in range(masses.shape[1]):
                w = inertia[masses[b, k]]
                total += w * y[masses[b, k], i]
                before += w * x_start[masses[b, k], i]
            bodies.targets[b, i], bodies.start_places[b, i] = total / bodies.weight[b], before / bodies.weight[b]
        for r in range(3):
            for i in range(3):
                total = 0.0
                for k in range(masses.shape[1]):
                    v = masses[b, k]
                    total += inertia[v] * offsets[rows[v], r] * (y[v, i] - bodies.targets[b, i])
                bodies.spread[b, 3 * r + i] = total
        J = bodies.moments[b]
        inverse = inverse_of((J[0], J[1], J[2], J[3], J[4], J[5], J[6], J[7], J[8]))
        for r in range(3):
            for i in range(3):  # K = J R^T
                bodies.target_R[b, 3 * i + r] = product(inverse, bodies.spread[b], r, i)

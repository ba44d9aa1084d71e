"""Rigid bodies at the beginning and at the end of a step: where they would go without forces, and how fast they are
after it. b bodies carry k points, body after body (model.carried.CarriedRows).
"""

from __future__ import annotations

import math

import numpy as np

from pliant.kernels.turns import matrix_of, normalised, rotated, rotated_back, turn_between, turned
from pliant.lanes.entry import entry
from pliant.lanes.inner import inner
from pliant.lanes.vectors import add, add_scaled, cross

inlined = inner(nogil=True, error_model="numpy", forceinline=True, _nrt=False)

SPIN_ITERATIONS = 60  # at most
SPIN_ACCURACY = 1e-13  # of the angular velocity
SLOW = 0.5  # of the change before: iterations that become no smaller go only half of their way


@entry(nogil=True, error_model="numpy")
def predict_bodies(carried, mass, air_damping, acceleration, before, twists, h, turns_guess, y, guess, poses, spins):
    """Targets y and the initial guess (n, 3) [m] of points that bodies carry, from those of their masses (n,) [kg].

    before (b, 7), twists (b, 6): at the start of the step of h [s]; acceleration (n, 3) [m/s^2] by external forces, air
    damping (n,) [1/s]; turns_guess: whether the guess goes on turning. Fills in the poses (b, 7) of the guess, and the
    angular velocities (b, 3) [rad/s] of bodies on which nothing else acts.
    """
    for b in range(len(before)):
        first, last = carried.start[b], carried.start[b + 1]
        q = (before[b, 3], before[b, 4], before[b, 5], before[b, 6])
        R, total, torque = matrix_of(q), 0.0, (0.0, 0.0, 0.0)
        target, centre = (0.0, 0.0, 0.0), (0.0, 0.0, 0.0)
        for k in range(first, last):
            i = carried.points[k]
            m = mass[i]
            if m > 0.0:
                arm = rotated(R, row(carried.offsets, k))
                total += m
                torque = add_scaled(torque, m, cross(arm, row(acceleration, i)))
                target, centre = add_scaled(target, m, row(y, i)), add_scaled(centre, m, row(guess, i))
        spin = (twists[b, 3], twists[b, 4], twists[b, 5])
        spin = free_spin(R, carried.inertia[b], spin, torque, air_damping[carried.points[first]], h)
        free = turned(q, (h * spin[0], h * spin[1], h * spin[2]))
        place(carried, first, last, scaled(1.0 / total, target), matrix_of(free), y)
        q, centre = free if turns_guess else normalised(q), scaled(1.0 / total, centre)
        place(carried, first, last, centre, matrix_of(q), guess)
        for i in range(3):
            poses[b, i], spins[b, i] = centre[i], spin[i]
        poses[b, 3], poses[b, 4], poses[b, 5], poses[b, 6] = q


@inlined
def free_spin(R, I, spin, torque, air_damping, h):
    """Angular velocity w [rad/s] of a free body at the end of a step of implicit Euler, in world axes:

        I(exp(h w) R) w = L,    L = (I(R) w_t + h torque) / (1 + c h)

    by fixed point iteration in the body's axes, where w turns L back.
    """
    u, pull = rotated_back(R, spin), rotated_back(R, torque)
    shrink = 1.0 / (1.0 + air_damping * h)
    own = (I[0, 0], I[0, 1], I[0, 2], I[0, 1], I[1, 1], I[1, 2], I[0, 2], I[1, 2], I[2, 2])
    p = scaled(shrink, add_scaled(rotated(own, u), h, pull))
    inverse = inverse_of(own)
    before, part = np.inf, 1.0
    for _ in range(SPIN_ITERATIONS):
        w = rotated(inverse, turned_back(p, u, h))
        change = abs(w[0] - u[0]) + abs(w[1] - u[1]) + abs(w[2] - u[2])
        if change > SLOW * before:
            part = 0.5
        u, before = (u[0] + part * (w[0] - u[0]), u[1] + part * (w[1] - u[1]), u[2] + part * (w[2] - u[2])), change
        if change <= SPIN_ACCURACY * (abs(w[0]) + abs(w[1]) + abs(w[2])):
            break
    return rotated(R, u)  # u is the same vector in the axes at the start and at the end: the turn is about it


@inlined
def turned_back(p, u, h):
    """p in the axes that a body has after turning by h u."""
    size = math.sqrt(u[0] * u[0] + u[1] * u[1] + u[2] * u[2])
    if size == 0.0:
        return p
    axis, c, s = scaled(1.0 / size, u), math.cos(h * size), math.sin(h * size)
    along = (1.0 - c) * (axis[0] * p[0] + axis[1] * p[1] + axis[2] * p[2])
    return add_scaled(add_scaled(scaled(c, p), -s, cross(axis, p)), along, axis)


@inlined
def inverse_of(A):
    """Of a symmetric matrix (9,)."""
    a, b, c = A[4] * A[8] - A[5] * A[5], A[2] * A[5] - A[1] * A[8], A[1] * A[5] - A[2] * A[4]
    d, e, f = A[0] * A[8] - A[2] * A[2], A[1] * A[2] - A[0] * A[5], A[0] * A[4] - A[1] * A[1]
    det = A[0] * a + A[1] * b + A[2] * c
    return (a / det, b / det, c / det, b / det, d / det, e / det, c / det, e / det, f / det)


@inlined
def scaled(s, a):
    return (s * a[0], s * a[1], s * a[2])


@inlined
def row(array, k):
    return (array[k, 0], array[k, 1], array[k, 2])


@inlined
def place(carried, first, last, centre, R, x):
    """Write points first..last of a body to x (n, 3) [m]."""
    for k in range(first, last):
        at = add(centre, rotated(R, row(carried.offsets, k)))
        for i in range(3):
            x[carried.points[k], i] = at[i]


@entry(nogil=True, error_model="numpy")
def place_points(carried, poses, x):
    """Write where bodies with poses (b, 7) carry their points to x (n, 3) [m]."""
    place_bodies(carried, poses, x)


@inlined
def place_bodies(carried, poses, x):
    for b in range(len(poses)):
        R = matrix_of((poses[b, 3], poses[b, 4], poses[b, 5], poses[b, 6]))
        place(carried, carried.start[b], carried.start[b + 1], row(poses, b), R, x)


@entry(nogil=True, error_model="numpy")
def write_twists(before, after, spins, h, twists):
    """Velocity and angular velocity in world axes (b, 6) after a step of h [s] from poses to poses (b, 7); spins (b, 3)
    [rad/s] are those of the free motion, from which the step has turned them away.
    """
    for b in range(len(before)):
        q = (before[b, 3], before[b, 4], before[b, 5], before[b, 6])
        free = turned(q, (h * spins[b, 0], h * spins[b, 1], h * spins[b, 2]))
        turn = turn_between(free, (after[b, 3], after[b, 4], after[b, 5], after[b, 6]))
        for i in range(3):
            twists[b, i] = (after[b, i] - before[b, i]) / h
            twists[b, 3 + i] = spins[b, i] + turn[i] / h


@entry(nogil=True, error_model="numpy")
def spread_twists(carried, poses, twists, v):
    """Write the velocities of points, of bodies with twists (b, 6) at poses (b, 7), to v (n, 3) [m/s]."""
    for b in range(len(poses)):
        R = matrix_of((poses[b, 3], poses[b, 4], poses[b, 5], poses[b, 6]))
        spin = (twists[b, 3], twists[b, 4], twists[b, 5])
        for k in range(carried.start[b], carried.start[b + 1]):
            way = add(row(twists, b), cross(spin, rotated(R, row(carried.offsets, k))))
            for i in range(3):
                v[carried.points[k], i] = way[i]

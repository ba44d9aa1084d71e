"""One step of Newton's method for the rigid bodies of a pack, all lanes at once (kernels.rigid_packs).

Seen from a body, a contact has the separation d = own place - other place and the normal m, which points out of the
other side; both have the sign of the contact's own for its first side and the opposite one for its second.
"""

from __future__ import annotations

import numpy as np

from pliant.elements.contact import depth, sticking_slope, tangential
from pliant.kernels.rigid_blocks import with_force
from pliant.kernels.rigid_contacts import ARM, PLACE, PREV
from pliant.kernels.rigid_packs import (
    INVERSE,
    MOVED,
    MOVES,
    OWED,
    ROWS,
    WIDTH,
    WINDOW,
    J,
    K,
    P,
    Q,
    R,
    W,
    Y,
    nine_of,
    numbers_of,
    six_of,
    three_of,
    zero,
)
from pliant.kernels.turns import matrix_of, product, rotated, rotated_back
from pliant.lanes.inner import inner
from pliant.lanes.math import count, maximum, number, select, sqrt
from pliant.lanes.memory import load, store
from pliant.lanes.rows import gather4, gather4_beyond, scatter3
from pliant.lanes.vectors import add, dot, subtract, symmetric_times

inlined = inner(nogil=True, error_model="numpy", forceinline=True, _nrt=False)


@inlined
def put_all(numbers, at, row, values):
    for i in range(len(values)):
        store(numbers, at + (row + i) * WIDTH, values[i])


@inlined
def solve_pack(pack, done, table, packs):
    """Move the bodies of a pack to the minimum in their six unknowns, in the iteration after `done` others; whether the
    block of one was singular.
    """
    numbers, at, z = packs.numbers, pack * ROWS * WIDTH, zero()
    moves = numbers_of(numbers, at, MOVES) > z
    if count(moves) == 0:
        return False
    p, turn, w = three_of(numbers, at, P), nine_of(numbers, at, R), numbers_of(numbers, at, W)
    inertia, torque = inertia_of(turn, six_of(numbers, at, J), nine_of(numbers, at, K))
    force = subtract(three_of(numbers, at, Y), p)
    force = (w * force[0], w * force[1], w * force[2])
    sums = force + torque + ((w, z, z, w, z, w), (z, z, z, z, z, z, z, z, z), inertia)
    for slot in range(packs.slot_start[pack], packs.slot_start[pack + 1]):
        sums = with_contacts(sums, p, turn, slot * WIDTH, table.numbers, packs)
    force, torque = (sums[0], sums[1], sums[2]), (sums[3], sums[4], sums[5])
    own = rotated_back(turn, torque)
    square = dot(force, force) / w + dot(own, symmetric_times(six_of(numbers, at, INVERSE), own))
    store(numbers, at + OWED * WIDTH, select(moves, sqrt(maximum(square, z) / w), numbers_of(numbers, at, OWED)))
    u, v, is_sound = solved(sums[6], sums[7], sums[8], force, torque)
    goes = moves & is_sound
    u, v = only(goes, u), only(goes, v)
    square = dot(u, u) * w + dot(v, symmetric_times(inertia, v))
    last = MOVED + done % (2 * WINDOW)
    store(numbers, at + last * WIDTH, select(moves, sqrt(maximum(square, z) / w), numbers_of(numbers, at, last)))
    place_pack(pack, at, add(p, u), v, table, packs)
    return count(goes) < count(moves)


@inlined
def only(mask, a):
    z = zero()
    return (select(mask, a[0], z), select(mask, a[1], z), select(mask, a[2], z))


@inlined
def inertia_of(turn, moments, spread):
    """Tensor of inertia over h^2 (xx, xy, xz, yy, yz, zz), and the torque of what is left of the way to the targets."""
    M = (
        symmetric_times(moments, (turn[0], turn[1], turn[2])),
        symmetric_times(moments, (turn[3], turn[4], turn[5])),
        symmetric_times(moments, (turn[6], turn[7], turn[8])),
    )
    rows = ((turn[0], turn[1], turn[2]), (turn[3], turn[4], turn[5]), (turn[6], turn[7], turn[8]))
    xx, xy, xz = dot(rows[0], M[0]), dot(rows[0], M[1]), dot(rows[0], M[2])
    yy, yz, zz = dot(rows[1], M[1]), dot(rows[1], M[2]), dot(rows[2], M[2])
    columns = (
        (spread[0], spread[3], spread[6]), (spread[1], spread[4], spread[7]), (spread[2], spread[5], spread[8]),
    )  # fmt: skip
    torque = (
        dot(rows[1], columns[2]) - dot(rows[2], columns[1]),
        dot(rows[2], columns[0]) - dot(rows[0], columns[2]),
        dot(rows[0], columns[1]) - dot(rows[1], columns[0]),
    )
    return (yy + zz, -xy, -xz, xx + zz, -yz, xx + yy), torque


@inlined
def with_contacts(sums, p, turn, place, rows, packs):
    """Sums with force, torque and block of a contact of each body of a pack, at p and turned."""
    z, sign = zero(), load(packs.signs, place, zero())
    n0, n1, n2, thickness = gather4(rows, packs.rows, place, z)
    p0, p1, p2, limit = gather4_beyond(rows, packs.rows, place, PREV, z)
    r0, r1, r2, goal = gather4_beyond(rows, packs.own, place, ARM - PLACE, z)
    y0, y1, y2, k = gather4(rows, packs.other, place, z)
    n, arm = (sign * n0, sign * n1, sign * n2), rotated(turn, (r0, r1, r2))
    here = add(p, arm)
    d = subtract(here, (y0, y1, y2))
    gap = thickness - dot(d, n)
    ahead = dot(here, n) - sign * goal  # one that it would press on the way to its target has its block already
    pressed = select((gap > z) | ((ahead > z) & (gap + ahead > z)), k, z)
    u = (d[0] - sign * p0, d[1] - sign * p1, d[2] - sign * p2)
    t = tangential(u, n)
    slope, push = sticking_slope(sqrt(dot(t, t)), k, limit), k * depth(d, n, thickness)
    f = (push * n[0] - slope * t[0], push * n[1] - slope * t[1], push * n[2] - slope * t[2])
    return with_force(sums, arm, f, n, pressed, slope)


@inlined
def solved(A, B, C, f, torque):
    """Translation and rotation from the block (A, B; B^T, C), by that of A (Schur); and where it is positive."""
    factors, is_first_sound = factorised(A)
    X = (
        back(factors, (B[0], B[3], B[6])), back(factors, (B[1], B[4], B[7])), back(factors, (B[2], B[5], B[8])),
    )  # fmt: skip
    y = back(factors, f)
    columns = ((B[0], B[3], B[6]), (B[1], B[4], B[7]), (B[2], B[5], B[8]))
    S = (
        C[0] - dot(columns[0], X[0]), C[1] - dot(columns[0], X[1]), C[2] - dot(columns[0], X[2]),
        C[3] - dot(columns[1], X[1]), C[4] - dot(columns[1], X[2]), C[5] - dot(columns[2], X[2]),
    )  # fmt: skip
    left = (torque[0] - dot(columns[0], y), torque[1] - dot(columns[1], y), torque[2] - dot(columns[2], y))
    others, is_second_sound = factorised(S)
    v = back(others, left)
    u = (
        y[0] - X[0][0] * v[0] - X[1][0] * v[1] - X[2][0] * v[2],
        y[1] - X[0][1] * v[0] - X[1][1] * v[1] - X[2][1] * v[2],
        y[2] - X[0][2] * v[0] - X[1][2] * v[1] - X[2][2] * v[2],
    )
    size = dot(u, u) + dot(v, v)
    return u, v, is_first_sound & is_second_sound & (size < number(np.inf, size))


@inlined
def factorised(A):
    """H = L D L^T of (xx, xy, xz, yy, yz, zz): 1 / D, and what is below the diagonal of L; where D is positive."""
    d0 = 1.0 / A[0]
    l1, l2 = A[1] * d0, A[2] * d0
    e1 = A[3] - l1 * A[1]
    d1, m = 1.0 / e1, A[4] - l1 * A[2]
    l3 = m * d1
    e2 = A[5] - l2 * A[2] - l3 * m
    z = zero()
    return (d0, d1, 1.0 / e2, l1, l2, l3), (A[0] > z) & (e1 > z) & (e2 > z)


@inlined
def back(factors, v):
    """H^-1 v."""
    d0, d1, d2, l1, l2, l3 = factors
    y1 = v[1] - l1 * v[0]
    y2 = v[2] - l2 * v[0] - l3 * y1
    x2 = y2 * d2
    x1 = y1 * d1 - l3 * x2
    return (v[0] * d0 - l1 * x1 - l2 * x2, x1, x2)


@inlined
def place_pack(pack, at, p, v, table, packs):
    """Put the bodies of a pack at p, turned by v, and their contacts' places with them.

    Turns by 2 atan(|v| / 2), which an iteration with small v takes for |v|: the minimum is the same.
    """
    numbers, rows, z = packs.numbers, table.numbers, zero()
    w, q = numbers_of(numbers, at, Q), three_of(numbers, at, Q + 1)
    q = product((1.0 + z, 0.5 * v[0], 0.5 * v[1], 0.5 * v[2]), (w, q[0], q[1], q[2]))
    size = 1.0 / sqrt(q[0] * q[0] + q[1] * q[1] + q[2] * q[2] + q[3] * q[3])
    q = (size * q[0], size * q[1], size * q[2], size * q[3])
    turn = matrix_of(q)
    put_all(numbers, at, P, p)
    put_all(numbers, at, Q, q)
    put_all(numbers, at, R, turn)
    for slot in range(packs.slot_start[pack], packs.slot_start[pack + 1]):
        arm = gather4_beyond(rows, packs.own, slot * WIDTH, ARM - PLACE, z)
        here = add(p, rotated(turn, (arm[0], arm[1], arm[2])))
        scatter3(rows, packs.own, slot * WIDTH, here[0], here[1], here[2])

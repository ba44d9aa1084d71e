"""Rolling resistance of one contact: what an iteration changes of its torque, and what that turns."""

from __future__ import annotations

import math

from pliant.constraints.rows import BOUNDED, COUNT, ENTRY_BITS
from pliant.elements.closest import row
from pliant.lanes.compiled import inlined
from pliant.lanes.vectors import add_scaled, dot


@inlined
def rolling_velocity(rows, bodies, i):
    """R (w_here - w_opposite) across the normal [m/s]."""
    f_here, f_opposite = rows.rolling[i, 1], rows.rolling[i, 2]
    own, n, second = row(bodies.spin, rows.vertices[i, 0]), row(rows.normal, i), rows.vertices[i, 1]
    u = (f_here * own[0], f_here * own[1], f_here * own[2])
    if len(bodies.rigid.twist) > 0 and rows.carrier[i, 1] >= 0:
        b, twist = rows.carrier[i, 1], bodies.rigid.twist
        u = add_scaled(u, -f_opposite, (twist[b, 3], twist[b, 4], twist[b, 5]))
    elif second >= 0:
        u = add_scaled(u, -f_opposite, row(bodies.spin, second))
    return add_scaled(u, -dot(u, n), n)


@inlined
def rolling_response(rows, bodies, i, is_split):
    """Rolling velocity by a torque of R times 1 N s [1/kg]; is_split: as light as shares in constraints."""
    total = 0.0
    for slot in range(2):
        vertex = rows.vertices[i, slot]
        if vertex >= 0 and (slot == 0 or rows.vertices[i, 2] < 0):
            f = rows.rolling[i, slot + 1]
            total += f * f * bodies.inverse_inertia[vertex] * (bodies.load[vertex] if is_split else 1.0)
    if len(bodies.rigid.twist) > 0 and rows.carrier[i, 1] >= 0:
        b, reach = rows.carrier[i, 1], rows.rolling[i, 2]
        tensor = bodies.rigid.inverse_inertia
        largest = tensor[b, 0, 0] + tensor[b, 1, 1] + tensor[b, 2, 2]  # bounds the response about any axis
        total += reach * reach * largest * (bodies.rigid.load[b] if is_split else 1.0)
    return total


@inlined
def relax_rolling(rows, bodies, i, omega, beta, weights):
    """As one_row.relax_row, for the torque; the normal impulse that bounds it is that of now."""
    d = rolling_response(rows, bodies, i, weights == COUNT)
    if weights == BOUNDED:
        d = max(d, 0.25 * rolling_response(rows, bodies, i, True))
    u, n, old, last = (
        rolling_velocity(rows, bodies, i),
        row(rows.normal, i),
        row(rows.roll, i),
        row(rows.roll_change, i),
    )
    scale = omega / d
    new = (old[0] - scale * u[0] + beta * last[0], old[1] - scale * u[1] + beta * last[1],
           old[2] - scale * u[2] + beta * last[2])  # fmt: skip
    new = add_scaled(new, -dot(new, n), n)
    size, bound = math.sqrt(dot(new, new)), rows.rolling[i, 0] * rows.impulse[i, 0]
    part = bound / size if size > bound else 1.0
    for axis in range(3):
        value = part * new[axis]
        rows.roll_change[i, axis] = value - rows.roll[i, axis]
        rows.roll[i, axis] = value


@inlined
def push_roll(rows, bodies, i):
    """Let the last change of one torque act at once."""
    change = row(rows.roll_change, i)
    for slot in range(2):
        vertex = rows.vertices[i, slot]
        if vertex >= 0 and (slot == 0 or rows.vertices[i, 2] < 0):
            scale = (1.0 - 2.0 * slot) * rows.rolling[i, slot + 1] * bodies.inverse_inertia[vertex]
            for axis in range(3):
                bodies.spin[vertex, axis] += scale * change[axis]
    if len(bodies.rigid.twist) > 0 and rows.carrier[i, 1] >= 0:
        b, reach, tensor = rows.carrier[i, 1], rows.rolling[i, 2], bodies.rigid.inverse_inertia
        for axis in range(3):
            turn = tensor[b, axis, 0] * change[0] + tensor[b, axis, 1] * change[1] + tensor[b, axis, 2] * change[2]
            bodies.rigid.twist[b, axis + 3] -= reach * turn


@inlined
def gather_roll(rows, bodies, vertex):
    """Let the last changes of all torques on one vertex act on its spin."""
    turning = bodies.inverse_inertia[vertex]
    if turning == 0.0:
        return
    total = (0.0, 0.0, 0.0)
    for k in range(bodies.start[vertex], bodies.start[vertex + 1]):
        i, slot = bodies.entries[k] >> ENTRY_BITS, bodies.entries[k] & 3
        total = add_scaled(total, (1.0 - 2.0 * slot) * rows.rolling[i, slot + 1], row(rows.roll_change, i))
    for axis in range(3):
        bodies.spin[vertex, axis] += turning * total[axis]


@inlined
def gather_body_roll(rows, rigid, b):
    """The same of one rigid body."""
    total = (0.0, 0.0, 0.0)
    for k in range(rigid.start[b], rigid.start[b + 1]):
        i, side = rigid.entries[k] >> 1, rigid.entries[k] & 1
        if side == 1:
            total = add_scaled(total, rows.rolling[i, 2], row(rows.roll_change, i))
    tensor = rigid.inverse_inertia
    for axis in range(3):
        turn = tensor[b, axis, 0] * total[0] + tensor[b, axis, 1] * total[1] + tensor[b, axis, 2] * total[2]
        rigid.twist[b, axis + 3] -= turn

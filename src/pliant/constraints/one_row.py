"""One constraint: its relative velocity, its residual, what an iteration changes of its impulse, and whom it pushes."""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np

from pliant.constraints.rows import BOUNDED, CONE, CONTACT, COUNT, DISTANCE, ENTRY_BITS, NO_FRICTION, OF_TRIANGLE
from pliant.constraints.triples import add_quad, load_quad, negated_if_odd, quad_of_zeros
from pliant.elements.closest import row
from pliant.lanes.compiled import at, inlined
from pliant.lanes.math import number
from pliant.lanes.vectors import add, add_scaled, cross, dot, subtract

LEAST_LENGTH = 1e-30  # [m] divides in place of a shorter one


class Scheme(NamedTuple):
    """What the three schemes differ in, and how friction is bounded."""

    h: float  # [s]
    is_moving: bool  # C and n follow the positions of the iteration; else they are those of the start of the step
    velocity_part: float  # k_v of Algorithm 1
    position_part: float  # k_c of Algorithm 1
    friction: int  # NO_FRICTION, PYRAMID or CONE
    is_relaxed: bool  # with the term of Equation 40
    has_spin: bool
    holds_normals: bool = False  # normals and tangents stay as contacts were found, all through the step


@inlined
def put_row(array, i, value):
    array[i, 0], array[i, 1], array[i, 2] = value


@inlined
def add_row(array, i, scale, value):
    array[i, 0] += scale * value[0]
    array[i, 1] += scale * value[1]
    array[i, 2] += scale * value[2]


@inlined
def lever(rows, i, side):
    return (rows.levers[i, 3 * side], rows.levers[i, 3 * side + 1], rows.levers[i, 3 * side + 2])


@inlined
def carried_velocity(rows, twist, i, side):
    """Of the point of a rigid body that a constraint acts on."""
    b = rows.carrier[i, side]
    return add(
        (twist[b, 0], twist[b, 1], twist[b, 2]), cross((twist[b, 3], twist[b, 4], twist[b, 5]), lever(rows, i, side))
    )


@inlined
def relative_velocity(rows, velocity, twist, i, drift):
    """Of the first side to what is opposite; drift: 1 with the obstacle's own velocity, 0 without."""
    v, has_bodies = rows.vertices, len(twist) > 0
    own = row(velocity, v[i, 0])
    if has_bodies and rows.carrier[i, 0] >= 0:
        own = carried_velocity(rows, twist, i, 0)
    if v[i, 1] < 0:
        return add_scaled(own, -drift, row(rows.weights, i))
    if has_bodies and rows.carrier[i, 1] >= 0:
        return subtract(own, carried_velocity(rows, twist, i, 1))
    if v[i, 2] < 0:
        return subtract(own, row(velocity, v[i, 1]))
    for k in range(3):
        own = add_scaled(own, -rows.weights[i, k], row(velocity, v[i, k + 1]))
    return own


@inlined
def slip_velocity(rows, spin, i, n, relative):
    """Of the two surfaces where they touch: spin is angular velocity times radius."""
    turning = row(spin, rows.vertices[i, 0])
    if rows.vertices[i, 1] >= 0 and rows.vertices[i, 2] < 0:
        turning = add_scaled(turning, 1.0, row(spin, rows.vertices[i, 1]))
    return subtract(relative, cross(turning, n))


@inlined
def second_tangent(rows, i):
    return cross(row(rows.normal, i), row(rows.tangent, i))


@inlined
def constraint_value(rows, i, h, relative):
    """C at the positions of the iteration [m]; the normal of two points turns with them, and the tangent with it."""
    s = add_scaled(row(rows.separation, i), h, relative)
    n = row(rows.normal, i)
    if rows.vertices[i, 1] < 0 or rows.vertices[i, 2] >= 0:
        return dot(n, s) - rows.rest[i]
    length = math.sqrt(dot(s, s))
    if length > LEAST_LENGTH:
        inverse = 1.0 / length
        n = (s[0] * inverse, s[1] * inverse, s[2] * inverse)
        put_row(rows.normal, i, n)
        t = row(rows.tangent, i)
        t = add_scaled(t, -dot(n, t), n)
        size = math.sqrt(dot(t, t))
        if size > 0.0:
            put_row(rows.tangent, i, (t[0] / size, t[1] / size, t[2] / size))
    return length - rows.rest[i]


@inlined
def residual(rows, bodies, i, scheme):
    """r (Equation 28, or Algorithm 1): normal and two tangential parts [m/s]."""
    relative = relative_velocity(rows, bodies.velocity, bodies.rigid.twist, i, 1.0)
    if scheme.is_moving:
        value = constraint_value(rows, i, scheme.h, relative)
        n = row(rows.normal, i)
        r = scheme.velocity_part * dot(n, relative) + scheme.position_part / scheme.h * value
        r += scheme.position_part * rows.compliance[i] * rows.impulse[i, 0]
    else:
        n = row(rows.normal, i)
        r = dot(n, relative) + rows.bias[i] + rows.compliance[i] * rows.impulse[i, 0]
    if scheme.friction == NO_FRICTION or rows.friction[i] == 0.0:
        return r, 0.0, 0.0
    slip = slip_velocity(rows, bodies.spin, i, n, relative) if scheme.has_spin else relative
    r1, r2 = dot(slip, row(rows.tangent, i)), dot(slip, second_tangent(rows, i))
    if scheme.is_relaxed:
        r -= rows.friction[i] * math.sqrt(r1 * r1 + r2 * r2)
    return r, r1, r2


@inlined
def projected(rows, i, scheme, normal, first, second):
    """proj of Equation 26: bounds of the normal impulse, then the pyramid or the cone over it."""
    if rows.kind[i] != DISTANCE:
        normal = max(normal, 0.0) if rows.kind[i] == CONTACT else min(normal, 0.0)
    bound = rows.friction[i] * normal
    if scheme.friction == NO_FRICTION or rows.friction[i] == 0.0:
        return normal, 0.0 * normal, 0.0 * normal
    if scheme.friction == CONE:
        size = math.sqrt(first * first + second * second)
        if size > bound:
            return normal, first * (bound / size), second * (bound / size)
        return normal, first, second
    return normal, min(max(first, -bound), bound), min(max(second, -bound), bound)


@inlined
def take(rows, i, scheme, normal, first, second):
    """Make these the impulses, after projection, and keep the change as a push in space."""
    normal, first, second = projected(rows, i, scheme, normal, first, second)
    change = (normal - rows.impulse[i, 0], first - rows.impulse[i, 1], second - rows.impulse[i, 2])
    put_row(rows.impulse, i, (normal, first, second))
    put_row(rows.change, i, change)
    put_row(rows.push, i, in_space(rows, i, change))


@inlined
def in_space(rows, i, value):
    """Normal and tangential parts as a vector."""
    n = row(rows.normal, i)
    total = (value[0] * n[0], value[0] * n[1], value[0] * n[2])
    if rows.friction[i] > 0.0:
        total = add_scaled(total, value[1], row(rows.tangent, i))
        total = add_scaled(total, value[2], second_tangent(rows, i))
    return total


@inlined
def relax_row(rows, bodies, i, scheme, omega, beta, weights):
    """Equations 26, 29 and 38: lambda - omega / d r + beta times its last change, projected.

    The paper prints the last term of Equations 37 and 38 with a minus; from d = r + beta d_old and the change
    -alpha d_old it is a plus, and with a minus it would slow the iteration down.
    weights: DIAGONAL; COUNT, d with split masses (Tonge et al. 2012); BOUNDED, d but at least a quarter of that, so
    that the spectral radius is at most 4 and omega = 1/2 is stable whatever the momentum.
    """
    r, r1, r2 = residual(rows, bodies, i, scheme)
    d, d_t = rows.diagonal[i, 0], rows.diagonal[i, 1]
    if weights == COUNT:
        d, d_t = rows.split[i, 0], rows.split[i, 1]
    elif weights == BOUNDED:
        d, d_t = max(d, 0.25 * rows.split[i, 0]), max(d_t, 0.25 * rows.split[i, 1])
    along = omega * rows.factor[i] / d
    across = omega / d_t
    take(
        rows,
        i,
        scheme,
        rows.impulse[i, 0] - along * r + beta * rows.change[i, 0],
        rows.impulse[i, 1] - across * r1 + beta * rows.change[i, 1],
        rows.impulse[i, 2] - across * r2 + beta * rows.change[i, 2],
    )


@inlined
def write_plain_diagonals(rows, bodies, i):
    """The same of two vertices, or one and an obstacle, that do not turn."""
    first, second = np.uint64(rows.vertices[i, 0]), rows.vertices[i, 1]
    d, soft = 1.0 * bodies.inverse_mass[first], rows.compliance[i]
    split = d * bodies.load[first]
    if second >= 0:
        w = 1.0 * bodies.inverse_mass[np.uint64(second)]
        d, split = d + w, split + w * bodies.load[np.uint64(second)]
    rows.diagonal[i, 0], rows.diagonal[i, 1] = d + soft, d
    rows.split[i, 0], rows.split[i, 1] = split + soft, split


@inlined
def write_diagonals(rows, bodies, i):
    """d of the normal and of a tangent; with every vertex whole, and as light as its share in its constraints."""
    if rows.vertices[i, 2] < 0 and len(bodies.spin) == 0 and len(bodies.rigid.twist) == 0:
        write_plain_diagonals(rows, bodies, i)
        return
    d, spin, split, split_spin = 0.0, 0.0, 0.0, 0.0
    for slot in range(4):
        vertex = rows.vertices[i, slot]
        if vertex >= 0:
            weight = 1.0 if slot == 0 else rows.weights[i, slot - 1]
            own = weight * weight * bodies.inverse_mass[vertex]
            d += own
            split += own * bodies.load[vertex]
            if slot == 0 or rows.vertices[i, 2] < 0:
                spin += bodies.inverse_inertia[vertex]
                split_spin += bodies.inverse_inertia[vertex] * bodies.load[vertex]
    across, split_across = d + spin, split + split_spin
    if len(bodies.rigid.twist) > 0:
        n, t = row(rows.normal, i), row(rows.tangent, i)
        for side in range(2):
            b = rows.carrier[i, side]
            if b >= 0:
                along, load = body_response(rows, bodies.rigid, i, side, n), bodies.rigid.load[b]
                slips = max(body_response(rows, bodies.rigid, i, side, t),
                            body_response(rows, bodies.rigid, i, side, cross(n, t)))  # fmt: skip
                d, split = d + along, split + load * along
                across, split_across = across + slips, split_across + load * slips
    rows.diagonal[i, 0], rows.diagonal[i, 1] = d + rows.compliance[i], across
    rows.split[i, 0], rows.split[i, 1] = split + rows.compliance[i], split_across


@inlined
def body_response(rows, rigid, i, side, n):
    """Velocity along n that a push of 1 N s along n gives the point of a rigid body [1/kg]."""
    b = rows.carrier[i, side]
    turn = cross(lever(rows, i, side), n)
    return rigid.inverse_mass[b] * dot(n, n) + dot(turn, tensor_times(rigid.inverse_inertia, b, turn))


@inlined
def tensor_times(tensors, b, v):
    return (
        tensors[b, 0, 0] * v[0] + tensors[b, 0, 1] * v[1] + tensors[b, 0, 2] * v[2],
        tensors[b, 1, 0] * v[0] + tensors[b, 1, 1] * v[1] + tensors[b, 1, 2] * v[2],
        tensors[b, 2, 0] * v[0] + tensors[b, 2, 1] * v[1] + tensors[b, 2, 2] * v[2],
    )


@inlined
def push_body(rigid, twist, b, push, torque):
    """Change the velocity and the angular velocity (b, 6) of one body by a push [N s] and its torque [N m s]."""
    turn = tensor_times(rigid.inverse_inertia, b, torque)
    for axis in range(3):
        twist[b, axis] += rigid.inverse_mass[b] * push[axis]
        twist[b, axis + 3] += turn[axis]


@inlined
def push_vertices(rows, bodies, i, has_spin):
    """Equation 27 for one constraint: its vertices, at once."""
    push = row(rows.push, i)
    for slot in range(4):
        vertex = rows.vertices[i, slot]
        if vertex >= 0:
            weight = 1.0 if slot == 0 else -rows.weights[i, slot - 1]
            add_row(bodies.velocity, vertex, weight * bodies.inverse_mass[vertex], push)
    if has_spin and rows.friction[i] > 0.0:
        turn = cross(row(rows.normal, i), push)
        first, second = rows.vertices[i, 0], rows.vertices[i, 1]
        add_row(bodies.spin, first, -bodies.inverse_inertia[first], turn)
        if second >= 0 and rows.vertices[i, 2] < 0:
            add_row(bodies.spin, second, -bodies.inverse_inertia[second], turn)
    if len(bodies.rigid.twist) > 0:
        for side in range(2):
            if rows.carrier[i, side] >= 0:
                p = push if side == 0 else (-push[0], -push[1], -push[2])
                push_body(bodies.rigid, bodies.rigid.twist, rows.carrier[i, side], p, cross(lever(rows, i, side), p))


@inlined
def gather_body(rows, rigid, push, b, twist):
    """Add W J^T of pushes (m, 3) at one rigid body to a twist (b, 6)."""
    total, torque = (0.0, 0.0, 0.0), (0.0, 0.0, 0.0)
    for k in range(rigid.start[b], rigid.start[b + 1]):
        i, side = rigid.entries[k] >> 1, rigid.entries[k] & 1
        sign, p = 1.0 - 2.0 * side, row(push, i)
        total = add_scaled(total, sign, p)
        torque = add_scaled(torque, sign, cross(lever(rows, i, side), p))
    push_body(rigid, twist, b, total, torque)


@inlined
def gather(rows, bodies, vertex, has_spin, velocity, spin):
    """Add W J^T of the pushes at one vertex to a velocity (n, 4) and a spin (n, 3)."""
    w = at(bodies.inverse_mass, vertex)
    if w == 0.0:
        return
    total = quad_of_zeros(rows.push)
    for k in range(at(bodies.start, vertex), at(bodies.start, vertex + 1)):
        entry = at(bodies.entries, k)
        i, slot = entry >> ENTRY_BITS, entry & ((1 << ENTRY_BITS) - 1)
        push = load_quad(rows.push, i)
        if slot < OF_TRIANGLE:
            total = total + negated_if_odd(push, entry)
        else:
            total = total + number(-rows.weights[i, slot - OF_TRIANGLE - 1], total) * push
    add_quad(velocity, vertex, number(w, total) * total)
    if has_spin and at(bodies.inverse_inertia, vertex) > 0.0:
        gather_torque(rows, bodies, vertex, spin)


@inlined
def gather_torque(rows, bodies, vertex, spin):
    """Add what the pushes at one vertex turn to a spin (n, 3)."""
    torque = (0.0, 0.0, 0.0)
    for k in range(bodies.start[vertex], bodies.start[vertex + 1]):
        i = bodies.entries[k] >> ENTRY_BITS
        if rows.friction[i] > 0.0:
            torque = add_scaled(torque, 1.0, cross(row(rows.normal, i), row(rows.push, i)))
    add_row(spin, vertex, -bodies.inverse_inertia[vertex], torque)

"""Several constraints at once, one in each lane: those between two points, or a point and an obstacle, of one kind.

A pack is as many constraints of a colour as a register has numbers, so that which constraints share a pack does not
depend on the number of threads. What has another form, as a contact with a triangle, spin or rigid bodies, is done one
by one (constraints.one_row).
"""

from __future__ import annotations

import numpy as np
from llvmlite import ir
from numba import types
from numba.extending import intrinsic

from pliant.constraints.rows import BOUNDED, CONE, CONTACT, COUNT, NO_FRICTION, ROPE
from pliant.constraints.triples import gather_quads, load_pairs, load_triples, store_triples
from pliant.lanes.compiled import inlined
from pliant.lanes.host import default_width
from pliant.lanes.math import maximum, minimum, number, select, sqrt
from pliant.lanes.memory import load, load3, store3
from pliant.lanes.types import Lanes
from pliant.lanes.vectors import add_scaled, cross, dot, subtract

# In place of the kind of a pack: one by one; contacts with obstacles, which have no second vertex; with those at rest.
SINGLY, WALL, STILL = 3, 4, 5
TINY = 1e-30  # [m] [N s] divides in place of what is shorter


def pack_width(dtype: np.dtype) -> int:
    """Constraints in a pack."""
    return default_width("single" if dtype == np.float32 else "double")


@intrinsic
def zeros_like(typingctx, array):
    """Zero in all lanes of a register, in the precision of an array."""
    lanes = Lanes(array.dtype, default_width("single" if array.dtype == types.float32 else "double"))

    def codegen(context, builder, signature, args):
        return ir.Constant(context.get_value_type(lanes), None)

    return lanes(array), codegen


@inlined
def kind_of_pack(rows, order, first, width):
    """The kind that constraints order[first : first + width] share, WALL, or SINGLY."""
    i = np.uint64(order[first])
    kind, is_alone = rows.kind[i], rows.vertices[i, 1] < 0
    for place in range(first, first + width):
        i = np.uint64(order[place])
        if rows.kind[i] != kind or rows.vertices[i, 2] >= 0 or (rows.vertices[i, 1] < 0) != is_alone:
            return SINGLY
    return WALL if is_alone else kind


@inlined
def new_impulses(scheme, kind, mu, aim):
    """proj of Equation 26, as one_row.projected."""
    zero = number(0.0, mu)
    normal = aim[0]
    if kind == CONTACT:
        normal = maximum(normal, zero)
    elif kind == ROPE:
        normal = minimum(normal, zero)
    if kind != CONTACT or scheme.friction == NO_FRICTION:
        return normal, zero, zero
    bound = mu * normal
    if scheme.friction == CONE:
        size = sqrt(aim[1] * aim[1] + aim[2] * aim[2])
        part = select(size > bound, bound / maximum(size, number(TINY, mu)), number(1.0, mu))
        return normal, aim[1] * part, aim[2] * part
    return normal, minimum(maximum(aim[1], -bound), bound), minimum(maximum(aim[2], -bound), bound)


@inlined
def divisors(d, d_t, split, split_t, weights):
    """By what corrections are divided: see one_row.relax_row."""
    if weights == COUNT:
        return split, split_t
    if weights == BOUNDED:
        quarter = number(0.25, d)
        return maximum(d, quarter * split), maximum(d_t, quarter * split_t)
    return d, d_t


@inlined
def form_of(kind):
    """The kind of the constraints of a pack."""
    return CONTACT if kind >= WALL else kind


@inlined
def turned(kind, n, t, s):
    """C + rest, and the normal and the tangent that have turned with s; those of obstacles stay."""
    if kind >= WALL:
        return dot(n, s), n, t
    least = number(TINY, s[0])
    length = sqrt(dot(s, s))
    is_held = length <= least
    inverse = number(1.0, least) / maximum(length, least)
    m = (select(is_held, n[0], s[0] * inverse), select(is_held, n[1], s[1] * inverse),
         select(is_held, n[2], s[2] * inverse))  # fmt: skip
    if kind != CONTACT:
        return length, m, t
    u = add_scaled(t, -dot(m, t), m)
    size = sqrt(dot(u, u))
    is_held = is_held | (size <= least)
    scale = number(1.0, least) / maximum(size, least)
    u = (select(is_held, t[0], u[0] * scale), select(is_held, t[1], u[1] * scale), select(is_held, t[2], u[2] * scale))
    return length, m, u


@inlined
def moving_residual(scheme, n, u, value, rest, soft):
    """r of Algorithm 1, of the normal."""
    error = (value - rest) / number(scheme.h, rest) + soft
    return number(scheme.velocity_part, rest) * dot(n, u) + number(scheme.position_part, rest) * error


@inlined
def tangent_of(n):
    """The tangent that a contact found with the normal n has: grains.record.any_tangent in lanes."""
    one = number(1.0, n[0])
    sign = select(n[2] < number(0.0, n[0]), -one, one)
    a = -one / (sign + n[2])
    return (one + sign * n[0] * n[0] * a, sign * n[0] * n[1] * a, -sign * n[0])


@inlined
def last_change(scheme, kind, push, n, t):
    """Impulses that make up a push in space."""
    along = dot(push, n)
    if kind != CONTACT or scheme.friction == NO_FRICTION:
        return (along, number(0.0, along), number(0.0, along))
    return (along, dot(push, t), dot(push, cross(n, t)))


@inlined
def relaxed(scheme, kind, beta, r, u, n, t, p, c, mu, d):
    """Equations 26, 29 and 38 for the normal residual r and the relative velocity u: new impulses, their change and the
    change in space; d: (of the normal, with the factor in it, and of a tangent).
    """
    aim = (p[0] - d[0] * r + beta * c[0], p[1], p[2])
    has_friction = kind == CONTACT and scheme.friction != NO_FRICTION
    if has_friction:
        second = cross(n, t)
        r1, r2 = dot(u, t), dot(u, second)
        if scheme.is_relaxed:
            aim = (aim[0] + d[0] * mu * sqrt(r1 * r1 + r2 * r2), aim[1], aim[2])
        aim = (aim[0], p[1] - d[1] * r1 + beta * c[1], p[2] - d[1] * r2 + beta * c[2])
    new = new_impulses(scheme, kind, mu, aim)
    change = subtract(new, p)
    push = (change[0] * n[0], change[0] * n[1], change[0] * n[2])
    if has_friction:
        second = cross(n, t)
        push = add_scaled(add_scaled(push, change[1], t), change[2], second)
    return new, change, push


@inlined
def relax_pack(rows, bodies, i, kind, scheme, pace, beta, like):
    """one_row.relax_row of constraints i, i + 1, ... as they are in the rows: what runs on devices (device.row_source),
    which read one number after another; the CPU has packed_rows.relax_packed.
    """
    v, form = rows.vertices, form_of(kind)
    here = gather_quads(bodies.velocity, v, 4 * i, 4, like)
    if kind == WALL:
        u = subtract(here, load_triples(rows.weights, i, like))
    else:
        u = subtract(here, gather_quads(bodies.velocity, v, 4 * i + 1, 4, like))
    n, t, p = load_triples(rows.normal, i, like), (like, like, like), load_triples(rows.impulse, i, like)
    soft, factor, mu = like, number(1.0, like), like
    if form == CONTACT:
        t = tangent_of(n) if scheme.holds_normals else load_triples(rows.tangent, i, like)
        mu = load(rows.friction, i, like)
    else:
        soft, factor = load(rows.compliance, i, like) * p[0], load(rows.factor, i, like)
    if scheme.is_moving:
        s = add_scaled(load_triples(rows.separation, i, like), number(scheme.h, like), u)
        value, n, t = turned(kind, n, t, s)
        if kind != WALL:
            store_triples(rows.normal, i, n[0], n[1], n[2])
        if kind == CONTACT:
            store_triples(rows.tangent, i, t[0], t[1], t[2])
        r = moving_residual(scheme, n, u, value, load(rows.rest, i, like), soft)
    else:
        r = dot(n, u) + load(rows.bias, i, like) + soft
    c = (like, like, like)
    if pace.a != 0.0 and scheme.holds_normals:
        c = last_change(scheme, form, load3(rows.push, i, like), n, t)
    elif pace.a != 0.0:
        c = load_triples(rows.change, i, like)
    d, d_t = load_pairs(rows.diagonal, i, like)
    split, split_t = load_pairs(rows.split, i, like)
    d, d_t = divisors(d, d_t, split, split_t, pace.weights)
    omega = number(pace.omega, like)
    steps = (omega * factor / d, omega / d_t)
    new, change, push = relaxed(scheme, form, number(beta, like), r, u, n, t, p, c, mu, steps)
    store_triples(rows.impulse, i, new[0], new[1], new[2])
    if pace.a != 0.0 and not scheme.holds_normals:
        store_triples(rows.change, i, change[0], change[1], change[2])
    store3(rows.push, i, push[0], push[1], push[2])

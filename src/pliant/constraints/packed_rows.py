"""Constraints in packs, in the layout of registers.

What an iteration reads of the rows is copied once, pack after pack, in the order of colours, with what
a correction is multiplied by in place of what divides it; impulses are copied back after the iterations.

A field is one number of each constraint of a pack. The normal, or in the moving schemes the separation; delta or the
distance at rest; the step along the normal, which is that along tangents too. Then of distances, and of contacts if
nothing has friction, the impulse, its last change and the compliance; of other contacts impulse, friction, two
tangential impulses, all three changes, and normal and tangent where these turn.

Where friction is a cone and normals are held, no tangents are needed: impulse and change are vectors in space. With u
the relative velocity and d the step, r n and what slips are together u + delta n, and lambda - d r of Equation 26 is

    A = P - d (u + delta n) + beta (last change of P).
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from pliant.constraints.packs import WALL, divisors, form_of, moving_residual, relaxed, tangent_of, turned
from pliant.constraints.rows import CONE, CONTACT, DIAGONAL, NO_FRICTION
from pliant.constraints.triples import gather_numbers, gather_triples, scatter_triples
from pliant.lanes.aligned import aligned_zeros
from pliant.lanes.compiled import inlined
from pliant.lanes.math import maximum, minimum, number, sqrt
from pliant.lanes.memory import load, store, width_of
from pliant.lanes.reciprocal import inverse_sqrt
from pliant.lanes.rows import gather4, push_both_rows, push_rows
from pliant.lanes.vectors import add_scaled, cross, dot, subtract

VECTOR, REST, ALONG, IMPULSE = 0, 3, 4, 5  # first fields
CHANGE_ALONG, SOFT = 6, 7  # of distances, and of contacts without friction
FRICTION, TANGENTIAL, CHANGE, NORMAL, TANGENT = 6, 7, 9, 12, 15  # of contacts
FRICTION_HELD, TOTAL, TOTAL_CHANGE = 5, 6, 9  # of contacts whose impulses are vectors
FIELDS_OF_DISTANCES, FIELDS, FIELDS_WITH_CHANGE, FIELDS_THAT_MOVE = 8, 9, 12, 18
NOTHING, STEPS, ALL = range(3)  # what is to be filled: delta and steps alone, where impulses are those of rows
LEAST_SQUARE = 1.2e-38  # [N^2 s^2] of a tangential impulse that friction bounds


class PackedRows(NamedTuple):
    """Packs of m constraints."""

    fields: np.ndarray  # all fields of a pack, then those of the next
    starts: np.ndarray  # (2, p width) uint32 where the two vertices of each begin in an (n, 4) array, in numbers
    size: int  # fields of a pack


def room_for_packs(packs: int, fields: int, width: int, dtype: np.dtype) -> PackedRows:
    """For so many packs of so many fields."""
    return PackedRows(aligned_zeros(packs * fields * width, dtype), np.zeros((2, packs * width), np.uint32), fields)


@inlined
def put3(packs, at, value):
    """Three fields from a place on."""
    width = width_of(value[0])
    store(packs.fields, at, value[0])
    store(packs.fields, at + width, value[1])
    store(packs.fields, at + 2 * width, value[2])


@inlined
def take3(packs, at, like):
    width = width_of(like)
    return (
        load(packs.fields, at, like),
        load(packs.fields, at + width, like),
        load(packs.fields, at + 2 * width, like),
    )


@inlined
def has_tangents(form, scheme):
    """Whether a pack of this kind holds more than what is along normals."""
    return form == CONTACT and (scheme.friction != NO_FRICTION or scheme.is_moving)


@inlined
def is_vector(form, scheme):
    """Whether impulses of a pack of this kind are vectors in space."""
    return form == CONTACT and scheme.friction == CONE and scheme.holds_normals and not scheme.is_moving


@inlined
def fill_pack(rows, packs, order, place, pack, kind, scheme, pace, begins, like):
    """Copy what iterations read of constraints order[place], order[place + 1], ...; begins: changes are zero."""
    width, form = width_of(like), form_of(kind)
    at = pack * packs.size * width
    for lane in range(width):
        i = np.uint64(order[place + lane])
        here, opposite = rows.vertices[i, 0], rows.vertices[i, 1]
        packs.starts[0, place + lane] = 4 * here
        packs.starts[1, place + lane] = 4 * (here if opposite < 0 else opposite)
    fill_steps(rows, packs, order, place, pack, scheme, pace, like)
    p, n = gather_triples(rows.impulse, order, place, 1, like), gather_triples(rows.normal, order, place, 1, like)
    put3(packs, at, gather_triples(rows.separation, order, place, 1, like) if scheme.is_moving else n)
    c = (like, like, like)
    if pace.a != 0.0 and not begins:
        c = gather_triples(rows.change, order, place, 1, like)
    if is_vector(form, scheme):
        t = gather_triples(rows.tangent, order, place, 1, like)
        second = cross(n, t)
        store(packs.fields, at + FRICTION_HELD * width, gather_numbers(rows.friction, order, place, 1, 0, like))
        put3(packs, at + TOTAL * width, combined(p, n, t, second))
        if packs.size > TOTAL_CHANGE:
            put3(packs, at + TOTAL_CHANGE * width, combined(c, n, t, second))
        return
    store(packs.fields, at + IMPULSE * width, p[0])
    if not has_tangents(form, scheme):
        store(packs.fields, at + CHANGE_ALONG * width, c[0])
        store(packs.fields, at + SOFT * width, gather_numbers(rows.compliance, order, place, 1, 0, like))
        return
    store(packs.fields, at + FRICTION * width, gather_numbers(rows.friction, order, place, 1, 0, like))
    store(packs.fields, at + TANGENTIAL * width, p[1])
    store(packs.fields, at + (TANGENTIAL + 1) * width, p[2])
    if packs.size > CHANGE:
        put3(packs, at + CHANGE * width, c)
    if scheme.is_moving:
        put3(packs, at + NORMAL * width, n)
    if packs.size > TANGENT:
        put3(packs, at + TANGENT * width, gather_triples(rows.tangent, order, place, 1, like))


@inlined
def fill_steps(rows, packs, order, place, pack, scheme, pace, like):
    """Delta, or the distance at rest, and steps of the same constraints."""
    width = width_of(like)
    at = pack * packs.size * width
    d = gather_numbers(rows.diagonal, order, place, 2, 0, like)
    if pace.weights != DIAGONAL:
        d, _ = divisors(d, d, gather_numbers(rows.split, order, place, 2, 0, like), d, pace.weights)
    along = number(pace.omega, like) * gather_numbers(rows.factor, order, place, 1, 0, like) / d
    rest = rows.rest if scheme.is_moving else rows.bias
    store(packs.fields, at + REST * width, gather_numbers(rest, order, place, 1, 0, like))
    store(packs.fields, at + ALONG * width, along)


@inlined
def combined(parts, n, t, second):
    """A vector of these parts."""
    return add_scaled(add_scaled((parts[0] * n[0], parts[0] * n[1], parts[0] * n[2]), parts[1], t), parts[2], second)


@inlined
def silence(packs, pack, count, width):
    """Let the first `count` constraints of a pack, which are copies, push nothing: no impulses, and steps of zero."""
    for field in range(ALONG, min(packs.size, NORMAL)):
        at = (pack * packs.size + field) * width
        for lane in range(count):
            packs.fields[at + lane] = 0.0


@inlined
def empty_pack(rows, packs, order, place, pack, kind, scheme, pace, ends, like):
    """Copy back what iterations have changed; of copies, which come first, nothing stays. ends: nobody asks for the
    last changes.
    """
    width, form = width_of(like), form_of(kind)
    at = pack * packs.size * width
    p, c, has_changes = (like, like, like), (like, like, like), pace.a != 0.0 and not ends
    if is_vector(form, scheme):
        n, t = take3(packs, at, like), gather_triples(rows.tangent, order, place, 1, like)
        second, total = cross(n, t), take3(packs, at + TOTAL * width, like)
        p = (dot(total, n), dot(total, t), dot(total, second))
        if has_changes:
            total = take3(packs, at + TOTAL_CHANGE * width, like)
            c = (dot(total, n), dot(total, t), dot(total, second))
    elif has_tangents(form, scheme):
        p = (load(packs.fields, at + IMPULSE * width, like), load(packs.fields, at + TANGENTIAL * width, like),
             load(packs.fields, at + (TANGENTIAL + 1) * width, like))  # fmt: skip
        if has_changes:
            c = take3(packs, at + CHANGE * width, like)
    else:
        p = (load(packs.fields, at + IMPULSE * width, like), like, like)
        if has_changes:
            c = (load(packs.fields, at + CHANGE_ALONG * width, like), like, like)
    scatter_triples(rows.impulse, order, place, p[0], p[1], p[2])
    if has_changes:
        scatter_triples(rows.change, order, place, c[0], c[1], c[2])
    if scheme.is_moving and kind == CONTACT:
        n, t = take3(packs, at + NORMAL * width, like), take3(packs, at + TANGENT * width, like)
        scatter_triples(rows.normal, order, place, n[0], n[1], n[2])
        scatter_triples(rows.tangent, order, place, t[0], t[1], t[2])


@inlined
def relative_velocities(rows, bodies, packs, order, place, kind, like):
    """u of the constraints of a pack."""
    own = gather4(bodies.velocity, packs.starts, place, like)
    u = (own[0], own[1], own[2])
    if kind < WALL:
        opposite = gather4(bodies.velocity, packs.starts, packs.starts.shape[1] + place, like)
        u = subtract(u, (opposite[0], opposite[1], opposite[2]))
    elif kind == WALL:
        u = subtract(u, gather_triples(rows.weights, order, place, 1, like))
    return u


@inlined
def relax_vectors(packs, at, u, scheme, pace, beta, like):
    """one_row.relax_row of the contacts of a pack whose impulses are vectors: their pushes."""
    width = width_of(like)
    n, along = take3(packs, at, like), load(packs.fields, at + ALONG * width, like)
    mu, total = load(packs.fields, at + FRICTION_HELD * width, like), take3(packs, at + TOTAL * width, like)
    aim = add_scaled(total, -along, add_scaled(u, load(packs.fields, at + REST * width, like), n))
    if pace.a != 0.0:
        aim = add_scaled(aim, number(beta, like), take3(packs, at + TOTAL_CHANGE * width, like))
    if scheme.is_relaxed:
        slip = add_scaled(u, -dot(u, n), n)
        aim = add_scaled(aim, along * mu * sqrt(dot(slip, slip)), n)
    normal = dot(aim, n)
    across = add_scaled(aim, -normal, n)
    normal = maximum(normal, number(0.0, like))
    size2 = maximum(dot(across, across), number(LEAST_SQUARE, like))
    part = minimum(mu * normal * inverse_sqrt(size2), number(1.0, like))
    new = add_scaled((normal * n[0], normal * n[1], normal * n[2]), part, across)
    change = subtract(new, total)
    put3(packs, at + TOTAL * width, new)
    if pace.a != 0.0:
        put3(packs, at + TOTAL_CHANGE * width, change)
    return change


@inlined
def relax_packed(rows, u, packs, order, place, pack, kind, scheme, pace, beta, is_last, like):
    """one_row.relax_row of the constraints of a pack, with relative velocities u: their pushes; is_last: normals of
    distances are written to the rows.
    """
    width, form = width_of(like), form_of(kind)
    at = pack * packs.size * width
    if is_vector(form, scheme):
        return relax_vectors(packs, at, u, scheme, pace, beta, like)
    n, rest = take3(packs, at, like), load(packs.fields, at + REST * width, like)
    p, c, t = (load(packs.fields, at + IMPULSE * width, like), like, like), (like, like, like), (like, like, like)
    along, mu, soft = load(packs.fields, at + ALONG * width, like), like, like
    if has_tangents(form, scheme):
        mu = load(packs.fields, at + FRICTION * width, like)
        p = (p[0], load(packs.fields, at + TANGENTIAL * width, like),
             load(packs.fields, at + (TANGENTIAL + 1) * width, like))  # fmt: skip
        if pace.a != 0.0:
            c = take3(packs, at + CHANGE * width, like)
        t = tangent_of(n) if scheme.holds_normals else take3(packs, at + TANGENT * width, like)
    else:
        if form != CONTACT:
            soft = load(packs.fields, at + SOFT * width, like) * p[0]
        if pace.a != 0.0:
            c = (load(packs.fields, at + CHANGE_ALONG * width, like), like, like)
    if scheme.is_moving:
        s = add_scaled(n, number(scheme.h, like), u)
        n = take3(packs, at + NORMAL * width, like) if form == CONTACT else (like, like, number(1.0, like))
        value, n, t = turned(kind, n, t, s)
        if kind == CONTACT:
            put3(packs, at + NORMAL * width, n)
            put3(packs, at + TANGENT * width, t)
        elif is_last and kind < WALL:
            scatter_triples(rows.normal, order, place, n[0], n[1], n[2])
        r = moving_residual(scheme, n, u, value, rest, soft)
    else:
        r = dot(n, u) + rest + soft
    new, change, push = relaxed(scheme, form, number(beta, like), r, u, n, t, p, c, mu, (along, along))
    store(packs.fields, at + IMPULSE * width, new[0])
    if has_tangents(form, scheme):
        store(packs.fields, at + TANGENTIAL * width, new[1])
        store(packs.fields, at + (TANGENTIAL + 1) * width, new[2])
        if pace.a != 0.0:
            put3(packs, at + CHANGE * width, change)
    elif pace.a != 0.0:
        store(packs.fields, at + CHANGE_ALONG * width, change[0])
    return push


@inlined
def sweep_pack(rows, bodies, ahead, packs, order, place, pack, kind, scheme, pace, beta, is_last, like):
    """The same, of constraints that share no vertex, whose pushes go to the velocities ahead."""
    u = relative_velocities(rows, bodies, packs, order, place, kind, like)
    push = relax_packed(rows, u, packs, order, place, pack, kind, scheme, pace, beta, is_last, like)
    if kind < WALL:
        second = packs.starts.shape[1] + place
        push_both_rows(ahead.velocity, packs.starts, place, second, push[0], push[1], push[2])
    else:
        push_rows(ahead.velocity, packs.starts, place, push[0], push[1], push[2])

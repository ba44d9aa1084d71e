"""Constraints in packs, in the layout of registers.

What an iteration reads of the rows is copied once, pack after pack, in the order of colours, with what
a correction is multiplied by in place of what divides it; impulses are copied back after the iterations.

A field is one number of each constraint of a pack. The normal, or in the moving schemes the separation; delta or the
distance at rest; the step along the normal; its impulse. Then of distances, and of contacts if nothing has friction,
the last change of that and the compliance, of other contacts the step along tangents, friction, two impulses, all three
changes, and normal and tangent where these turn.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from pliant.constraints.packs import WALL, divisors, form_of, moving_residual, relaxed, tangent_of, turned
from pliant.constraints.rows import CONTACT, DIAGONAL, NO_FRICTION
from pliant.constraints.triples import gather_numbers, gather_triples, scatter_triples
from pliant.lanes.compiled import inlined
from pliant.lanes.math import number
from pliant.lanes.memory import load, store, width_of
from pliant.lanes.rows import add_rows, gather4
from pliant.lanes.vectors import add_scaled, dot, subtract

VECTOR, REST, ALONG, IMPULSE = 0, 3, 4, 5  # first fields
CHANGE_ALONG, SOFT = 6, 7  # of distances, and of contacts without friction
ACROSS, FRICTION, TANGENTIAL, CHANGE, NORMAL, TANGENT = 6, 7, 8, 10, 13, 16  # of contacts
FIELDS_OF_DISTANCES, FIELDS, FIELDS_WITH_CHANGE, FIELDS_THAT_MOVE = 8, 10, 13, 19


class PackedRows(NamedTuple):
    """Packs of m constraints."""

    fields: np.ndarray  # all fields of a pack, then those of the next
    starts: np.ndarray  # (2, p width) uint32 where the two vertices of each begin in an (n, 4) array, in numbers
    size: int  # fields of a pack


def room_for_packs(packs: int, fields: int, width: int, dtype: np.dtype) -> PackedRows:
    """For so many packs of so many fields."""
    return PackedRows(np.zeros(packs * fields * width, dtype), np.zeros((2, packs * width), np.uint32), fields)


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
def fill_pack(rows, packs, order, place, pack, kind, scheme, pace, like):
    """Copy what iterations read of constraints order[place], order[place + 1], ..."""
    width, form = width_of(like), form_of(kind)
    at = pack * packs.size * width
    for lane in range(width):
        i = np.uint64(order[place + lane])
        here, opposite = rows.vertices[i, 0], rows.vertices[i, 1]
        packs.starts[0, place + lane] = 4 * here
        packs.starts[1, place + lane] = 4 * (here if opposite < 0 else opposite)
    d, d_t = (gather_numbers(rows.diagonal, order, place, 2, 0, like),
              gather_numbers(rows.diagonal, order, place, 2, 1, like))  # fmt: skip
    if pace.weights != DIAGONAL:
        split = gather_numbers(rows.split, order, place, 2, 0, like)
        d, d_t = divisors(d, d_t, split, gather_numbers(rows.split, order, place, 2, 1, like), pace.weights)
    omega, p = number(pace.omega, like), gather_triples(rows.impulse, order, place, 1, like)
    along = omega * gather_numbers(rows.factor, order, place, 1, 0, like) / d
    n = gather_triples(rows.normal, order, place, 1, like)
    if scheme.is_moving:
        put3(packs, at, gather_triples(rows.separation, order, place, 1, like))
        store(packs.fields, at + REST * width, gather_numbers(rows.rest, order, place, 1, 0, like))
    else:
        put3(packs, at, n)
        store(packs.fields, at + REST * width, gather_numbers(rows.bias, order, place, 1, 0, like))
    store(packs.fields, at + ALONG * width, along)
    store(packs.fields, at + IMPULSE * width, p[0])
    c = (like, like, like)
    if pace.a != 0.0:
        c = gather_triples(rows.change, order, place, 1, like)
    if not has_tangents(form, scheme):
        store(packs.fields, at + CHANGE_ALONG * width, c[0])
        store(packs.fields, at + SOFT * width, gather_numbers(rows.compliance, order, place, 1, 0, like))
        return
    store(packs.fields, at + ACROSS * width, omega / d_t)
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
def silence(packs, pack, count, width):
    """Let the first `count` constraints of a pack, which are copies, push nothing: no impulses, and steps of zero."""
    for field in range(ALONG, min(packs.size, NORMAL)):
        at = (pack * packs.size + field) * width
        for lane in range(count):
            packs.fields[at + lane] = 0.0


@inlined
def empty_pack(rows, packs, order, place, pack, kind, scheme, pace, like):
    """Copy back what iterations have changed; of copies, which come first, nothing stays."""
    width, form = width_of(like), form_of(kind)
    at = pack * packs.size * width
    p, c = (load(packs.fields, at + IMPULSE * width, like), like, like), (like, like, like)
    if has_tangents(form, scheme):
        p = (p[0], load(packs.fields, at + TANGENTIAL * width, like),
             load(packs.fields, at + (TANGENTIAL + 1) * width, like))  # fmt: skip
        if pace.a != 0.0:
            c = take3(packs, at + CHANGE * width, like)
    elif pace.a != 0.0:
        c = (load(packs.fields, at + CHANGE_ALONG * width, like), like, like)
    scatter_triples(rows.impulse, order, place, p[0], p[1], p[2])
    if pace.a != 0.0:
        scatter_triples(rows.change, order, place, c[0], c[1], c[2])
    if scheme.is_moving and kind == CONTACT:
        n, t = take3(packs, at + NORMAL * width, like), take3(packs, at + TANGENT * width, like)
        scatter_triples(rows.normal, order, place, n[0], n[1], n[2])
        scatter_triples(rows.tangent, order, place, t[0], t[1], t[2])


@inlined
def relax_packed(rows, bodies, packs, order, place, pack, kind, scheme, pace, beta, is_last, like):
    """one_row.relax_row of the constraints of a pack: their pushes, and W of their two sides; is_last: normals of
    distances are written to the rows.
    """
    width, form, m = width_of(like), form_of(kind), packs.starts.shape[1]
    at = pack * packs.size * width
    own, w = gather4(bodies.velocity, packs.starts, place, like), like
    u = (own[0], own[1], own[2])
    if kind == WALL:
        u = subtract(u, gather_triples(rows.weights, order, place, 1, like))
    else:
        opposite = gather4(bodies.velocity, packs.starts, m + place, like)
        u, w = subtract(u, (opposite[0], opposite[1], opposite[2])), opposite[3]
    n, rest = take3(packs, at, like), load(packs.fields, at + REST * width, like)
    p, c, t = (load(packs.fields, at + IMPULSE * width, like), like, like), (like, like, like), (like, like, like)
    along, across, mu, soft = load(packs.fields, at + ALONG * width, like), like, like, like
    if has_tangents(form, scheme):
        across, mu = load(packs.fields, at + ACROSS * width, like), load(packs.fields, at + FRICTION * width, like)
        p = (p[0], load(packs.fields, at + TANGENTIAL * width, like),
             load(packs.fields, at + (TANGENTIAL + 1) * width, like))  # fmt: skip
        if pace.a != 0.0:
            c = take3(packs, at + CHANGE * width, like)
        t = tangent_of(n) if scheme.holds_normals else take3(packs, at + TANGENT * width, like)
    else:
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
        elif is_last and kind != WALL:
            scatter_triples(rows.normal, order, place, n[0], n[1], n[2])
        r = moving_residual(scheme, n, u, value, rest, soft)
    else:
        r = dot(n, u) + rest + soft
    new, change, push = relaxed(scheme, form, number(beta, like), r, u, n, t, p, c, mu, (along, across))
    store(packs.fields, at + IMPULSE * width, new[0])
    if has_tangents(form, scheme):
        store(packs.fields, at + TANGENTIAL * width, new[1])
        store(packs.fields, at + (TANGENTIAL + 1) * width, new[2])
        if pace.a != 0.0:
            put3(packs, at + CHANGE * width, change)
    elif pace.a != 0.0:
        store(packs.fields, at + CHANGE_ALONG * width, change[0])
    return push, own[3], w


@inlined
def sweep_pack(rows, bodies, ahead, packs, order, place, pack, kind, scheme, pace, beta, is_last, like):
    """The same, of constraints that share no vertex, whose pushes go to the velocities ahead."""
    about = (order, place, pack, kind, scheme, pace, beta, is_last, like)
    push, w, opposite = relax_packed(rows, bodies, packs, *about)
    add_rows(ahead.velocity, packs.starts, place, w * push[0], w * push[1], w * push[2])
    if kind != WALL:
        w, second = -opposite, packs.starts.shape[1] + place
        add_rows(ahead.velocity, packs.starts, second, w * push[0], w * push[1], w * push[2])

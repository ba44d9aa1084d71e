"""Iterations over all constraints, compiled: Jacobi with and without momentum, and Gauss-Seidel by colours.

Jacobi runs in two passes, as the paper's (Section 7): over constraints, which find their impulses, then over vertices,
which add up the impulses of their lists. Gauss-Seidel pushes vertices at once; constraints of one colour share none.
Either way the result does not depend on the number of threads.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from pliant.constraints.blocks import DEPTH, rows_of_block
from pliant.constraints.lists import COLOURS, FORMS, GROUPS, copies_of
from pliant.constraints.one_row import (
    constraint_value,
    gather,
    gather_body,
    in_space,
    push_vertices,
    put_row,
    relative_velocity,
    relax_row,
    residual,
    take,
)
from pliant.constraints.packed_rows import empty_pack, fill_pack, relax_packed, silence, sweep_pack
from pliant.constraints.packs import SINGLY, zeros_like
from pliant.constraints.rolling import gather_body_roll, gather_roll, push_roll, relax_rolling
from pliant.constraints.rows import COUNT, NO_FRICTION
from pliant.elements.closest import row
from pliant.kernels.threads import barrier_wait, share
from pliant.lanes.compiled import at, inlined
from pliant.lanes.entry import entry
from pliant.lanes.inner import inner
from pliant.lanes.memory import store3, width_of
from pliant.lanes.vectors import add_scaled, dot

STRIDE = 8  # numbers from what one thread finds to the next


class Pace(NamedTuple):
    """How impulses change: omega, and beta = min(a (l / l_max)^b, 1) in iteration l (Equation 36)."""

    omega: float
    a: float
    b: float
    done: int  # iterations of this step before these
    planned: int  # l_max
    weights: int  # DIAGONAL, COUNT or BOUNDED


@inner(nogil=True, error_model="numpy", _nrt=False)
def momentum(pace, k):
    """beta of the k-th iteration from now; 0 in the first of a step, which therefore has no use for earlier changes."""
    if pace.a == 0.0:
        return 0.0
    return min(pace.a * ((pace.done + k) / pace.planned) ** pace.b, 1.0)


@inlined
def resists(rows, i, scheme):
    """Whether a constraint has rolling resistance."""
    return len(rows.rolling) > 0 and scheme.friction != NO_FRICTION and rows.rolling[i, 0] > 0.0


@inner(nogil=True, error_model="numpy", _nrt=False)
def gather_all(thread, threads, rows, bodies, scheme):
    """Let the pushes of all constraints act on this thread's share of vertices and rigid bodies."""
    gather_some(thread, threads, rows, bodies, scheme, 0, len(bodies.inverse_mass))
    first, last = share(0, len(bodies.rigid.twist), thread, threads)
    for b in range(first, last):
        gather_body(rows, bodies.rigid, rows.push, b, bodies.rigid.twist)
        if len(rows.rolling) > 0:
            gather_body_roll(rows, bodies.rigid, b)


@inner(nogil=True, error_model="numpy", _nrt=False)
def gather_some(thread, threads, rows, bodies, scheme, begin, end):
    """The same of this thread's share of the vertices from one place of their order to another."""
    first, last = share(begin, end, thread, threads)
    for place in range(first, last):
        vertex = at(bodies.order, place)
        gather(rows, bodies, vertex, scheme.has_spin, bodies.velocity, bodies.spin)
        if len(rows.rolling) > 0:
            gather_roll(rows, bodies, vertex)


@inner(nogil=True, error_model="numpy", _nrt=False)
def gather_block(thread, threads, rows, bodies, scheme, blocks, block):
    """The same after a block of constraints: of the vertices that have no later one."""
    if blocks.numbers[0] == 1:
        gather_all(thread, threads, rows, bodies, scheme)
    else:
        gather_some(thread, threads, rows, bodies, scheme, blocks.vertices[block], blocks.vertices[block + 1])


@inlined
def relax_singly(rows, bodies, i, scheme, pace, beta):
    """One constraint, of any form."""
    relax_row(rows, bodies, i, scheme, pace.omega, beta, pace.weights)
    if resists(rows, i, scheme):
        relax_rolling(rows, bodies, i, pace.omega, beta, pace.weights)


@entry(nogil=True, error_model="numpy")
def jacobi(
    thread, threads, barrier, rows, count, bodies, scheme, pace, iterations, kinds, order, blocks, packs, is_new
):
    """Equations 26 and 38, in waves (constraints.blocks). kinds: of packs (constraints.packs); order: 0, 1, 2, ...;
    is_new: the first iteration fills packs. Impulses stay in packs until `copy_back`.
    """
    like = zeros_like(rows.rest)
    width = width_of(like)
    waits, block_count, skew = 0, blocks.numbers[0], blocks.numbers[1]
    for done in range(0, iterations, DEPTH):
        depth = min(iterations - done, DEPTH)
        for wave in range(block_count + (depth - 1) * skew):
            for k in range(depth):
                block = wave - k * skew
                if 0 <= block < block_count:
                    beta, is_last = momentum(pace, done + k), done + k == iterations - 1
                    begin, end = rows_of_block(block, block_count, len(kinds) * width)
                    begin, end = share(begin // width, end // width, thread, threads)
                    for pack in range(begin, end):
                        place = pack * width
                        if kinds[pack] != SINGLY:
                            if is_new and done + k == 0:
                                fill_pack(rows, packs, order, place, pack, kinds[pack], scheme, pace, like)
                            about = (order, place, pack, kinds[pack], scheme, pace, beta, is_last, like)
                            push, _, _ = relax_packed(rows, bodies, packs, *about)
                            store3(rows.push, place, push[0], push[1], push[2])
                        else:
                            for i in range(place, min(place + width, count)):
                                relax_singly(rows, bodies, i, scheme, pace, beta)
            waits += 1
            barrier_wait(barrier, waits * threads)
            for k in range(depth):
                block = wave - k * skew
                if 0 <= block < block_count:
                    gather_block(thread, threads, rows, bodies, scheme, blocks, block)
            waits += 1
            barrier_wait(barrier, waits * threads)


@entry(nogil=True, error_model="numpy")
def gauss_seidel(thread, threads, barrier, rows, colours, bodies, scheme, pace, iterations, packs, is_new):
    """Equation 29, colour by colour; the last one of a palette is one thread's. is_new: packs are to be filled first.
    Impulses stay in packs until `copy_back`.
    """
    like = zeros_like(rows.rest)
    width, waits = width_of(like), 0
    if is_new:
        copy_packs(thread, threads, rows, colours, scheme, pace, packs, True)
        waits += 1
        barrier_wait(barrier, waits * threads)
    for k in range(iterations):
        beta = momentum(pace, k)
        for group in range(0, len(colours.sizes), FORMS):
            first, last = colours.packs[group], colours.packs[group + FORMS]
            if first == last:
                continue
            if group % GROUPS < FORMS * COLOURS:
                first, last = share(first, last, thread, threads)
            elif thread > 0:
                last = first
            for pack in range(first, last):
                place, kind = pack * width, colours.kinds[pack]
                if kind != SINGLY:
                    about = (colours.order, place, pack, kind, scheme, pace, beta, k == iterations - 1, like)
                    sweep_pack(rows, bodies, packs, *about)
                else:
                    for own in range(place + copies_in(colours, group, pack, width), place + width):
                        push_singly(rows, bodies, colours.order[own], scheme, pace, beta)
            waits += 1
            barrier_wait(barrier, waits * threads)


@entry(nogil=True, error_model="numpy")
def copy_back(thread, threads, barrier, rows, colours, kinds, order, scheme, pace, packs, by_colours):
    """Copy what iterations have changed in packs, of colours or of all constraints, back to the rows."""
    if by_colours:
        copy_packs(thread, threads, rows, colours, scheme, pace, packs, False)
        return
    like = zeros_like(rows.rest)
    width = width_of(like)
    first, last = share(0, len(kinds), thread, threads)
    for pack in range(first, last):
        if kinds[pack] != SINGLY:
            empty_pack(rows, packs, order, pack * width, pack, kinds[pack], scheme, pace, like)


@inner(nogil=True, error_model="numpy", _nrt=False)
def copy_packs(thread, threads, rows, colours, scheme, pace, packs, fills):
    """Fill this thread's share of packs from the rows, or copy impulses back to them."""
    like = zeros_like(rows.rest)
    width = width_of(like)
    for group in range(0, len(colours.sizes), FORMS):
        first, last = share(colours.packs[group], colours.packs[group + FORMS], thread, threads)
        for pack in range(first, last):
            place, kind = pack * width, colours.kinds[pack]
            if kind != SINGLY and fills:
                fill_pack(rows, packs, colours.order, place, pack, kind, scheme, pace, like)
                silence(packs, pack, copies_in(colours, group, pack, width), width)
            elif kind != SINGLY:
                empty_pack(rows, packs, colours.order, place, pack, kind, scheme, pace, like)


@inlined
def copies_in(colours, group, pack, width):
    """How many places of a pack, of one of the groups of a colour, have copies; group: the first of them."""
    while pack >= colours.packs[group + 1]:
        group += 1
    return copies_of(colours, group, width) if pack == colours.packs[group] else 0


@inner(nogil=True, error_model="numpy", _nrt=False)
def push_singly(rows, bodies, i, scheme, pace, beta):
    """One constraint, of any form, and its push."""
    relax_row(rows, bodies, i, scheme, pace.omega, beta, pace.weights)
    push_vertices(rows, bodies, i, scheme.has_spin)
    if resists(rows, i, scheme):
        relax_rolling(rows, bodies, i, pace.omega, beta, pace.weights)
        push_roll(rows, bodies, i)


@inlined
def is_half_through(rows, i, h, relative):
    """Whether the two of a contact will be nearer than half of the distance to be kept."""
    s, half = add_scaled(row(rows.separation, i), h, relative), 0.5 * rows.rest[i]
    if rows.vertices[i, 1] < 0 or rows.vertices[i, 2] >= 0:
        return dot(row(rows.normal, i), s) < half
    return dot(s, s) < half * half


@entry(nogil=True, error_model="numpy")
def end_passages(rows, count, bodies, scheme, passes):
    """Push apart what is still more than half way through after all iterations, one contact after another; how many
    pushes it took. So no sphere passes through a face or an obstacle because iterations have ended early.
    """
    pushes, before = 0, -1
    for _ in range(passes):
        if pushes == before:
            break
        before = pushes
        for k in range(count):
            i = np.uint64(k)
            if rows.kind[i] == 1:
                relative = relative_velocity(rows, bodies.velocity, bodies.rigid.twist, i, 1.0)
                if is_half_through(rows, i, scheme.h, relative):
                    change = -constraint_value(rows, i, scheme.h, relative) / (scheme.h * rows.diagonal[i, 0])
                    rows.impulse[i, 0] += change
                    put_row(rows.push, i, in_space(rows, i, (change, 0.0 * change, 0.0 * change)))
                    push_vertices(rows, bodies, i, scheme.has_spin)
                    pushes += 1
    return pushes


@entry(nogil=True, error_model="numpy")
def find_ends(thread, threads, barrier, rows, count, bodies, scheme, found):
    """How the step ends so far, into found[STRIDE * thread] and the number after it: by how much an overlap grows
    within the step, at most, as a part of the distance to be kept; and 1 if any contact is more than half way through.
    """
    first, last = share(0, count, thread, threads)
    most, through = 0.0, 0.0
    for k in range(first, last):
        i = np.uint64(k)
        if rows.kind[i] == 1:
            n, relative = row(rows.normal, i), relative_velocity(rows, bodies.velocity, bodies.rigid.twist, i, 1.0)
            before = dot(n, row(rows.separation, i)) - rows.rest[i]
            after = before + scheme.h * dot(n, relative)
            most = max(most, (min(before, 0.0) - after) / rows.rest[i])
            if is_half_through(rows, i, scheme.h, relative):
                through = 1.0
    found[STRIDE * thread], found[STRIDE * thread + 1] = most, through


@entry(nogil=True, error_model="numpy")
def end_corrections(rows, count):
    """Ask for no more correction of positions: delta of what is violated becomes 0, that of gaps and springs stays."""
    for k in range(count):
        i = np.uint64(k)
        is_open = (rows.kind[i] == 1 and rows.bias[i] > 0.0) or (rows.kind[i] == 2 and rows.bias[i] < 0.0)
        if not is_open and rows.compliance[i] == 0.0:
            rows.bias[i] = 0.0
        for axis in range(3 if len(rows.rolling) > 0 else 0):
            rows.roll_change[i, axis] = 0.0


@entry(nogil=True, error_model="numpy")
def friction_at_end(thread, threads, barrier, rows, count, bodies, scheme):
    """Tangential impulses in one pass after all normal ones (Section 5), with masses split so that it is stable."""
    first, last = share(0, count, thread, threads)
    for i in range(first, last):
        _, r1, r2 = residual(rows, bodies, i, scheme)
        d_t = rows.split[i, 1]
        take(rows, i, scheme, rows.impulse[i, 0], -r1 / d_t, -r2 / d_t)
        if resists(rows, i, scheme):
            relax_rolling(rows, bodies, i, 1.0, 0.0, COUNT)
    barrier_wait(barrier, threads)
    gather_all(thread, threads, rows, bodies, scheme)

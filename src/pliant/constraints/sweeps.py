"""Iterations over all constraints, compiled: Jacobi with and without momentum, and Gauss-Seidel, both by colours.

Constraints of one colour share no vertex, so that each may push its own at once, and the result does not depend on the
number of threads. Gauss-Seidel pushes the velocities that constraints see, Jacobi copies of them.

What is done at the same time is a stage, after which threads wait for each other: a phase of blocks, or a wave of them,
each block from its first to its last colour by one thread (constraints.blocks); or, where all is one block, one colour.

Deviation: the paper's Jacobi runs in two passes (Section 7): over constraints, which find their impulses, then over
vertices, which add up those of their lists. A pass over vertices took as long as the one over constraints.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from pliant.constraints.blocks import DEPTH
from pliant.constraints.lists import COLOURS, FORMS, GROUPS
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
from pliant.constraints.packed_rows import ALL, NOTHING, STEPS, empty_pack, fill_pack, fill_steps, silence, sweep_pack
from pliant.constraints.packs import SINGLY, zeros_like
from pliant.constraints.rolling import gather_body_roll, gather_roll, push_roll, relax_rolling
from pliant.constraints.rows import COUNT, NO_FRICTION
from pliant.constraints.triples import load_quad
from pliant.elements.closest import row
from pliant.kernels.threads import barrier_wait, share
from pliant.lanes.compiled import at, inlined
from pliant.lanes.entry import entry
from pliant.lanes.inner import inner
from pliant.lanes.memory import load, store, width_of
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
    if blocks.numbers[3] == 0:
        gather_all(thread, threads, rows, bodies, scheme)
    else:
        gather_some(thread, threads, rows, bodies, scheme, blocks.vertices[block], blocks.vertices[block + 1])


@entry(nogil=True, error_model="numpy")
def sweep(
    thread, threads, barrier, rows, colours, blocks, bodies, ahead, is_apart, scheme, pace, iterations, packs,
    what,
):  # fmt: skip
    """Equation 29, stage by stage; constraints that fit in no colour are one thread's.

    ahead: whom constraints push: the bodies themselves, or, if is_apart, for Equations 26 and 38, copies of their
    velocities, which take their place after each iteration. what: of packs is to be filled first. Impulses stay in
    packs until `copy_back`.
    """
    waits, is_wave = 1, blocks.numbers[3] == 1
    like = zeros_like(rows.rest)
    width = width_of(like)
    most = DEPTH if is_wave else 1
    if is_apart:
        take_over(thread, threads, ahead, bodies)
    barrier_wait(barrier, threads)
    for done in range(0, iterations, most):
        depth = min(iterations - done, most)
        for stage in range(stages_of(colours, blocks, depth)):
            if is_empty(colours, blocks, stage):
                continue
            begin, end, step = units_of(thread, threads, blocks, stage, depth)
            for unit in range(begin, end, step):
                first, last, singly, block = packs_of(thread, threads, colours, blocks, stage, unit)
                k = done + unit if is_wave else done
                beta, is_last, fills = momentum(pace, k), k == iterations - 1, what if k == 0 else NOTHING
                begins = pace.done == 0
                for pack in range(first, last):
                    place, kind = pack * width, at(colours.kinds, pack)
                    if kind != SINGLY and (is_apart or pack < singly):
                        if fills == ALL:
                            fill_pack(rows, packs, colours.order, place, pack, kind, scheme, pace, begins, like)
                        elif fills == STEPS:
                            fill_steps(rows, packs, colours.order, place, pack, scheme, pace, like)
                        if fills != NOTHING:
                            silence(packs, pack, at(colours.copies, pack), width)
                        about = (colours.order, place, pack, kind, scheme, pace, beta, is_last, like)
                        sweep_pack(rows, bodies, ahead, packs, *about)
                    else:
                        for own in range(place + at(colours.copies, pack), place + width):
                            push_singly(rows, bodies, ahead, colours.order[own], scheme, pace, beta)
                if is_apart and is_wave:
                    take_over_after(block, blocks, bodies, ahead)
            waits += 1
            barrier_wait(barrier, waits * threads)
        if is_apart and not is_wave:
            take_over(thread, threads, bodies, ahead)
            waits += 1
            barrier_wait(barrier, waits * threads)


@inlined
def stages_of(colours, blocks, depth):
    """How many stages so many iterations that go together have."""
    numbers = blocks.numbers
    if numbers[0] == 1:
        return colours.palettes[0] * colours.palettes[2]
    return numbers[0] + (depth - 1) * numbers[1] if numbers[3] == 1 else numbers[1]


@inlined
def is_empty(colours, blocks, stage):
    """Whether a palette lacks a colour."""
    if blocks.numbers[0] > 1:
        return False
    group = stage // colours.palettes[2] * GROUPS + FORMS * (stage % colours.palettes[2])
    return colours.packs[group] == colours.packs[group + FORMS]


@inlined
def units_of(thread, threads, blocks, stage, depth):
    """A thread's units of a stage, as a range: iterations of a wave, blocks of a phase, or its share of a colour."""
    numbers = blocks.numbers
    if numbers[0] == 1:
        return 0, 1, 1
    if numbers[3] == 1:
        return thread, depth, threads
    first, last = share(0, (numbers[0] - stage - 1) // numbers[1] + 1, thread, threads)
    return first, last, 1


@inlined
def packs_of(thread, threads, colours, blocks, stage, unit):
    """First pack of a unit, the one after its last, the one from which constraints may share vertices, the block."""
    numbers = blocks.numbers
    if numbers[0] == 1:
        palette, colour = stage // colours.palettes[2], stage % colours.palettes[2]
        group = palette * GROUPS + FORMS * colour
        first, last = colours.packs[group], colours.packs[group + FORMS]
        if colour == COLOURS:
            return first, last if thread == 0 else first, first, 0
        first, last = share(first, last, thread, threads)
        return first, last, last, 0
    block = stage - unit * numbers[1] if numbers[3] == 1 else stage + unit * numbers[1]
    if block < 0 or block >= numbers[0]:
        return 0, 0, 0, -1
    group = block * GROUPS
    return colours.packs[group], colours.packs[group + GROUPS], colours.packs[group + FORMS * COLOURS], block


@inlined
def take_over_after(block, blocks, bodies, ahead):
    """Let velocities be those ahead, of all that have no constraint after a block; -1: of nobody."""
    for place in range(blocks.vertices[block] if block >= 0 else 0, blocks.vertices[block + 1] if block >= 0 else 0):
        vertex = np.int64(at(bodies.order, place))
        store(bodies.velocity, 4 * vertex, load_quad(ahead.velocity, vertex))
        for axis in range(3 if len(bodies.spin) > 0 else 0):
            bodies.spin[vertex, axis] = ahead.spin[vertex, axis]


@inner(nogil=True, error_model="numpy", _nrt=False)
def take_over(thread, threads, to, source):
    """Copy this thread's share of all velocities."""
    like = zeros_like(to.velocity)
    first, last = share(0, len(to.velocity), thread, threads)
    whole = 4 * last - (4 * last - 4 * first) % width_of(like)
    for number in range(4 * first, whole, width_of(like)):
        store(to.velocity, number, load(source.velocity, number, like))
    for vertex in range(whole // 4, last):
        for axis in range(4):
            to.velocity[vertex, axis] = source.velocity[vertex, axis]
    for vertex in range(first, last if len(to.spin) > 0 else first):
        for axis in range(3):
            to.spin[vertex, axis] = source.spin[vertex, axis]
    first, last = share(0, len(to.rigid.twist), thread, threads)
    for b in range(first, last):
        for k in range(6):
            to.rigid.twist[b, k] = source.rigid.twist[b, k]


@entry(nogil=True, error_model="numpy")
def copy_back(thread, threads, barrier, rows, colours, is_apart, scheme, pace, packs, ends):
    """Copy what iterations have changed in packs back to the rows; ends: but for last changes."""
    like = zeros_like(rows.rest)
    width = width_of(like)
    for palette in range(colours.palettes[0]):
        group = palette * GROUPS
        first, last = share(colours.packs[group], colours.packs[group + GROUPS], thread, threads)
        singly = colours.packs[group + FORMS * COLOURS]
        for pack in range(first, last):
            place, kind = pack * width, colours.kinds[pack]
            if kind != SINGLY and (is_apart or pack < singly):
                empty_pack(rows, packs, colours.order, place, pack, kind, scheme, pace, ends, like)


@inner(nogil=True, error_model="numpy", _nrt=False)
def push_singly(rows, bodies, ahead, i, scheme, pace, beta):
    """One constraint, of any form, and its push."""
    relax_row(rows, bodies, i, scheme, pace.omega, beta, pace.weights)
    push_vertices(rows, ahead, i, scheme.has_spin)
    if resists(rows, i, scheme):
        relax_rolling(rows, bodies, i, pace.omega, beta, pace.weights)
        push_roll(rows, ahead, i)


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

"""Iterations over all constraints, compiled: Jacobi with and without momentum, and Gauss-Seidel by colours.

Jacobi runs in two passes, as the paper's (Section 7): over constraints, which find their impulses, then over vertices,
which add up the impulses of their lists. Gauss-Seidel pushes vertices at once; constraints of one colour share none.
Either way the result does not depend on the number of threads.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

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
    write_diagonals,
)
from pliant.constraints.rolling import gather_body_roll, gather_roll, push_roll, relax_rolling
from pliant.constraints.rows import COUNT, NO_FRICTION
from pliant.elements.closest import row
from pliant.kernels.threads import barrier_wait, share
from pliant.lanes.compiled import inlined
from pliant.lanes.entry import entry
from pliant.lanes.inner import inner
from pliant.lanes.vectors import dot

COLOURS = 62  # constraints that fit in none of so many are in one more, which one thread does


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
    """beta of the k-th iteration from now."""
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
    first, last = share(0, len(bodies.inverse_mass), thread, threads)
    for vertex in range(first, last):
        gather(rows, bodies, rows.push, vertex, scheme.has_spin, bodies.velocity, bodies.spin)
        if len(rows.rolling) > 0:
            gather_roll(rows, bodies, vertex)
    first, last = share(0, len(bodies.rigid.twist), thread, threads)
    for b in range(first, last):
        gather_body(rows, bodies.rigid, rows.push, b, bodies.rigid.twist)
        if len(rows.rolling) > 0:
            gather_body_roll(rows, bodies.rigid, b)


@entry(nogil=True, error_model="numpy")
def jacobi(thread, threads, barrier, rows, count, bodies, scheme, pace, iterations):
    """Equations 26 and 38."""
    first, last = share(0, count, thread, threads)
    waits = 0
    for k in range(iterations):
        beta = momentum(pace, k)
        for i in range(first, last):
            relax_row(rows, bodies, i, scheme, pace.omega, beta, pace.weights)
            if resists(rows, i, scheme):
                relax_rolling(rows, bodies, i, pace.omega, beta, pace.weights)
        waits += 1
        barrier_wait(barrier, waits * threads)
        gather_all(thread, threads, rows, bodies, scheme)
        waits += 1
        barrier_wait(barrier, waits * threads)


@entry(nogil=True, error_model="numpy")
def gauss_seidel(thread, threads, barrier, rows, order, starts, bodies, scheme, pace, iterations):
    """Equation 29. order (m,): constraints colour by colour; starts (colours + 1,): the last colour is one thread's."""
    waits, colours = 0, len(starts) - 1
    for k in range(iterations):
        beta = momentum(pace, k)
        for colour in range(colours):
            first, last = starts[colour], starts[colour + 1]
            if first == last:
                continue
            if colour < colours - 1:
                first, last = share(first, last, thread, threads)
            elif thread > 0:
                last = first
            for place in range(first, last):
                i = order[place]
                relax_row(rows, bodies, i, scheme, pace.omega, beta, pace.weights)
                push_vertices(rows, bodies, i, scheme.has_spin)
                if resists(rows, i, scheme):
                    relax_rolling(rows, bodies, i, pace.omega, beta, pace.weights)
                    push_roll(rows, bodies, i)
            waits += 1
            barrier_wait(barrier, waits * threads)


@entry(nogil=True, error_model="numpy")
def apply_impulses(thread, threads, barrier, rows, count, bodies, scheme):
    """Let the impulses as they are push the vertices: a warm start."""
    first, last = share(0, count, thread, threads)
    for i in range(first, last):
        impulse = (rows.impulse[i, 0], rows.impulse[i, 1], rows.impulse[i, 2])
        put_row(rows.push, i, in_space(rows, i, impulse))
        if len(rows.rolling) > 0:
            put_row(rows.roll_change, i, row(rows.roll, i))
    barrier_wait(barrier, threads)
    gather_all(thread, threads, rows, bodies, scheme)


@entry(nogil=True, error_model="numpy")
def end_passages(rows, count, bodies, scheme, passes):
    """Push apart what is still more than half way through after all iterations, one contact after another; how many
    pushes it took. So no sphere passes through a face or an obstacle because iterations have ended early.
    """
    pushes = 0
    for _ in range(passes):
        for i in range(count):
            if rows.kind[i] == 1:
                relative = relative_velocity(rows, bodies.velocity, bodies.rigid.twist, i, 1.0)
                n, t = row(rows.normal, i), row(rows.tangent, i)
                value = constraint_value(rows, i, scheme.h, relative)
                if value < -0.5 * rows.rest[i]:
                    change = -value / (scheme.h * rows.diagonal[i, 0])
                    rows.impulse[i, 0] += change
                    put_row(rows.push, i, in_space(rows, i, (change, 0.0 * change, 0.0 * change)))
                    push_vertices(rows, bodies, i, scheme.has_spin)
                    pushes += 1
                else:  # the directions that the impulses were found for
                    put_row(rows.normal, i, n)
                    put_row(rows.tangent, i, t)
    return pushes


@entry(nogil=True, error_model="numpy")
def deepening(rows, count, bodies, scheme):
    """By how much an overlap grows within the step, at most, as a part of the distance to be kept."""
    most = 0.0
    for i in range(count):
        if rows.kind[i] == 1:
            n, relative = row(rows.normal, i), relative_velocity(rows, bodies.velocity, bodies.rigid.twist, i, 1.0)
            before = dot(n, row(rows.separation, i)) - rows.rest[i]
            after = before + scheme.h * dot(n, relative)
            most = max(most, (min(before, 0.0) - after) / rows.rest[i])
    return most


@entry(nogil=True, error_model="numpy")
def end_corrections(rows, count):
    """Ask for no more correction of positions: delta of what is violated becomes 0, that of gaps and springs stays."""
    for i in range(count):
        is_open = (rows.kind[i] == 1 and rows.bias[i] > 0.0) or (rows.kind[i] == 2 and rows.bias[i] < 0.0)
        if not is_open and rows.compliance[i] == 0.0:
            rows.bias[i] = 0.0
        for axis in range(3):
            rows.change[i, axis] = 0.0
            if len(rows.rolling) > 0:
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


@inner(nogil=True, error_model="numpy", _nrt=False)
def list_rows(owners, count, factor, owned, cursor):
    """Loads of what rows act on, and the rows of each: owners (m, k), -1 for none, have entries k i + slot in `owned`,
    the Bodies or their rigid part; cursor (as long as what is owned, or longer) is scratch.
    """
    start, slots = owned.start, owners.shape[1]
    start[:] = 0
    owned.load[:] = 0.0
    for i in range(count):
        for slot in range(slots):
            if owners[i, slot] >= 0:
                start[owners[i, slot] + 1] += 1
                owned.load[owners[i, slot]] += factor[i]
    for k in range(len(start) - 1):
        start[k + 1] += start[k]
        cursor[k] = start[k]
    for i in range(count):
        for slot in range(slots):
            k = owners[i, slot]
            if k >= 0:
                owned.entries[cursor[k]] = slots * i + slot
                cursor[k] += 1


@entry(nogil=True, error_model="numpy")
def prepare(rows, count, bodies, cursor, scheme, gamma):
    """Lists of the vertices, diagonals, and delta = gamma / h C(x_t) (Equation 28).

    Deviation: a gap may close within the step, delta = C / h where C > 0; gamma would stop spheres before they touch.
    """
    if len(bodies.rigid.twist) > 0:
        list_rows(rows.carrier, count, rows.factor, bodies.rigid, cursor)
    list_rows(rows.vertices, count, rows.factor, bodies, cursor)
    for i in range(count):
        write_diagonals(rows, bodies, i)
        value = -rows.rest[i]
        for axis in range(3):
            value += rows.normal[i, axis] * rows.separation[i, axis]
            rows.change[i, axis] = 0.0
        is_gap = value > 0.0 and rows.kind[i] == 1
        rows.bias[i] = value / scheme.h * (1.0 if is_gap or rows.compliance[i] > 0.0 else gamma)


@entry(nogil=True, error_model="numpy")
def colour_rows(rows, count, inverse_mass, used, colour, order, starts):
    """Greedy colours by bit masks of the vertices and of the bodies after them: used (n + b,) uint64, colour (m,),
    starts (COLOURS + 2,).
    """
    used[:] = 0
    starts[:] = 0
    one, n = np.uint64(1), len(inverse_mass)
    sides = 2 if len(used) > n else 0
    for i in range(count):
        mask = np.uint64(0)
        for slot in range(4):
            vertex = rows.vertices[i, slot]
            if vertex >= 0 and inverse_mass[vertex] > 0.0:
                mask |= used[vertex]
        for side in range(sides):
            if rows.carrier[i, side] >= 0:
                mask |= used[n + rows.carrier[i, side]]
        c = 0
        while c < COLOURS and (mask >> np.uint64(c)) & one:
            c += 1
        colour[i] = c
        starts[c + 1] += 1
        if c < COLOURS:
            for slot in range(4):
                if rows.vertices[i, slot] >= 0:
                    used[rows.vertices[i, slot]] |= one << np.uint64(c)
            for side in range(sides):
                if rows.carrier[i, side] >= 0:
                    used[n + rows.carrier[i, side]] |= one << np.uint64(c)
    for c in range(COLOURS + 1):
        starts[c + 1] += starts[c]
    place = np.zeros(COLOURS + 1, np.int64)
    for i in range(count):
        c = colour[i]
        order[starts[c] + place[c]] = i
        place[c] += 1

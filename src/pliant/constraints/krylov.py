"""Projected minimum residual and projected conjugate residuals (Equations 30 to 35), compiled.

Directions are made of the projected residual  g = (lambda - proj(lambda - tau r)) / tau, tau = 1 / rho(A), which is r
where no bound holds and zero where one holds for good; without it, contacts that separate would spoil alpha. Sums over
all constraints are made in fixed parts, so that they have the same bits on any number of threads.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from pliant.constraints.one_row import (
    gather,
    gather_body,
    in_space,
    projected,
    put_row,
    relative_velocity,
    residual,
    second_tangent,
    slip_velocity,
    take,
)
from pliant.constraints.rows import DISTANCE, NO_FRICTION
from pliant.elements.closest import row
from pliant.kernels.threads import barrier_wait, share
from pliant.lanes.entry import entry
from pliant.lanes.inner import inner
from pliant.lanes.vectors import dot

PARTS = 64  # of all sums
FIXED_ALPHA, MINIMUM_RESIDUAL, CONJUGATE = range(3)  # methods
RHO, ALPHA, BETA, LAST, BOUNDED = range(5)  # places in `numbers`
LARGEST_ALPHA = 1.5  # times 1 / rho(A)


class Vectors(NamedTuple):
    """Vectors over constraints (m, 3) and over vertices (n, 3), and numbers that last from iteration to iteration."""

    gradient: np.ndarray  # g
    image: np.ndarray  # A g
    direction: np.ndarray  # d
    direction_image: np.ndarray  # A d
    velocity: np.ndarray  # (n, 4) W J^T g, and a zero
    spin: np.ndarray
    twist: np.ndarray  # (b, 6) the same of rigid bodies
    sums: np.ndarray  # (PARTS, 3)
    numbers: np.ndarray  # (5,) rho(A), alpha, beta, g.Ag of the last iteration, rows with bounds
    is_bounded: np.ndarray  # (m,) bool: g is not r


@inner(nogil=True, error_model="numpy", _nrt=False)
def apply_operator(thread, threads, barrier, waits, rows, count, bodies, scheme, vector, vectors, out):
    """out = A vector; waits so far in, waits so far out."""
    first, last = share(0, count, thread, threads)
    for i in range(first, last):
        put_row(rows.push, i, in_space(rows, i, row(vector, i)))
    waits += 1
    barrier_wait(barrier, waits * threads)
    first_vertex, last_vertex = share(0, len(bodies.inverse_mass), thread, threads)
    for vertex in range(first_vertex, last_vertex):
        put_row(vectors.velocity, vertex, (0.0, 0.0, 0.0))
        if scheme.has_spin:
            put_row(vectors.spin, vertex, (0.0, 0.0, 0.0))
        gather(rows, bodies, vertex, scheme.has_spin, vectors.velocity, vectors.spin)
    first_body, last_body = share(0, len(vectors.twist), thread, threads)
    for b in range(first_body, last_body):
        for k in range(6):
            vectors.twist[b, k] = 0.0
        gather_body(rows, bodies.rigid, rows.push, b, vectors.twist)
    waits += 1
    barrier_wait(barrier, waits * threads)
    for i in range(first, last):
        relative = relative_velocity(rows, vectors.velocity, vectors.twist, i, 0.0)
        n = row(rows.normal, i)
        normal = dot(n, relative) + rows.compliance[i] * vector[i, 0]
        if scheme.friction == NO_FRICTION or rows.friction[i] == 0.0:
            put_row(out, i, (normal, 0.0, 0.0))
        else:
            slip = slip_velocity(rows, vectors.spin, i, n, relative) if scheme.has_spin else relative
            put_row(out, i, (normal, dot(slip, row(rows.tangent, i)), dot(slip, second_tangent(rows, i))))
    waits += 1
    barrier_wait(barrier, waits * threads)
    return waits


@inner(nogil=True, error_model="numpy", _nrt=False)
def sum_products(thread, threads, barrier, waits, count, a, b, c, sums):
    """a.a, a.b and c.c into sums[0] on every thread alike."""
    for part in range(thread, PARTS, threads):
        first, last = share(0, count, part, PARTS)
        aa, ab, cc = 0.0, 0.0, 0.0
        for i in range(first, last):
            for k in range(3):
                aa += float(a[i, k]) * a[i, k]
                ab += float(a[i, k]) * b[i, k]
                cc += float(c[i, k]) * c[i, k]
        sums[part, 0], sums[part, 1], sums[part, 2] = aa, ab, cc
    waits += 1
    barrier_wait(barrier, waits * threads)
    aa, ab, cc = 0.0, 0.0, 0.0
    for part in range(PARTS):
        aa, ab, cc = aa + sums[part, 0], ab + sums[part, 1], cc + sums[part, 2]
    waits += 1
    barrier_wait(barrier, waits * threads)
    return waits, aa, ab, cc


@entry(nogil=True, error_model="numpy")
def largest_eigenvalue(thread, threads, barrier, rows, count, bodies, scheme, vectors, iterations):
    """rho(A) by power iteration, into vectors.numbers[RHO] [1/kg]; it comes from below, so 5 % are added."""
    first, last = share(0, count, thread, threads)
    waits = 0
    for i in range(first, last):
        slips = scheme.friction != NO_FRICTION and rows.friction[i] > 0.0
        sign = 1.0 if (i * 7919) % 13 < 6 else -1.0
        tangential = 0.5 if slips else 0.0
        put_row(vectors.direction, i, (sign, tangential, -tangential))
    waits += 1
    barrier_wait(barrier, waits * threads)
    value = 0.0
    for _ in range(iterations):
        waits = apply_operator(
            thread, threads, barrier, waits, rows, count, bodies, scheme, vectors.direction, vectors, vectors.image
        )
        waits, aa, _, cc = sum_products(
            thread, threads, barrier, waits, count, vectors.direction, vectors.image, vectors.image, vectors.sums
        )
        value = np.sqrt(cc / aa) if aa > 0.0 else 0.0
        scale = 1.0 / np.sqrt(cc) if cc > 0.0 else 0.0
        for i in range(first, last):
            for k in range(3):
                vectors.direction[i, k] = vectors.image[i, k] * scale
        waits += 1
        barrier_wait(barrier, waits * threads)
    if thread == 0:
        vectors.numbers[RHO] = 1.05 * value
        vectors.numbers[ALPHA] = vectors.numbers[BETA] = vectors.numbers[LAST] = vectors.numbers[BOUNDED] = 0.0
        for i in range(count):
            if rows.kind[i] != DISTANCE:
                vectors.numbers[BOUNDED] += 1.0


@inner(nogil=True, error_model="numpy", _nrt=False)
def project_residuals(rows, count, bodies, scheme, vectors, rho, part):
    """g of one part of all constraints; how many of them met or left a bound since the last iteration."""
    changes = 0
    first, last = share(0, count, part, PARTS)
    for i in range(first, last):
        r = residual(rows, bodies, i, scheme)
        g, is_bounded = r, False
        if rows.kind[i] != DISTANCE:
            old = row(rows.impulse, i)
            aim = (old[0] - r[0] / rho, old[1] - r[1] / rho, old[2] - r[2] / rho)
            new = projected(rows, i, scheme, aim[0], aim[1], aim[2])
            is_bounded = new[0] != aim[0] or new[1] != aim[1] or new[2] != aim[2]
            if is_bounded:
                g = ((old[0] - new[0]) * rho, (old[1] - new[1]) * rho, (old[2] - new[2]) * rho)
        if is_bounded != vectors.is_bounded[i]:
            changes += 1
        vectors.is_bounded[i] = is_bounded
        put_row(vectors.gradient, i, (rows.factor[i] * g[0], g[1], g[2]))
    return changes


@entry(nogil=True, error_model="numpy")
def minimise_residual(
    thread, threads, barrier, rows, count, bodies, scheme, vectors, method, largest_beta, done, iterations
):
    """Equations 30, 31 with 33 to 35. method: FIXED_ALPHA has alpha = 1 / rho(A).

    Where impulses have bounds alpha stays between 1 and 1.5 over rho(A), where projected descent is safe, and
    conjugate directions begin again when a bound is met or left, or when the last one leads uphill.
    """
    first, last = share(0, count, thread, threads)
    first_vertex, last_vertex = share(0, len(bodies.inverse_mass), thread, threads)
    waits, numbers = 0, vectors.numbers
    rho, is_bounded = numbers[RHO], numbers[BOUNDED] > 0.0
    if rho == 0.0:
        return
    before = numbers[LAST]
    for k in range(iterations):
        for part in range(thread, PARTS, threads):
            vectors.sums[part, 0] = project_residuals(rows, count, bodies, scheme, vectors, rho, part)
        waits += 1
        barrier_wait(barrier, waits * threads)
        changes = 0.0
        for part in range(PARTS):
            changes += vectors.sums[part, 0]
        waits = apply_operator(
            thread, threads, barrier, waits, rows, count, bodies, scheme, vectors.gradient, vectors, vectors.image
        )
        waits, _, now, images = sum_products(
            thread, threads, barrier, waits, count, vectors.gradient, vectors.image, vectors.image, vectors.sums
        )
        beta = 0.0
        if method == CONJUGATE and done + k > 0 and changes == 0.0 and before > 0.0:
            beta = min(now / before, largest_beta)  # Equation 35
            if is_bounded:
                waits, _, onwards, _ = sum_products(
                    thread, threads, barrier, waits, count, vectors.direction, vectors.gradient,
                    vectors.direction, vectors.sums,
                )  # fmt: skip
                if onwards <= 0.0:  # the last direction leads uphill by now
                    beta = 0.0
        before = now
        for i in range(first, last):
            for axis in range(3):
                vectors.direction[i, axis] = vectors.gradient[i, axis] + beta * vectors.direction[i, axis]
                vectors.direction_image[i, axis] = vectors.image[i, axis] + beta * vectors.direction_image[i, axis]
        waits += 1
        barrier_wait(barrier, waits * threads)
        alpha = 1.0 / rho
        if method != FIXED_ALPHA:
            if method == CONJUGATE:
                waits, _, _, images = sum_products(
                    thread, threads, barrier, waits, count, vectors.direction, vectors.image,
                    vectors.direction_image, vectors.sums,
                )  # fmt: skip
            alpha = now / images if images > 0.0 else 0.0  # Equation 31
            if is_bounded:
                alpha = min(max(alpha, 1.0 / rho), LARGEST_ALPHA / rho)
        for i in range(first, last):
            old, d = row(rows.impulse, i), row(vectors.direction, i)
            take(rows, i, scheme, old[0] - alpha * d[0], old[1] - alpha * d[1], old[2] - alpha * d[2])
        waits += 1
        barrier_wait(barrier, waits * threads)
        for vertex in range(first_vertex, last_vertex):
            gather(rows, bodies, vertex, scheme.has_spin, bodies.velocity, bodies.spin)
        first_body, last_body = share(0, len(bodies.rigid.twist), thread, threads)
        for b in range(first_body, last_body):
            gather_body(rows, bodies.rigid, rows.push, b, bodies.rigid.twist)
        if thread == 0:
            numbers[LAST], numbers[ALPHA], numbers[BETA] = before, alpha, beta
        waits += 1
        barrier_wait(barrier, waits * threads)

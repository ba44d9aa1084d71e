"""How far rigid bodies that only contacts join still are from the minimum of a step, and which islands end.

That is known from a body's own residual before it moved,

    |x - x*|_M <= h^2 |M^-1 dG/du|_M        (contract.error: `owed`)

and from its motions in the last iterations (`seen`). What moves need not be solved as well as what stands: the error of
a body may be a thousandth of the way that the fastest body goes whom contacts join it with, and 5 % of its own forces
(decision 0076).
"""

from __future__ import annotations

import numpy as np

from pliant.kernels.rigid_packs import (
    ERROR,
    FALL,
    MOVED,
    MOVES,
    OWED,
    RATE,
    ROWS,
    SCALE,
    SEEN,
    START,
    WAY,
    WIDTH,
    WINDOW,
    J,
    K,
    P,
    R,
    W,
    Y,
    nine_of,
    numbers_of,
    three_of,
    zero,
)
from pliant.lanes.inner import inner
from pliant.lanes.math import exp, log, maximum, minimum, number, select, sqrt
from pliant.lanes.memory import store
from pliant.lanes.vectors import dot, subtract

SLOWEST = 0.95  # of one window to the next that is believed at most
AT_REST = 16 * 2.2e-16  # of its coordinates that a body without forces moves
MOVING = 1e-3  # of the longest way of an island in the step: an error that does not show among bodies which move
LOOSEST = 0.05  # of the step's forces, at most
LEAST = 1e-300  # [m] divides in place of what is less
DONE, ENDED, SINGULAR = 0, 1, 2  # places in `progress`

inlined = inner(nogil=True, error_model="numpy", forceinline=True, _nrt=False)


@inlined
def is_looked_at(done):
    """Whether errors are measured after so many iterations: always at first, then in every second and fourth one."""
    return done < 2 * WINDOW or (done < 32 and done % 2 == 0) or done % 4 == 0


@inlined
def measure(bodies, island, packs, tolerance):
    """Write the errors of all bodies after an iteration, and whether they are small enough to end; island (b,): whom
    contacts join.
    """
    numbers = packs.numbers
    for pack in range(len(packs.slot_start) - 1):
        measure_pack(pack * ROWS * WIDTH, bodies.progress[DONE], numbers)
    bodies.ways[:] = 0.0
    bodies.worst[:] = 0.0
    for b in range(len(island)):
        bodies.ways[island[b]] = max(bodies.ways[island[b]], numbers[packs.base[b] + WAY * WIDTH])
    for b in range(len(island)):
        i, at = island[b], packs.base[b]
        error, scale = numbers[at + ERROR * WIDTH], numbers[at + SCALE * WIDTH]
        allowed = max(tolerance, min(MOVING * bodies.ways[i] * scale, LOOSEST), LEAST)
        bodies.worst[i] = max(bodies.worst[i], error / allowed) if error == error else np.inf
    has_ended = tolerance >= 0.0
    for b in range(len(island)):
        if bodies.is_solved[island[b]] or (tolerance >= 0.0 and bodies.worst[island[b]] <= 1.0):
            bodies.is_solved[island[b]] = True
            numbers[packs.base[b] + MOVES * WIDTH] = 0.0
        else:
            has_ended = False
    bodies.progress[ENDED] = 1 if has_ended else 0


@inlined
def measure_pack(at, done, numbers):
    """Ways, and errors over the step's forces, of bodies whose numbers begin at a place; those of islands that have
    ended stay.
    """
    z, owed = zero(), numbers_of(numbers, at, OWED)
    p = three_of(numbers, at, P)
    way = subtract(p, three_of(numbers, at, START))
    store(numbers, at + WAY * WIDTH, sqrt(dot(way, way)))
    error, seen, rate = owed, owed, z
    if done >= 2 * WINDOW:
        recent, earlier = z, z
        for k in range(WINDOW):
            recent += numbers_of(numbers, at, MOVED + (done - 1 - k) % (2 * WINDOW))
            earlier += numbers_of(numbers, at, MOVED + (done - 1 - WINDOW - k) % (2 * WINDOW))
        least = number(LEAST, z)
        left = minimum(recent / maximum(earlier, least), number(SLOWEST, z))
        seen, rate, t = recent * left / (1.0 - left), sqrt(sqrt(left)), minimum(1.5 * left, 0.5 + z)
        guess = exp((1.0 - t) * log(maximum(seen, least)) + t * log(maximum(error, least)))
        error = select(guess < error, guess, error)  # NaN stays
    scale, moves = forces_of(at, p, owed, numbers), numbers_of(numbers, at, MOVES) > z
    for row, value in ((ERROR, error * scale), (SEEN, seen * scale), (SCALE, scale), (RATE, rate)):
        store(numbers, at + row * WIDTH, select(moves, value, numbers_of(numbers, at, row)))


@inlined
def forces_of(at, p, owed, numbers):
    """1 / m: what a length is to be multiplied by to be compared with what forces do to a body in the step."""
    R_, K_, y = nine_of(numbers, at, R), nine_of(numbers, at, K), three_of(numbers, at, Y)
    z, w = zero(), numbers_of(numbers, at, W)
    trace = numbers_of(numbers, at, J) + numbers_of(numbers, at, J + 3) + numbers_of(numbers, at, J + 5)
    turns = (
        dot((R_[0], R_[1], R_[2]), (K_[0], K_[3], K_[6]))
        + dot((R_[3], R_[4], R_[5]), (K_[1], K_[4], K_[7]))
        + dot((R_[6], R_[7], R_[8]), (K_[2], K_[5], K_[8]))
    )
    way = subtract(p, y)
    forces = sqrt(2.0 * maximum(trace - turns, z) / w + dot(way, way))
    forces = maximum(forces, numbers_of(numbers, at, FALL))
    noise = AT_REST * sqrt(trace / w + dot(p, p))
    return select((forces <= noise) & (owed <= noise), z, 1.0 / maximum(maximum(forces, noise), number(LEAST, z)))

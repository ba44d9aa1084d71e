"""How vertices have moved in a step, in a few numbers."""

from __future__ import annotations

import math

from pliant.lanes.entry import entry


@entry(nogil=True)
def way_of_step(x_prev, x, acceleration, mass, is_free):
    """Of a step from x_prev to x (n, 3) [m]: whether vertices that are held have moved, the work [J] of an acceleration
    (n, 3) [m/s^2] on the others, and how far two vertices have moved against each other at most [m].
    """
    held_moves, first, second, third = False, 0.0, 0.0, 0.0
    low, high = (math.inf, math.inf, math.inf), (-math.inf, -math.inf, -math.inf)
    for i in range(len(x)):
        a, b, c = x[i, 0] - x_prev[i, 0], x[i, 1] - x_prev[i, 1], x[i, 2] - x_prev[i, 2]
        low = (min(low[0], a), min(low[1], b), min(low[2], c))
        high = (max(high[0], a), max(high[1], b), max(high[2], c))
        if is_free[i]:
            first += mass[i] * acceleration[i, 0] * a
            second += mass[i] * acceleration[i, 1] * b
            third += mass[i] * acceleration[i, 2] * c
        else:
            held_moves |= a != 0.0 or b != 0.0 or c != 0.0
    spread = (high[0] - low[0]) ** 2 + (high[1] - low[1]) ** 2 + (high[2] - low[2]) ** 2
    return held_moves, first + second + third, math.sqrt(spread)


@entry(nogil=True)
def sums_of_state(mass, x, v):
    """Sums of positions and velocities (n, 3) of what has mass: other points slide over round bodies."""
    a, b, c, p, q, r = 0.0, 0.0, 0.0, 0.0, 0.0, 0.0  # six sums, which do not wait for each other
    for i in range(len(x)):
        if mass[i] > 0.0:
            a, b, c = a + x[i, 0], b + x[i, 1], c + x[i, 2]
            p, q, r = p + v[i, 0], q + v[i, 1], r + v[i, 2]
    return a + b + c, p + q + r


@entry(nogil=True)
def most_stretched(elements, x, x_rest, least):
    """Of all pairs of corners of elements (m, k), the two that are farthest from each other at x (n, 3) [m], as a
    multiple of their distance at x_rest, or of the length `least` [m] where that is longer; (0, 0) without any.
    """
    first, second, most = 0, 0, 0.0
    for e in range(len(elements)):
        for i in range(elements.shape[1] - 1):
            for j in range(i + 1, elements.shape[1]):
                a, b, now, start = elements[e, i], elements[e, j], 0.0, 0.0
                for axis in range(3):
                    now += (x[a, axis] - x[b, axis]) ** 2
                    start += (x_rest[a, axis] - x_rest[b, axis]) ** 2
                start = max(start, least * least)
                if now > most * start:
                    first, second, most = a, b, now / start
    return first, second

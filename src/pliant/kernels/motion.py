"""How vertices have moved in a step, in a few numbers."""

from __future__ import annotations

import math

from pliant.lanes.entry import entry


@entry(nogil=True)
def way_of_step(x_prev, x, acceleration, mass, is_free):
    """Of a step from x_prev to x (n, 3) [m]: whether vertices that are held have moved, the work [J] of an acceleration
    (n, 3) [m/s^2] on the others, and how far two vertices have moved against each other at most [m].
    """
    held_moves, work, spread = False, 0.0, 0.0
    for k in range(3):
        low, high = math.inf, -math.inf
        for i in range(len(x)):
            way = x[i, k] - x_prev[i, k]
            low, high = min(low, way), max(high, way)
            if is_free[i]:
                work += mass[i] * acceleration[i, k] * way
            else:
                held_moves |= way != 0.0
        spread += (high - low) ** 2
    return held_moves, work, math.sqrt(spread)


@entry(nogil=True)
def sums_of_state(mass, x, v):
    """Sums of positions and velocities (n, 3) of what has mass: other points slide over round bodies."""
    position, velocity = 0.0, 0.0
    for i in range(len(x)):
        if mass[i] > 0.0:
            for k in range(3):
                position += x[i, k]
                velocity += v[i, k]
    return position, velocity


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

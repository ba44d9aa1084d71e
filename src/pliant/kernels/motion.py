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
def most_stretched(elements, x, rest, least):
    """Of all pairs of vertices of elements (m, k), the one that is longest at x (n, 3) [m] for its length at `rest`
    (n, 3) [m], which counts as `least` [m] or more: a vertex of it, its length, that at rest [m], and their ratio.
    """
    worst, vertex, length, before = 0.0, -1, 0.0, 0.0
    for e in range(len(elements)):
        for i in range(elements.shape[1]):
            for j in range(i + 1, elements.shape[1]):
                a, b = elements[e, i], elements[e, j]
                now, start = 0.0, 0.0
                for k in range(3):
                    now += (x[a, k] - x[b, k]) ** 2
                    start += (rest[a, k] - rest[b, k]) ** 2
                if now > worst * worst * max(start, least * least):
                    length, before, vertex = math.sqrt(now), math.sqrt(start), a
                    worst = length / max(before, least)
    return vertex, length, before, worst

"""Sums over bodies of how the last iterations moved their vertices: what the error of a step is estimated from."""

from __future__ import annotations

from pliant.lanes.entry import entry

# columns of the sums
MASS, RECENT, EARLIER, OWED, FORCES, SIZE, MOVED, LAST, SHIFT = 0, 1, 2, 3, 4, 5, 6, 7, 8
COLUMNS = 11  # SHIFT has three


@entry(nogil=True)
def error_sums(body, mass, ratio, middle, x, before, earlier, owing, last, target, start, out):
    """Mass-weighted sums over the vertices of each body, to out (bodies, 11), in the order of vertices.

    body: (n,), negative for vertices that do not move. x and the others (n, 3) [m]: now, one and two windows ago,
    where the motion that is weighed by ratios began, before the last iteration, the inertial target and where the step
    started. Sums of m, m |x - before|^2, m |before - earlier|^2, m ratio^2 |x - owing|^2, m |x - target|^2,
    m |x - middle|^2, m |x - start|^2, m |x - last|^2 and m (x - before); middle (3,) [m].
    """
    out[:] = 0.0
    for i in range(len(body)):
        b = body[i]
        if b < 0:
            continue
        m = mass[i]
        recent = earlier_move = owed = forces = size = moved = single = 0.0
        for k in range(3):
            position = x[i, k]
            move = position - before[i, k]
            out[b, 8 + k] += m * move
            recent += move * move
            move = before[i, k] - earlier[i, k]
            earlier_move += move * move
            move = position - owing[i, k]
            owed += move * move
            move = position - last[i, k]
            single += move * move
            move = position - target[i, k]
            forces += move * move
            move = position - middle[k]
            size += move * move
            move = position - start[i, k]
            moved += move * move
        out[b, 0] += m
        out[b, 1] += m * recent
        out[b, 2] += m * earlier_move
        out[b, 3] += m * ratio[i] * ratio[i] * owed
        out[b, 4] += m * forces
        out[b, 5] += m * size
        out[b, 6] += m * moved
        out[b, 7] += m * single

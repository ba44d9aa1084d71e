"""The error of a step, body by body, from how the last iterations moved their vertices (solvers.contract.error)."""

from __future__ import annotations

import math

import numpy as np

from pliant.lanes.entry import entry
from pliant.lanes.inner import inner

SLOWEST = 0.95  # rate of two windows that is believed at most
FASTEST_CYCLE = 0.2  # of a cycle with a correction, when bounds are weighed: one cycle may be lucky
ROUNDING = 0.3  # machine epsilons of a position, root mean square, between two iterations that end in the same place
ALTERNATING = 2.0  # times the way of a window that its last iteration goes: back to where it was
TINY = 1e-300  # in place of zero below a fraction
HIDDEN = 0.1  # of the step's forces: rounding beyond it hides what is left to do from local solvers
STILL = 0.2  # machine epsilons of its coordinates that a body moves between two looks where only rounding moves it
CYCLE_ROUNDING = 0.5  # the same of a cycle with a correction by levels
DOUBTED = 0.1  # of what vertices owe: error at least, however little of it is seen to move
VISIBLE = 1e-3  # of the size of a body: motion that errors are compared with at least, where forces do more
AT_REST = 16.0  # machine epsilons of its coordinates that a body without forces moves

# columns of the sums
MASS, RECENT, EARLIER, OWED, FORCES, SIZE, MOVED, LAST, SHIFT = 0, 1, 2, 3, 4, 5, 6, 7, 8
COLUMNS = 11  # SHIFT has three
# rows of what is found
ERROR, SEEN_PART, OWED_PART, RATE, SHIFTED, NOISE, DISTANCE = 0, 1, 2, 3, 4, 5, 6
ROWS = 7


@entry(nogil=True, error_model="numpy")
def sums_and_scales(
    body, mass, ratio, middle, x, before, earlier, owing, last, target, start, falls, eps, is_of_forces, sums, scales
):
    """`write_sums` and `write_scales`."""
    write_sums(body, mass, ratio, middle, x, before, earlier, owing, last, target, start, sums)
    write_scales(sums, falls, eps, is_of_forces, scales)


@entry(nogil=True, error_model="numpy")
def body_errors(
    body, mass, ratio, middle, x, before, earlier, owing, last, target, start, falls, eps, sums, scales, ratios,
    distances, windows, period, weight, is_local, is_bounded, is_blind, is_alone, out,
):  # fmt: skip
    """`write_sums`, `write_scales` and `write_errors`; the largest error."""
    write_sums(body, mass, ratio, middle, x, before, earlier, owing, last, target, start, sums)
    write_scales(sums, falls, eps, False, scales)
    kind = (period, weight, is_local, is_bounded, is_blind, is_alone)
    write_errors(sums, scales, ratios, distances, windows, kind, eps, out)
    largest = 0.0
    for b in range(len(sums)):
        if not out[ERROR, b] <= largest:
            largest = out[ERROR, b]
    return largest


@inner(nogil=True)
def write_sums(body, mass, ratio, middle, x, before, earlier, owing, last, target, start, out):
    """Mass-weighted sums over the vertices of each body, to out (bodies, 11), in the order of vertices.

    body: (n,), negative for vertices that do not move. x and the others (n, 3) [m]: now, one and two windows ago,
    where the motion that is weighed by ratios began, before the last iteration, the inertial target and where the step
    started. Sums of m, m |x - before|^2, m |before - earlier|^2, m ratio^2 |x - owing|^2, m |x - target|^2,
    m |x - middle|^2, m |x - start|^2, m |x - last|^2 and m (x - before); middle (3,) [m].
    """
    for b in range(len(out)):
        for k in range(COLUMNS):
            out[b, k] = 0.0
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


@entry(nogil=True, error_model="numpy")
def add_ratios(body, mass, elastic, touching, ratio, mean):
    """h^2 k / m of vertices to ratio (n,), that of elements and of contacts (n,) each, and its mass-weighted root mean
    square over the vertices of each body, to mean (bodies,). body: (n,), negative for vertices that do not move.
    """
    whole = np.zeros(len(mean))
    for b in range(len(mean)):
        mean[b] = 0.0
    for i in range(len(body)):
        ratio[i] = elastic[i] + touching[i]
        if body[i] >= 0:
            whole[body[i]] += mass[i]
            mean[body[i]] += mass[i] * ratio[i] * ratio[i]
    for b in range(len(mean)):
        mean[b] = math.sqrt(mean[b] / max(whole[b], TINY))


@inner(nogil=True, error_model="numpy")
def write_scales(sums, falls, eps, is_of_forces, scales):
    """(bodies,) [m] what forces do to each body in the step, by `write_sums`; 0 where nothing acts or moves.

    Where that is much and other forces undo it, as in a step of statics, it is the motion of the body, unless what is
    compared with it is of forces too. falls (bodies,) [m]: h^2 times gravity. eps: machine epsilon of the positions.
    """
    for b in range(len(sums)):
        mass = max(sums[b, MASS], TINY)
        size = math.sqrt(sums[b, SIZE] / mass)
        rounding = AT_REST * eps * size
        forces = max(math.sqrt(sums[b, FORCES] / mass), falls[b])
        moved = math.sqrt(max(sums[b, RECENT], sums[b, MOVED]) / mass)
        rests = forces <= rounding and moved <= rounding
        if not is_of_forces:
            forces = min(forces, max(moved, VISIBLE * size))
        scales[b] = 0.0 if rests or sums[b, MASS] == 0.0 else max(forces, rounding, TINY)


@inner(nogil=True, error_model="numpy")
def write_errors(sums, scales, ratios, before, windows, kind, eps, out):
    """Error, its bounds, rates, shifts, what rounding hides, and the distance to the minimum [m], to out (7, bodies).

    scales: `write_scales`; ratios (bodies,): h^2 k / m; before (bodies,) [m]: distances at the last mark, or empty;
    windows: iterations of the earlier and of the last one; kind: period of corrections; weight t, of what is owed,
    where windows do not tell it, otherwise 0; is_local, is_bounded, is_blind: of the solver, whether it solves vertex
    by vertex, whether what is owed bounds the error between corrections, and whether what rounding hides counts as
    error; is_alone: whether it is vertex block descent, without levels, of bodies that nothing touches.
    """
    earlier_window, window = windows
    period, weight, is_local, is_bounded, is_blind, is_alone = kind
    for b in range(len(sums)):
        mass = max(sums[b, MASS], TINY)
        recent, last = math.sqrt(sums[b, RECENT] / mass), math.sqrt(sums[b, LAST] / mass)
        size = math.sqrt(sums[b, SIZE] / mass)
        speeds = (recent / window) / max(math.sqrt(sums[b, EARLIER] / mass) / earlier_window, TINY)
        rate, slowest = speeds ** (2.0 / (earlier_window + window)), SLOWEST ** (1.0 / window)
        stands, rate = rate >= slowest, min(rate, slowest)
        left = rate**window
        seen = recent * left / (1.0 - left)
        noise = ROUNDING * eps * size * ratios[b]
        owed = math.sqrt(sums[b, OWED] / mass) / (window if period == 1 and weight < 1.0 else 1)
        most = math.sqrt(owed**2 + noise**2) if is_bounded and period > 1 else math.inf
        if not is_local:
            owed = seen
        elif period > 1 or not is_blind:
            # rounding of positions is no motion that levels, or bodies whose poses are exact, leave
            owed = max(math.sqrt(max(owed**2 - noise**2, 0.0)), seen)
        t = weight if weight > 0.0 else min(0.5, 1.5 * (left if period == 1 else max(left, FASTEST_CYCLE)))
        distance = min(max(seen, TINY) ** (1.0 - t) * max(owed, TINY) ** t, most)
        if is_alone:
            least = math.sqrt(max(owed**2 - noise**2, 0.0)) * (1.0 if stands else DOUBTED)
            if least > distance:
                distance, rate = least, slowest  # what is left is slow, and hardly seen to move
        if period > 1 and recent <= CYCLE_ROUNDING * eps * size:
            distance = seen = owed = 0.0  # levels carry slow motion: what goes on below rounding is rounding
        if last > max(ALTERNATING * recent, AT_REST * eps * size):  # iterations go to and fro
            distance, rate = max(distance, last), max(rate, SLOWEST ** (1.0 / window))
        if len(before) and distance < 0.1 * before[b]:
            # a fall to less than a tenth is believed by half, in the logarithm: corrections that are refused in one
            # cycle and taken in the next move little and much in turn
            distance = math.sqrt(distance * before[b])
        shift = math.sqrt(sums[b, SHIFT] ** 2 + sums[b, SHIFT + 1] ** 2 + sums[b, SHIFT + 2] ** 2) / mass
        inverse = 1.0 / scales[b] if scales[b] > 0.0 else 0.0
        error, hidden = distance * inverse, noise * inverse
        if is_blind and hidden > HIDDEN:
            error = max(error, hidden)
        out[ERROR, b], out[SEEN_PART, b], out[OWED_PART, b] = error, seen * inverse, owed * inverse
        out[RATE, b], out[SHIFTED, b] = rate, min(shift / max(recent, TINY), 1.0)
        out[NOISE, b], out[DISTANCE, b] = hidden, distance
        if not math.isfinite(recent + last):  # the step has broken down
            for k in range(ROWS):
                out[k, b] = math.inf

"""Where vertices are on their way, in rows that SIMD lanes read as a whole."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from pliant.kernels.threads import Team, share
from pliant.lanes.compiled import cached, compiled

ROW = 8  # numbers of a vertex: x, y, z and nothing at the start, the same at the end
ROUNDING = 3e-7  # part of a coordinate by which boxes grow: more than single precision and a difference lose


class Motion(NamedTuple):
    """The way of n vertices, and boxes around it; the row after the last one is of no vertex, and its box is empty.

    Boxes are in single precision, rounded outwards, and seen from the first vertex of the scene, so that a scene far
    from the origin does not suffer. Of long ways they are around both ends, not around all of the way: what moves
    along with each other has small boxes then.
    """

    start: np.ndarray  # ((n + 1) * ROW,) rows of x, y, z [m] at the start, nothing, x, y, z at the end, nothing
    end: np.ndarray  # the same, from the first end on
    low: np.ndarray  # ((n + 1) * ROW,) float32 rows of lowest x, y, z [m], nothing, highest x, y, z, nothing
    high: np.ndarray  # the same, from the first highest x on
    later_low: np.ndarray  # the same at the end of the way if boxes are of its two ends, else nothing
    later_high: np.ndarray
    origin: np.ndarray  # (3,) [m] from where boxes are seen


def motion_of(team: Team, x0: np.ndarray, x1: np.ndarray, margin: float, long: float = np.inf) -> Motion:
    """The way from x0 to x1 (n, 3) [m], with boxes that are wider by margin [m]; boxes are of both ends if any vertex
    moves further than `long` [m] along an axis.
    """
    origin = x0[:1].sum(axis=0)  # the first vertex; zero if there is none
    has_ends = long < np.inf and largest_motion(x0, x1) > long
    rows, boxes = np.empty((len(x0) + 1, ROW)), np.empty((len(x0) + 1, ROW), np.float32)
    later = np.empty((len(boxes) if has_ends else 0, ROW), np.float32)
    rows[-1], boxes[-1] = 0.0, np.repeat([np.inf, -np.inf], ROW // 2)
    later[-1:] = boxes[-1]
    team.run_for(6 * len(x0), cached(write_rows), x0, x1, float(margin), origin, rows, boxes, later)
    starts, lows, laters = rows.ravel(), boxes.ravel(), later.ravel()
    half = ROW // 2
    return Motion(starts, starts[half:], lows, lows[half:], laters, laters[half:], origin)


@compiled
def write_rows(thread, threads, barrier, x0, x1, margin, origin, rows, boxes, later):
    """Positions and boxes of vertices."""
    has_ends = len(later) > 0
    first, last = share(0, len(x0), thread, threads)
    for place in range(first, last):
        v = np.uint64(place)  # unsigned: no look whether it is negative
        for k in range(3):
            a, b = x0[v, k], x1[v, k]
            rows[v, k], rows[v, ROW // 2 + k] = a, b
            if has_ends:
                low, high = b - margin - origin[k], b + margin - origin[k]
                later[v, k], later[v, ROW // 2 + k] = low - ROUNDING * abs(low), high + ROUNDING * abs(high)
                b = a
            low, high = min(a, b) - margin - origin[k], max(a, b) + margin - origin[k]
            boxes[v, k], boxes[v, ROW // 2 + k] = low - ROUNDING * abs(low), high + ROUNDING * abs(high)
        rows[v, 3], rows[v, ROW - 1], boxes[v, 3], boxes[v, ROW - 1] = 0.0, 0.0, 0.0, 0.0
        if has_ends:
            later[v, 3], later[v, ROW - 1] = 0.0, 0.0


def spread_of_motion(x0: np.ndarray, x1: np.ndarray, who: np.ndarray) -> float:
    """At least how far [m] any two of some vertices (m,) move against each other from x0 to x1 (n, 3): the diagonal of
    the box that holds all motions.
    """
    return float(cached(diagonal_of_motions)(x0, x1, who)) if len(who) else 0.0


@compiled
def diagonal_of_motions(x0, x1, who):
    total = 0.0
    for k in range(3):
        low, high = np.inf, -np.inf
        for place in range(len(who)):
            i = np.uint64(who[place])
            low, high = min(low, x1[i, k] - x0[i, k]), max(high, x1[i, k] - x0[i, k])
        total += (high - low) ** 2
    return np.sqrt(total)


def largest_motion(x0: np.ndarray, x1: np.ndarray) -> float:
    """[m] of any vertex along any axis from x0 to x1 (n, 3)."""
    return float(cached(largest_difference)(x0, x1))


@compiled
def largest_difference(x0, x1):
    largest = 0.0
    for i in range(len(x0)):
        for k in range(3):
            largest = max(largest, abs(x1[i, k] - x0[i, k]))
    return largest

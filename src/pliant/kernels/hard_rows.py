"""Multipliers of hard links, ropes and directions after an iteration (elements.hard, decision 0028).

    lambda = k w,  w = C - start + lambda_before / rho,     shift = (k / rho) w

start is what of the error at the start of the step stays for later steps. A new shift is written to the lists of all
corners. Where rows are not active, iterations leave multipliers as they are.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from pliant.kernels.threads import share
from pliant.lanes.inner import inner


class DualRows(NamedTuple):
    """Rows of one kind, m in all, with c corners and numbers of size 3 for links, 1 for others."""

    rows: np.ndarray  # (m, c) rows of the corners
    places: np.ndarray  # (m, c) where the shift is among the constants of each corner's list
    part: np.ndarray  # (m,) k / rho: 1 hard, 0 a penalty
    stiffness: np.ndarray  # (m,) k [N/m]
    lengths: np.ndarray  # (m,) at rest, of ropes [m]
    lowest: np.ndarray  # (m,) of w: 0 for ropes, -inf for others
    shift: np.ndarray  # (m, 3) lambda / rho
    start: np.ndarray  # (m, 3) what stays of the error of the start
    multipliers: np.ndarray  # (m, 3) lambda [N], of directions [N/m]
    is_active: np.ndarray  # (1,) bool: whether iterations update multipliers


@inner(nogil=True, error_model="numpy", _nrt=False)
def update_links(thread, threads, x, firsts, seconds, dual, width):
    """At positions x (rows, 4); firsts, seconds: lists of the two corners."""
    rows, places = dual.rows, dual.places
    begin, end = share(0, len(rows) if dual.is_active[0] else 0, thread, threads)
    for e in range(begin, end):
        for axis in range(3):
            c = np.float64(x[rows[e, 1], axis]) - np.float64(x[rows[e, 0], axis])
            w = c - dual.start[e, axis] + dual.shift[e, axis]
            dual.multipliers[e, axis] = dual.stiffness[e] * w
            dual.shift[e, axis] = dual.part[e] * w
            firsts.constants[places[e, 0] + axis * width] = dual.shift[e, axis] - dual.start[e, axis]
            seconds.constants[places[e, 1] + axis * width] = dual.shift[e, axis] - dual.start[e, axis]


@inner(nogil=True, error_model="numpy", _nrt=False)
def update_ropes(thread, threads, x, lists, dual, width):
    """At positions x (rows, 4)."""
    rows, places = dual.rows, dual.places
    begin, end = share(0, len(rows) if dual.is_active[0] else 0, thread, threads)
    for e in range(begin, end):
        squares = 0.0
        for axis in range(3):
            r = np.float64(x[rows[e, 1], axis]) - np.float64(x[rows[e, 0], axis])
            squares += r * r
        w = max(np.sqrt(squares) - dual.lengths[e] - dual.start[e, 0] + dual.shift[e, 0], dual.lowest[e])
        dual.multipliers[e, 0] = dual.stiffness[e] * w
        dual.shift[e, 0] = dual.part[e] * w
        for corner in range(2):
            lists.constants[places[e, corner]] = dual.lengths[e] + dual.start[e, 0] - dual.shift[e, 0]


@inner(nogil=True, error_model="numpy", _nrt=False)
def update_dots(thread, threads, x, lists, dual, width):
    """At positions x (rows, 4)."""
    rows, places = dual.rows, dual.places
    begin, end = share(0, len(rows) if dual.is_active[0] else 0, thread, threads)
    for e in range(begin, end):
        c = 0.0
        for axis in range(3):
            u = np.float64(x[rows[e, 1], axis]) - np.float64(x[rows[e, 0], axis])
            v = np.float64(x[rows[e, 3], axis]) - np.float64(x[rows[e, 2], axis])
            c += u * v
        w = c - dual.start[e, 0] + dual.shift[e, 0]
        dual.multipliers[e, 0] = dual.stiffness[e] * w
        dual.shift[e, 0] = dual.part[e] * w
        for corner in range(4):
            lists.constants[places[e, corner]] = dual.shift[e, 0] - dual.start[e, 0]

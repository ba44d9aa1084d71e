"""Multipliers of drives and stops of joints after an iteration (elements.joint_drive, decision 0042).

    lambda = clamp(k w, lowest, highest),  w = q - rest - start + lambda_before / rho,     shift = lambda / rho

A new shift is written to the lists of all corners.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from pliant.elements.hinge import angle_at_wing
from pliant.elements.joint_drive import angle_from, bounded_force
from pliant.kernels.threads import share
from pliant.lanes.inner import inner


class DriveRows(NamedTuple):
    """Rows of one kind, m in all."""

    rows: np.ndarray  # (m, corners) rows of the corners
    places: np.ndarray  # (m, corners) where the offset is in the constants of each corner's list; others follow
    part: np.ndarray  # (m,) k / rho: 1 hard, 0 a penalty
    stiffness: np.ndarray  # (m,) k
    offset: np.ndarray  # (m,)
    rest: np.ndarray  # (m,)
    lowest: np.ndarray  # (m,) of lambda
    highest: np.ndarray  # (m,)
    shift: np.ndarray  # (m, 1) lambda / rho
    start: np.ndarray  # (m, 1) what stays of the error of the start
    multipliers: np.ndarray  # (m, 1) lambda [N m or N]
    is_active: np.ndarray  # (1,) bool: whether iterations update multipliers


@inner(nogil=True, error_model="numpy", _nrt=False)
def update_angles(thread, threads, x, firsts, seconds, axes, dual, width):
    """At positions x (rows, 4)."""
    begin, end = share(0, len(dual.rows) if dual.is_active[0] else 0, thread, threads)
    for e in range(begin, end):
        theta, _ = angle_at_wing(_from(x, dual, e, 2, 0), _from(x, dual, e, 2, 1), _from(x, dual, e, 2, 3))
        shift = _next_shift(dual, e, angle_from(theta, dual.offset[e], dual.rest[e]))
        firsts.constants[dual.places[e, 3] + width] = dual.rest[e] - shift
        seconds.constants[dual.places[e, 2] + width] = dual.rest[e] - shift
        axes.constants[dual.places[e, 0] + width] = dual.rest[e] - shift
        axes.constants[dual.places[e, 1] + width] = dual.rest[e] - shift


@inner(nogil=True, error_model="numpy", _nrt=False)
def update_slides(thread, threads, x, firsts, seconds, axes, dual, width):
    """At positions x (rows, 4)."""
    begin, end = share(0, len(dual.rows) if dual.is_active[0] else 0, thread, threads)
    for e in range(begin, end):
        way, axis = _from(x, dual, e, 1, 0), _from(x, dual, e, 2, 3)
        q = way[0] * axis[0] + way[1] * axis[1] + way[2] * axis[2]
        shift = _next_shift(dual, e, q - dual.offset[e] - dual.rest[e])
        firsts.constants[dual.places[e, 0] + width] = dual.rest[e] - shift
        seconds.constants[dual.places[e, 1] + width] = dual.rest[e] - shift
        axes.constants[dual.places[e, 2] + width] = dual.rest[e] - shift
        axes.constants[dual.places[e, 3] + width] = dual.rest[e] - shift


@inner(nogil=True, error_model="numpy", _nrt=False)
def update_lengths(thread, threads, x, ends, dual, width):
    """At positions x (rows, 4)."""
    begin, end = share(0, len(dual.rows) if dual.is_active[0] else 0, thread, threads)
    for e in range(begin, end):
        r = _from(x, dual, e, 0, 1)
        q = np.sqrt(r[0] * r[0] + r[1] * r[1] + r[2] * r[2])
        shift = _next_shift(dual, e, q - dual.offset[e] - dual.rest[e])
        ends.constants[dual.places[e, 0] + width] = dual.rest[e] - shift
        ends.constants[dual.places[e, 1] + width] = dual.rest[e] - shift


@inner(nogil=True, error_model="numpy", _nrt=False)
def _from(x, dual, e, start, end):
    """The vector from one corner of row e to another, in double precision."""
    a, b = dual.rows[e, start], dual.rows[e, end]
    return (
        np.float64(x[b, 0]) - np.float64(x[a, 0]),
        np.float64(x[b, 1]) - np.float64(x[a, 1]),
        np.float64(x[b, 2]) - np.float64(x[a, 2]),
    )


@inner(nogil=True, error_model="numpy", _nrt=False)
def _next_shift(dual, e, c):
    """Update the multiplier of row e at c = q - rest; what its rest is shifted by."""
    k = dual.stiffness[e]
    force = bounded_force(c - dual.start[e, 0] + dual.shift[e, 0], k, dual.lowest[e], dual.highest[e])
    dual.multipliers[e, 0] = force
    dual.shift[e, 0] = dual.part[e] * force / k if k > 0.0 else 0.0
    return dual.shift[e, 0] - dual.start[e, 0]

"""Contacts of constraint solvers: corrected one after another, in the order of detection, after the elements.

A contact with signed weights w_i, normal n and gap g (VBD, Equation 12) is the constraint C = n . sum_i w_i x_i - g of
compliance 1 / k_c and multiplier lambda >= 0, the normal force [N].  Friction has a multiplier lambda_T across n that
takes back the motion since the start of the step, as far as |lambda_T| <= mu lambda allows: what sticks does not
creep.

Elements are corrected by all threads; contacts join vertices that no colouring knows of, so one thread corrects them
and the others wait: the result does not depend on their number.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numba import njit


class TouchRows(NamedTuple):
    """Contacts as the kernel sees them. Missing vertices repeat the first: their weight is zero."""

    rows: np.ndarray  # (k, 4)
    weights: np.ndarray  # (k, 4)
    normals: np.ndarray  # (k, 3)
    outside: np.ndarray  # (k,) weight of the obstacle's point: -1, or 0 where there is none
    points: np.ndarray  # (k, 3) of the obstacle at the end of the step [m]
    motions: np.ndarray  # (k, 3) of that point in the step [m]
    gaps: np.ndarray  # (k,) [m]
    friction: np.ndarray  # (k,)
    follows: np.ndarray  # (k,) 1 where the closest point is found anew in every iteration
    multipliers: np.ndarray  # (k, 4) lambda and lambda_T [N]
    x_prev: np.ndarray  # (n, 3) rows at the start of the step [m]
    numbers: np.ndarray  # stiffness k_c [N/m] and k_d / h


@njit(nogil=True, error_model="numpy", forceinline=True)
def correct_touches(x, held, touches, closest):
    """Correct all contacts. x (n, 4): positions and h^2 / m; held (n, 4): lines and planes, no rows if there are none;
    closest: function of the four positions and the last normal that gives weights and normal.
    """
    for c in range(len(touches.rows)):
        if touches.follows[c]:
            _move_closest_point(c, x, touches, closest)
        _push(c, x, held, touches)
        _rub(c, x, held, touches)


@njit(nogil=True, error_model="numpy", forceinline=True)
def _move_closest_point(c, x, touches, closest):
    rows = touches.rows[c]
    y = (_point(x, rows[0]), _point(x, rows[1]), _point(x, rows[2]), _point(x, rows[3]))
    weights, normal = closest(y, _point(touches.normals, c))
    for i in range(4):
        touches.weights[c, i] = weights[i]
    for axis in range(3):
        touches.normals[c, axis] = normal[axis]


@njit(nogil=True, error_model="numpy", forceinline=True)
def _point(x, row):
    return (np.float64(x[row, 0]), np.float64(x[row, 1]), np.float64(x[row, 2]))


@njit(nogil=True, error_model="numpy", forceinline=True)
def _push(c, x, held, touches):
    """The multiplier of C (XPBD, Equations 18 and 26, written with the stiffness), kept from pulling."""
    n = _point(touches.normals, c)
    first, depth = touches.rows[c, 0], touches.gaps[c]
    inner = 0.0
    for axis in range(3):
        depth -= n[axis] * touches.outside[c] * (touches.points[c, axis] - x[first, axis])
    for i in range(4):
        row, w = touches.rows[c, i], touches.weights[c, i]
        for axis in range(3):
            depth -= n[axis] * w * (np.float64(x[row, axis]) - x[first, axis])
        g = _kept(n, row, held)
        inner += x[row, 3] * w * w * (g[0] * g[0] + g[1] * g[1] + g[2] * g[2])
    k, rate = touches.numbers[0], touches.numbers[1] if depth > 0.0 else 0.0
    u = _motion(c, x, touches)
    approach = -(u[0] * n[0] + u[1] * n[1] + u[2] * n[2])
    multiplier = touches.multipliers[c, 0]
    new = max(0.0, multiplier + (k * (depth + rate * approach) - multiplier) / (1.0 + k * (1.0 + rate) * inner))
    touches.multipliers[c, 0] = new
    s = new - multiplier
    _apply(c, (s * n[0], s * n[1], s * n[2]), x, held, touches)


@njit(nogil=True, error_model="numpy", forceinline=True)
def _rub(c, x, held, touches):
    """The multiplier of friction: as much as stops the motion across n, at most mu lambda."""
    old = (touches.multipliers[c, 1], touches.multipliers[c, 2], touches.multipliers[c, 3])
    limit = touches.friction[c] * touches.multipliers[c, 0]
    inner = 0.0
    for i in range(4):
        inner += x[touches.rows[c, i], 3] * touches.weights[c, i] ** 2
    if inner == 0.0:
        return
    u, n = _motion(c, x, touches), _point(touches.normals, c)
    f = (old[0] - u[0] / inner, old[1] - u[1] / inner, old[2] - u[2] / inner)
    along = f[0] * n[0] + f[1] * n[1] + f[2] * n[2]
    f = (f[0] - along * n[0], f[1] - along * n[1], f[2] - along * n[2])
    size = (f[0] * f[0] + f[1] * f[1] + f[2] * f[2]) ** 0.5
    part = limit / size if size > limit else 1.0
    f = (part * f[0], part * f[1], part * f[2])
    for axis in range(3):
        touches.multipliers[c, 1 + axis] = f[axis]
    _apply(c, (f[0] - old[0], f[1] - old[1], f[2] - old[2]), x, held, touches)


@njit(nogil=True, error_model="numpy", forceinline=True)
def _motion(c, x, touches):
    """Motion of one side against the other since the start of the step."""
    u = (0.0, 0.0, 0.0)
    for i in range(4):
        row, w = touches.rows[c, i], touches.weights[c, i]
        u = (
            u[0] + w * (x[row, 0] - touches.x_prev[row, 0]),
            u[1] + w * (x[row, 1] - touches.x_prev[row, 1]),
            u[2] + w * (x[row, 2] - touches.x_prev[row, 2]),
        )
    m, o = touches.motions[c], touches.outside[c]
    return (u[0] + o * m[0], u[1] + o * m[1], u[2] + o * m[2])


@njit(nogil=True, error_model="numpy", forceinline=True)
def _apply(c, impulse, x, held, touches):
    """Move the vertices by h^2 / m w_i times the change of the force."""
    for i in range(4):
        row, w = touches.rows[c, i], touches.weights[c, i]
        if w != 0.0:
            d = _kept(impulse, row, held)
            for axis in range(3):
                x[row, axis] += x[row, 3] * w * d[axis]


@njit(nogil=True, error_model="numpy", forceinline=True)
def _kept(v, row, held):
    """The part of v along which the vertex may move."""
    if len(held) == 0 or held[row, 3] < 1.0 or held[row, 3] > 2.0:
        return v
    d = (np.float64(held[row, 0]), np.float64(held[row, 1]), np.float64(held[row, 2]))
    along = v[0] * d[0] + v[1] * d[1] + v[2] * d[2]
    if held[row, 3] == 1.0:
        return (along * d[0], along * d[1], along * d[2])
    return (v[0] - along * d[0], v[1] - along * d[1], v[2] - along * d[2])

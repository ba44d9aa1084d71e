"""Bending energy of rods and its derivatives, in double precision (see elements.joint).

Everywhere: x (n, 3) [m], joints (m, 3), rest_angles (m,) [rad], stiffness K = k / l (m,) [J].
E is a function of c = cos theta, whose derivatives are smooth; dE/dc = -K (theta - theta_0) / sin theta.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from pliant.elements.joint import LEAST_LENGTH, SMALL_SINE

Array = np.ndarray


class _Turn(NamedTuple):
    """Unit vectors (m, 3), inverse lengths, cosine, sine, angle and (theta - theta_0) / sin theta (m,)."""

    tu: Array
    tv: Array
    iu: Array
    iv: Array
    c: Array
    s: Array
    theta: Array
    ratio: Array


def energy(x: Array, joints: Array, rest_angles: Array, stiffness: Array) -> Array:
    """K/2 (theta - theta_0)^2 (m,) [J]."""
    return 0.5 * stiffness * (_turn(x, joints, rest_angles).theta - rest_angles) ** 2


def gradient(x: Array, joints: Array, rest_angles: Array, stiffness: Array) -> Array:
    """dE/dx (m, 3, 3) [N]."""
    turn = _turn(x, joints, rest_angles)
    return -(stiffness * turn.ratio)[:, None, None] * _cosine_gradients(turn)


def hessian(x: Array, joints: Array, rest_angles: Array, stiffness: Array) -> Array:
    """d2E/dx2 (m, 9, 9) [N/m], exact."""
    turn = _turn(x, joints, rest_angles)
    g = _cosine_gradients(turn).reshape(-1, 9)
    squared = np.maximum(turn.s, SMALL_SINE) ** 2
    straight = (turn.s < SMALL_SINE) & (turn.c > 0) & (rest_angles == 0)
    curvature = np.where(straight, 1 / 3 + 2 / 15 * turn.s**2, (1 - turn.ratio * turn.c) / squared)  # d2E/dc2 / K
    own = curvature[:, None, None] * g[:, :, None] * g[:, None, :]
    return stiffness[:, None, None] * (own - turn.ratio[:, None, None] * _cosine_hessians(turn))


def vertex_blocks(x: Array, joints: Array, rest_angles: Array, stiffness: Array) -> Array:
    """What a vertex solves with (m, 3, 3, 3) [N/m]: K (dtheta dtheta^T + max(ratio m, 0) n n^T)."""
    turn = _turn(x, joints, rest_angles)
    iu, iv, c = turn.iu, turn.iv, turn.c
    middle = turn.tu + turn.tv
    axis = middle / np.maximum(np.linalg.norm(middle, axis=1), SMALL_SINE)[:, None]
    axes = np.stack((turn.tu, axis, turn.tv), axis=1)
    sides = np.stack((turn.tv - c[:, None] * turn.tu, turn.tv - turn.tu, turn.tu - c[:, None] * turn.tv), axis=1)
    across = np.stack((c * iu**2, c * (iu**2 + iv**2) + 2 * iu * iv, c * iv**2), axis=1)
    across = np.maximum(turn.ratio[:, None] * across, 0)[:, :, None, None]
    g = _cosine_gradients(turn) / np.maximum(turn.s, SMALL_SINE)[:, None, None]
    sizes = np.maximum(np.sum(sides**2, axis=2), SMALL_SINE**2)[:, :, None, None]
    normals = np.eye(3) - _square(axes) - _square(sides) / sizes
    return stiffness[:, None, None, None] * (_square(g) + across * normals)


def _square(a: Array) -> Array:
    return a[..., :, None] * a[..., None, :]


def _turn(x: Array, joints: Array, rest_angles: Array) -> _Turn:
    u, v = x[joints[:, 1]] - x[joints[:, 0]], x[joints[:, 2]] - x[joints[:, 1]]
    iu, iv = (1 / np.maximum(np.linalg.norm(edge, axis=1), LEAST_LENGTH) for edge in (u, v))
    tu, tv = u * iu[:, None], v * iv[:, None]
    c, s = np.sum(tu * tv, axis=1), np.linalg.norm(np.cross(tu, tv), axis=1)
    theta, safe = np.arctan2(s, c), np.maximum(s, SMALL_SINE)
    straight = (s < SMALL_SINE) & (c > 0)
    ratio = np.where(straight, 1 + s**2 / 6, theta / safe) - rest_angles / safe
    return _Turn(tu, tv, iu, iv, c, s, theta, ratio)


def _cosine_gradients(turn: _Turn) -> Array:
    """dc/dx (m, 3, 3): of the ends by their own edges, of the middle minus both."""
    by_u = (turn.tv - turn.c[:, None] * turn.tu) * turn.iu[:, None]
    by_v = (turn.tu - turn.c[:, None] * turn.tv) * turn.iv[:, None]
    return np.stack((-by_u, by_u - by_v, by_v), axis=1)


def _cosine_hessians(turn: _Turn) -> Array:
    """d2c/dx2 (m, 9, 9), from those by the edges u and v."""
    iu, iv, c = turn.iu[:, None, None], turn.iv[:, None, None], turn.c[:, None, None]
    uu, vv, uv = _square(turn.tu), _square(turn.tv), turn.tu[:, :, None] * turn.tv[:, None, :]
    vu, eye = uv.swapaxes(1, 2), np.eye(3)
    by_uu = -(iu**2) * (uv + vu + c * (eye - 3 * uu))
    by_vv = -(iv**2) * (uv + vu + c * (eye - 3 * vv))
    by_uv = iu * iv * (eye - uu - vv + c * uv)
    edges = np.block([[by_uu, by_uv], [by_uv.swapaxes(1, 2), by_vv]])
    to_edges = np.kron([[-1.0, 1.0, 0.0], [0.0, -1.0, 1.0]], eye)
    return np.einsum("ki,mkl,lj->mij", to_edges, edges, to_edges, optimize=True)

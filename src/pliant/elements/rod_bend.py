"""Bending of a rod: two consecutive edges and the angle by which the rod turns.

            1                   u = x_1 - x_0,  v = x_2 - x_1,  c = cos theta of the angle between them, s = sin theta
          /   \\                 theta = atan2(|u x v|, u . v): 0 when straight, in [0, pi]
        0       2
                                E = K/2 (theta - theta_0)^2,   K = k / l [J],  l the mean length of the two edges at
                                rest, k the bending rigidity of the rod [N m^2] (E = k/2 integral of curvature^2)

All forces follow from the smooth derivatives of c:  dE/dx = -K (theta - theta_0) / s  dc/dx.  Seen from vertex i, with
g = dtheta/dx_i, the exact block has two parts: K g g^T in the plane of the two edges, and a part along its normal,

    K (theta - theta_0) / s  m,    m = c / |v|^2 for an end,  c (1/|u|^2 + 1/|v|^2) + 2 / (|u| |v|) for the middle.

Vertex block descent solves with these two, the second where it is positive (Gauss-Newton, completed so that a straight
rod resists alike in both directions); what else the exact Hessian has is at the end of this file.

A rod that turns at rest (theta_0 > 0) has no preferred direction to turn when it is straight: the force is zero there.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from pliant.elements.block import Block, Invariance, Tearing
from pliant.elements.element import Element, View
from pliant.lanes import maximum, number, select, sqrt
from pliant.lanes.angles import atan2
from pliant.lanes.vectors import add, add_identity, add_scaled, add_square, cross, dot, physics, subtract

SMALL_SINE = 1e-4  # below it, theta / sin theta is 1 + sin^2 / 6 to rounding, and a rod counts as straight
LEAST_LENGTH = 1e-18  # [m] divides in place of a shorter length; its inverse squared is finite in single precision


@dataclass(frozen=True)
class RodBends(Block):
    """Pairs of rod edges bent about their common vertex, the middle one of three (m, 3)."""

    tearing = Tearing.FOLLOWS_SPRINGS
    invariance = Invariance.RIGID

    angles: np.ndarray  # (m,) at rest [rad]
    stiffness: np.ndarray  # (m,) bending stiffness over the length it stands for [J]


def rest_data(points: np.ndarray, bends: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Angles theta_0 (m,) [rad] and lengths l (m,) [m] of bends (m, 3)."""
    x = points[bends]
    u, v = x[:, 1] - x[:, 0], x[:, 2] - x[:, 1]
    sine = np.linalg.norm(np.cross(u, v), axis=1)
    lengths = 0.5 * (np.linalg.norm(u, axis=1) + np.linalg.norm(v, axis=1))
    return np.arctan2(sine, np.einsum("ma,ma->m", u, v)), lengths


@physics
def energy_at_end(middle, far, rest_angle, stiffness):
    """E [J] seen from an end; stiffness K [J]."""
    return _energy(subtract(middle, far), (-middle[0], -middle[1], -middle[2]), rest_angle, stiffness)


@physics
def energy_at_middle(before, behind, rest_angle, stiffness):
    """E [J] seen from the middle; stiffness K [J]."""
    return _energy((-before[0], -before[1], -before[2]), behind, rest_angle, stiffness)


@physics
def add_at_end(f, H, middle, far, rest_angle, stiffness):
    """Add the force on end 2 and its block. For end 0 the rod is (2, 1, 0)."""
    (tu, tv), inverse, c, s, ratio = _turn(subtract(middle, far), (-middle[0], -middle[1], -middle[2]), rest_angle)
    side = add_scaled(tu, -c, tv)
    lean = _scaled(inverse[1], side)  # dc/dx_2
    f = add_scaled(f, stiffness * ratio, lean)
    across = maximum(ratio * c, number(0.0, c)) * inverse[1] * inverse[1]
    return f, _add_turn(H, stiffness, lean, s, across, tv, side)


@physics
def add_at_middle(f, H, before, behind, rest_angle, stiffness):
    """Add the force on the middle vertex 1 and its block."""
    (tu, tv), (iu, iv), c, s, ratio = _turn((-before[0], -before[1], -before[2]), behind, rest_angle)
    lean = add_scaled(_scaled(iu, add_scaled(tv, -c, tu)), -iv, add_scaled(tu, -c, tv))  # dc/dx_1
    f = add_scaled(f, stiffness * ratio, lean)
    across = maximum(ratio * (c * (iu * iu + iv * iv) + 2.0 * iu * iv), number(0.0, c))
    middle = add(tu, tv)
    axis = _scaled(1.0 / maximum(sqrt(dot(middle, middle)), number(SMALL_SINE, c)), middle)
    return f, _add_turn(H, stiffness, lean, s, across, axis, subtract(tv, tu))


@physics
def bend_measure(corners, rest_angle, stiffness):
    """theta - theta_0; no gradient where the rod is straight, because it then turns in no direction."""
    u, v = subtract(corners[1], corners[0]), subtract(corners[2], corners[1])
    (tu, tv), (iu, iv), c, s, _ = _turn(u, v, number(0.0, rest_angle))
    steep = -1.0 / maximum(s, number(SMALL_SINE, s))
    first, last = _scaled(-steep * iu, add_scaled(tv, -c, tu)), _scaled(steep * iv, add_scaled(tu, -c, tv))
    middle = (-(first[0] + last[0]), -(first[1] + last[1]), -(first[2] + last[2]))
    return atan2(s, c) - rest_angle, (first, middle, last), stiffness


@physics
def _energy(u, v, rest_angle, stiffness):
    """Of edges u = x_1 - x_0 and v = x_2 - x_1."""
    n = cross(u, v)
    bend = atan2(sqrt(dot(n, n)), dot(u, v)) - rest_angle
    return 0.5 * stiffness * bend * bend


@physics
def _turn(u, v, rest_angle):
    """Unit vectors, inverse lengths, cosine, sine and (theta - theta_0) / sin theta."""
    n = cross(u, v)
    iu = 1.0 / maximum(sqrt(dot(u, u)), number(LEAST_LENGTH, u[0]))
    iv = 1.0 / maximum(sqrt(dot(v, v)), number(LEAST_LENGTH, v[0]))
    c, s = dot(u, v) * iu * iv, sqrt(dot(n, n)) * iu * iv
    safe = maximum(s, number(SMALL_SINE, s))
    straight = (s < SMALL_SINE) & (c > 0.0)
    ratio = select(straight, 1.0 + s * s * (1.0 / 6.0), atan2(s, c) / safe) - rest_angle / safe
    return (_scaled(iu, u), _scaled(iv, v)), (iu, iv), c, s, ratio


@physics
def _add_turn(H, stiffness, lean, s, across, axis, side):
    """K (g g^T + across n n^T) with g = -lean / s and the bend's unit normal n.

    n n^T = 1 - axis axis^T - side side^T / |side|^2, with axis and side in the bend's plane: when the rod is straight,
    g and side have no direction and cancel.
    """
    steep = 1.0 / maximum(s, number(SMALL_SINE, s))
    H = add_square(H, stiffness * steep * steep, lean)
    least = number(SMALL_SINE * SMALL_SINE, s)
    H = add_identity(H, stiffness * across)
    H = add_square(H, -stiffness * across, axis)
    return add_square(H, -stiffness * across / maximum(dot(side, side), least), side)


@physics
def _scaled(s, a):
    return (s * a[0], s * a[1], s * a[2])


class _Turn(NamedTuple):
    """Unit vectors (m, 3), inverse lengths, cosine, sine and (theta - theta_0) / sin theta (m,)."""

    tu: np.ndarray
    tv: np.ndarray
    iu: np.ndarray
    iv: np.ndarray
    c: np.ndarray
    s: np.ndarray
    ratio: np.ndarray


def hessian(corners: np.ndarray, rest_angles: np.ndarray, stiffness: np.ndarray) -> np.ndarray:
    """d2E/dx2 (m, 9, 9) [N/m], exact, from derivatives of c = cos theta, which are smooth."""
    turn = _measured(corners, rest_angles)
    by_u = (turn.tv - turn.c[:, None] * turn.tu) * turn.iu[:, None]
    by_v = (turn.tu - turn.c[:, None] * turn.tv) * turn.iv[:, None]
    g = np.stack((-by_u, by_u - by_v, by_v), axis=1).reshape(-1, 9)  # dc/dx
    squared = np.maximum(turn.s, SMALL_SINE) ** 2
    straight = (turn.s < SMALL_SINE) & (turn.c > 0) & (rest_angles == 0)
    curvature = np.where(straight, 1 / 3 + 2 / 15 * turn.s**2, (1 - turn.ratio * turn.c) / squared)  # d2E/dc2 / K
    own = curvature[:, None, None] * g[:, :, None] * g[:, None, :]
    return stiffness[:, None, None] * (own - turn.ratio[:, None, None] * _cosine_hessians(turn))


def _measured(corners: np.ndarray, rest_angles: np.ndarray) -> _Turn:
    u, v = corners[:, 1] - corners[:, 0], corners[:, 2] - corners[:, 1]
    iu, iv = (1 / np.maximum(np.linalg.norm(edge, axis=1), LEAST_LENGTH) for edge in (u, v))
    tu, tv = u * iu[:, None], v * iv[:, None]
    c, s = np.sum(tu * tv, axis=1), np.linalg.norm(np.cross(tu, tv), axis=1)
    safe = np.maximum(s, SMALL_SINE)
    straight = (s < SMALL_SINE) & (c > 0)
    ratio = np.where(straight, 1 + s**2 / 6, np.arctan2(s, c) / safe) - rest_angles / safe
    return _Turn(tu, tv, iu, iv, c, s, ratio)


def _cosine_hessians(turn: _Turn) -> np.ndarray:
    """d2c/dx2 (m, 9, 9), from those by the edges u and v."""
    iu, iv, c = turn.iu[:, None, None], turn.iv[:, None, None], turn.c[:, None, None]
    uu, vv = turn.tu[:, :, None] * turn.tu[:, None, :], turn.tv[:, :, None] * turn.tv[:, None, :]
    uv, eye = turn.tu[:, :, None] * turn.tv[:, None, :], np.eye(3)
    vu = uv.swapaxes(1, 2)
    by_uu = -(iu**2) * (uv + vu + c * (eye - 3 * uu))
    by_vv = -(iv**2) * (uv + vu + c * (eye - 3 * vv))
    by_uv = iu * iv * (eye - uu - vv + c * uv)
    edges = np.block([[by_uu, by_uv], [by_uv.swapaxes(1, 2), by_vv]])
    to_edges = np.kron([[-1.0, 1.0, 0.0], [0.0, -1.0, 1.0]], eye)
    return np.einsum("ki,mkl,lj->mij", to_edges, edges, to_edges, optimize=True)


ROD_BEND = Element(
    RodBends,
    "rod bends",
    corners=3,
    numbers=("angles", "stiffness"),
    measure=bend_measure,
    views=(
        View(((0, 1, 2), (2, 1, 0)), add_at_end, energy_at_end),
        View(((1, 0, 2),), add_at_middle, energy_at_middle),
    ),
    hessian=hessian,
)

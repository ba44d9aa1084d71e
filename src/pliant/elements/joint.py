"""The joint of a rod: two consecutive edges and the angle by which the rod turns.

            1                   u = x_1 - x_0,  v = x_2 - x_1,  c = cos theta of the angle between them, s = sin theta
          /   \\                 theta = atan2(|u x v|, u . v): 0 when straight, in [0, pi]
        0       2
                                E = K/2 (theta - theta_0)^2,   K = k / l [J],  l the mean length of the two edges at
                                rest, k the bending rigidity of the rod [N m^2] (E = k/2 integral of curvature^2)

All forces follow from the smooth derivatives of c:  dE/dx = -K (theta - theta_0) / s  dc/dx.  Seen from vertex i, with
g = dtheta/dx_i, the exact block has two parts: K g g^T in the plane of the two edges, and a part along its normal,

    K (theta - theta_0) / s  m,    m = c / |v|^2 for an end,  c (1/|u|^2 + 1/|v|^2) + 2 / (|u| |v|) for the middle.

Vertex block descent solves with these two, the second where it is positive (Gauss-Newton, completed so that a straight
rod resists alike in both directions); what else the exact Hessian has is in energies.joints.

A rod that turns at rest (theta_0 > 0) has no preferred direction to turn when it is straight: the force is zero there.
"""

from __future__ import annotations

import numpy as np

from pliant.lanes import maximum, number, select, sqrt
from pliant.lanes.angles import atan2
from pliant.lanes.vectors import add, add_identity, add_scaled, add_square, cross, dot, physics, subtract

SMALL_SINE = 1e-4  # below it, theta / sin theta is 1 + sin^2 / 6 to rounding, and a joint counts as straight
LEAST_LENGTH = 1e-18  # [m] divides in place of a shorter length; its inverse squared is finite in single precision


def rest_data(points: np.ndarray, joints: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Angles theta_0 (m,) [rad] and lengths l (m,) [m] of joints (m, 3)."""
    x = points[joints]
    u, v = x[:, 1] - x[:, 0], x[:, 2] - x[:, 1]
    sine = np.linalg.norm(np.cross(u, v), axis=1)
    lengths = 0.5 * (np.linalg.norm(u, axis=1) + np.linalg.norm(v, axis=1))
    return np.arctan2(sine, np.einsum("ma,ma->m", u, v)), lengths


@physics
def joint_energy(u, v, rest_angle, stiffness):
    """E [J] of edges u = x_1 - x_0 and v = x_2 - x_1; stiffness K [J]."""
    n = cross(u, v)
    bend = atan2(sqrt(dot(n, n)), dot(u, v)) - rest_angle
    return 0.5 * stiffness * bend * bend


@physics
def add_joint_at_end(f, H, u, v, rest_angle, stiffness):
    """Add the force on end 2 and its block. For end 0 the joint is (2, 1, 0): pass -v and -u."""
    (tu, tv), inverse, c, s, ratio = _turn(u, v, rest_angle)
    side = add_scaled(tu, -c, tv)
    lean = _scaled(inverse[1], side)  # dc/dx_2
    f = add_scaled(f, stiffness * ratio, lean)
    across = maximum(ratio * c, number(0.0, c)) * inverse[1] * inverse[1]
    return f, _add_turn(H, stiffness, lean, s, across, tv, side)


@physics
def add_joint_at_middle(f, H, u, v, rest_angle, stiffness):
    """Add the force on the middle vertex 1 and its block."""
    (tu, tv), (iu, iv), c, s, ratio = _turn(u, v, rest_angle)
    lean = add_scaled(_scaled(iu, add_scaled(tv, -c, tu)), -iv, add_scaled(tu, -c, tv))  # dc/dx_1
    f = add_scaled(f, stiffness * ratio, lean)
    across = maximum(ratio * (c * (iu * iu + iv * iv) + 2.0 * iu * iv), number(0.0, c))
    middle = add(tu, tv)
    axis = _scaled(1.0 / maximum(sqrt(dot(middle, middle)), number(SMALL_SINE, c)), middle)
    return f, _add_turn(H, stiffness, lean, s, across, axis, subtract(tv, tu))


@physics
def joint_gradients(u, v):
    """theta and its derivatives in the ends 0 and 2; zero for a straight joint, which turns in no direction."""
    (tu, tv), (iu, iv), c, s, _ = _turn(u, v, number(0.0, u[0]))
    steep = -1.0 / maximum(s, number(SMALL_SINE, s))
    first, last = _scaled(-steep * iu, add_scaled(tv, -c, tu)), _scaled(steep * iv, add_scaled(tu, -c, tv))
    return atan2(s, c), first, last


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
    """K (g g^T + across n n^T) with g = -lean / s and the joint's unit normal n.

    n n^T = 1 - axis axis^T - side side^T / |side|^2, with axis and side in the joint's plane: when the rod is straight,
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

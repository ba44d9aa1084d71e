"""The hinge: two triangles bent about their common edge, and the energy of the angle between them.

                2                 n_1 = (x_1 - x_0) x (x_2 - x_0),   n_2 = (x_3 - x_0) x (x_1 - x_0)
              /   \\               theta: angle from n_1 to n_2 about the edge, 0 when flat, in [-pi, pi]
             0 ---- 1
              \\   /               E = k w / 2 (theta - theta_0)^2,   w = |e|^2 / (A_1 + A_2) at rest
                3                 k: bending stiffness [N m], the rigidity of a plate, E = k/2 integral of curvature^2

With u_T = n_T / |n_T|^2, e from 0 to 1 and its unit vector t, the derivatives of theta (they sum to zero) are

    wing 2: -|e| u_1       edge 0: -((x_2 - x_1) . t) u_1 - ((x_3 - x_1) . t) u_2
    wing 3: -|e| u_2       edge 1:  ((x_2 - x_0) . t) u_1 + ((x_3 - x_0) . t) u_2

Vertex block descent solves with the block k w dtheta dtheta^T (Gauss-Newton), which is never indefinite; the exact
Hessian is at the end of this file.

Deviation: Grinspun et al. 2003 (Discrete Shells) weigh with 3 |e|^2 / (A_1 + A_2), three times as much.  With the
weight above, points on a cylinder have the energy of the plate if the mesh is made of equilateral triangles, or of
right triangles whose legs lie along and across the cylinder.  On other meshes and directions a sum over single angles
cannot have it: 1.0 to 1.5 times as much on irregular meshes and along alternating diagonals of squares (2.6 of cells
2.5 : 1), 3 times along diagonals that are all parallel; a free strip of right triangles bends a fifth too easily.
With squares of two angles beside single ones (`fold_weights`, `fold_pair`) the energy is that of the plate.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from pliant.elements.block import Block, Invariance, Tearing
from pliant.elements.element import Element, View
from pliant.lanes import maximum, number, sqrt
from pliant.lanes.angles import atan2
from pliant.lanes.vectors import add_scaled, add_square, cross, dot, physics, subtract

FLAT = 1e-12  # least |n|^2 / |e|^4 that divides: the direction in which a collapsed triangle bends is rounding
TINY = 1e-37  # divides in place of zero; its inverse is finite in single precision


@dataclass(frozen=True)
class Hinges(Block):
    """Pairs of triangles bent about their common edge (m, 4): its start and end, then the two wings."""

    tearing = Tearing.FOLLOWS_FOLDS
    invariance = Invariance.RIGID

    angles: np.ndarray  # (m,) at rest [rad]
    stiffness: np.ndarray  # (m,) bending stiffness times the hinge's weight [J]


def rest_data(points: np.ndarray, hinges: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Angles theta_0 (m,) [rad] and weights w (m,) of hinges (m, 4)."""
    x = points[hinges]
    edge, wing = x[:, 1] - x[:, 0], x[:, 3] - x[:, 0]
    n1, n2 = np.cross(edge, x[:, 2] - x[:, 0]), np.cross(wing, edge)
    length = np.linalg.norm(edge, axis=1)
    sine = -length * np.einsum("ma,ma->m", n1, wing)
    areas = 0.5 * (np.linalg.norm(n1, axis=1) + np.linalg.norm(n2, axis=1))
    return np.arctan2(sine, np.einsum("ma,ma->m", n1, n2)), length**2 / areas


@physics
def angle_at_wing(a, b, c):
    """theta and its derivative in wing 2; a, b the edge's start and end, c the other wing, relative to wing 2.

    For wing 3 the hinge is (1, 0, 3, 2): a is vertex 1, b vertex 0, c wing 2.
    """
    edge = subtract(b, a)
    n1, n2 = cross(a, b), cross(subtract(c, a), edge)
    squared = dot(edge, edge)
    length = sqrt(squared)
    u1 = _inverse(n1, squared)
    gradient = (-length * u1[0], -length * u1[1], -length * u1[2])
    return _angle(n1, n2, subtract(c, a), length), gradient


@physics
def angle_at_edge(b, c, d):
    """theta and its derivative in the edge's start 0; b its end, c wing 2, d wing 3, relative to vertex 0.

    For vertex 1 the hinge is (1, 0, 3, 2): b is vertex 0, c wing 3, d wing 2.
    """
    n1, n2 = cross(b, c), cross(d, b)
    squared = dot(b, b)
    length = sqrt(squared)
    inverse = 1.0 / maximum(length, number(TINY, length))
    first = (squared - dot(c, b)) * inverse
    second = (squared - dot(d, b)) * inverse
    u1, u2 = _inverse(n1, squared), _inverse(n2, squared)
    gradient = add_scaled((first * u1[0], first * u1[1], first * u1[2]), second, u2)
    return _angle(n1, n2, d, length), gradient


@physics
def energy_at_wing(a, b, c, rest_angle, stiffness):
    """E [J]; stiffness k w [J]."""
    theta, _ = angle_at_wing(a, b, c)
    return _energy(theta, rest_angle, stiffness)


@physics
def energy_at_edge(b, c, d, rest_angle, stiffness):
    """E [J]; stiffness k w [J]."""
    theta, _ = angle_at_edge(b, c, d)
    return _energy(theta, rest_angle, stiffness)


@physics
def add_at_wing(f, H, a, b, c, rest_angle, stiffness):
    """Add the force on wing 2 and its block; stiffness k w [J]."""
    theta, gradient = angle_at_wing(a, b, c)
    return _add(f, H, theta, gradient, rest_angle, stiffness)


@physics
def add_at_edge(f, H, b, c, d, rest_angle, stiffness):
    """Add the force on the edge's start 0 and its block; stiffness k w [J]."""
    theta, gradient = angle_at_edge(b, c, d)
    return _add(f, H, theta, gradient, rest_angle, stiffness)


@physics
def hinge_measure(corners, rest_angle, stiffness):
    """theta - theta_0."""
    x0, x1, x2, x3 = corners
    theta, wing = angle_at_wing(subtract(x0, x2), subtract(x1, x2), subtract(x3, x2))
    _, other = angle_at_wing(subtract(x1, x3), subtract(x0, x3), subtract(x2, x3))
    _, edge = angle_at_edge(subtract(x1, x0), subtract(x2, x0), subtract(x3, x0))
    end = (-(edge[0] + wing[0] + other[0]), -(edge[1] + wing[1] + other[1]), -(edge[2] + wing[2] + other[2]))
    return theta - rest_angle, (edge, end, wing, other), stiffness


@physics
def _energy(theta, rest_angle, stiffness):
    bend = theta - rest_angle
    return 0.5 * stiffness * bend * bend


@physics
def _add(f, H, theta, gradient, rest_angle, stiffness):
    """gradient = dtheta/dx_i [1/m]."""
    f = add_scaled(f, -stiffness * (theta - rest_angle), gradient)
    return f, add_square(H, stiffness, gradient)


@physics
def _angle(n1, n2, wing, length):
    """Angle from n1 to n2 about the edge, with wing = x_3 - x_0: n1 x n2 = -(n1 . wing) e."""
    return atan2(-length * dot(n1, wing), dot(n1, n2))


@physics
def _inverse(n, squared_edge):
    """n / |n|^2, zero for a collapsed triangle."""
    nn = dot(n, n)
    scale = 1.0 / maximum(nn, FLAT * squared_edge * squared_edge + TINY)
    return (n[0] * scale, n[1] * scale, n[2] * scale)


def hessian(corners: np.ndarray, rest_angles: np.ndarray, stiffness: np.ndarray) -> np.ndarray:
    """d2E/dx2 (m, 12, 12) [N/m], exact: k w (dtheta dtheta^T + (theta - theta_0) d2theta)."""
    m = len(corners)
    angles, g, second = angle_derivatives(corners)
    g, bend = g.reshape(m, 12), (angles - rest_angles)[:, None, None]
    return stiffness[:, None, None] * (g[:, :, None] * g[:, None, :] + bend * second.reshape(m, 12, 12))


def angle_derivatives(corners: np.ndarray) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """theta (m,), dtheta (m, 4, 3) and d2theta (m, 4, 3, 4, 3) of hinges with corners (m, 4, 3)."""
    m = len(corners)
    angles, _ = rest_data(corners.reshape(-1, 3), np.arange(4 * m).reshape(m, 4))
    g = np.zeros((m, 4, 3))
    second = np.zeros((m, 4, 3, 4, 3))
    for wing in (2, 3):
        own, part = _side_derivatives(corners, wing)
        g[:, (0, 1, wing)] += own
        second[np.ix_(range(m), (0, 1, wing), range(3), (0, 1, wing), range(3))] += part
    return angles, g, second


def _side_derivatives(corners: np.ndarray, wing: int) -> tuple[np.ndarray, np.ndarray]:
    """What the triangle (0, 1, wing) adds to dtheta (m, 3, 3) and d2theta (m, 3, 3, 3, 3) at its corners.

    The derivative of each vertex is a factor times n / |n|^2; both are differentiated.
    """
    start, end, tip = corners[:, 0], corners[:, 1], corners[:, wing]
    edge, arm, back = end - start, tip - start, tip - end
    sign = 1.0 if wing == 2 else -1.0
    n = sign * np.cross(edge, arm)
    length = np.maximum(np.linalg.norm(edge, axis=1), TINY)
    size = np.maximum(np.sum(n * n, axis=1), FLAT * length**4 + TINY)[:, None]
    t = edge / length[:, None]
    along_back, along_arm = np.sum(back * t, axis=1), np.sum(arm * t, axis=1)
    factors = np.stack((-along_back, along_arm, -length), axis=1)
    tilt_back = (back - along_back[:, None] * t) / length[:, None]  # d(back . t) by the edge alone
    tilt_arm = (arm - along_arm[:, None] * t) / length[:, None]
    of_start = np.stack((tilt_back, t - tilt_back, -t), axis=1)
    of_end = np.stack((-t - tilt_arm, tilt_arm, t), axis=1)
    of_wing = np.stack((t, -t, np.zeros_like(t)), axis=1)
    by_factors = np.stack((of_start, of_end, of_wing), axis=1)  # factor, corner, axis
    opposite = np.stack((back, -arm, edge), axis=1)  # dn = opposite x dx
    by_normal = sign * np.cross(opposite[:, :, None, :], np.eye(3)).swapaxes(2, 3)  # corner, component of n, axis
    inverse = n / size
    turned = (np.eye(3) - 2 * n[:, :, None] * inverse[:, None, :]) / size[:, :, None]  # d(n / |n|^2) / dn
    second = np.einsum("ma,mijb->miajb", inverse, by_factors)
    second += np.einsum("mi,mab,mjbc->miajc", factors, turned, by_normal, optimize=True)
    return (factors / size)[:, :, None] * n[:, None, :], second


HINGE = Element(
    Hinges,
    "hinges",
    corners=4,
    numbers=("angles", "stiffness"),
    measure=hinge_measure,
    views=(
        View(((2, 0, 1, 3), (3, 1, 0, 2)), add_at_wing, energy_at_wing),
        View(((0, 1, 2, 3), (1, 0, 3, 2)), add_at_edge, energy_at_edge),
    ),
    hessian=hessian,
)

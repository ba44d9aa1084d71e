"""The hinge: two triangles bent about their common edge, and the energy of the angle between them.

                2                 n_1 = (x_1 - x_0) x (x_2 - x_0),   n_2 = (x_3 - x_0) x (x_1 - x_0)
              /   \\               theta: angle from n_1 to n_2 about the edge, 0 when flat, in [-pi, pi]
             0 ---- 1
              \\   /               E = k w / 2 (theta - theta_0)^2,   w = |e|^2 / (A_1 + A_2) at rest
                3                 k: bending stiffness [N m], the rigidity of a plate, E = k/2 integral of curvature^2

With u_T = n_T / |n_T|^2, e from 0 to 1 and its unit vector t, the derivatives of theta (they sum to zero) are

    wing 2: -|e| u_1       edge 0: -((x_2 - x_1) . t) u_1 - ((x_3 - x_1) . t) u_2
    wing 3: -|e| u_2       edge 1:  ((x_2 - x_0) . t) u_1 + ((x_3 - x_0) . t) u_2

Vertex block descent solves with the block k w dtheta dtheta^T (Gauss-Newton), which is never indefinite; second
derivatives of theta are at the end of this file.

Deviation: Grinspun et al. 2003 (Discrete Shells) weigh with 3 |e|^2 / (A_1 + A_2), three times as much.  With the
weight above, points on a cylinder have the energy of the plate if the mesh is made of equilateral triangles, or of
right triangles whose legs lie along and across the cylinder.  On other meshes and directions a sum over single angles
cannot have it: 1.0 to 1.5 times as much on irregular meshes and along alternating diagonals of squares (2.6 of cells
2.5 : 1), 3 times along diagonals that are all parallel; a free strip of right triangles bends a fifth too easily.
With squares of two and three angles beside single ones (`fan_weights`) the energy is that of the plate.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from pliant.elements.block import Block, Invariance, Tearing
from pliant.elements.element import Element, View
from pliant.lanes import maximum, number, sqrt
from pliant.lanes.angles import atan2
from pliant.lanes.blocks import add_block, add_dyad, add_turn
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


@physics
def angle_curvature(corners):
    """d2theta [1/m^2] at pairs of corners i <= j, row by row: the blocks 00, 01, 02, 03, 11, 12, 13, 22, 23, 33.

    What the triangles (0, 1, 2) and (0, 1, 3) add to dtheta is differentiated; only the sum of both is symmetric.
    """
    x0, x1, x2, x3 = corners
    one, other = _side_curvature(x0, x1, x2, 1.0), _side_curvature(x0, x1, x3, -1.0)
    zero = number(0.0, x0[0])
    none = (zero, zero, zero, zero, zero, zero, zero, zero, zero)
    return (
        add_block(one[0], 1.0, other[0]),
        add_block(one[1], 1.0, other[1]),
        one[2],
        other[2],
        add_block(one[3], 1.0, other[3]),
        one[4],
        other[4],
        one[5],
        none,
        other[5],
    )


@physics
def _side_curvature(start, end, tip, sign):
    """Derivatives of what a triangle adds to dtheta at start, end and tip: the blocks of pairs of these.

    At corner i that is f_i u with u = n / |n|^2 and lengths f; with dn = sign o_j x dx_j and the derivatives f_ij of
    f_i by corner j the block is u (f_ij - 2 sign f_i u x o_j)^T + sign f_i / |n|^2 [o_j x].
    """
    edge, arm, back = subtract(end, start), subtract(tip, start), subtract(tip, end)
    n = cross(edge, arm)
    n = (sign * n[0], sign * n[1], sign * n[2])
    squared = dot(edge, edge)
    length = maximum(sqrt(squared), number(TINY, squared))
    per = 1.0 / length
    inverse = 1.0 / maximum(dot(n, n), FLAT * squared * squared + TINY)
    u = (n[0] * inverse, n[1] * inverse, n[2] * inverse)
    t = (per * edge[0], per * edge[1], per * edge[2])
    along_back, along_arm = dot(back, t), dot(arm, t)
    f_start, f_end, f_tip = -along_back, along_arm, -length
    lean_back = _tilt(back, along_back, t, per)  # d(back . t) by the edge alone
    lean_arm = _tilt(arm, along_arm, t, per)
    o_start, o_end, o_tip = back, (-arm[0], -arm[1], -arm[2]), edge
    zero = number(0.0, per)
    minus_t, none = (-t[0], -t[1], -t[2]), (zero, zero, zero)
    s = sign * inverse
    return (
        _turned(u, lean_back, sign, f_start, s, o_start),
        _turned(u, subtract(t, lean_back), sign, f_start, s, o_end),
        _turned(u, minus_t, sign, f_start, s, o_tip),
        _turned(u, lean_arm, sign, f_end, s, o_end),
        _turned(u, t, sign, f_end, s, o_tip),
        _turned(u, none, sign, f_tip, s, o_tip),
    )


@physics
def _tilt(side, along, t, per):
    return (per * (side[0] - along * t[0]), per * (side[1] - along * t[1]), per * (side[2] - along * t[2]))


@physics
def _turned(u, slope, sign, f, s, o):
    """u (slope - 2 sign f u x o)^T + s f [o x]."""
    w = add_scaled(slope, -2.0 * sign * f, cross(u, o))
    zero = number(0.0, f)
    block = add_dyad((zero, zero, zero, zero, zero, zero, zero, zero, zero), u, w)
    return add_turn(block, -s * f, o)


@physics
def hinge_curvature(corners, rest_angle, stiffness):
    """d2C at pairs of corners."""
    return angle_curvature(corners)


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
    curvature=hinge_curvature,
)

"""Elements with one constraint C of linear compliance, energy k/2 C^2: springs, hinges, joints of rods, threads of
sheets and walls.

The multiplier follows XPBD's Equation 18, written with the stiffness k = 1 / compliance so that a slack rope (k = 0)
lets go:   delta lambda = -(k (C + drag) + lambda) / (1 + k (1 + rate) (g, g)),   g = grad C.
"""

from __future__ import annotations

from pliant.elements.hinge import angle_at_edge, angle_at_wing
from pliant.elements.joint import joint_gradients
from pliant.elements.spring import LEAST_LENGTH
from pliant.kernels.corners import IMPORT, each_corner, gradient_lines
from pliant.kernels.projection_source import ConstraintSource
from pliant.lanes import maximum, number, select, sqrt
from pliant.lanes.vectors import dot, physics, subtract


def scalar_source(name: str, measure: str, corners: int, numbers: int, damped: bool, constrained: bool):
    """measure: a function of this file of the rows r and the element's numbers that gives C, g and k.

    After its numbers an element has the relaxation and, if damped, k_d / h.
    """
    count = numbers + (2 if damped else 1)

    def load(i: int) -> str:
        return f"load(numbers_K, (p * {count} + {i}) * WIDTH, zero())"

    lines = [
        f"c, g, k = {measure}(r, {', '.join(load(i) for i in range(numbers))})",
        *gradient_lines(("g",), corners, damped, constrained, load(numbers + 1)),
        f"gg = {each_corner(corners, 'inner(r[#], g[#], g[#])', ' + ')}",
        "multiplier = load(memory_K, p * WIDTH, zero())",
        f"change = {load(numbers)} * multiplier_step(c + drag_g, k, (1.0 + rate) * gg, multiplier)",
        "store(memory_K, p * WIDTH, multiplier + change)",
        f"d = ({each_corner(corners, 'moved(r[#], change, g[#])')},)",
    ]
    imports = f"from pliant.kernels.scalar_constraints import {measure}, multiplier_step\n{IMPORT}"
    return ConstraintSource(name, corners, imports, ("numbers_K", "memory_K"), tuple(lines))


@physics
def multiplier_step(c, k, gg, multiplier):
    return -(k * c + multiplier) / (1.0 + k * gg)


@physics
def spring_measure(r, rest_length, compression, stiffness):
    """l - l0; a rope has no stiffness when it is shorter than at rest."""
    e = subtract(r[1], r[0])
    length = sqrt(dot(e, e))
    inverse = 1.0 / maximum(length, number(LEAST_LENGTH, length))
    u = (e[0] * inverse, e[1] * inverse, e[2] * inverse)
    k = select(length < rest_length, stiffness * compression, stiffness)
    return length - rest_length, ((-u[0], -u[1], -u[2]), u), k


@physics
def fibre_measure(r, slope_0, slope_1, slope_2, stiffness):
    """Green's strain along a thread, (|F d|^2 - 1) / 2; see elements.fibre."""
    a, b = subtract(r[1], r[0]), subtract(r[2], r[0])
    s = (slope_1 * a[0] + slope_2 * b[0], slope_1 * a[1] + slope_2 * b[1], slope_1 * a[2] + slope_2 * b[2])
    g = (
        (slope_0 * s[0], slope_0 * s[1], slope_0 * s[2]),
        (slope_1 * s[0], slope_1 * s[1], slope_1 * s[2]),
        (slope_2 * s[0], slope_2 * s[1], slope_2 * s[2]),
    )
    return 0.5 * (dot(s, s) - 1.0), g, stiffness


@physics
def wall_measure(r, n_x, n_y, n_z, place, stiffness):
    """How far a vertex is behind the wall n . x = place, n outward; nothing pulls it back to the wall."""
    n = (n_x, n_y, n_z)
    d = dot(n, r[0]) - place
    return d, (n,), select(d > 0.0, stiffness, number(0.0, d))


@physics
def hinge_measure(r, rest_angle, stiffness):
    """theta - theta_0; see elements.hinge for the order of the corners."""
    theta, wing = angle_at_wing(subtract(r[0], r[2]), subtract(r[1], r[2]), subtract(r[3], r[2]))
    _, other = angle_at_wing(subtract(r[1], r[3]), subtract(r[0], r[3]), subtract(r[2], r[3]))
    _, edge = angle_at_edge(subtract(r[1], r[0]), subtract(r[2], r[0]), subtract(r[3], r[0]))
    end = (-(edge[0] + wing[0] + other[0]), -(edge[1] + wing[1] + other[1]), -(edge[2] + wing[2] + other[2]))
    return theta - rest_angle, (edge, end, wing, other), stiffness


@physics
def joint_measure(r, rest_angle, stiffness):
    """theta - theta_0 of a rod's joint."""
    theta, first, last = joint_gradients(subtract(r[1], r[0]), subtract(r[2], r[1]))
    middle = (-(first[0] + last[0]), -(first[1] + last[1]), -(first[2] + last[2]))
    return theta - rest_angle, (first, middle, last), stiffness

"""Stable neo-Hookean tets as two constraints with compliance (Macklin and Mueller 2021).

    C_D = |F|,  compliance 1 / (mu V);    C_H = J - 1 - mu / l,  compliance 1 / (l V);    l = lam + mu
    sum C^2 / (2 compliance) = V (psi + 3/2 mu + mu^2 / (2 l)),  psi that of StableNeoHookean: the same forces.

Both are solved together (Ton-That, Kry and Andrews 2023): one after the other, each would pull an element at rest out
of its shape.  At rest their gradients are parallel, so one is first made orthogonal to the other; the system that
remains is well conditioned for any stiffness.

Eleven numbers per element: b_i . b_j of corners 1 to 3 (six), 1 / (6 V), the compliances, 1 + mu / l, the relaxation.
"""

from __future__ import annotations

import numpy as np

from pliant.kernels.corners import IMPORT, gradient_lines, inner
from pliant.kernels.projection_source import ConstraintSource
from pliant.kernels.term_source import import_lines
from pliant.lanes import load, maximum, number, reciprocal, sqrt, store, width_of
from pliant.lanes.vectors import add, add_scaled, cross, dot, physics, subtract

NUMBERS = 11
DAMPED = 1  # more numbers of a damped element: k_d / h
SMALLEST = 1e-30  # keeps a division by the size of a collapsed element finite


def constraint_numbers(gradients, volumes, mu, l, relaxation) -> np.ndarray:
    """The eleven numbers of each element (m, 11); 1 / (6 V) is negative where the order of the corners is odd."""
    b = gradients[:, 1:]
    products = np.einsum("mia,mja->mij", b, b)[:, [0, 0, 0, 1, 1, 2], [0, 1, 2, 1, 2, 2]]
    return np.column_stack([products, np.linalg.det(b), 1 / (mu * volumes), 1 / (l * volumes), 1 + mu / l, relaxation])


def constraint_source(damped: bool, constrained: bool) -> ConstraintSource:
    """Tets as a kernel sees them."""
    count = NUMBERS + (DAMPED if damped else 0)
    rate = f"load(numbers_K, (p * {count} + {NUMBERS}) * WIDTH, zero())"
    lines = (
        f"n = load_numbers(numbers_K, p * {count}, zero())",
        "I, q, J, g = measures(r, n)",
        *gradient_lines(("q", "g"), 4, damped, constrained, rate),
        "d = coupled_corrections(p, r, I, q, J, g, n, rate, drag_q, drag_g, accumulated_K)",
    )
    imports = f"{import_lines(coupled_corrections, load_numbers, measures)}\n{IMPORT}"
    return ConstraintSource("StableNeoHookean", 4, imports, ("numbers_K", "accumulated_K"), lines)


@physics
def load_numbers(numbers, first, like):
    w = width_of(like)
    return (
        load(numbers, first * w, like),
        load(numbers, (first + 1) * w, like),
        load(numbers, (first + 2) * w, like),
        load(numbers, (first + 3) * w, like),
        load(numbers, (first + 4) * w, like),
        load(numbers, (first + 5) * w, like),
        load(numbers, (first + 6) * w, like),
        load(numbers, (first + 7) * w, like),
        load(numbers, (first + 8) * w, like),
        load(numbers, (first + 9) * w, like),
        load(numbers, (first + 10) * w, like),
    )


@physics
def measures(r, n):
    """I = |F|^2 and half its gradient, J and its gradient; I = sum_ij (b_i . b_j) e_i . e_j with edges e_i."""
    e1, e2, e3 = subtract(r[1], r[0]), subtract(r[2], r[0]), subtract(r[3], r[0])
    q1 = _combine(n[0], e1, n[1], e2, n[2], e3)
    q2 = _combine(n[1], e1, n[3], e2, n[4], e3)
    q3 = _combine(n[2], e1, n[4], e2, n[5], e3)
    I = maximum(dot(e1, q1) + dot(e2, q2) + dot(e3, q3), number(SMALLEST, n[0]))
    c1, c2, c3 = _scaled(n[6], cross(e2, e3)), _scaled(n[6], cross(e3, e1)), _scaled(n[6], cross(e1, e2))
    return I, _four(q1, q2, q3), dot(e1, c1), _four(c1, c2, c3)


@physics
def _combine(a, u, b, v, c, w):
    return (a * u[0] + b * v[0] + c * w[0], a * u[1] + b * v[1] + c * w[1], a * u[2] + b * v[2] + c * w[2])


@physics
def _four(a, b, c):
    """Gradients at the four corners: they sum to zero."""
    return ((-(a[0] + b[0] + c[0]), -(a[1] + b[1] + c[1]), -(a[2] + b[2] + c[2])), a, b, c)


@physics
def _scaled(s, a):
    return (s * a[0], s * a[1], s * a[2])


@physics
def _inner(r, a, b):
    """Sum of h^2 / m  a . b over the corners."""
    return inner(r[0], a[0], b[0]) + inner(r[1], a[1], b[1]) + inner(r[2], a[2], b[2]) + inner(r[3], a[3], b[3])


@physics
def coupled_corrections(p, r, I, q, J, g, n, rate, drag_D, drag_H, multipliers):
    """Corrections of the corners, and new multipliers [N] (XPBD, Equations 17, 18 and 26, for two constraints).

    grad C_D = q / |F| and grad C_H = g.  With q' = q - beta g, beta = (q, g) / (g, g), the unknowns
    s = delta lambda_D / |F| and u = delta lambda_H + beta s, residuals r_D and r_H and compliances a_D and a_H:

        ((1 + rate) (q', q') + a_D I + beta^2 a_H) s              - beta a_H u = -(|F| r_D - beta r_H)
                                      - beta a_H s + ((1 + rate) (g, g) + a_H) u = -r_H
    """
    w = width_of(I)
    a_D, a_H = n[7], n[8]
    size = sqrt(I)
    lambda_D, lambda_H = load(multipliers, 2 * p * w, I), load(multipliers, (2 * p + 1) * w, I)
    gg = _inner(r, g, g)
    beta = _inner(r, q, g) * reciprocal(maximum(gg, number(SMALLEST, I)))
    q = (
        add_scaled(q[0], -beta, g[0]),
        add_scaled(q[1], -beta, g[1]),
        add_scaled(q[2], -beta, g[2]),
        add_scaled(q[3], -beta, g[3]),
    )
    r_D = I + a_D * (lambda_D * size) + drag_D  # times |F|
    r_H = J - n[9] + a_H * lambda_H + drag_H
    mixed = beta * a_H
    inverse = reciprocal((1.0 + rate) * gg + a_H)
    s = (beta * r_H - r_D - mixed * inverse * r_H) / (
        (1.0 + rate) * _inner(r, q, q) + a_D * I + mixed * (beta - mixed * inverse)
    )
    u = n[10] * (inverse * (mixed * s - r_H))
    s = n[10] * s
    store(multipliers, 2 * p * w, lambda_D + s * size)
    store(multipliers, (2 * p + 1) * w, lambda_H + u - beta * s)
    return (
        _correction(r[0], s, q[0], u, g[0]),
        _correction(r[1], s, q[1], u, g[1]),
        _correction(r[2], s, q[2], u, g[2]),
        _correction(r[3], s, q[3], u, g[3]),
    )


@physics
def _correction(row, a, g, b, k):
    return _scaled(row[3], add(_scaled(a, g), _scaled(b, k)))

"""St. Venant-Kirchhoff triangles as constraints with compliance: Green's strain in the plane.

    C = (E_11, E_22, 2 E_12),  E = (F^T F - 1) / 2,  energy A/2 C . K C,   K = | lam + 2 mu   lam          0  |
                                                                             | lam          lam + 2 mu   0  |
    compliance (A K)^-1, the energy of elements.triangle exactly.            | 0            0            mu |

The three are solved together (XPBD, Equation 18, with matrices).  Eight numbers per element: b_1 and b_2 (four), the
compliances 1 1, 1 2 and 3 3 [1/J], and the relaxation.
"""

from __future__ import annotations

import numpy as np

from pliant.kernels.corners import IMPORT, gradient_lines, inner
from pliant.kernels.elimination import elimination_source
from pliant.kernels.projection_source import ConstraintSource
from pliant.kernels.term_source import import_lines
from pliant.lanes import load, store, width_of
from pliant.lanes.vectors import dot, physics, subtract

NUMBERS = 8


def sheet_numbers(gradients, areas, mu, lam, relaxation) -> np.ndarray:
    """The eight numbers of each element (m, 8). gradients: (m, 3, 2); mu, lam [N/m]."""
    b = gradients[:, 1:].reshape(-1, 4)
    size = 4 * mu * (lam + mu) * areas
    return np.column_stack([b, (lam + 2 * mu) / size, -lam / size, 1 / (mu * areas), relaxation])


def sheet_source(damped: bool, constrained: bool) -> ConstraintSource:
    """Triangles as a kernel sees them."""
    count = NUMBERS + (1 if damped else 0)
    numbers = ", ".join(f"load(numbers_K, (p * {count} + {i}) * WIDTH, zero())" for i in range(NUMBERS))
    rate = f"load(numbers_K, (p * {count} + {NUMBERS}) * WIDTH, zero())"
    names = ("g", "k", "m")
    lines = (
        f"n = ({numbers})",
        "c, g, k, m = strains(r, n)",
        *gradient_lines(names, 3, damped, constrained, rate),
        "d = strain_corrections(p, r, c, (g, k, m), n, rate, (drag_g, drag_k, drag_m), accumulated_K, solve_3)",
    )
    imports = f"{import_lines(strain_corrections, strains)}\n{IMPORT}"
    tables, shared = ("numbers_K", "accumulated_K"), elimination_source(3)
    return ConstraintSource("StVenantKirchhoff sheets", 3, imports, tables, lines, shared=shared)


@physics
def strains(r, n):
    """C and its three gradients at the three corners."""
    u, v = subtract(r[1], r[0]), subtract(r[2], r[0])
    F = (_combined(n[0], u, n[2], v), _combined(n[1], u, n[3], v))
    c = (0.5 * (dot(F[0], F[0]) - 1.0), 0.5 * (dot(F[1], F[1]) - 1.0), dot(F[0], F[1]))
    zero = n[0] - n[0]
    return (
        c,
        _three(_combined(n[0], F[0], zero, F[1]), _combined(n[2], F[0], zero, F[1])),
        _three(_combined(zero, F[0], n[1], F[1]), _combined(zero, F[0], n[3], F[1])),
        _three(_combined(n[1], F[0], n[0], F[1]), _combined(n[3], F[0], n[2], F[1])),
    )


@physics
def _combined(a, u, b, v):
    return (a * u[0] + b * v[0], a * u[1] + b * v[1], a * u[2] + b * v[2])


@physics
def _three(a, b):
    """Gradients at the three corners: they sum to zero."""
    return ((-(a[0] + b[0]), -(a[1] + b[1]), -(a[2] + b[2])), a, b)


@physics
def _inner(r, a, b):
    return inner(r[0], a[0], b[0]) + inner(r[1], a[1], b[1]) + inner(r[2], a[2], b[2])


@physics
def strain_corrections(p, r, c, g, n, rate, drag, multipliers, solve):
    """Corrections of the corners, and new multipliers [J]."""
    w, braked = width_of(rate), 1.0 + rate
    old = (
        load(multipliers, 3 * p * w, rate),
        load(multipliers, (3 * p + 1) * w, rate),
        load(multipliers, (3 * p + 2) * w, rate),
    )
    H = (
        braked * _inner(r, g[0], g[0]) + n[4], braked * _inner(r, g[0], g[1]) + n[5], braked * _inner(r, g[0], g[2]),
        braked * _inner(r, g[1], g[1]) + n[4], braked * _inner(r, g[1], g[2]), braked * _inner(r, g[2], g[2]) + n[6],
    )  # fmt: skip
    f = (
        -(c[0] + drag[0] + n[4] * old[0] + n[5] * old[1]),
        -(c[1] + drag[1] + n[5] * old[0] + n[4] * old[1]),
        -(c[2] + drag[2] + n[6] * old[2]),
    )
    step, _ = solve(H, f)
    s = (n[7] * step[0], n[7] * step[1], n[7] * step[2])
    for i in range(3):
        store(multipliers, (3 * p + i) * w, old[i] + s[i])
    return _moved(r, s, g, 0), _moved(r, s, g, 1), _moved(r, s, g, 2)


@physics
def _moved(r, s, g, i):
    """h^2 / m  sum_a s_a g_a of a corner."""
    k = r[i][3]
    return (
        k * (s[0] * g[0][i][0] + s[1] * g[1][i][0] + s[2] * g[2][i][0]),
        k * (s[0] * g[0][i][1] + s[1] * g[1][i][1] + s[2] * g[2][i][1]),
        k * (s[0] * g[0][i][2] + s[1] * g[1][i][2] + s[2] * g[2][i][2]),
    )

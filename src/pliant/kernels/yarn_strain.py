"""Triangles of yarn cloth in GPBD: Newton's method in the space of their six strains (Equation 19).

With S = ds/dx (6 x 18), W the corners' h^2 / m and M = S W S^T = L L^T, a correction is W S^T L^-T y and Equation 19 is

    min_y 1/2 |y|^2 + y . L^-1 S d + A psi(s(x + W S^T L^-T y)),

whose Newton step at y = 0 solves (1 + A L^T psi'' L) y = -(L^-1 S d + A L^T psi').  In y the matrix M is the identity
whatever the units of the strains, so that the paper's rescaling of the curvatures would change nothing.  Strains that
no vertex moves, as the curvatures of triangles with free edges, have vanishing pivots in L and stay.  Where the matrix
is not positive definite, Gershgorin's bound of its least eigenvalue is added (Equation 23).

Deviation: S is evaluated again in each of an element's Newton iterations; the paper holds it.

Nine numbers per element: b_1, b_2, A, where there are wings, the relaxation.  An element remembers the eighteen of d.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from pliant.elements.yarn_strains import yarn_strains
from pliant.elements.yarn_views import weighted
from pliant.kernels.elimination import elimination_source
from pliant.kernels.factors import factor_source
from pliant.kernels.projection_source import ConstraintSource
from pliant.kernels.term_source import import_lines
from pliant.lanes import absolute, count, load, maximum, number, select, store, width_of
from pliant.lanes.vectors import add_scaled, dot, physics
from pliant.materials.yarn_density import yarn_density, yarn_expansion

NUMBERS = 9
HALVINGS = 12
SURE_STEP = (
    1e-6  # of y, over the root of A psi's size: taken without a search, as rounding hides how the energy changes
)
MARGIN = 1e-6  # of the trace: added where the matrix is made positive


def yarn_numbers(block: Any, rows: np.ndarray, share: np.ndarray) -> np.ndarray:
    """(m, 9) of some elements."""
    b = block.gradients[rows]
    return np.column_stack([b[:, 1], b[:, 2], block.areas[rows], block.present[rows], share])


@physics
def yarn_element(numbers, p, like):
    """b_1, b_2, A, present, relaxation of the elements of pack p."""
    w, first = width_of(like), 9 * p
    return (
        (load(numbers, first * w, like), load(numbers, (first + 1) * w, like)),
        (load(numbers, (first + 2) * w, like), load(numbers, (first + 3) * w, like)),
        load(numbers, (first + 4) * w, like),
        (
            load(numbers, (first + 5) * w, like),
            load(numbers, (first + 6) * w, like),
            load(numbers, (first + 7) * w, like),
        ),
        load(numbers, (first + 8) * w, like),
    )


@physics
def yarn_moved(own, p, like):
    """d of the elements of pack p: flat (packs, 18, width)."""
    return (
        _vector(own, 6 * p, like),
        _vector(own, 6 * p + 1, like),
        _vector(own, 6 * p + 2, like),
        _vector(own, 6 * p + 3, like),
        _vector(own, 6 * p + 4, like),
        _vector(own, 6 * p + 5, like),
    )


@physics
def _vector(own, k, like):
    w = width_of(like)
    return (load(own, 3 * k * w, like), load(own, (3 * k + 1) * w, like), load(own, (3 * k + 2) * w, like))


@physics
def yarn_step(
    r, moved, d, element, table, searches, solve, add_diagonal, least_eigenvalue, cholesky, forward, backward, times,
    congruent,
):  # fmt: skip
    """Moves of corners and wings in one Newton iteration, after what they `moved` and the element did, d."""
    b1, b2, area, present, _ = element
    x = _corners(r, moved, number(1.0, area))
    w = (r[0][3], r[1][3], r[2][3], present[0] * r[3][3], present[1] * r[4][3], present[2] * r[5][3])
    s, S = yarn_strains(x, b1, b2, present)
    psi, slope, curvature = yarn_expansion(table, s)
    L, i = cholesky(_gram(S, w))
    pull = forward(L, i, _along(S, d))
    push = times(L, slope)
    g = (
        pull[0] + area * push[0],
        pull[1] + area * push[1],
        pull[2] + area * push[2],
        pull[3] + area * push[3],
        pull[4] + area * push[4],
        pull[5] + area * push[5],
    )
    K = congruent(L, curvature)
    H = add_diagonal(_scaled_21(area, K), number(1.0, area))
    f = (-g[0], -g[1], -g[2], -g[3], -g[4], -g[5])
    y, indefinite = solve(H, f)
    if count(indefinite) > 0:
        zero = number(0.0, area)
        size = absolute(H[0]) + absolute(H[6]) + absolute(H[11]) + absolute(H[15]) + absolute(H[18]) + absolute(H[20])
        shift = maximum(-least_eigenvalue(H), zero) + MARGIN * size
        y, _ = solve(add_diagonal(H, select(indefinite, shift, zero)), f)
    moves = _moves(S, w, backward(L, i, y))
    if not searches:
        return moves
    return _searched(x, moves, y, pull, area * psi, element, table)


@physics
def _searched(x, moves, y, pull, before, element, table):
    """Halve the moves until Equation 19 does not rise; before: A psi [J]."""
    b1, b2, area, present, _ = element
    zero, one, half = number(0.0, area), number(1.0, area), number(0.5, area)
    slope, square = _dot6(pull, y), _dot6(y, y)
    part, accepted = one, one < zero
    for _ in range(HALVINGS):
        there, _ = yarn_strains(_corners(x, moves, part), b1, b2, present)
        after = area * yarn_density(table, there) + part * (slope + half * part * square)
        accepted = (after <= before) | (part * part * square < SURE_STEP * absolute(before))
        if count(accepted) == width_of(one):
            break
        part = select(accepted, part, part * half)
    part = select(accepted, part, zero)
    return (
        _times3(part, moves[0]),
        _times3(part, moves[1]),
        _times3(part, moves[2]),
        _times3(part, moves[3]),
        _times3(part, moves[4]),
        _times3(part, moves[5]),
    )


@physics
def _corners(r, moves, part):
    return (
        _stepped(r[0], moves[0], part),
        _stepped(r[1], moves[1], part),
        _stepped(r[2], moves[2], part),
        _stepped(r[3], moves[3], part),
        _stepped(r[4], moves[4], part),
        _stepped(r[5], moves[5], part),
    )


@physics
def _stepped(r, d, part):
    return (r[0] + part * d[0], r[1] + part * d[1], r[2] + part * d[2])


@physics
def _times3(s, a):
    return (s * a[0], s * a[1], s * a[2])


@physics
def _dot6(a, b):
    return a[0] * b[0] + a[1] * b[1] + a[2] * b[2] + a[3] * b[3] + a[4] * b[4] + a[5] * b[5]


@physics
def _scaled_21(s, K):
    return (
        s * K[0], s * K[1], s * K[2], s * K[3], s * K[4], s * K[5], s * K[6], s * K[7], s * K[8], s * K[9], s * K[10],
        s * K[11], s * K[12], s * K[13], s * K[14], s * K[15], s * K[16], s * K[17], s * K[18], s * K[19], s * K[20],
    )  # fmt: skip


@physics
def _product(a, b, w):
    """a . W b of two strains' derivatives."""
    return (
        w[0] * dot(a[0], b[0])
        + w[1] * dot(a[1], b[1])
        + w[2] * dot(a[2], b[2])
        + w[3] * dot(a[3], b[3])
        + w[4] * dot(a[4], b[4])
        + w[5] * dot(a[5], b[5])
    )


@physics
def _gram(S, w):
    """S W S^T."""
    return (
        _product(S[0], S[0], w), _product(S[0], S[1], w), _product(S[0], S[2], w),
        _product(S[0], S[3], w), _product(S[0], S[4], w), _product(S[0], S[5], w),
        _product(S[1], S[1], w), _product(S[1], S[2], w),
        _product(S[1], S[3], w), _product(S[1], S[4], w), _product(S[1], S[5], w),
        _product(S[2], S[2], w), _product(S[2], S[3], w), _product(S[2], S[4], w), _product(S[2], S[5], w),
        _product(S[3], S[3], w), _product(S[3], S[4], w), _product(S[3], S[5], w),
        _product(S[4], S[4], w), _product(S[4], S[5], w),
        _product(S[5], S[5], w),
    )  # fmt: skip


@physics
def _along(S, d):
    """S d."""
    return _sum(S[0], d), _sum(S[1], d), _sum(S[2], d), _sum(S[3], d), _sum(S[4], d), _sum(S[5], d)


@physics
def _sum(a, d):
    return dot(a[0], d[0]) + dot(a[1], d[1]) + dot(a[2], d[2]) + dot(a[3], d[3]) + dot(a[4], d[4]) + dot(a[5], d[5])


@physics
def _moves(S, w, v):
    """W S^T v."""
    return (_move(S, 0, w[0], v), _move(S, 1, w[1], v), _move(S, 2, w[2], v),
            _move(S, 3, w[3], v), _move(S, 4, w[4], v), _move(S, 5, w[5], v))  # fmt: skip


@physics
def _move(S, k, w, v):
    return _times3(w, weighted(v, (S[0][k], S[1][k], S[2][k], S[3][k], S[4][k], S[5][k])))


@physics
def yarn_added(a, part, b):
    """a + part b of six vectors."""
    return (
        add_scaled(a[0], part, b[0]),
        add_scaled(a[1], part, b[1]),
        add_scaled(a[2], part, b[2]),
        add_scaled(a[3], part, b[3]),
        add_scaled(a[4], part, b[4]),
        add_scaled(a[5], part, b[5]),
    )


@physics
def yarn_remembered(own, p, d):
    """Keep d of the elements of pack p."""
    w = width_of(d[0][0])
    for k in range(6):
        for a in range(3):
            store(own, (18 * p + 3 * k + a) * w, d[k][a])


@physics
def with_twins(d, element):
    """A wing that is not there is the opposite corner over again, and must be written with its position."""
    present, one = element[3], number(1.0, element[2])
    return (
        d[0],
        d[1],
        d[2],
        yarn_chosen(present[0] == one, d[3], d[0]),
        yarn_chosen(present[1] == one, d[4], d[1]),
        yarn_chosen(present[2] == one, d[5], d[2]),
    )


@physics
def yarn_chosen(mask, a, b):
    return (select(mask, a[0], b[0]), select(mask, a[1], b[1]), select(mask, a[2], b[2]))


def yarn_source(newton_iterations: int, line_search: bool, jacobi: bool) -> ConstraintSource:
    """As GPBD's kernel sees it."""
    algebra = ("solve", "add_diagonal", "least_eigenvalue", "cholesky", "forward", "backward", "times", "congruent")
    functions_6 = ", ".join(f"{name}_6" for name in algebra)
    step = f"yarn_step(r, moves, d0, element, table_K, {line_search}, {functions_6})"
    lines = [
        "element = yarn_element(numbers_K, p, zero())",
        "before = yarn_moved(accumulated_K, p, zero())",
        "none = (zero(), zero(), zero())",
        "moves = (none, none, none, none, none, none)",
        "d0 = before",
        f"for _ in range({newton_iterations}):",
        f"    moves = yarn_added(moves, number(1.0, zero()), {step})",
        "    d0 = yarn_added(before, number(1.0, zero()), moves)",
        "d = yarn_added((none, none, none, none, none, none), element[4], moves)",
        "yarn_remembered(accumulated_K, p, yarn_added(before, number(1.0, zero()), d))",
    ]
    if not jacobi:
        lines.append("d = with_twins(d, element)")
    functions = (yarn_added, yarn_element, yarn_moved, yarn_remembered, yarn_step, with_twins)
    imports = import_lines(*functions) + "\nfrom pliant.lanes import rounding"
    tables = ("numbers_K", "accumulated_K", "table_K")
    return ConstraintSource("yarn cloth", 6, imports, tables, tuple(lines), factor_source(6), elimination_source(6))

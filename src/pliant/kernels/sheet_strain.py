"""Triangles of any law in GPBD: Newton's method in the space of their strain (Equation 19), as strain_frame for tets.

With N = sum_i w_i b_i b_i^T (2x2), its axes and roots R, c_i = N^(-1/2) b_i and F^ = sum_i x_i c_i^T (3x2), a
correction is a symmetric 2x2 matrix z = (z_00, z_01, z_11):

    corner i moves by w_i F^ z c_i,    F = F^ (1 + z T) R,    C = F^T F = R (1 + T z) C^ (1 + z T) R,    C^ = F^^T F^,
    min_z 1/2 |D + F^ z|^2 + A psi(I, II, J),    I = tr C + 1, II = |C|^2 + 1, J = sqrt(det C)   (elements.triangle)

so that psi is a function of the three entries of C, each quadratic in z.  T has t = 0 along axes that cannot move.
Eight numbers per element: c_1 and c_2, the roots (negative where t = 0), A and the relaxation.
"""

from __future__ import annotations

import numpy as np

from pliant.elements.triangle import LEAST_AREA
from pliant.kernels.strain_frame import eigenvectors
from pliant.lanes import absolute, count, load, maximum, number, select, sqrt, store, width_of
from pliant.lanes.vectors import add_scaled, dot, physics, subtract, unless_zero

NUMBERS = 8
HALVINGS = 12
SURE_STRAIN = 1e-3  # a smaller step is taken without a search: rounding hides how the energy changes over it
MARGIN = 1e-6  # of the trace: added where the Hessian is made positive


def sheet_frame_numbers(gradients: np.ndarray, inverse_mass: np.ndarray, areas: np.ndarray, relaxation) -> np.ndarray:
    """Numbers of each element (m, 8). gradients: (m, 3, 2); inverse_mass: (m, 3) h^2 / m of the corners."""
    values, axes = eigenvectors(np.einsum("mi,mia,mib->mab", inverse_mass, gradients, gradients))
    rank = np.minimum((inverse_mass > 0).sum(axis=1), 2)
    moves = np.arange(2) >= 2 - rank[:, None]
    roots = np.sqrt(np.where(moves, values, values[:, 1:]))
    c = np.einsum("mia,mab->mib", gradients, axes) / roots[:, None]
    return np.column_stack([c[:, 1:].reshape(-1, 4), np.where(moves, roots, -roots), areas, relaxation])


@physics
def sheet_frame(n):
    """(c_1, c_2), roots, t, A, relaxation of the eight numbers."""
    zero, one = number(0.0, n[0]), number(1.0, n[0])
    t = (select(n[4] > zero, one, zero), select(n[5] > zero, one, zero))
    return ((n[0], n[1]), (n[2], n[3])), (absolute(n[4]), absolute(n[5])), t, n[6], n[7]


@physics
def sheet_columns(r, frame):
    """F^ of a triangle with corners r."""
    c, u, v = frame[0], subtract(r[1], r[0]), subtract(r[2], r[0])
    return _combined(c[0][0], u, c[1][0], v), _combined(c[0][1], u, c[1][1], v)


@physics
def _combined(a, u, b, v):
    return (a * u[0] + b * v[0], a * u[1] + b * v[1], a * u[2] + b * v[2])


@physics
def load_sheet(own, p, like):
    """D of the elements of pack p, two columns: flat (packs, 6, width)."""
    w, first = width_of(like), 6 * p
    return (
        (load(own, first * w, like), load(own, (first + 1) * w, like), load(own, (first + 2) * w, like)),
        (load(own, (first + 3) * w, like), load(own, (first + 4) * w, like), load(own, (first + 5) * w, like)),
    )


@physics
def sheet_gram(F):
    """F^T F: entries 00, 01, 11."""
    return dot(F[0], F[0]), dot(F[0], F[1]), dot(F[1], F[1])


@physics
def sheet_pull(F, D):
    """Gradient of 1/2 |D + F^ z|^2 at z = 0."""
    return dot(F[0], D[0]), dot(F[1], D[0]) + dot(F[0], D[1]), dot(F[1], D[1])


@physics
def _turned(C, z, frame):
    """Columns of 1 + z T, and C^ times them."""
    t, one = frame[2], number(1.0, z[0])
    P = ((one + t[0] * z[0], t[0] * z[1]), (t[1] * z[1], one + t[1] * z[2]))
    return P, ((C[0] * P[0][0] + C[1] * P[0][1], C[1] * P[0][0] + C[2] * P[0][1]),
               (C[0] * P[1][0] + C[1] * P[1][1], C[1] * P[1][0] + C[2] * P[1][1]))  # fmt: skip


@physics
def _measured(C, z, frame):
    """True C (three entries) and J."""
    P, u = _turned(C, z, frame)
    R = frame[1]
    q = (
        R[0] * R[0] * (P[0][0] * u[0][0] + P[0][1] * u[0][1]),
        R[0] * R[1] * (P[0][0] * u[1][0] + P[0][1] * u[1][1]),
        R[1] * R[1] * (P[1][0] * u[1][0] + P[1][1] * u[1][1]),
    )
    zero = number(0.0, z[0])
    return q, u, maximum(sqrt(maximum(q[0] * q[2] - q[1] * q[1], zero)), number(LEAST_AREA, zero))


@physics
def sheet_derivatives(C, z, pull, frame, law, derivatives, add_outer):
    """Gradient (3) and Hessian (6) of Equation 19 at z."""
    R, t, A = frame[1], frame[2], frame[3]
    zero, one = number(0.0, z[0]), number(1.0, z[0])
    q, u, J = _measured(C, z, frame)
    first, second = derivatives(q[0] + q[2] + 1.0, q[0] * q[0] + 2.0 * q[1] * q[1] + q[2] * q[2] + 1.0, J, *law)
    a, b, m = 2.0 * R[0] * R[0] * t[0], 2.0 * R[1] * R[1] * t[1], R[0] * R[1]
    d0 = (a * u[0][0], a * u[0][1], zero)
    d2 = (zero, b * u[1][0], b * u[1][1])
    d1 = (m * t[0] * u[1][0], m * (t[0] * u[1][1] + t[1] * u[0][0]), m * t[1] * u[0][1])
    dI = (d0[0], d0[1] + d2[1], d2[2])
    dII = _sum(2.0 * q[0], d0, 4.0 * q[1], d1, 2.0 * q[2], d2)
    half = 0.5 / J
    dJ = _sum(half * q[2], d0, -2.0 * half * q[1], d1, half * q[0], d2)

    g = (
        pull[0] + t[0] * (C[0] * z[0] + C[1] * z[1]),
        pull[1] + t[0] * (C[1] * z[0] + C[2] * z[1]) + t[1] * (C[0] * z[1] + C[1] * z[2]),
        pull[2] + t[1] * (C[1] * z[1] + C[2] * z[2]),
    )
    slopes = (zero, zero, zero)  # of psi by the entries of C
    g = unless_zero(_add, g, first[0], A, dI)
    slopes = unless_zero(_add, slopes, first[0], one, (one, zero, one))
    g = unless_zero(_add, g, first[1], A, dII)
    slopes = unless_zero(_add, slopes, first[1], one, (2.0 * q[0], 4.0 * q[1], 2.0 * q[2]))
    g = unless_zero(_add, g, first[2], A, dJ)
    slopes = unless_zero(_add, slopes, first[2], one, (half * q[2], -2.0 * half * q[1], half * q[0]))

    p0 = t[0] + A * slopes[0] * a * t[0]
    p1 = t[1] + A * slopes[2] * b * t[1]
    p2 = A * slopes[1] * m * t[0] * t[1]
    o = (one - t[0], one - t[1])  # 1 on the diagonal of entries that move nothing: they stay zero
    H = (
        p0 * C[0] + o[0], p0 * C[1] + p2 * C[0], p2 * C[1],
        p0 * C[2] + p1 * C[0] + 2.0 * p2 * C[1] + o[0] * o[1], p1 * C[1] + p2 * C[2],
        p1 * C[2] + o[1],
    )  # fmt: skip
    H = unless_zero(_add_second_curvature, H, first[1], A, d0, d1, d2, add_outer)
    H = unless_zero(_add_area_curvature, H, first[2], A * half, d0, d1, d2, dJ, add_outer)
    H = unless_zero(_add_own, H, second[0], A, dI, add_outer)
    H = unless_zero(_add_mixed, H, second[1], A, dI, dII, add_outer)
    H = unless_zero(_add_mixed, H, second[2], A, dI, dJ, add_outer)
    H = unless_zero(_add_own, H, second[3], A, dII, add_outer)
    H = unless_zero(_add_mixed, H, second[4], A, dII, dJ, add_outer)
    return g, unless_zero(_add_own, H, second[5], A, dJ, add_outer)


@physics
def _sum(a, u, b, v, c, w):
    return (a * u[0] + b * v[0] + c * w[0], a * u[1] + b * v[1] + c * w[1], a * u[2] + b * v[2] + c * w[2])


@physics
def _add(g, coefficient, factor, derivative):
    k = coefficient * factor
    return (g[0] + k * derivative[0], g[1] + k * derivative[1], g[2] + k * derivative[2])


@physics
def _add_second_curvature(H, coefficient, factor, d0, d1, d2, add_outer):
    """Of II by the entries of C: 2, 4, 2 on the diagonal."""
    k = 2.0 * coefficient * factor
    return add_outer(add_outer(add_outer(H, k, d0), k + k, d1), k, d2)


@physics
def _add_area_curvature(H, coefficient, factor, d0, d1, d2, dJ, add_outer):
    """Of J by the entries of C; factor: A / (2 J)."""
    k = coefficient * factor
    H = _add_mixed(H, coefficient, factor, d0, d2, add_outer)
    return add_outer(add_outer(H, -(k + k), d1), -(k + k), dJ)


@physics
def _add_own(H, coefficient, factor, a, add_outer):
    return add_outer(H, coefficient * factor, a)


@physics
def _add_mixed(H, coefficient, factor, a, b, add_outer):
    """H + k (a b^T + b a^T), from squares of a + b and a - b."""
    k = coefficient * factor * 0.5
    plus = (a[0] + b[0], a[1] + b[1], a[2] + b[2])
    return add_outer(add_outer(H, k, plus), -k, (a[0] - b[0], a[1] - b[1], a[2] - b[2]))


@physics
def sheet_newton_step(g, H, solve, add_diagonal, least_eigenvalue):
    """-H^-1 g; where H is not positive definite, as in a compressed sheet, it is made so by Equation 23's bound."""
    f = (-g[0], -g[1], -g[2])
    step, indefinite = solve(H, f)
    if count(indefinite) > 0:
        shift = select(indefinite, sheet_shift(H, least_eigenvalue), number(0.0, g[0]))
        step, _ = solve(add_diagonal(H, shift), f)
    return step


@physics
def sheet_shift(H, least_eigenvalue):
    """What makes an indefinite H positive definite when it is added to the diagonal (Equation 23)."""
    size = absolute(H[0]) + absolute(H[3]) + absolute(H[5])
    return maximum(-least_eigenvalue(H), number(0.0, H[0])) + MARGIN * size


@physics
def sheet_energy(C, z, pull, frame, law, density):
    """Equation 19 at z without its constant."""
    t = frame[2]
    q, _, J = _measured(C, z, frame)
    psi = density(q[0] + q[2] + 1.0, q[0] * q[0] + 2.0 * q[1] * q[1] + q[2] * q[2] + 1.0, J, *law)
    square = t[0] * (C[0] * z[0] * z[0] + 2.0 * C[1] * z[0] * z[1] + C[2] * z[1] * z[1])
    square = square + t[1] * (C[0] * z[1] * z[1] + 2.0 * C[1] * z[1] * z[2] + C[2] * z[2] * z[2])
    return pull[0] * z[0] + pull[1] * z[1] + pull[2] * z[2] + 0.5 * square + frame[3] * psi


@physics
def sheet_largest(z):
    return maximum(maximum(absolute(z[0]), absolute(z[1])), absolute(z[2]))


@physics
def sheet_searched(C, z, step, pull, frame, law, density):
    """The step halved until the energy does not rise; zero if it never does."""
    zero, one, half = number(0.0, z[0]), number(1.0, z[0]), number(0.5, z[0])
    if count(sheet_largest(step) < SURE_STRAIN) == width_of(one):
        return step
    before = sheet_energy(C, z, pull, frame, law, density)
    part, accepted = one, one < zero
    for _ in range(HALVINGS):
        after = sheet_energy(C, sheet_stepped(z, part, step), pull, frame, law, density)
        accepted = (after <= before) | (sheet_largest(step) * part < SURE_STRAIN)
        if count(accepted) == width_of(one):
            break
        part = select(accepted, part, part * half)
    part = select(accepted, part, zero)
    return (part * step[0], part * step[1], part * step[2])


@physics
def sheet_stepped(z, part, step):
    return (z[0] + part * step[0], z[1] + part * step[1], z[2] + part * step[2])


@physics
def sheet_advanced(z, step):
    return (z[0] + step[0], z[1] + step[1], z[2] + step[2])


@physics
def sheet_moves(p, r, F, D, z, frame, own):
    """Moves w_i F^ z c_i of the corners; D remembers them."""
    w = width_of(z[0])
    d, D = sheet_corrections(r, F, D, z, frame)
    for a in range(2):
        for k in range(3):
            store(own, (6 * p + 3 * a + k) * w, D[a][k])
    return d


@physics
def sheet_corrections(r, F, D, z, frame):
    """Moves of the corners, and D with them."""
    s, t, c = frame[4], frame[2], frame[0]
    z = (s * z[0], s * z[1], s * z[2])
    M = (_combined(z[0], F[0], z[1], F[1]), _combined(z[1], F[0], z[2], F[1]))
    u, v = _combined(c[0][0], M[0], c[0][1], M[1]), _combined(c[1][0], M[0], c[1][1], M[1])
    last = (-(u[0] + v[0]), -(u[1] + v[1]), -(u[2] + v[2]))
    d = (_scaled(r[0][3], last), _scaled(r[1][3], u), _scaled(r[2][3], v))
    return d, (add_scaled(D[0], t[0], M[0]), add_scaled(D[1], t[1], M[1]))


@physics
def _scaled(s, u):
    return (s * u[0], s * u[1], s * u[2])

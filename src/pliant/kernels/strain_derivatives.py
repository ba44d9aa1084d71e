"""Gradient and Hessian of an element's problem in the space of its strain (GPBD, Equation 19), for any law
psi(I, II, J).

In the frame of kernels.strain_frame, with A the true deformation gradient at z, B = A^T A, s_c = root_c t_c,
E = F^^T A and a variation z with columns z_c:  dA_c = s_c F^ z_c,

    dI = 2 sum_c s_c E_c . z_c,    dII = 4 sum_cd s_c B_cd E_d . z_c,    dJ = sum_c s_c (F^^T cof A_c) . z_c
"""

from __future__ import annotations

from pliant.kernels.strain_frame import combine, deformed, gram, pair_up, symmetric_columns, transposed_times
from pliant.lanes import number
from pliant.lanes.vectors import cross, dot, physics, symmetric_times, unless_zero


@physics
def invariants_of_columns(A):
    """C = A^T A and its invariants I, II and J."""
    C = gram(A)
    return C, C[0] + C[3] + C[5], square_norm(C), dot(A[0], cross(A[1], A[2]))


@physics
def square_norm(C):
    """|C|^2 of a symmetric matrix."""
    off = C[1] * C[1] + C[2] * C[2] + C[4] * C[4]
    return C[0] * C[0] + C[3] * C[3] + C[5] * C[5] + off + off


@physics
def first_derivatives(F, C, pull, frame, law, derivatives, add_outer):
    """Gradient (6) and Hessian (21) of Equation 19 at z = 0: E_c = root_c C_c, and dJ is J times the trace of z T."""
    roots, t, V = frame[1], frame[2], frame[3]
    s = (roots[0] * t[0], roots[1] * t[1], roots[2] * t[2])
    c0, c1, c2 = symmetric_columns(C)
    E = (_scaled(roots[0], c0), _scaled(roots[1], c1), _scaled(roots[2], c2))
    B = (
        roots[0] * E[0][0], roots[0] * E[1][0], roots[0] * E[2][0],
        roots[1] * E[1][1], roots[1] * E[2][1], roots[2] * E[2][2],
    )  # fmt: skip
    J = roots[0] * roots[1] * roots[2] * dot(F[0], cross(F[1], F[2]))
    first, second = derivatives(B[0] + B[3] + B[5], square_norm(B), J, *law)
    B0, B1, B2 = symmetric_columns(B)
    n = (roots[0] * s[0], roots[1] * s[1], roots[2] * s[2])
    dI = (n[0] * C[0], (n[0] + n[1]) * C[1], (n[0] + n[2]) * C[2], n[1] * C[3], (n[1] + n[2]) * C[4], n[2] * C[5])
    dII = pair_up((combine(E, B0), combine(E, B1), combine(E, B2)), s)
    zero = number(0.0, J)
    dJ = (J * t[0], zero, zero, J * t[1], zero, J * t[2])

    g = unless_zero(_add_gradient, pull, first[0], 2.0 * V, dI)
    g = unless_zero(_add_gradient, g, first[1], 4.0 * V, dII)
    g = unless_zero(_add_trace, g, first[2], V, dJ)
    H = _free_axes(_columns_hessian(unless_zero(_add_weights, t, first[0], 2.0 * V, s), C), t)
    H = unless_zero(_add_second_curvature, H, first[1], 4.0 * V, s, C, B, E)
    H = unless_zero(_add_trace_curvature, H, first[2], V * J, t)
    H = _add_shape_products(H, second, V, dI, dII, dJ, add_outer)
    H = unless_zero(_add_trace_square, H, second[5], V, dJ)
    return g, H


@physics
def strain_derivatives(F, C, z, pull, frame, law, derivatives, add_outer):
    """Gradient (6) and Hessian (21) of Equation 19 at z. C = F^^T F^; pull: gradient of the first term at z = 0."""
    roots, t, V = frame[1], frame[2], frame[3]
    s = (roots[0] * t[0], roots[1] * t[1], roots[2] * t[2])
    A = deformed(F, z, frame)
    B, I, II, J = invariants_of_columns(A)
    first, second = derivatives(I, II, J, *law)
    E = (transposed_times(F, A[0]), transposed_times(F, A[1]), transposed_times(F, A[2]))
    B0, B1, B2 = symmetric_columns(B)
    dI, dII = pair_up(E, s), pair_up((combine(E, B0), combine(E, B1), combine(E, B2)), s)
    K = (cross(A[1], A[2]), cross(A[2], A[0]), cross(A[0], A[1]))
    dJ = pair_up((transposed_times(F, K[0]), transposed_times(F, K[1]), transposed_times(F, K[2])), s)

    z0, z1, z2 = symmetric_columns(z)
    g = plus(pull, 1.0, pair_up((symmetric_times(C, z0), symmetric_times(C, z1), symmetric_times(C, z2)), t))
    g = unless_zero(_add_gradient, g, first[0], 2.0 * V, dI)
    g = unless_zero(_add_gradient, g, first[1], 4.0 * V, dII)
    g = unless_zero(_add_gradient, g, first[2], V, dJ)
    H = _free_axes(_columns_hessian(unless_zero(_add_weights, t, first[0], 2.0 * V, s), C), t)
    H = unless_zero(_add_second_curvature, H, first[1], 4.0 * V, s, C, B, E)
    H = unless_zero(_add_volume_curvature, H, first[2], V, s, F, A)
    H = _add_shape_products(H, second, V, dI, dII, dJ, add_outer)
    H = unless_zero(_add_own, H, second[5], V, dJ, add_outer)
    return g, H


@physics
def _add_shape_products(H, second, V, dI, dII, dJ, add_outer):
    """Products of first derivatives, all but dJ with itself. dI and dII are a half and a quarter of the derivatives."""
    H = unless_zero(_add_own, H, second[0], 4.0 * V, dI, add_outer)
    H = unless_zero(_add_mixed, H, second[1], 8.0 * V, dI, dII, add_outer)
    H = unless_zero(_add_mixed, H, second[2], 2.0 * V, dI, dJ, add_outer)
    H = unless_zero(_add_own, H, second[3], 16.0 * V, dII, add_outer)
    return unless_zero(_add_mixed, H, second[4], 4.0 * V, dII, dJ, add_outer)


@physics
def _add_trace(g, coefficient, factor, dJ):
    k = coefficient * factor
    return (g[0] + k * dJ[0], g[1], g[2], g[3] + k * dJ[3], g[4], g[5] + k * dJ[5])


@physics
def _add_trace_curvature(H, coefficient, factor, t):
    """Second derivatives of J at z = 0: J ((tr zT)^2 - tr (zT)^2)."""
    k = coefficient * factor
    a, b, c = k * t[0] * t[1], k * t[0] * t[2], k * t[1] * t[2]
    return (
        H[0], H[1], H[2], H[3] + a, H[4], H[5] + b,
        H[6] - (a + a), H[7], H[8], H[9], H[10],
        H[11] - (b + b), H[12], H[13], H[14],
        H[15], H[16], H[17] + c,
        H[18] - (c + c), H[19],
        H[20],
    )  # fmt: skip


@physics
def _add_trace_square(H, coefficient, factor, dJ):
    k = coefficient * factor
    a, b, c = k * dJ[0], k * dJ[3], k * dJ[5]
    return (
        H[0] + a * dJ[0], H[1], H[2], H[3] + a * dJ[3], H[4], H[5] + a * dJ[5],
        H[6], H[7], H[8], H[9], H[10],
        H[11], H[12], H[13], H[14],
        H[15] + b * dJ[3], H[16], H[17] + b * dJ[5],
        H[18], H[19],
        H[20] + c * dJ[5],
    )  # fmt: skip


@physics
def plus(a, s, b):
    """a + s b of six numbers."""
    return (
        a[0] + s * b[0],
        a[1] + s * b[1],
        a[2] + s * b[2],
        a[3] + s * b[3],
        a[4] + s * b[4],
        a[5] + s * b[5],
    )


@physics
def _add_gradient(g, coefficient, factor, derivative):
    return plus(g, coefficient * factor, derivative)


@physics
def _add_weights(t, coefficient, factor, s):
    k = coefficient * factor
    return (t[0] + k * s[0] * s[0], t[1] + k * s[1] * s[1], t[2] + k * s[2] * s[2])


@physics
def _columns_hessian(m, C):
    """Of 1/2 sum_c m_c z_c . C z_c by the six entries of z."""
    zero = number(0.0, m[0])
    return (
        m[0] * C[0], m[0] * C[1], m[0] * C[2], zero, zero, zero,
        m[0] * C[3] + m[1] * C[0], m[0] * C[4], m[1] * C[1], m[1] * C[2], zero,
        m[0] * C[5] + m[2] * C[0], zero, m[2] * C[1], m[2] * C[2],
        m[1] * C[3], m[1] * C[4], zero,
        m[1] * C[5] + m[2] * C[3], m[2] * C[4],
        m[2] * C[5],
    )  # fmt: skip


@physics
def _free_axes(H, t):
    """1 on the diagonal of entries of z that move nothing, because their axes have t = 0: they stay zero."""
    o = (1.0 - t[0], 1.0 - t[1], 1.0 - t[2])
    return (
        H[0] + o[0], H[1], H[2], H[3], H[4], H[5],
        H[6] + o[0] * o[1], H[7], H[8], H[9], H[10],
        H[11] + o[0] * o[2], H[12], H[13], H[14],
        H[15] + o[1], H[16], H[17],
        H[18] + o[1] * o[2], H[19],
        H[20] + o[2],
    )  # fmt: skip


@physics
def _add_volume_curvature(H, coefficient, factor, s, F, A):
    """Second derivatives of J: A_a . (dA_c x dA_d) = s_c s_d G_a . (z_c x z_d), G_a = cof(F^)^T A_a, a c d cyclic."""
    k = coefficient * factor
    K = (cross(F[1], F[2]), cross(F[2], F[0]), cross(F[0], F[1]))
    u = _scaled(k * s[1] * s[2], transposed_times(K, A[0]))
    v = _scaled(k * s[2] * s[0], transposed_times(K, A[1]))
    w = _scaled(k * s[0] * s[1], transposed_times(K, A[2]))
    return (
        H[0], H[1], H[2], H[3] + w[2], H[4] - w[1] - v[2], H[5] + v[1],
        H[6] - (w[2] + w[2]), H[7] + w[1] + v[2], H[8], H[9] + w[0] + u[2], H[10] - v[0] - u[1],
        H[11] - (v[1] + v[1]), H[12] - w[0] - u[2], H[13] + v[0] + u[1], H[14],
        H[15], H[16], H[17] + u[0],
        H[18] - (u[0] + u[0]), H[19],
        H[20],
    )  # fmt: skip


@physics
def _scaled(s, u):
    return (s * u[0], s * u[1], s * u[2])


@physics
def _add_second_curvature(H, coefficient, factor, s, C, B, E):
    """Second derivatives of II / 4:

    sum_cd s_c s_d (B_cd z_c . C z_d + (z_c . E_d) (z_d . E_c)) + sum_cd (s_c z_c . E_d)^2
    """
    k = coefficient * factor
    a = (k * s[0], k * s[1], k * s[2])
    c0, c1, c2 = symmetric_columns(C)
    square = (
        _sum_of_products(E, 0, 0), _sum_of_products(E, 0, 1), _sum_of_products(E, 0, 2),
        _sum_of_products(E, 1, 1), _sum_of_products(E, 1, 2), _sum_of_products(E, 2, 2),
    )  # fmt: skip
    q0, q1, q2 = symmetric_columns(square)
    Q, Z = (q0, q1, q2), (c0, c1, c2)
    K00 = _block(a[0] * s[0], B[0], Z, E[0], E[0])
    K11 = _block(a[1] * s[1], B[3], Z, E[1], E[1])
    K22 = _block(a[2] * s[2], B[5], Z, E[2], E[2])
    H = _add_blocks(
        H,
        _add_scaled_block(K00, a[0] * s[0], Q),
        _block(a[0] * s[1], B[1], Z, E[1], E[0]),
        _block(a[0] * s[2], B[2], Z, E[2], E[0]),
        _add_scaled_block(K11, a[1] * s[1], Q),
        _block(a[1] * s[2], B[4], Z, E[2], E[1]),
        _add_scaled_block(K22, a[2] * s[2], Q),
    )
    return H


@physics
def _sum_of_products(E, i, j):
    return E[0][i] * E[0][j] + E[1][i] * E[1][j] + E[2][i] * E[2][j]


@physics
def _block(k, b, Z, u, v):
    """Rows of k (b Z + u v^T)."""
    return (
        (k * (b * Z[0][0] + u[0] * v[0]), k * (b * Z[0][1] + u[0] * v[1]), k * (b * Z[0][2] + u[0] * v[2])),
        (k * (b * Z[1][0] + u[1] * v[0]), k * (b * Z[1][1] + u[1] * v[1]), k * (b * Z[1][2] + u[1] * v[2])),
        (k * (b * Z[2][0] + u[2] * v[0]), k * (b * Z[2][1] + u[2] * v[1]), k * (b * Z[2][2] + u[2] * v[2])),
    )


@physics
def _add_scaled_block(K, s, Q):
    return (
        (K[0][0] + s * Q[0][0], K[0][1] + s * Q[0][1], K[0][2] + s * Q[0][2]),
        (K[1][0] + s * Q[1][0], K[1][1] + s * Q[1][1], K[1][2] + s * Q[1][2]),
        (K[2][0] + s * Q[2][0], K[2][1] + s * Q[2][1], K[2][2] + s * Q[2][2]),
    )


@physics
def _add_blocks(H, P, M, N, Q, R, S):
    """Add sum_cd z_c . K_cd z_d with K_00 = P, K_01 = M, K_02 = N, K_11 = Q, K_12 = R, K_22 = S.

    Row k of column 0, 1, 2 is entry (0, 1, 2), (1, 3, 4), (2, 4, 5) of z.
    """
    return (
        H[0] + P[0][0], H[1] + P[0][1] + M[0][0], H[2] + P[0][2] + N[0][0],
        H[3] + M[0][1], H[4] + M[0][2] + N[0][1], H[5] + N[0][2],
        H[6] + P[1][1] + Q[0][0] + 2.0 * M[1][0], H[7] + P[1][2] + M[2][0] + N[1][0] + R[0][0],
        H[8] + Q[0][1] + M[1][1], H[9] + Q[0][2] + M[1][2] + N[1][1] + R[0][1], H[10] + N[1][2] + R[0][2],
        H[11] + P[2][2] + S[0][0] + 2.0 * N[2][0], H[12] + M[2][1] + R[1][0],
        H[13] + S[0][1] + M[2][2] + N[2][1] + R[2][0], H[14] + S[0][2] + N[2][2],
        H[15] + Q[1][1], H[16] + Q[1][2] + R[1][1], H[17] + R[1][2],
        H[18] + Q[2][2] + S[1][1] + 2.0 * R[2][1], H[19] + S[1][2] + R[2][2],
        H[20] + S[2][2],
    )  # fmt: skip


@physics
def _add_own(H, coefficient, factor, a, add_outer):
    return add_outer(H, coefficient * factor, a)


@physics
def _add_mixed(H, coefficient, factor, a, b, add_outer):
    """H + k (a b^T + b a^T), from squares of a + b and a - b."""
    k = coefficient * factor * 0.5
    return add_outer(add_outer(H, k, plus(a, 1.0, b)), -k, plus(a, -1.0, b))

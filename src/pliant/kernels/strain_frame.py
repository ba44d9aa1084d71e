"""The frame in which an element sees its own corrections (GPBD, Section 3.2, with Green's strain as the measure).

A correction W S^T delta lambda moves corner i by  w_i F L b_i,  w_i = h^2 / m_i, with a symmetric matrix L, and changes
F by F L N,  N = sum_i w_i b_i b_i^T.  The axes at rest are turned to the eigenvectors of N and scaled: with
c_i = N^(-1/2) b_i, F^ = sum_i x_i c_i^T and z = N^(1/2) L N^(1/2)

    corner i moves by w_i F^ z c_i,    F^ becomes F^ (1 + z),    F = F^ N^(1/2),
    Equation 19 is   min_z 1/2 |D + F^ z|^2 + V psi(F^ (1 + z) N^(1/2)),    D = sum_i d_i c_i^T,

so that an element need not remember the twelve numbers d_i, but the nine of D.  N has rank 3 unless corners are held:
along an axis a without any w the scale is 1 (of the largest eigenvalue), F^ becomes F^ (1 + z T) and t_a = 0.

Fourteen numbers per element: c_1 to c_3, the roots of N's eigenvalues (negative where t = 0), V and the relaxation.
Matrices are tuples of columns; symmetric ones (00, 01, 02, 11, 12, 22).
"""

from __future__ import annotations

import numpy as np

from pliant.lanes import absolute, load, number, select, store, width_of
from pliant.lanes.vectors import add_scaled, dot, physics, subtract

NUMBERS = 14
DIGITS = 1e-13  # of the trace of N: what its axes do not see


def frame_numbers(gradients: np.ndarray, inverse_mass: np.ndarray, volumes: np.ndarray, relaxation) -> np.ndarray:
    """Numbers of each element (m, 14). gradients: (m, 4, 3); inverse_mass: (m, 4) h^2 / m of the corners."""
    values, axes = eigenvectors(np.einsum("mi,mia,mib->mab", inverse_mass, gradients, gradients))
    axes[np.linalg.det(axes) < 0, :, 0] *= -1  # a rotation: J keeps its sign
    rank = np.minimum((inverse_mass > 0).sum(axis=1), 3)
    moves = np.arange(3) >= 3 - rank[:, None]
    roots = np.sqrt(np.where(moves, values, values[:, 2:]))
    c = np.einsum("mia,mab->mib", gradients, axes) / roots[:, None]
    return np.column_stack([c[:, 1:].reshape(-1, 9), np.where(moves, roots, -roots), volumes, relaxation])


def eigenvectors(N: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Eigenvalues (m, n) and eigenvectors (m, n, n) of N (m, n, n), ascending.

    Those of equal eigenvalues, which regular elements have, could be any: they are not left to the rounding of N.
    """
    unit = DIGITS * np.maximum(np.trace(N, axis1=1, axis2=2), np.finfo(float).tiny)[:, None, None]
    _, axes = np.linalg.eigh(np.round(N / unit))
    return np.einsum("mab,mac,mcb->mb", axes, N, axes), axes


@physics
def load_frame(numbers, first, like):
    """The frame of the fourteen numbers of a pack's elements, as frame_of gives it."""
    w = width_of(like)
    return frame_of(
        (
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
            load(numbers, (first + 11) * w, like),
            load(numbers, (first + 12) * w, like),
            load(numbers, (first + 13) * w, like),
        )
    )


@physics
def frame_of(n):
    """(c_1, c_2, c_3), roots, t, V, relaxation, as if all axes moved; the roots with the signs they are kept with."""
    one, roots = number(1.0, n[0]), (absolute(n[9]), absolute(n[10]), absolute(n[11]))
    c = ((n[0], n[1], n[2]), (n[3], n[4], n[5]), (n[6], n[7], n[8]))
    return (c, roots, (one, one, one), n[12], n[13]), (n[9], n[10], n[11])


@physics
def has_still_axes(signed_roots):
    """Elements with an axis that does not move: the first axis is one of them."""
    return signed_roots[0] < 0.0


@physics
def with_still_axes(frame, signed_roots):
    """The frame with t = 0 for axes that do not move."""
    zero, one = number(0.0, frame[3]), number(1.0, frame[3])
    s0, s1, s2 = signed_roots
    t = (select(s0 > zero, one, zero), select(s1 > zero, one, zero), select(s2 > zero, one, zero))
    return frame[0], frame[1], t, frame[3], frame[4]


@physics
def columns(r, frame):
    """F^ of an element with corners r."""
    c, a, b, d = frame[0], subtract(r[1], r[0]), subtract(r[2], r[0]), subtract(r[3], r[0])
    return (
        combine((a, b, d), (c[0][0], c[1][0], c[2][0])),
        combine((a, b, d), (c[0][1], c[1][1], c[2][1])),
        combine((a, b, d), (c[0][2], c[1][2], c[2][2])),
    )


@physics
def combine(A, u):
    """A u."""
    return (
        A[0][0] * u[0] + A[1][0] * u[1] + A[2][0] * u[2],
        A[0][1] * u[0] + A[1][1] * u[1] + A[2][1] * u[2],
        A[0][2] * u[0] + A[1][2] * u[1] + A[2][2] * u[2],
    )


@physics
def transposed_times(A, u):
    """A^T u."""
    return (dot(A[0], u), dot(A[1], u), dot(A[2], u))


@physics
def gram(A):
    """A^T A, symmetric."""
    return (dot(A[0], A[0]), dot(A[0], A[1]), dot(A[0], A[2]), dot(A[1], A[1]), dot(A[1], A[2]), dot(A[2], A[2]))


@physics
def scale(s, u):
    return (s * u[0], s * u[1], s * u[2])


@physics
def symmetric_columns(z):
    return (z[0], z[1], z[2]), (z[1], z[3], z[4]), (z[2], z[4], z[5])


@physics
def deformed(F, z, frame):
    """Columns of the true deformation gradient F^ (1 + z T) N^(1/2)."""
    z0, z1, z2 = symmetric_columns(z)
    roots, t = frame[1], frame[2]
    return (
        scale(roots[0], add_scaled(F[0], t[0], combine(F, z0))),
        scale(roots[1], add_scaled(F[1], t[1], combine(F, z1))),
        scale(roots[2], add_scaled(F[2], t[2], combine(F, z2))),
    )


@physics
def pair_up(A, s):
    """Derivatives by the six entries of z of a function whose derivatives by the columns z_c are s_c A_c."""
    return (
        s[0] * A[0][0],
        s[0] * A[0][1] + s[1] * A[1][0],
        s[0] * A[0][2] + s[2] * A[2][0],
        s[1] * A[1][1],
        s[1] * A[1][2] + s[2] * A[2][1],
        s[2] * A[2][2],
    )


@physics
def pulled_back(F, D, frame):
    """Gradient of 1/2 |(D + F^ z) T|^2 at z = 0."""
    return pair_up((transposed_times(F, D[0]), transposed_times(F, D[1]), transposed_times(F, D[2])), frame[2])


@physics
def load_columns(own, p, like):
    """D of the elements of pack p: flat (packs, 9, width)."""
    w, first = width_of(like), 9 * p
    return (
        (load(own, first * w, like), load(own, (first + 1) * w, like), load(own, (first + 2) * w, like)),
        (load(own, (first + 3) * w, like), load(own, (first + 4) * w, like), load(own, (first + 5) * w, like)),
        (load(own, (first + 6) * w, like), load(own, (first + 7) * w, like), load(own, (first + 8) * w, like)),
    )


@physics
def corner_moves(r, A, frame):
    """w_i A c_i of the four corners; the c_i sum to zero."""
    c = frame[0]
    a, b, d = combine(A, c[0]), combine(A, c[1]), combine(A, c[2])
    last = (-(a[0] + b[0] + d[0]), -(a[1] + b[1] + d[1]), -(a[2] + b[2] + d[2]))
    return scale(r[0][3], last), scale(r[1][3], a), scale(r[2][3], b), scale(r[3][3], d)


@physics
def remember(own, p, D, A):
    """Add sum_i d_i c_i^T = A T of the moves d_i = w_i A c_i to D; columns where t = 0 are never read again."""
    w = width_of(D[0][0])
    for c in range(3):
        for k in range(3):
            store(own, (9 * p + 3 * c + k) * w, D[c][k] + A[c][k])

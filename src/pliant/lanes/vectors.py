"""Small vectors and symmetric 3x3 matrices as tuples of numbers (floats or lanes).

A symmetric matrix is (h00, h01, h02, h11, h12, h22).
"""

from __future__ import annotations

from numba import types

from pliant.lanes.functions import lane_function, physics
from pliant.lanes.inner import overload
from pliant.lanes.math import absolute, lane_sum, maximum, number, select, sqrt
from pliant.lanes.memory import load, store, width_of

JACOBI_SWEEPS = 6  # cyclic Jacobi converges quadratically: 6 sweeps reach rounding for any symmetric 3x3 matrix


@physics
def subtract(a, b):
    return (a[0] - b[0], a[1] - b[1], a[2] - b[2])


@physics
def add(a, b):
    return (a[0] + b[0], a[1] + b[1], a[2] + b[2])


@physics
def add_scaled(a, s, b):
    """a + s b."""
    return (a[0] + s * b[0], a[1] + s * b[1], a[2] + s * b[2])


@physics
def dot(a, b):
    return a[0] * b[0] + a[1] * b[1] + a[2] * b[2]


@physics
def cross(a, b):
    return (a[1] * b[2] - a[2] * b[1], a[2] * b[0] - a[0] * b[2], a[0] * b[1] - a[1] * b[0])


@physics
def symmetric_times(H, a):
    return (
        H[0] * a[0] + H[1] * a[1] + H[2] * a[2],
        H[1] * a[0] + H[3] * a[1] + H[4] * a[2],
        H[2] * a[0] + H[4] * a[1] + H[5] * a[2],
    )


@physics
def add_symmetric(H, s, A):
    """H + s A."""
    return (H[0] + s * A[0], H[1] + s * A[1], H[2] + s * A[2], H[3] + s * A[3], H[4] + s * A[4], H[5] + s * A[5])


@physics
def add_identity(H, s):
    return (H[0] + s, H[1], H[2], H[3] + s, H[4], H[5] + s)


@physics
def add_square(H, s, a):
    """H + s a a^T."""
    sx, sy = s * a[0], s * a[1]
    return (
        H[0] + sx * a[0],
        H[1] + sx * a[1],
        H[2] + sx * a[2],
        H[3] + sy * a[1],
        H[4] + sy * a[2],
        H[5] + s * a[2] * a[2],
    )


@physics
def add_product(H, s, a, b):
    """H + s (a b^T + b a^T)."""
    sx, sy, sz = s * a[0], s * a[1], s * a[2]
    return (
        H[0] + (sx + sx) * b[0],
        H[1] + sx * b[1] + sy * b[0],
        H[2] + sx * b[2] + sz * b[0],
        H[3] + (sy + sy) * b[1],
        H[4] + sy * b[2] + sz * b[1],
        H[5] + (sz + sz) * b[2],
    )


@physics
def add_outer(H, a, b):
    """The part of H + a b^T on and above the diagonal, for sums of such products that are symmetric together."""
    return (
        H[0] + a[0] * b[0],
        H[1] + a[0] * b[1],
        H[2] + a[0] * b[2],
        H[3] + a[1] * b[1],
        H[4] + a[1] * b[2],
        H[5] + a[2] * b[2],
    )


def unless_zero(function, total, coefficient, *rest):
    """function(total, coefficient, *rest), or total itself where the coefficient is None: zero for all arguments."""
    return total if coefficient is None else function(total, coefficient, *rest)


@overload(unless_zero)
def _unless_zero(function, total, coefficient, *rest):
    if isinstance(coefficient, types.NoneType):
        return lambda function, total, coefficient, *rest: total
    return lambda function, total, coefficient, *rest: function(total, coefficient, *rest)


def sum_of(a, b):
    """a + b, where either may be None: zero for all arguments."""
    if a is None or b is None:
        return b if a is None else a
    return a + b


@overload(sum_of)
def _sum_of(a, b):
    if isinstance(a, types.NoneType):
        return lambda a, b: b
    return (lambda a, b: a) if isinstance(b, types.NoneType) else (lambda a, b: a + b)


def combine(total, coefficient, factor, vector):
    """total + coefficient factor vector, where the total or the coefficient may be None: zero for all arguments."""
    if coefficient is None:
        return total
    scaled = _scaled(coefficient * factor, vector)
    return scaled if total is None else add(total, scaled)


@physics
def _scaled(s, a):
    return (s * a[0], s * a[1], s * a[2])


@overload(combine)
def _combine(total, coefficient, factor, vector):
    if isinstance(coefficient, types.NoneType):
        return lambda total, coefficient, factor, vector: total
    if isinstance(total, types.NoneType):
        return lambda total, coefficient, factor, vector: _scaled(coefficient * factor, vector)
    return lambda total, coefficient, factor, vector: add_scaled(total, coefficient * factor, vector)


@physics
def load_vector(array, p, like):
    """Vector p of a flat (n, 3, width) array."""
    w = width_of(like)
    return (load(array, 3 * p * w, like), load(array, (3 * p + 1) * w, like), load(array, (3 * p + 2) * w, like))


@physics
def load_symmetric(array, p, like):
    """Symmetric matrix p of a flat (n, 6, width) array."""
    w = width_of(like)
    s = 6 * p * w
    return (
        load(array, s, like),
        load(array, s + w, like),
        load(array, s + 2 * w, like),
        load(array, s + 3 * w, like),
        load(array, s + 4 * w, like),
        load(array, s + 5 * w, like),
    )


@physics
def store_symmetric(array, p, factor, H):
    """Write factor H as symmetric matrix p of a flat (n, 6, width) array."""
    w = width_of(factor)
    for k in range(6):
        store(array, (6 * p + k) * w, factor * H[k])


@physics
def sum_over_lanes(a):
    return (lane_sum(a[0]), lane_sum(a[1]), lane_sum(a[2]))


@physics
def sum_symmetric_over_lanes(H):
    return (lane_sum(H[0]), lane_sum(H[1]), lane_sum(H[2]), lane_sum(H[3]), lane_sum(H[4]), lane_sum(H[5]))


@physics
def magnitude(H):
    """A size of H that scales with it: a third of the sum of its entries' magnitudes on and above the diagonal."""
    diagonal = absolute(H[0]) + absolute(H[3]) + absolute(H[5])
    return (diagonal + absolute(H[1]) + absolute(H[2]) + absolute(H[4])) * (1.0 / 3.0)


@physics
def solve_symmetric(H, f, smallest):
    """x with H x = f by cofactors, and where H counts as singular: |det H| <= smallest * size(H)^3; x is zero there.

    H is first divided by its size, so that the test does not depend on units or on how light a vertex is,
    and nothing overflows in single precision. A NaN is not singular: it comes out as NaN, so that it is seen.
    """
    zero, one = number(0.0, f[0]), number(1.0, f[0])
    size = magnitude(H)
    scale = one / select(size == zero, one, size)
    h00, h01, h02 = H[0] * scale, H[1] * scale, H[2] * scale
    h11, h12, h22 = H[3] * scale, H[4] * scale, H[5] * scale
    c00, c01, c02 = h11 * h22 - h12 * h12, h02 * h12 - h01 * h22, h01 * h12 - h02 * h11
    c11, c12, c22 = h00 * h22 - h02 * h02, h01 * h02 - h00 * h12, h00 * h11 - h01 * h01
    det = h00 * c00 + h01 * c01 + h02 * c02
    singular = absolute(det) <= smallest
    factor = scale / det
    x = (
        select(singular, zero, (c00 * f[0] + c01 * f[1] + c02 * f[2]) * factor),
        select(singular, zero, (c01 * f[0] + c11 * f[1] + c12 * f[2]) * factor),
        select(singular, zero, (c02 * f[0] + c12 * f[1] + c22 * f[2]) * factor),
    )
    return x, singular


@physics
def jacobi_rotation(app, aqq, apq):
    """Cosine and sine of the rotation that makes apq vanish (Golub and Van Loan, 8.5.2)."""
    zero, one = number(0.0, apq), number(1.0, apq)
    trivial = apq == zero
    tau = (aqq - app) / select(trivial, one, apq + apq)
    root = one / (absolute(tau) + sqrt(one + tau * tau))
    t = select(trivial, zero, select(tau < zero, -root, root))
    c = one / sqrt(one + t * t)
    return c, t * c, t


@physics
def _rotate_pair(a, b, c, s):
    return c * a - s * b, s * a + c * b


@lane_function
def eigen_symmetric(H):
    """Eigenvalues and eigenvectors (three tuples) of a symmetric 3x3 matrix by cyclic Jacobi rotations."""
    zero, one = number(0.0, H[0]), number(1.0, H[0])
    V = ((one, zero, zero), (zero, one, zero), (zero, zero, one))
    for _ in range(JACOBI_SWEEPS):
        H, V = jacobi_sweep(H, V)
    return (H[0], H[3], H[5]), V


@physics
def jacobi_sweep(H, V):
    """H and the vectors V after one rotation for each entry off the diagonal."""
    a00, a01, a02, a11, a12, a22 = H
    v0, v1, v2 = V
    zero = number(0.0, a00)
    c, s, t = jacobi_rotation(a00, a11, a01)
    a00, a11, a01 = a00 - t * a01, a11 + t * a01, zero
    a02, a12 = _rotate_pair(a02, a12, c, s)
    v0, v1 = _rotate_vectors(v0, v1, c, s)
    c, s, t = jacobi_rotation(a00, a22, a02)
    a00, a22, a02 = a00 - t * a02, a22 + t * a02, zero
    a01, a12 = _rotate_pair(a01, a12, c, s)
    v0, v2 = _rotate_vectors(v0, v2, c, s)
    c, s, t = jacobi_rotation(a11, a22, a12)
    a11, a22, a12 = a11 - t * a12, a22 + t * a12, zero
    a01, a02 = _rotate_pair(a01, a02, c, s)
    v1, v2 = _rotate_vectors(v1, v2, c, s)
    return (a00, a01, a02, a11, a12, a22), (v0, v1, v2)


@physics
def _rotate_vectors(u, v, c, s):
    x, y, z = _rotate_pair(u[0], v[0], c, s), _rotate_pair(u[1], v[1], c, s), _rotate_pair(u[2], v[2], c, s)
    return (x[0], y[0], z[0]), (x[1], y[1], z[1])


@lane_function
def positive_part(H):
    """H with its negative eigenvalues set to zero."""
    zero = number(0.0, H[0])
    values, vectors = eigen_symmetric(H)
    P = (zero, zero, zero, zero, zero, zero)
    for k in range(3):
        P = add_square(P, maximum(values[k], zero), vectors[k])
    return P


@lane_function
def absolute_matrix(H):
    """H with the magnitudes of its eigenvalues in their place."""
    zero = number(0.0, H[0])
    values, vectors = eigen_symmetric(H)
    P = (zero, zero, zero, zero, zero, zero)
    for k in range(3):
        P = add_square(P, absolute(values[k]), vectors[k])
    return P

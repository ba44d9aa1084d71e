"""Hessians of elements made positive semidefinite, as many elements at a time as there are lanes.

An element of c vertices has c (c + 1) / 2 blocks of nine numbers, of vertices i <= j row by row: (0, 0), (0, 1) ...
(1, 1) ...; they lie one after another in a flat array, each number for all lanes.
"""

from __future__ import annotations

from pliant.lanes import count, load, maximum, minimum, number, store, width_of
from pliant.lanes.vectors import jacobi_rotation, physics

SWEEPS = 12  # cyclic Jacobi converges quadratically: matrices of elements are diagonal after 6 to 8
SMALL = 1e-30  # squares off the diagonal over those on it, below which a matrix counts as diagonal
CLEARLY = 1e-10  # pivots above this part of the largest on the diagonal are positive whatever rounding does


@physics
def make_positive(blocks, first, corners, H, V, like):
    """Take the negative eigenvalues out of the Hessians at blocks[first:]; H, V: (9 corners^2 width) to work in.

    Elements do not feel a translation. So a Hessian is positive where the part without the last vertex is, and what
    Cholesky's pivots show to be positive is left as it is.
    """
    n = 3 * corners
    _unfold(blocks, first, corners, V, like)
    if _has_positive_pivots(V, n, like):
        return
    _unfold(blocks, first, corners, H, like)
    _diagonalise(H, V, n, like)
    width, zero = width_of(like), number(0.0, like)
    for k in range(n):
        value = minimum(load(H, k * (n + 1) * width, like), zero)
        if count(value < zero) > 0:
            _take_out(blocks, first, corners, value, V, k, like)


@physics
def _unfold(blocks, first, corners, H, like):
    """The whole symmetric matrix of blocks above its diagonal."""
    width, n, place = width_of(like), 3 * corners, first
    for i in range(corners):
        for j in range(i, corners):
            for a in range(3):
                for b in range(3):
                    value = load(blocks, place, like)
                    store(H, ((3 * i + a) * n + 3 * j + b) * width, value)
                    store(H, ((3 * j + b) * n + 3 * i + a) * width, value)
                    place += width


@physics
def _has_positive_pivots(H, n, like):
    """Whether elimination in place, without the last vertex, meets clearly positive pivots only, in all lanes."""
    width, largest = width_of(like), number(0.0, like)
    for k in range(n - 3):
        largest = maximum(largest, load(H, k * (n + 1) * width, like))
    for k in range(n - 3):
        pivot = load(H, k * (n + 1) * width, like)
        if count(pivot > CLEARLY * largest) < width:
            return False
        inverse = 1.0 / pivot
        for i in range(k + 1, n - 3):
            factor = load(H, (k * n + i) * width, like) * inverse
            for j in range(i, n - 3):
                at = (i * n + j) * width
                store(H, at, load(H, at, like) - factor * load(H, (k * n + j) * width, like))
    return True


@physics
def _diagonalise(H, V, n, like):
    """Eigenvalues on the diagonal of H, eigenvectors in the columns of V, by cyclic Jacobi rotations."""
    width = width_of(like)
    zero, one = number(0.0, like), number(1.0, like)
    for i in range(n):
        for j in range(n):
            store(V, (i * n + j) * width, one if i == j else zero)
    for _ in range(SWEEPS):
        if _is_diagonal(H, n, like):
            return
        for p in range(n - 1):
            for q in range(p + 1, n):
                _rotate(H, V, n, p, q, like)


@physics
def _is_diagonal(H, n, like):
    width = width_of(like)
    on = off = number(0.0, like)
    for i in range(n):
        value = load(H, i * (n + 1) * width, like)
        on = on + value * value
        for j in range(i + 1, n):
            value = load(H, (i * n + j) * width, like)
            off = off + value * value
    return count(off > SMALL * on) == 0


@physics
def _rotate(H, V, n, p, q, like):
    """Make H_pq vanish."""
    width = width_of(like)
    pp, qq, pq = p * (n + 1) * width, q * (n + 1) * width, (p * n + q) * width
    shear = load(H, pq, like)
    c, s, t = jacobi_rotation(load(H, pp, like), load(H, qq, like), shear)
    store(H, pp, load(H, pp, like) - t * shear)
    store(H, qq, load(H, qq, like) + t * shear)
    store(H, pq, number(0.0, like))
    for k in range(n):
        if k != p and k != q:
            _turn(H, (min(k, p) * n + max(k, p)) * width, (min(k, q) * n + max(k, q)) * width, c, s)
        _turn(V, (k * n + p) * width, (k * n + q) * width, c, s)


@physics
def _turn(M, first, second, c, s):
    a, b = load(M, first, c), load(M, second, c)
    store(M, first, c * a - s * b)
    store(M, second, s * a + c * b)


@physics
def _take_out(blocks, first, corners, value, V, k, like):
    """blocks - value v v^T with the eigenvector in column k."""
    width, n, place = width_of(like), 3 * corners, first
    for i in range(corners):
        for j in range(i, corners):
            for a in range(3):
                scaled = value * load(V, ((3 * i + a) * n + k) * width, like)
                for b in range(3):
                    change = scaled * load(V, ((3 * j + b) * n + k) * width, like)
                    store(blocks, place, load(blocks, place, like) - change)
                    place += width

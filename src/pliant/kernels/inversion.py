"""Repair of inverted elements, for laws that have no energy there (GPBD, Section 4.1)."""

from __future__ import annotations

from pliant.kernels.strain_frame import columns, corner_moves, gram, scale
from pliant.lanes import absolute, count, maximum, number, select, sqrt
from pliant.lanes.vectors import add, add_scaled, cross, dot, eigen_symmetric, physics

# Deviation: the paper negates the smallest singular value, which does nothing for an element flat to the last bit.
LEAST_STRETCH = 0.1  # a repaired element has at least this singular value
FLAT = 1e-3  # J at or below counts as inverted


@physics
def repair(r, frame):
    """Corners of the elements with the smallest singular value of inverted ones made positive, the moves of the
    corners, and which elements have J > 0 now.

    Corners move as little as possible in the norm of their masses, so that the centre of mass stays.
    """
    zero = number(0.0, r[0][0])
    still = (zero, zero, zero)
    moves = (still, still, still, still)
    J = volume_ratio(r, frame)
    inverted = J <= FLAT
    if count(inverted) > 0:
        r, moves = lifted(r, frame, inverted)
        J = volume_ratio(r, frame)
    return r, moves, J > 0.0


@physics
def lifted(r, frame, inverted):
    """Corners with the smallest singular value of inverted elements made positive, and the moves of the corners."""
    zero, one, roots = number(0.0, r[0][0]), number(1.0, r[0][0]), frame[1]
    A = _true_columns(r, frame)
    v = _least_direction(gram(A))
    K = (cross(A[1], A[2]), cross(A[2], A[0]), cross(A[0], A[1]))
    u = _along(K, v)
    length = sqrt(dot(u, u))
    u = scale(one / select(length > zero, length, one), u)
    value = dot(u, _along(A, v))
    lift = select(inverted, maximum(absolute(value), number(LEAST_STRETCH, value)) - value, zero)
    change = (
        scale(lift * v[0] / roots[0], u),
        scale(lift * v[1] / roots[1], u),
        scale(lift * v[2] / roots[2], u),
    )
    moves = corner_moves(r, change, frame)
    return (_moved(r[0], moves[0]), _moved(r[1], moves[1]), _moved(r[2], moves[2]), _moved(r[3], moves[3])), moves


@physics
def _true_columns(r, frame):
    """The deformation gradient."""
    F, roots = columns(r, frame), frame[1]
    return scale(roots[0], F[0]), scale(roots[1], F[1]), scale(roots[2], F[2])


@physics
def volume_ratio(r, frame):
    """J."""
    A = _true_columns(r, frame)
    return dot(A[0], cross(A[1], A[2]))


@physics
def with_moves(part, moves, d):
    """Corrections with that part of the repair."""
    return (
        add_scaled(d[0], part, moves[0]),
        add_scaled(d[1], part, moves[1]),
        add_scaled(d[2], part, moves[2]),
        add_scaled(d[3], part, moves[3]),
    )


@physics
def _moved(row, d):
    x = add(row, d)
    return (x[0], x[1], x[2], row[3])


@physics
def _along(A, v):
    return (
        A[0][0] * v[0] + A[1][0] * v[1] + A[2][0] * v[2],
        A[0][1] * v[0] + A[1][1] * v[1] + A[2][1] * v[2],
        A[0][2] * v[0] + A[1][2] * v[1] + A[2][2] * v[2],
    )


@physics
def _least_direction(C):
    """Unit eigenvector of the smallest eigenvalue."""
    values, vectors = eigen_symmetric(C)
    least, v = values[0], vectors[0]
    for k in range(1, 3):
        smaller = values[k] < least
        least = select(smaller, values[k], least)
        other = vectors[k]
        v = (select(smaller, other[0], v[0]), select(smaller, other[1], v[1]), select(smaller, other[2], v[2]))
    return v

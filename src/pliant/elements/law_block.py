"""Force and block of a law psi(I, II, J) on one vertex of an element with a deformation gradient linear in positions.

block = V (sum_k psi_k d2I_k + sum_kl psi_kl dI_k dI_l^T),  a derivative that vanishes for the law costs nothing.
"""

from __future__ import annotations

from pliant.elements.tet import first_invariant_curvature, second_invariant_curvature
from pliant.lanes import number, select
from pliant.lanes.vectors import add_outer, add_scaled, add_symmetric, combine, physics, sum_of, unless_zero


@physics
def rest_unless(is_tet, I, II, J):
    """Invariants; those of the rest state where there is no tet, because a law may be singular at F = 0."""
    three = number(3.0, I)
    return select(is_tet, I, three), select(is_tet, II, three), select(is_tet, J, number(1.0, I))


@physics
def add_law(f, H, diagonal, first, second, volume, B, bb, gradients):
    """Add what one tet does to one vertex, from the derivatives of psi; `diagonal` takes the multiples of the identity.

    gradients: q, r, g with dI = 2 q, dII = 4 r, dJ = g.  bb: |b|^2.
    """
    q, r, g = gradients
    f = unless_zero(_add_force, f, first[0], volume * 2.0, q)
    f = unless_zero(_add_force, f, first[1], volume * 4.0, r)
    f = unless_zero(_add_force, f, first[2], volume, g)
    diagonal = unless_zero(_add_first, diagonal, first[0], volume, bb)
    diagonal, H = unless_zero(_add_second, (diagonal, H), first[1], volume, bb, B, q)
    return f, _add_curvature(H, first[1], second, volume, q, r, g), diagonal


@physics
def _add_curvature(H, psi_II, second, volume, q, r, g):
    """V (psi_II dI dI^T + sum_kl psi_kl dI_k dI_l^T), the first from d2II, as one product a row:
    sum_k dI_k (V sum_l psi_kl dI_l)^T, with dI = 2 q, dII = 4 r, dJ = g.
    """
    I_I, I_II, I_J, II_II, II_J, J_J = second
    by_q = combine(None, sum_of(I_I, psi_II), volume * 4.0, q)
    by_q = combine(by_q, I_II, volume * 8.0, r)
    by_q = combine(by_q, I_J, volume * 2.0, g)
    by_r = combine(None, I_II, volume * 8.0, q)
    by_r = combine(by_r, II_II, volume * 16.0, r)
    by_r = combine(by_r, II_J, volume * 4.0, g)
    by_g = combine(None, I_J, volume * 2.0, q)
    by_g = combine(by_g, II_J, volume * 4.0, r)
    by_g = combine(by_g, J_J, volume, g)
    H = unless_zero(_add_row, H, by_q, q)
    H = unless_zero(_add_row, H, by_r, r)
    return unless_zero(_add_row, H, by_g, g)


@physics
def _add_row(H, row, gradient):
    return add_outer(H, gradient, row)


@physics
def _add_force(f, coefficient, factor, gradient):
    return add_scaled(f, -(coefficient * factor), gradient)


@physics
def _add_first(diagonal, psi_I, volume, bb):
    return diagonal + psi_I * volume * first_invariant_curvature(bb)


@physics
def _add_second(blocks, psi_II, volume, bb, B, q):
    c, k = second_invariant_curvature(bb, q)
    s = psi_II * volume
    return blocks[0] + s * c, add_symmetric(blocks[1], s * k, B)

"""Derivatives of one element's energy by the positions of its vertices, for any law: vectors, and 3x3 blocks of pairs.

With the derivatives q, r, g of the invariants at a vertex (dI = 2 q, dII = 4 r, dJ = g; elements.tet has them), V the
volume of a tet or the area of a triangle, B = F F^T and k_ij = b_i . b_j:

    d2E/dx_i dx_j = V ( (2 psi_I k_ij + 4 psi_II q_i . q_j) Identity + 4 psi_II (q_j q_i^T + k_ij B)
                        + psi_J d2J/dx_i dx_j + sum_kl psi_kl dI_k,i dI_l,j^T )

    tet:       d2J/dx_i dx_j = [F (b_i x b_j)],   [a] the matrix with [a] v = v x a
    triangle:  d2J/dx_i dx_j = ((w_i . w_j) Identity - w_j w_i^T - g_i g_j^T) / J + (b_i1 b_j2 - b_i2 b_j1) [u]

A block is nine numbers, row after row; a vertex is a tuple (b, q, r, g), of a triangle (b, q, r, g, w).
"""

from __future__ import annotations

from pliant.elements import tet, triangle
from pliant.lanes import maximum, number, select, store, width_of
from pliant.lanes.blocks import add_dyad, add_multiple, add_turn
from pliant.lanes.vectors import (
    add_scaled,
    add_square,
    combine,
    cross,
    dot,
    physics,
    subtract,
    unless_zero,
)


@physics
def tet_state(corners, gradients, volume):
    """F, B and the invariants of tets; corners: four positions, gradients: b of the last three [1/m]."""
    a, b, c = subtract(corners[1], corners[0]), subtract(corners[2], corners[0]), subtract(corners[3], corners[0])
    F = tet.deformation_gradient(a, b, c, gradients[0], gradients[1], gradients[2])
    B = tet.left_cauchy_green(F)
    I, II, J = tet.invariants(F, B)
    # where there is no tet, the rest state: a law may be singular elsewhere
    there, three = volume > 0.0, number(3.0, I)
    return F, B, (select(there, I, three), select(there, II, three), select(there, J, number(1.0, J)))


@physics
def tet_vertex(F, B, b):
    """What a vertex with the shape-function gradient b brings to its blocks."""
    q, r, g = tet.invariant_gradients(F, B, b)
    return b, q, r, g


@physics
def add_tet_curvature(block, psi_J, volume, F, one, other):
    """Add psi_J d2J/dx_i dx_j."""
    n = cross(one[0], other[0])
    return add_turn(block, psi_J * volume, (dot(F[0], n), dot(F[1], n), dot(F[2], n)))


@physics
def triangle_state(corners, gradients, area):
    """F (two columns), the unit normal u, 1 / J, B and the invariants; gradients: b (2-vectors) of the last two."""
    a, b = subtract(corners[1], corners[0]), subtract(corners[2], corners[0])
    F = triangle.deformation_gradient(a, b, gradients[0], gradients[1])
    invariants = triangle.invariants(F, area > 0.0)
    inverse = 1.0 / maximum(invariants[2], number(triangle.LEAST_AREA, area))
    zero = number(0.0, area)
    B = add_square(add_square((zero, zero, zero, zero, zero, zero), number(1.0, area), F[0]), number(1.0, area), F[1])
    return (F, _scaled(inverse, cross(F[0], F[1])), inverse), B, invariants


@physics
def triangle_vertex(state, B, b):
    """What a vertex with the shape-function gradient b brings to its blocks."""
    F, u, _ = state
    q = add_scaled(_scaled(b[0], F[0]), b[1], F[1])
    r = add_scaled(_scaled(dot(F[0], q), F[0]), dot(F[1], q), F[1])
    w = add_scaled(_scaled(b[0], F[1]), -b[1], F[0])
    return (b[0], b[1], b[0] * 0.0), q, r, cross(w, u), w


@physics
def add_triangle_curvature(block, psi_J, area, state, one, other):
    """Add psi_J d2J/dx_i dx_j."""
    _, u, inverse = state
    s = psi_J * area
    t, (bi, bj) = s * inverse, (one[0], other[0])
    block = add_multiple(block, t * dot(one[4], other[4]))
    block = add_dyad(block, _scaled(-t, other[4]), one[4])
    block = add_dyad(block, _scaled(-t, one[3]), other[3])
    return add_turn(block, s * (bi[0] * bj[1] - bi[1] * bj[0]), u)


@physics
def vertex_gradient(first, volume, vertex):
    """dE/dx_i [N]."""
    zero = number(0.0, volume)
    g = combine((zero, zero, zero), first[0], volume * 2.0, vertex[1])
    return combine(combine(g, first[1], volume * 4.0, vertex[2]), first[2], volume, vertex[3])


@physics
def curvature_rows(second, volume, vertex):
    """V sum_l psi_kl dI_l at a vertex, for k = I, II, J, each times the factor of dI_k; None where zero."""
    I_I, I_II, I_J, II_II, II_J, J_J = second
    q, r, g = vertex[1], vertex[2], vertex[3]
    by_q = combine(combine(combine(None, I_I, volume * 4.0, q), I_II, volume * 8.0, r), I_J, volume * 2.0, g)
    by_r = combine(combine(combine(None, I_II, volume * 8.0, q), II_II, volume * 16.0, r), II_J, volume * 4.0, g)
    by_g = combine(combine(combine(None, I_J, volume * 2.0, q), II_J, volume * 4.0, r), J_J, volume, g)
    return by_q, by_r, by_g


@physics
def pair_block(first, rows, volume, B, one, other):
    """The block of two vertices, without d2J; rows: curvature_rows of the second one."""
    zero = number(0.0, volume)
    block = (zero, zero, zero, zero, zero, zero, zero, zero, zero)
    k = dot(one[0], other[0])
    block = unless_zero(_add_first, block, first[0], volume * 2.0 * k)
    block = unless_zero(_add_second, block, first[1], volume * 4.0, k, B, one[1], other[1])
    block = unless_zero(_add_row, block, rows[0], one[1])
    block = unless_zero(_add_row, block, rows[1], one[2])
    return unless_zero(_add_row, block, rows[2], one[3])


@physics
def _add_first(block, psi_I, factor):
    return add_multiple(block, psi_I * factor)


@physics
def _add_second(block, psi_II, volume, k, B, qi, qj):
    s = psi_II * volume
    block = add_multiple(block, s * dot(qi, qj))
    block = add_dyad(block, _scaled(s, qj), qi)
    t = s * k
    return (
        block[0] + t * B[0],
        block[1] + t * B[1],
        block[2] + t * B[2],
        block[3] + t * B[1],
        block[4] + t * B[3],
        block[5] + t * B[4],
        block[6] + t * B[2],
        block[7] + t * B[4],
        block[8] + t * B[5],
    )


@physics
def _add_row(block, row, vector):
    return add_dyad(block, vector, row)


@physics
def _scaled(s, a):
    return (s * a[0], s * a[1], s * a[2])


@physics
def store_block(buffer, place, block):
    """Nine numbers one after another."""
    for k in range(9):
        store(buffer, place + k * width_of(block[0]), block[k])


@physics
def store_vector(out, k, vector):
    """As vector k of a flat (n, 3, width) array."""
    for a in range(3):
        store(out, (3 * k + a) * width_of(vector[0]), vector[a])

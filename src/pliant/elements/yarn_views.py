"""What a corner and a wing of a triangle of yarn cloth feel (elements.yarn_strains)."""

from __future__ import annotations

from pliant.elements.yarn_strains import corner_stretching, yarn_strains
from pliant.lanes import number, select
from pliant.lanes.vectors import add_outer, add_scaled, add_symmetric, physics, positive_part
from pliant.materials.yarn_density import yarn_density, yarn_derivatives


@physics
def yarn_energy(corners, b1, b2, area, present, table):
    """A psi [J] of a triangle with corners and wings."""
    s, _ = yarn_strains(corners, b1, b2, present)
    return area * yarn_density(table, s)


@physics
def add_yarn_corner(f, H, corners, b1, b2, area, present, table):
    """Add the force on corner 0 and its block, which is never indefinite."""
    s, d = yarn_strains(corners, b1, b2, present)
    gradient, hessian = yarn_derivatives(table, s)
    G = (d[0][0], d[1][0], d[2][0], d[3][0], d[4][0], d[5][0])
    f = add_scaled(f, -area, weighted(gradient, G))
    block = corner_stretching((corners[0], corners[1], corners[2]), b1, b2, gradient)
    return f, add_symmetric(H, area, positive_part(_contracted(block, hessian, G)))


@physics
def add_yarn_wing(f, H, corners, b1, b2, area, present, table):
    """Add the force on the wing opposite to corner 0 and its block, of rank one; what would be negative is left out."""
    s, d = yarn_strains(corners, b1, b2, present)
    gradient, hessian = yarn_derivatives(table, s)
    G = (d[0][3], d[1][3], d[2][3], d[3][3], d[4][3], d[5][3])
    f = add_scaled(f, -area, weighted(gradient, G))
    zero = number(0.0, area)
    block = _contracted((zero, zero, zero, zero, zero, zero), hessian, G)
    return f, add_symmetric(H, select(block[0] + block[3] + block[5] > zero, area, zero), block)


@physics
def weighted(g, G):
    """sum_k g_k G_k."""
    total = add_scaled((g[0] * G[0][0], g[0] * G[0][1], g[0] * G[0][2]), g[1], G[1])
    return add_scaled(add_scaled(add_scaled(add_scaled(total, g[2], G[2]), g[3], G[3]), g[4], G[4]), g[5], G[5])


@physics
def row_of(h, i):
    """Row i of a symmetric 6x6 matrix, given by its upper triangle."""
    if i == 0:
        return (h[0], h[1], h[2], h[3], h[4], h[5])
    if i == 1:
        return (h[1], h[6], h[7], h[8], h[9], h[10])
    if i == 2:
        return (h[2], h[7], h[11], h[12], h[13], h[14])
    if i == 3:
        return (h[3], h[8], h[12], h[15], h[16], h[17])
    if i == 4:
        return (h[4], h[9], h[13], h[16], h[18], h[19])
    return (h[5], h[10], h[14], h[17], h[19], h[20])


@physics
def _contracted(block, h, G):
    """block + sum_kl h_kl G_k G_l^T."""
    block = add_outer(block, G[0], weighted(row_of(h, 0), G))
    block = add_outer(block, G[1], weighted(row_of(h, 1), G))
    block = add_outer(block, G[2], weighted(row_of(h, 2), G))
    block = add_outer(block, G[3], weighted(row_of(h, 3), G))
    block = add_outer(block, G[4], weighted(row_of(h, 4), G))
    return add_outer(block, G[5], weighted(row_of(h, 5), G))

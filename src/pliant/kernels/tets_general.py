"""The general path for tets: any law psi(I, II, J).

    block = V (sum_k psi_k d2I_k + sum_kl psi_kl dI_k dI_l^T),  a derivative that vanishes for the law costs nothing.

Ten constants a tet and vertex: the gradients b of the other three vertices' shape functions, and the volume V.
"""

from __future__ import annotations

from pliant.elements.tet import (
    add_first_invariant_hessian,
    add_second_invariant_hessian,
    deformation_gradient,
    invariant_gradients,
    invariants,
    left_cauchy_green,
    limit_volume_loss,
)
from pliant.lanes import gather3, load, number, select, width_of
from pliant.lanes.vectors import add_product, add_scaled, add_square, dot, physics, unless_zero

CONSTANTS = 10

@physics
def _deformation(x, xi, tets, k):
    """F, the shape-function gradients of the other vertices, and V, of the tets at place k of the lists."""
    width = width_of(xi[0])
    at = 3 * k * width
    a = gather3(x, tets.others, at, xi[0])
    b = gather3(x, tets.others, at + width, xi[0])
    c = gather3(x, tets.others, at + 2 * width, xi[0])
    ba, bb, bc = _load_vector(tets, k, 0, xi[0]), _load_vector(tets, k, 3, xi[0]), _load_vector(tets, k, 6, xi[0])
    volume = load(tets.constants, (CONSTANTS * k + 9) * width, xi[0])
    F = deformation_gradient(xi, a, b, c, ba, bb, bc)
    own = (-(ba[0] + bb[0] + bc[0]), -(ba[1] + bb[1] + bc[1]), -(ba[2] + bb[2] + bc[2]))
    return F, own, volume


@physics
def _load_vector(tets, k, first, like):
    width = width_of(like)
    at = (CONSTANTS * k + first) * width
    return (
        load(tets.constants, at, like),
        load(tets.constants, at + width, like),
        load(tets.constants, at + 2 * width, like),
    )


@physics
def _invariants_or_rest(F, B, volume):
    """Invariants, and those of the rest state in padding, where F is zero and a law may be singular."""
    I, II, J = invariants(F, B)
    real = volume > 0.0
    three = number(3.0, I)
    return select(real, I, three), select(real, II, three), select(real, J, number(1.0, I))


@physics
def add_general(p, x, xi, f, H, tets, parameters, derivatives):
    """Add force and Hessian on the vertices of pack p."""
    for k in range(tets.start[p], tets.start[p + 1]):
        F, b, volume = _deformation(x, xi, tets, k)
        B = left_cauchy_green(F)
        I, II, J = _invariants_or_rest(F, B, volume)
        first, second = derivatives(I, II, J, *parameters)
        q, r, g = invariant_gradients(F, B, b)  # dI = 2 q, dII = 4 r, dJ = g
        bb = dot(b, b)
        f = unless_zero(_add_force, f, first[0], volume * 2.0, q)
        f = unless_zero(_add_force, f, first[1], volume * 4.0, r)
        f = unless_zero(_add_force, f, first[2], volume, g)
        H = unless_zero(_add_first, H, first[0], volume, bb)
        H = unless_zero(_add_second, H, first[1], volume, bb, B, q)
        H = unless_zero(_add_own, H, second[0], volume * 4.0, q)
        H = unless_zero(_add_mixed, H, second[1], volume * 8.0, q, r)
        H = unless_zero(_add_mixed, H, second[2], volume * 2.0, q, g)
        H = unless_zero(_add_own, H, second[3], volume * 16.0, r)
        H = unless_zero(_add_mixed, H, second[4], volume * 4.0, r, g)
        H = unless_zero(_add_own, H, second[5], volume, g)
    return f, H


@physics
def _add_force(f, coefficient, factor, gradient):
    return add_scaled(f, -(coefficient * factor), gradient)


@physics
def _add_first(H, coefficient, volume, bb):
    return add_first_invariant_hessian(H, coefficient * volume, bb)


@physics
def _add_second(H, coefficient, volume, bb, B, q):
    return add_second_invariant_hessian(H, coefficient * volume, bb, B, q)


@physics
def _add_own(H, coefficient, factor, gradient):
    return add_square(H, coefficient * factor, gradient)


@physics
def _add_mixed(H, coefficient, factor, one, other):
    return add_product(H, coefficient * factor, one, other)


@physics
def general_energy(p, x, xi, energy, tets, parameters, density):
    """Add the energy of the tets at the vertices of pack p, were they at xi."""
    for k in range(tets.start[p], tets.start[p + 1]):
        F, _, volume = _deformation(x, xi, tets, k)
        I, II, J = _invariants_or_rest(F, left_cauchy_green(F), volume)
        energy = energy + volume * density(I, II, J, *parameters)
    return energy


@physics
def bound_volume_loss(p, x, xi, dx, step, tets):
    """The largest part of dx, at most `step`, that leaves every tet of pack p's vertices the part KEEP of its volume."""
    for k in range(tets.start[p], tets.start[p + 1]):
        F, b, _ = _deformation(x, xi, tets, k)
        B = left_cauchy_green(F)
        _, _, J = invariants(F, B)
        _, _, g = invariant_gradients(F, B, b)
        loss = -dot(g, dx)
        step = limit_volume_loss(step, J, loss)
    return step

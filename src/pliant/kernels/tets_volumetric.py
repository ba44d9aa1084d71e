"""The fast path for tets: the part phi(J) of a law psi = mu/2 (I - 3) + phi(J).

J is linear in any one vertex, so its block is rank one: phi''(J) g g^T with g = dJ/dx_i = area / (6 V).  No deformation gradient
is needed, and one constant a tet and vertex: 1 / (6 V).
"""

from __future__ import annotations

from pliant.elements.tet import area_and_volume_ratio, limit_volume_loss
from pliant.lanes import gather3, load, number, select, width_of
from pliant.lanes.vectors import add_scaled, add_square, dot, physics


@physics
def _face(x, tets, k, like):
    """Opposite faces of the tets at place k of the lists, and their 1 / (6 V)."""
    width = width_of(like)
    at = 3 * k * width
    a, b, c = gather3(x, tets.others, at, like), gather3(x, tets.others, at + width, like), gather3(x, tets.others, at + 2 * width, like)
    return a, b, c, load(tets.constants, k * width, like)


@physics
def add_volumetric(p, x, xi, f, H, tets, parameters, volume_derivatives):
    """Add force and Hessian of phi on the vertices of pack p."""
    sixth, one = number(1.0 / 6.0, xi[0]), number(1.0, xi[0])
    for k in range(tets.start[p], tets.start[p + 1]):
        a, b, c, inverse_6v = _face(x, tets, k, xi[0])
        area, J = area_and_volume_ratio(xi, a, b, c, inverse_6v)
        J = select(inverse_6v > 0.0, J, one)  # padding has no volume and no area; its law must stay finite
        first, second = volume_derivatives(J, *parameters)
        f = add_scaled(f, -(sixth * first), area)  # V phi' g = phi' area / 6
        H = add_square(H, sixth * inverse_6v * second, area)
    return f, H


@physics
def volumetric_energy(p, x, xi, energy, tets, parameters, volume_energy):
    """Add the energy phi of the tets at the vertices of pack p, were they at xi."""
    sixth, one = number(1.0 / 6.0, xi[0]), number(1.0, xi[0])
    for k in range(tets.start[p], tets.start[p + 1]):
        a, b, c, inverse_6v = _face(x, tets, k, xi[0])
        _, J = area_and_volume_ratio(xi, a, b, c, inverse_6v)
        padding = inverse_6v == 0.0
        density = volume_energy(select(padding, one, J), *parameters)
        energy = energy + select(padding, number(0.0, J), density * sixth / inverse_6v)
    return energy


@physics
def bound_volume_loss(p, x, xi, dx, step, tets):
    """The largest part of dx, at most `step`, that leaves every tet of pack p's vertices the part KEEP of its volume.

    J is linear in one vertex, so the bound is exact.
    """
    for k in range(tets.start[p], tets.start[p + 1]):
        a, b, c, inverse_6v = _face(x, tets, k, xi[0])
        area, J = area_and_volume_ratio(xi, a, b, c, inverse_6v)
        loss = -(dot(area, dx) * inverse_6v)
        step = limit_volume_loss(step, J, loss)
    return step

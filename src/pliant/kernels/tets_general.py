"""The general path for tets: any law psi(I, II, J).

    block = V (sum_k psi_k d2I_k + sum_kl psi_kl dI_k dI_l^T),  a derivative that vanishes for the law costs nothing.

Ten constants a push: the shape-function gradients of the triangle's three vertices, and the volume V, negative where
the walk turns.
"""

from __future__ import annotations

import numpy as np

from pliant.elements.tet import (
    deformation_gradient,
    first_invariant_curvature,
    invariant_gradients,
    invariants,
    left_cauchy_green,
    own_gradient,
    second_invariant_curvature,
)
from pliant.geometry.links import LinkWalks
from pliant.kernels.links import Links, bound_volume_loss, constant, place, push, pushed_rows
from pliant.kernels.packs import Packs
from pliant.kernels.term_source import TermSource, import_lines, law_functions, law_of_entries
from pliant.lanes import absolute, number, select
from pliant.lanes.entry import entry
from pliant.lanes.vectors import (
    add_identity,
    add_outer,
    add_scaled,
    add_symmetric,
    combine,
    dot,
    physics,
    sum_of,
    unless_zero,
)

CONSTANTS = 10


@physics
def _shape_gradient(links, k, corner, like):
    return (
        constant(links, k, 3 * corner, CONSTANTS, like),
        constant(links, k, 3 * corner + 1, CONSTANTS, like),
        constant(links, k, 3 * corner + 2, CONSTANTS, like),
    )


@physics
def deformation(links, k, a, b, c):
    """F and the shape-function gradient of the vertex itself."""
    ba, bb, bc = (
        _shape_gradient(links, k, 0, a[0]),
        _shape_gradient(links, k, 1, a[0]),
        _shape_gradient(links, k, 2, a[0]),
    )
    return deformation_gradient(a, b, c, ba, bb, bc), own_gradient(ba, bb, bc)


@physics
def rest_unless(is_tet, I, II, J):
    """Invariants; those of the rest state where there is no tet, because a law may be singular at F = 0."""
    three = number(3.0, I)
    return select(is_tet, I, three), select(is_tet, II, three), select(is_tet, J, number(1.0, I))


@physics
def add_general(p, x, xi, f, H, links, law, law_at, derivatives):
    """Add force and Hessian on the vertices of pack p; law_at(law, k, like) gives the parameters of entry k."""
    zero = number(0.0, xi[0])
    a = b = c = (zero, zero, zero)
    diagonal = zero
    for k in range(links.start[p], links.start[p + 1]):
        turned_volume = constant(links, k, 9, CONSTANTS, xi[0])
        a, b, c = push(x, xi, links, k, turned_volume < zero, a, b, c)
        volume = absolute(turned_volume)
        F, own = deformation(links, k, a, b, c)
        parameters = law_at(law, k, xi[0])
        f, H, diagonal = add_tet(f, H, diagonal, F, own, volume, volume > zero, parameters, derivatives)
    return f, add_identity(H, diagonal)


@physics
def add_tet(f, H, diagonal, F, own, volume, is_tet, parameters, derivatives):
    """Add what one tet does to one vertex, `own` its shape-function gradient; `diagonal` takes the multiples of the
    identity.
    """
    B = left_cauchy_green(F)
    measures = rest_unless(is_tet, *invariants(F, B))
    first, second = derivatives(*measures, *parameters)
    gradients = invariant_gradients(F, B, own)
    return add_law(f, H, diagonal, first, second, volume, B, dot(own, own), gradients)


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


@physics
def general_energy(p, x, xi, energy, links, law, law_at, density, share):
    """Add a share of the energy of the tets at the vertices of pack p, were they at xi."""
    zero = number(0.0, xi[0])
    a = b = c = (zero, zero, zero)
    for k in range(links.start[p], links.start[p + 1]):
        turned_volume = constant(links, k, 9, CONSTANTS, xi[0])
        a, b, c = push(x, xi, links, k, turned_volume < zero, a, b, c)
        volume = absolute(turned_volume)
        F, _ = deformation(links, k, a, b, c)
        arguments = rest_unless(volume > zero, *invariants(F, left_cauchy_green(F)))
        energy = energy + (share * volume) * density(*arguments, *law_at(law, k, xi[0]))
    return energy


def general_source(
    law_name: str, law_text: str, parameter_count: int, has_barrier: bool, varies: bool = False
) -> TermSource:
    """Tets of one law, as a kernel sees them; varies: whether tets at one vertex differ in their parameters."""
    law, law_at = law_of_entries(parameter_count, varies)
    return TermSource(
        name=law_name,
        imports=import_lines(add_general, general_energy, *([bound_volume_loss] if has_barrier else [])),
        tables=("links_K", "parameters_K"),
        force=(law, "f, H = add_general(p, x, xi, f, H, links_K, law_K, law_at_K, derivatives_K)"),
        energy=(
            law,
            "energy = general_energy(p, x, xi, energy, links_K, law_K, law_at_K, energy_density_K, SHARE_OF_4)",
        ),
        bound=(f"step = bound_volume_loss(p, x, xi, dx, step, links_K, 9, {CONSTANTS})",) if has_barrier else (),
        definitions=law_functions(law_text) + "\n" + law_at,
    )


def general_links(packs: Packs, walks: LinkWalks, tets, gradients, volumes, dtype) -> Links:
    """Tables of the general path."""
    start, entry, lane = place(packs, walks)
    numbers = np.zeros((start[-1], CONSTANTS, packs.width), dtype)
    _fill(*walks, tets, gradients, volumes, entry, lane, numbers)
    return Links(start, pushed_rows(packs, walks, start, entry, lane), numbers.reshape(-1))


@entry()
def _fill(start, pushed, tet, sign, tets, gradients, volumes, entry, lane, numbers):
    for i in range(len(start) - 1):
        a = b = c = i
        for e in range(start[i], start[i + 1]):
            a, b = (c, b) if sign[e] < 0 else (a, c)
            c = pushed[e]
            t = tet[e]
            if t < 0:
                continue
            numbers[entry[e], 9, lane[e]] = sign[e] * volumes[t]
            for k in range(4):
                vertex = tets[t, k]
                if vertex != i:
                    corner = 0 if vertex == a else (1 if vertex == b else 2)
                    for axis in range(3):
                        numbers[entry[e], 3 * corner + axis, lane[e]] = gradients[t, k, axis]

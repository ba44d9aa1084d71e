"""The fast path for tets: laws psi = mu/2 (I - 3) + phi(J).

The first part is a constant graph Laplacian, one weight a mesh edge:  E = -1/2 sum_edges w_ij |x_i - x_j|^2,
w_ij = sum_tets V mu b_i . b_j.  The second needs no deformation gradient: J is linear in any one vertex, so its block
is rank one, phi''(J) g g^T with g = dJ/dx_i = area / (6 V).

Two constants a push: 1 / (6 V) of the tet it completes, negative where the walk turns, and the weight of the edge to
the pushed vertex where it is pushed first, else zero.
"""

from __future__ import annotations

import numpy as np

from pliant.elements.tet import area_and_volume_ratio
from pliant.geometry.links import LinkWalks
from pliant.kernels.links import Links, bound_volume_loss, constant, place, push, pushed_rows
from pliant.kernels.packs import Packs
from pliant.kernels.term_source import TermSource, import_lines, law_functions, law_of_entries
from pliant.lanes import absolute, number, select
from pliant.lanes.entry import entry
from pliant.lanes.vectors import add_scaled, add_square, dot, physics


@physics
def add_volumetric(p, x, xi, f, H, links, law, law_at, volume_derivatives):
    """Add force and Hessian on the vertices of pack p, without the Laplacian's constant diagonal; law_at(law, k, like)
    gives the parameters of entry k.
    """
    zero = number(0.0, xi[0])
    a = b = c = (zero, zero, zero)
    for k in range(links.start[p], links.start[p + 1]):
        turned_inverse = constant(links, k, 0, 2, xi[0])
        a, b, c = push(x, xi, links, k, turned_inverse < zero, a, b, c)
        inverse_6v = absolute(turned_inverse)
        parameters = law_at(law, k, xi[0])
        f, H = add_volume_change(f, H, a, b, c, inverse_6v, inverse_6v > zero, parameters, volume_derivatives)
        f = add_scaled(f, -constant(links, k, 1, 2, xi[0]), c)
    return f, H


@physics
def add_volume_change(f, H, a, b, c, inverse_6v, is_tet, parameters, volume_derivatives):
    """Add what phi(J) of one tet does to one vertex; a, b, c: the face opposite to it, relative to it."""
    zero, one, sixth = number(0.0, inverse_6v), number(1.0, inverse_6v), number(1.0 / 6.0, inverse_6v)
    area, J = area_and_volume_ratio(a, b, c, inverse_6v)
    first, second = volume_derivatives(select(is_tet, J, one), *parameters)
    f = add_scaled(f, -(select(is_tet, sixth, zero) * first), area)  # V phi' g = phi' area / 6
    return f, add_square(H, sixth * inverse_6v * second, area)


@physics
def volumetric_energy(p, x, xi, energy, links, law, law_at, volume_energy, shear_weight, tet_share, edge_share):
    """Add a share of the energy of the tets at the vertices of pack p, were they at xi.

    What the edges add is mu/2 I: the constant -3/2 mu comes with phi.
    """
    zero, one, sixth = number(0.0, xi[0]), number(1.0, xi[0]), number(1.0 / 6.0, xi[0])
    a = b = c = (zero, zero, zero)
    for k in range(links.start[p], links.start[p + 1]):
        turned_inverse = constant(links, k, 0, 2, xi[0])
        a, b, c = push(x, xi, links, k, turned_inverse < zero, a, b, c)
        inverse_6v = absolute(turned_inverse)
        _, J = area_and_volume_ratio(a, b, c, inverse_6v)
        is_tet = inverse_6v > zero
        own = law_at(law, k, xi[0])
        phi = volume_energy(select(is_tet, J, one), *own) - 1.5 * shear_weight(*own)
        energy = energy + tet_share * select(is_tet, phi * sixth / inverse_6v, zero)
        energy = energy - (0.5 * edge_share) * constant(links, k, 1, 2, xi[0]) * dot(c, c)
    return energy


def volumetric_source(
    law_name: str, law_text: str, parameter_count: int, has_barrier: bool, varies: bool = False
) -> TermSource:
    """Tets of one law, as a kernel sees them; varies: whether tets at one vertex differ in their parameters."""
    law, law_at = law_of_entries(parameter_count, varies)
    return TermSource(
        name=law_name,
        imports=import_lines(add_volumetric, volumetric_energy, *([bound_volume_loss] if has_barrier else [])),
        tables=("links_K", "parameters_K"),
        force=(law, "f, H = add_volumetric(p, x, xi, f, H, links_K, law_K, law_at_K, volume_derivatives_K)"),
        energy=(
            law,
            "energy = volumetric_energy(p, x, xi, energy, links_K, law_K, law_at_K, volume_energy_K, shear_weight_K, "
            "SHARE_OF_4, SHARE_OF_2)",
        ),
        bound=("step = bound_volume_loss(p, x, xi, dx, step, links_K, 0, 2)",) if has_barrier else (),
        definitions=law_functions(law_text) + "\n" + law_at,
    )


def volumetric_links(
    packs: Packs, walks: LinkWalks, tets, gradients, volumes, shear, dtype
) -> tuple[Links, np.ndarray]:
    """Tables of the fast path, and the Laplacian's diagonal per vertex (n,). shear: (m,) the law's weight mu [Pa]."""
    start, entry, lane = place(packs, walks)
    weights, diagonal = _laplacian(*walks, tets, gradients, volumes * shear)
    numbers = np.zeros((start[-1], 2, packs.width), dtype)
    with_tet = walks.tet >= 0
    numbers[entry[with_tet], 0, lane[with_tet]] = walks.sign[with_tet] / (6 * volumes[walks.tet[with_tet]])
    numbers[entry, 1, lane] = weights
    return Links(start, pushed_rows(packs, walks, start, entry, lane), numbers.reshape(-1)), diagonal


@entry()
def _laplacian(start, pushed, tet, sign, tets, gradients, stiffness):
    """Edge weights at the first push of each neighbour, and the sum of V mu |b_i|^2 a vertex."""
    n = len(start) - 1
    weights, diagonal = np.zeros(len(pushed)), np.zeros(n)
    first_push = np.full(n, -1, np.int64)
    for i in range(n):
        for e in range(start[i], start[i + 1]):
            if first_push[pushed[e]] < start[i]:
                first_push[pushed[e]] = e
        for e in range(start[i], start[i + 1]):
            t = tet[e]
            if t < 0:
                continue
            own = 0
            while tets[t, own] != i:
                own += 1
            for k in range(4):
                product = 0.0
                for axis in range(3):
                    product += gradients[t, own, axis] * gradients[t, k, axis]
                if k == own:
                    diagonal[i] += stiffness[t] * product
                else:
                    weights[first_push[tets[t, k]]] += stiffness[t] * product
    return weights, diagonal

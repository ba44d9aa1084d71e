"""The general path for tets: any law psi(I, II, J) (elements.law_block).

Ten constants a push: the shape-function gradients of the triangle's three vertices, and the volume V, negative where
the walk turns.
"""

from __future__ import annotations

import numpy as np

from pliant.elements.law_block import add_law, rest_unless
from pliant.elements.tet import deformation_gradient, invariant_gradients, invariants, left_cauchy_green
from pliant.geometry.links import LinkWalks
from pliant.kernels.links import Links, bound_volume_loss, constant, place, push, pushed_rows
from pliant.kernels.packs import Packs
from pliant.kernels.term_source import TermSource, import_lines, law_functions, law_of_entries
from pliant.lanes import absolute, number
from pliant.lanes.entry import entry
from pliant.lanes.vectors import add_identity, dot, physics

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
    own = (-(ba[0] + bb[0] + bc[0]), -(ba[1] + bb[1] + bc[1]), -(ba[2] + bb[2] + bc[2]))
    return deformation_gradient(a, b, c, ba, bb, bc), own


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
        B = left_cauchy_green(F)
        measures = rest_unless(volume > zero, *invariants(F, B))
        first, second = derivatives(*measures, *law_at(law, k, xi[0]))
        gradients = invariant_gradients(F, B, own)
        f, H, diagonal = add_law(f, H, diagonal, first, second, volume, B, dot(own, own), gradients)
    return f, add_identity(H, diagonal)


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

"""Triangles of sheets around the vertices of a pack: membranes of any law, and fibres along one direction.

Seen from a vertex, the other two corners follow in the triangle's order.
"""

from __future__ import annotations

import numpy as np

from pliant.elements.fibre import add_fibre, fibre_energy
from pliant.elements.triangle import add_membrane, membrane_energy
from pliant.kernels.lists import Incidences, list_constant, other
from pliant.kernels.term_source import TermSource, law_functions, load_parameters
from pliant.lanes.vectors import physics

MEMBRANE = 5  # constants: gradients of the other two corners, area
FIBRE = 3  # constants: slopes of the other two corners, stiffness


@physics
def _gradient(lists, k, corner, like):
    return list_constant(lists, k, 2 * corner, MEMBRANE, like), list_constant(lists, k, 2 * corner + 1, MEMBRANE, like)


@physics
def add_membranes(p, x, xi, f, H, lists, parameters, derivatives):
    """Add force and block on the vertices of pack p."""
    for k in range(lists.start[p], lists.start[p + 1]):
        a, b = other(x, xi, lists, k, 0, 2), other(x, xi, lists, k, 1, 2)
        ba, bb = _gradient(lists, k, 0, xi[0]), _gradient(lists, k, 1, xi[0])
        area = list_constant(lists, k, 4, MEMBRANE, xi[0])
        f, H = add_membrane(f, H, a, b, ba, bb, area, parameters, derivatives)
    return f, H


@physics
def membranes_energy(p, x, xi, energy, lists, parameters, density, share):
    """Add a share of the energy of the triangles of pack p's vertices, were they at xi."""
    for k in range(lists.start[p], lists.start[p + 1]):
        a, b = other(x, xi, lists, k, 0, 2), other(x, xi, lists, k, 1, 2)
        ba, bb = _gradient(lists, k, 0, xi[0]), _gradient(lists, k, 1, xi[0])
        area = list_constant(lists, k, 4, MEMBRANE, xi[0])
        energy = energy + share * membrane_energy(a, b, ba, bb, area, parameters, density)
    return energy


@physics
def add_fibres(p, x, xi, f, H, lists):
    """Add force and block on the vertices of pack p."""
    for k in range(lists.start[p], lists.start[p + 1]):
        a, b = other(x, xi, lists, k, 0, 2), other(x, xi, lists, k, 1, 2)
        slope_a, slope_b = list_constant(lists, k, 0, FIBRE, xi[0]), list_constant(lists, k, 1, FIBRE, xi[0])
        f, H = add_fibre(f, H, a, b, slope_a, slope_b, list_constant(lists, k, 2, FIBRE, xi[0]))
    return f, H


@physics
def fibres_energy(p, x, xi, energy, lists, share):
    """Add a share of the energy of the fibres of pack p's vertices, were they at xi."""
    for k in range(lists.start[p], lists.start[p + 1]):
        a, b = other(x, xi, lists, k, 0, 2), other(x, xi, lists, k, 1, 2)
        slope_a, slope_b = list_constant(lists, k, 0, FIBRE, xi[0]), list_constant(lists, k, 1, FIBRE, xi[0])
        energy = energy + share * fibre_energy(a, b, slope_a, slope_b, list_constant(lists, k, 2, FIBRE, xi[0]))
    return energy


def membrane_source(law_name: str, law_text: str, parameter_count: int) -> TermSource:
    """Triangles of one law, as a kernel sees them."""
    parameters = load_parameters(parameter_count)
    return TermSource(
        name=f"sheets of {law_name}",
        imports="from pliant.kernels.triangles import add_membranes, membranes_energy",
        tables=("membranes_K", "parameters_K"),
        force=(parameters, "f, H = add_membranes(p, x, xi, f, H, membranes_K, law_K, derivatives_K)"),
        energy=(
            parameters,
            "energy = membranes_energy(p, x, xi, energy, membranes_K, law_K, energy_density_K, SHARE_OF_3)",
        ),
        definitions=law_functions(law_text),
    )


FIBRES_SOURCE = TermSource(
    name="fibres",
    imports="from pliant.kernels.triangles import add_fibres, fibres_energy",
    tables=("fibres_K",),
    force=("f, H = add_fibres(p, x, xi, f, H, fibres_K)",),
    energy=("energy = fibres_energy(p, x, xi, energy, fibres_K, SHARE_OF_3)",),
)


def triangle_incidences(triangles: np.ndarray, of_corners: np.ndarray, of_triangles: np.ndarray) -> Incidences:
    """The three corners of each triangle (m, 3). Constants: numbers of the other two corners (m, 3, c), then one of the
    triangle (m,).
    """
    m = len(triangles)
    following = (np.arange(3)[:, None] + [1, 2]) % 3  # (3, 2)
    others = triangles[:, following].reshape(-1, 2)
    constants = np.concatenate(
        [of_corners[:, following].reshape(3 * m, 2 * of_corners.shape[2]), np.repeat(of_triangles, 3)[:, None]], axis=1
    )
    return Incidences(triangles.ravel(), others, constants)

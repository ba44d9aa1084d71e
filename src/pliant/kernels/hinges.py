"""Hinges of the vertices of a pack: in one list the hinges they are a wing of, in another those whose edge they end."""

from __future__ import annotations

import numpy as np

from pliant.elements.hinge import add_hinge, angle_at_edge, angle_at_wing, hinge_energy
from pliant.kernels.lists import Incidences, list_constant, other
from pliant.kernels.term_source import TermSource
from pliant.lanes.vectors import physics

CONSTANTS = 2  # rest angle, stiffness


@physics
def _others(x, xi, lists, k):
    return other(x, xi, lists, k, 0, 3), other(x, xi, lists, k, 1, 3), other(x, xi, lists, k, 2, 3)


@physics
def add_hinges(p, x, xi, f, H, wings, edges):
    """Add force and block on the vertices of pack p."""
    for k in range(wings.start[p], wings.start[p + 1]):
        a, b, c = _others(x, xi, wings, k)
        theta, gradient = angle_at_wing(a, b, c)
        rest, stiffness = list_constant(wings, k, 0, CONSTANTS, xi[0]), list_constant(wings, k, 1, CONSTANTS, xi[0])
        f, H = add_hinge(f, H, theta, gradient, rest, stiffness)
    for k in range(edges.start[p], edges.start[p + 1]):
        b, c, d = _others(x, xi, edges, k)
        theta, gradient = angle_at_edge(b, c, d)
        rest, stiffness = list_constant(edges, k, 0, CONSTANTS, xi[0]), list_constant(edges, k, 1, CONSTANTS, xi[0])
        f, H = add_hinge(f, H, theta, gradient, rest, stiffness)
    return f, H


@physics
def hinges_energy(p, x, xi, energy, wings, edges, share):
    """Add a share of the energy of the hinges of pack p's vertices, were they at xi."""
    for k in range(wings.start[p], wings.start[p + 1]):
        a, b, c = _others(x, xi, wings, k)
        theta, _ = angle_at_wing(a, b, c)
        rest, stiffness = list_constant(wings, k, 0, CONSTANTS, xi[0]), list_constant(wings, k, 1, CONSTANTS, xi[0])
        energy = energy + share * hinge_energy(theta, rest, stiffness)
    for k in range(edges.start[p], edges.start[p + 1]):
        b, c, d = _others(x, xi, edges, k)
        theta, _ = angle_at_edge(b, c, d)
        rest, stiffness = list_constant(edges, k, 0, CONSTANTS, xi[0]), list_constant(edges, k, 1, CONSTANTS, xi[0])
        energy = energy + share * hinge_energy(theta, rest, stiffness)
    return energy


HINGES_SOURCE = TermSource(
    name="hinges",
    imports="from pliant.kernels.hinges import add_hinges, hinges_energy",
    tables=("wings_K", "edges_K"),
    force=("f, H = add_hinges(p, x, xi, f, H, wings_K, edges_K)",),
    energy=("energy = hinges_energy(p, x, xi, energy, wings_K, edges_K, SHARE_OF_4)",),
)


def hinge_incidences(hinges: np.ndarray, angles: np.ndarray, stiffness: np.ndarray) -> tuple[Incidences, Incidences]:
    """Wings and edge ends of hinges (m, 4): edge start, edge end, two wings. Turned round it is (1, 0, 3, 2)."""
    a, b, c, d = hinges.T
    constants = np.tile(np.column_stack([angles, stiffness]), (2, 1))
    wings = Incidences(np.r_[c, d], np.r_[np.column_stack([a, b, d]), np.column_stack([b, a, c])], constants)
    edges = Incidences(np.r_[a, b], np.r_[np.column_stack([b, c, d]), np.column_stack([a, d, c])], constants)
    return wings, edges

"""Springs and ropes of the vertices of a pack."""

from __future__ import annotations

import numpy as np

from pliant.elements.spring import add_spring, spring_energy
from pliant.kernels.lists import Incidences, list_constant, other
from pliant.kernels.term_source import TermSource
from pliant.lanes.vectors import physics

CONSTANTS = 3  # stiffness, rest length, compression


@physics
def _numbers(lists, k, like):
    return (
        list_constant(lists, k, 0, CONSTANTS, like),
        list_constant(lists, k, 1, CONSTANTS, like),
        list_constant(lists, k, 2, CONSTANTS, like),
    )


@physics
def add_springs(p, x, xi, f, H, lists):
    """Add force and block on the vertices of pack p."""
    for k in range(lists.start[p], lists.start[p + 1]):
        stiffness, length, compression = _numbers(lists, k, xi[0])
        f, H = add_spring(f, H, other(x, xi, lists, k, 0, 1), stiffness, length, compression)
    return f, H


@physics
def springs_energy(p, x, xi, energy, lists, share):
    """Add a share of the energy of the springs of pack p's vertices, were they at xi."""
    for k in range(lists.start[p], lists.start[p + 1]):
        stiffness, length, compression = _numbers(lists, k, xi[0])
        energy = energy + share * spring_energy(other(x, xi, lists, k, 0, 1), stiffness, length, compression)
    return energy


SPRINGS_SOURCE = TermSource(
    name="springs",
    imports="from pliant.kernels.springs import add_springs, springs_energy",
    tables=("springs_K",),
    force=("f, H = add_springs(p, x, xi, f, H, springs_K)",),
    energy=("energy = springs_energy(p, x, xi, energy, springs_K, SHARE_OF_2)",),
)


def spring_incidences(edges: np.ndarray, lengths, stiffness, compression) -> Incidences:
    """Both ends of each edge (m, 2)."""
    constants = np.repeat(np.column_stack([stiffness, lengths, compression]), 2, axis=0)
    return Incidences(edges.ravel(), edges[:, ::-1].reshape(-1, 1), constants)

"""Weighted pairs of vertices, 1/2 w |x_i - x_j|^2: their block is constant and lies in the vertices' diagonal."""

from __future__ import annotations

import numpy as np

from pliant.elements.pair import add_pair_force, pair_energy
from pliant.kernels.lists import Incidences, list_constant, other
from pliant.kernels.term_source import TermSource
from pliant.lanes.vectors import physics


@physics
def add_pairs(p, x, xi, f, lists):
    """Add the force on the vertices of pack p."""
    for k in range(lists.start[p], lists.start[p + 1]):
        f = add_pair_force(f, other(x, xi, lists, k, 0, 1), list_constant(lists, k, 0, 1, xi[0]))
    return f


@physics
def pairs_energy(p, x, xi, energy, lists, share):
    """Add a share of the energy of the pairs of pack p's vertices, were they at xi."""
    for k in range(lists.start[p], lists.start[p + 1]):
        weight = list_constant(lists, k, 0, 1, xi[0])
        energy = energy + share * pair_energy(other(x, xi, lists, k, 0, 1), weight)
    return energy


PAIRS_SOURCE = TermSource(
    name="pairs",
    imports="from pliant.kernels.pairs import add_pairs, pairs_energy",
    tables=("pairs_K",),
    force=("f = add_pairs(p, x, xi, f, pairs_K)",),
    energy=("energy = pairs_energy(p, x, xi, energy, pairs_K, SHARE_OF_2)",),
)


def pair_incidences(pairs: np.ndarray, weights: np.ndarray) -> Incidences:
    """Both ends of each pair (m, 2)."""
    return Incidences(pairs.ravel(), pairs[:, ::-1].reshape(-1, 1), np.repeat(weights, 2)[:, None])

"""Energies of weighted pairs of vertices, compiled: pair by pair they read more than they compute."""

from __future__ import annotations

import numpy as np

from pliant.elements.closest import row
from pliant.elements.pair import Pairs, pair_energy
from pliant.lanes.compiled import cached, compiled
from pliant.lanes.vectors import subtract


def pair_energies(pairs: Pairs, x: np.ndarray) -> np.ndarray:
    """(m,) [J] at x (n, 3) [m]."""
    energies = np.empty(len(pairs.elements))
    cached(write_pair_energies)(pairs.elements, pairs.weights, np.ascontiguousarray(x, dtype=float), energies)
    return energies


@compiled
def write_pair_energies(elements, weights, x, energies):
    for m in range(len(energies)):
        r = subtract(row(x, elements[m, 1]), row(x, elements[m, 0]))
        energies[m] = pair_energy(r, weights[m])

"""The compiled energy of weighted pairs is that of their lane function."""

import numpy as np

from pliant.elements import reference
from pliant.elements.pair import Pairs
from pliant.elements.registry import element_of
from pliant.energies.elements import energy_of


def test_compiled_energies_of_pairs_are_those_of_the_lane_function() -> None:
    """w/2 |x_i - x_j|^2 of each pair, of negative weights too, and of positions that are not contiguous."""
    rng = np.random.default_rng(0)
    x, elements = np.asfortranarray(rng.normal(size=(20, 3))), rng.integers(0, 20, (50, 2))
    pairs = Pairs(elements=elements, weights=rng.normal(size=50))
    by_hand = 0.5 * pairs.weights * ((x[elements[:, 0]] - x[elements[:, 1]]) ** 2).sum(axis=1)
    energies = energy_of(pairs).energies(pairs, x)
    assert np.abs(energies - by_hand).max() < 1e-14
    assert np.array_equal(energies, reference.energies(element_of(pairs), pairs, x))

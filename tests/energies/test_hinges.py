"""The compiled energy of hinges is that of their lane function."""

import numpy as np

from pliant.elements import reference
from pliant.elements.hinge import Hinges, rest_data
from pliant.elements.registry import element_of
from pliant.energies.elements import energy_of


def test_compiled_energies_of_hinges_are_those_of_the_lane_function() -> None:
    """k w/2 (theta - theta_0)^2 of each hinge, with angles by arctan2 of normals, and of positions that are not
    contiguous.
    """
    rng = np.random.default_rng(0)
    rest, x = rng.normal(size=(40, 3)), np.asfortranarray(rng.normal(size=(40, 3)))
    elements = np.array([rng.choice(40, 4, replace=False) for _ in range(50)])
    angles = rest_data(rest, elements)[0]
    hinges = Hinges(elements=elements, angles=angles, stiffness=rng.uniform(0.1, 1, 50))
    by_hand = 0.5 * hinges.stiffness * (rest_data(np.array(x), elements)[0] - angles) ** 2
    energies = energy_of(hinges).energies(hinges, x)
    assert np.abs(energies - by_hand).max() < 1e-13 * by_hand.max()
    by_python = reference.energies(element_of(hinges), hinges, x)
    assert np.abs(energies - by_python).max() < 1e-14 * by_hand.max()

"""The equations that make folds bend as a plate, also where a sheet is too small to ask anything."""

import numpy as np

from pliant.elements.plate_moments import solve_normal


def test_solution_on_the_range_of_a_semidefinite_matrix() -> None:
    weights = np.array([2.0, 5.0, 0.5, 0.0])
    lack = np.array([1.0, -3.0, 0.25, 0.0])
    z = solve_normal(lambda z: weights * z, lack, 50)
    np.testing.assert_allclose(z, [0.5, -0.6, 0.5, 0.0], atol=1e-4)


def test_nothing_to_reach_gives_nothing() -> None:
    """A sheet of one cell has a single hinge whose triangles are all rim: no moment is asked of it."""
    weights = np.array([2.0, 0.0])
    np.testing.assert_array_equal(solve_normal(lambda z: weights * z, np.zeros(2), 5), 0.0)
    np.testing.assert_array_equal(solve_normal(lambda z: weights * z, np.array([0.0, 1.0]), 5), 0.0)

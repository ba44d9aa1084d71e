"""Friction between two materials."""

import numpy as np
import pytest
from numba import njit

from pliant.contact.response.friction import friction_between


@njit
def friction(one, other, otherwise):
    return friction_between(one, other, otherwise)


@pytest.mark.parametrize(
    ("one", "other", "expected"),
    [(0.2, 0.8, 0.4), (0.5, 0.0, 0.0), (np.nan, 0.3, 0.3), (0.6, np.nan, 0.6), (np.nan, np.nan, 0.1)],
)
def test_friction_of_two_materials(one: float, other: float, expected: float) -> None:
    """Geometric mean: 0.2 and 0.8 give 0.4, anything on ice gives 0; what one says alone, or else the scene's 0.1."""
    assert friction(one, other, 0.1) == pytest.approx(expected, rel=1e-12)

"""Friction with slip 0: what solvers of hard contacts call is the same function."""

import numpy as np

from pliant.elements.contact import friction_slope, sticking_slope


def test_what_sticks_is_friction_without_slip() -> None:
    """min(k, limit / length), also where nothing presses and where nothing moves."""
    rng = np.random.default_rng(3)
    length, stiffness, limit = (10.0 ** rng.uniform(-9, 9, 10_000) for _ in range(3))
    length[:100], limit[100:200], stiffness[200:300] = 0.0, 0.0, 0.0
    found = sticking_slope(length, stiffness, limit)
    with np.errstate(divide="ignore", invalid="ignore"):
        expected = np.where(stiffness * length < limit, stiffness, np.where(limit > 0, limit / length, 0.0))
    np.testing.assert_allclose(found, expected, rtol=1e-14)
    np.testing.assert_allclose(friction_slope(length, stiffness, limit, 0.0 * limit), found, rtol=1e-12)

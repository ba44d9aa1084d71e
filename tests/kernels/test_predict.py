"""Inertial target, the starts, and velocities, against plain NumPy."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from pliant.kernels.predict import STARTS, predict, velocities


def expected_start(policy: str, x, v, v_previous, g, h) -> np.ndarray:
    """VBD 3.7: (a) previous position, (b) inertia, (c) inertia and gravity, (d) adaptive, Equation 17."""
    if policy in ("previous", "optimised"):  # how far the optimised start goes is for the simulation to say
        return x
    if policy == "extrapolated":  # Wang and Yang 2016, Section 4.4
        return x + h * v + 0.2 * h * (v - v_previous)
    part = np.zeros(len(x))
    if policy == "accelerated":
        part = np.ones(len(x))
    elif policy == "adaptive" and np.linalg.norm(g) > 0:
        size = np.linalg.norm(g)
        along = (v - v_previous) / h @ (g / size)  # the last step's acceleration along gravity
        part = np.clip(along / size, 0, 1)
    return x + h * v + h * h * part[:, None] * g


@pytest.mark.parametrize("policy", STARTS)
@settings(deadline=None, max_examples=40)
@given(seed=st.integers(0, 2**32 - 1), h=st.floats(1e-4, 0.1), falls=st.booleans())
def test_target_and_start(policy: str, seed: int, h: float, falls: bool) -> None:
    """y = x + h v + h^2 g (Equation 3), and the start of the policy; without gravity nothing is divided by zero."""
    rng = np.random.default_rng(seed)
    x, v = rng.normal(size=(2, 20, 3))
    g = np.array([1.0, 2.0, -9.0]) if falls else np.zeros(3)
    # accelerations below, within and beyond those of gravity
    v_previous = v - h * (rng.uniform(-1, 2, (20, 1)) * g + 0.1 * rng.normal(size=(20, 3)))
    y, start = np.empty((2, 20, 3))
    predict(x, v, v_previous, np.tile(g, (20, 1)), np.zeros(20), np.zeros(20, bool), h, STARTS.index(policy), y, start)
    np.testing.assert_allclose(y, x + h * v + h * h * g, rtol=1e-13, atol=1e-14)
    np.testing.assert_allclose(start, expected_start(policy, x, v, v_previous, g, h), rtol=1e-12, atol=1e-13)


def test_adaptive_start_of_free_fall_and_of_rest() -> None:
    """A body that fell freely in the last step starts at y; one that hung still starts where it hangs."""
    g, h = np.array([0.0, 0.0, -9.81]), 0.01
    x, v_previous = np.zeros((2, 3)), np.zeros((2, 3))
    v = np.array([h * g, [0, 0, 0]])
    y, start = np.empty((2, 2, 3))
    predict(x, v, v_previous, np.tile(g, (2, 1)), np.zeros(2), np.zeros(2, bool), h, STARTS.index("adaptive"), y, start)
    np.testing.assert_allclose(start[0], y[0], atol=1e-15)
    np.testing.assert_array_equal(start[1], 0)


@pytest.mark.parametrize("bad", [None, np.nan, np.inf, -np.inf])
def test_velocities_and_what_is_not_finite(bad: float | None) -> None:
    """v = (x_new - x) / h, and False as soon as one number is not finite."""
    rng = np.random.default_rng(16)
    x, x_new, v = rng.normal(size=(3, 10, 3))
    if bad is not None:
        x_new[4, 2] = bad
    assert velocities(x_new, x, np.zeros(len(x), bool), 0.02, v) == (bad is None)
    np.testing.assert_allclose(v, (x_new - x) / 0.02, rtol=1e-15)

"""Chebyshev's pass after an iteration."""

import numpy as np
import pytest

from pliant.kernels.momentum import accelerate


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_equation_18_on_its_rows(dtype) -> None:
    """x <- omega (x - x_(n-2)) + x_(n-2); memories move on by one; rows outside first..last are untouched."""
    rng = np.random.default_rng(19)
    x, previous, before = rng.normal(size=(3, 10, 4)).astype(dtype)
    old = x.copy(), previous.copy(), before.copy()
    accelerate(x, previous, before, 1.7, 3, 8, np.zeros(0, np.uint8))
    new = 1.7 * (old[0].astype(float) - old[2]) + old[2]
    np.testing.assert_allclose(x[3:8], new[3:8], atol=4 * np.finfo(dtype).eps)
    np.testing.assert_array_equal(previous[3:8], x[3:8])
    np.testing.assert_array_equal(before[3:8], old[1][3:8])
    for array, kept in zip((x, previous, before), old, strict=True):
        np.testing.assert_array_equal(array[[0, 1, 2, 8, 9]], kept[[0, 1, 2, 8, 9]])


def test_omega_of_one_changes_nothing() -> None:
    """Equation 18 with omega = 1 leaves x, to rounding."""
    x, previous, before = np.random.default_rng(20).normal(size=(3, 6, 4))
    kept = x.copy()
    accelerate(x, previous, before, 1.0, 0, 6, np.zeros(0, np.uint8))
    np.testing.assert_allclose(x, kept, atol=1e-15)

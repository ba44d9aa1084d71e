"""Reciprocals and inverse roots of lanes: within two and three units in the last place wherever operands and inverses
are normal numbers.
"""

import numpy as np

ULPS = 2.0


def test_reciprocal_over_its_whole_range(kernels) -> None:
    """Every binade, both signs, against a long-double reference."""
    info = np.finfo(kernels.dtype)
    rng = np.random.default_rng(1)
    largest = -np.log2(float(info.smallest_normal)) - 1
    a = (np.exp2(rng.uniform(-largest, largest, 1 << 15)) * rng.choice([-1, 1], 1 << 15)).astype(kernels.dtype)
    reference = 1 / a.astype(np.longdouble)
    got = kernels.results("reciprocals", 1, a)[0].astype(np.longdouble)
    unit = np.spacing(np.abs(reference).astype(kernels.dtype)).astype(np.longdouble)
    assert np.max(np.abs(got - reference) / unit) <= ULPS


def test_nothing_finite_at_zero(kernels) -> None:
    """A pivot of zero must show."""
    got = kernels.results("reciprocals", 1, np.zeros(16, kernels.dtype))[0]
    assert not np.isfinite(got).any()


def test_inverse_roots_over_their_whole_range(kernels) -> None:
    """Positive numbers of every binade."""
    rng = np.random.default_rng(2)
    largest = -np.log2(float(np.finfo(kernels.dtype).smallest_normal)) - 1
    a = np.exp2(rng.uniform(-largest, largest, 1 << 14)).astype(kernels.dtype)
    exact = 1 / np.sqrt(a.astype(np.longdouble))
    found = kernels.results("inverse_roots", 1, a)[0].astype(np.longdouble)
    assert np.max(np.abs(found - exact) / np.spacing(exact.astype(kernels.dtype))) <= 1.5 * ULPS

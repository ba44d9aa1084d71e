"""The inverse cube root of lanes: within two units in the last place, and right at every edge."""

import numpy as np

ULPS = 2.0
ULPS_OF_C_LIBRARY = 5.0  # its cbrt, for plain floats in double precision


def test_inverse_cube_root_over_its_whole_range(kernels) -> None:
    """Every binade of normal numbers against a long-double reference."""
    info = np.finfo(kernels.dtype)
    rng = np.random.default_rng(1)
    exponents = rng.uniform(np.log2(float(info.smallest_normal)), np.log2(float(info.max)), 1 << 14)
    near_one = 1 + rng.uniform(-0.5, 0.5, 1 << 14) * 10.0 ** rng.uniform(-7, 0, 1 << 14)
    for samples in (np.exp2(exponents), near_one):
        a = samples.astype(kernels.dtype)
        reference = 1 / np.cbrt(a.astype(np.longdouble))
        got = kernels.results("roots", 2, a)[0].astype(np.longdouble)
        unit = np.spacing(reference.astype(kernels.dtype)).astype(np.longdouble)
        assert np.max(np.abs(got - reference) / unit) <= (ULPS if kernels.width > 1 else ULPS_OF_C_LIBRARY)


def test_inverse_cube_root_at_the_edges(kernels) -> None:
    """1 at 1, infinite at 0, NaN below and for NaN, 0 at infinity."""
    a = np.array([1, 0, -0.0, -1, -1e-30, np.inf, np.nan, 8, 0.125, 1, 1, 1, 1, 1, 1, 1], kernels.dtype)
    nan, inf = np.nan, np.inf
    got = kernels.results("roots", 2, a)[0]
    np.testing.assert_array_equal(got[[0, 1, 3, 4, 5, 6]], np.array([1, inf, nan, nan, 0, nan], kernels.dtype))
    np.testing.assert_allclose(got[7:9], [0.5, 2.0], rtol=2 * float(np.finfo(kernels.dtype).eps))


def test_subnormal_numbers_count_as_zero_in_lanes(kernels) -> None:
    """A volume ratio below 1e-38 has an infinite inverse root, not a wrong one; plain floats still have it."""
    tiny = np.full(16, np.finfo(kernels.dtype).smallest_normal / 8, kernels.dtype)
    expected = np.inf if kernels.width > 1 else 1 / np.cbrt(float(tiny[0]))
    np.testing.assert_allclose(kernels.results("roots", 2, tiny)[0], expected, rtol=1e-6)


def test_rounding_is_the_machine_epsilon(kernels) -> None:
    """2^-23 in single, 2^-52 in double precision."""
    got = kernels.results("roots", 2, np.ones(16, kernels.dtype))[1]
    np.testing.assert_array_equal(got, np.finfo(kernels.dtype).eps)

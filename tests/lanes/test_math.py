"""log and exp of lanes: within two units in the last place of a long-double reference, and right at every edge."""

import numpy as np
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays

ULPS = 2.0
relaxed = settings(deadline=None, max_examples=80, suppress_health_check=[HealthCheck.function_scoped_fixture])


def assert_close(got: np.ndarray, reference: np.ndarray) -> None:
    """Within ULPS units in the last place of the exact value; overflow and underflow count as rounding."""
    dtype = got.dtype.type
    with np.errstate(all="ignore"):
        rounded = reference.astype(dtype)
        special = ~np.isfinite(reference)
        np.testing.assert_array_equal(got[special], rounded[special])
        largest = np.longdouble(np.finfo(dtype).max)
        below = np.nextafter(np.finfo(dtype).max, dtype(0))  # the largest number has no spacing
        unit = np.spacing(np.minimum(np.abs(reference), below).astype(dtype)).astype(np.longdouble)
        value = np.where(np.isinf(got), np.sign(got) * (largest + unit), got.astype(np.longdouble))
        error = np.abs(value - np.clip(reference, -largest - unit, largest + unit)) / unit
    worst = np.max(error[~special], initial=0.0)
    assert worst <= ULPS, f"{float(worst):.2f} ulp"


def references(a: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    with np.errstate(all="ignore"):
        wide = a.astype(np.longdouble)
        return np.log(wide), np.exp(wide)


@relaxed
@given(data=st.data())
def test_log_and_exp_of_any_float(kernels, data) -> None:
    """Any float, with subnormals, infinities, NaN and negative numbers: log(-a) is NaN, log(0) is -inf."""
    bits = 32 if kernels.precision == "single" else 64
    a = data.draw(arrays(kernels.dtype, 16, elements=st.floats(width=bits)))
    got = kernels.results("transcendental", 2, a)
    log, exp = references(a)
    assert_close(got[0], log)
    assert_close(got[1], exp)


def test_log_and_exp_over_their_whole_range(kernels) -> None:
    """Dense samples: every binade of log, close to 1 too, and every argument of exp that gives a finite result."""
    info, dtype, n = np.finfo(kernels.dtype), kernels.dtype, 1 << 14
    rng = np.random.default_rng(1)
    exponents = rng.uniform(np.log2(float(info.smallest_subnormal)), np.log2(float(info.max)), n)
    near_one = 1 + rng.uniform(-0.5, 0.5, n) * 10.0 ** rng.uniform(-7, 0, n)
    for samples in (np.exp2(exponents), near_one):
        a = samples.astype(dtype)
        assert_close(kernels.results("transcendental", 2, a)[0], references(a)[0])
    largest, smallest = np.log(float(info.max)), np.log(float(info.smallest_subnormal))
    for samples in (rng.uniform(smallest - 2, largest + 2, n), rng.normal(0, 1, n) * 10.0 ** rng.uniform(-12, 0, n)):
        a = samples.astype(dtype)
        assert_close(kernels.results("transcendental", 2, a)[1], references(a)[1])


def test_exact_values(kernels) -> None:
    """log 1 = 0 and exp 0 = 1 exactly, and the values at the ends of the number line."""
    tiny = float(np.finfo(kernels.dtype).smallest_subnormal)
    a = np.array([1, 0, -0.0, -1, np.inf, -np.inf, np.nan, tiny, 1e30, -1e30, 2, 0.5, 1, 1, 1, 1], kernels.dtype)
    log, exp = kernels.results("transcendental", 2, a)
    nan, inf = np.nan, np.inf
    np.testing.assert_array_equal(log[:7], np.array([0, -inf, -inf, nan, inf, nan, nan], kernels.dtype))
    np.testing.assert_array_equal(exp[[1, 2, 4, 5, 6, 8, 9]], np.array([1, 1, inf, 0, nan, inf, 0], kernels.dtype))
    np.testing.assert_allclose(log[7], np.log(tiny), rtol=1e-6)

"""Arithmetic, comparisons, logic and choices of lanes are NumPy's, bit for bit, at every width and precision."""

import numpy as np
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays

ELEMENTS = 16  # fills the widest lanes
relaxed = settings(deadline=None, max_examples=60, suppress_health_check=[HealthCheck.function_scoped_fixture])


def numbers(width: int) -> st.SearchStrategy[np.ndarray]:
    """Arrays of any floats: infinities, NaN, signed zeros, subnormals; small whole numbers make ties likely."""
    anything = st.floats(width=width)
    return arrays(f"f{width // 8}", ELEMENTS, elements=anything | st.integers(-2, 2).map(float))


PAIRS = {"single": st.tuples(numbers(32), numbers(32)), "double": st.tuples(numbers(64), numbers(64))}


def assert_same(got: np.ndarray, expected: np.ndarray) -> None:
    """Equal numbers; NaN equals NaN and -0 equals 0, as the lanes' flags allow."""
    np.testing.assert_array_equal(got, np.asarray(expected, got.dtype))


@relaxed
@given(data=st.data())
def test_arithmetic_is_exactly_rounded(kernels, data) -> None:
    """+ - * / and the square root give NumPy's bits; minimum and maximum give b where a comparison with NaN fails."""
    a, b = data.draw(PAIRS[kernels.precision])
    got = kernels.results("arithmetic", 14, a, b)
    dtype = kernels.dtype
    with np.errstate(all="ignore"):
        assert_same(got[0], a + b)
        assert_same(got[1], a - b)
        assert_same(got[2], a * b)
        assert_same(got[3], a / b)
        assert_same(got[4], -a)
        assert_same(got[5], np.sqrt(a))
        assert_same(got[6], np.abs(a))
        assert_same(got[7], np.where(a < b, a, b))
        assert_same(got[8], np.where(a > b, a, b))
        assert_same(got[9], a + dtype(1.5))
        assert_same(got[10], dtype(1.5) - a)
        assert_same(got[11], a * dtype(3))
        assert_same(got[12], dtype(3) / a)
        assert_same(got[13], np.full(ELEMENTS, 0.1, dtype))


@relaxed
@given(data=st.data())
def test_comparisons_logic_and_choices(kernels, data) -> None:
    """Comparisons with NaN are false, but != is true; masks combine as truth values; count counts the lanes."""
    a, b = data.draw(PAIRS[kernels.precision])
    got = kernels.results("choices", 11, a, b)
    with np.errstate(invalid="ignore"):
        less = a < b
        assert_same(got[0], less)
        assert_same(got[1], a <= b)
        assert_same(got[2], a > b)
        assert_same(got[3], a >= b)
        assert_same(got[4], a == b)
        assert_same(got[5], a != b)
        assert_same(got[6], less & (a > 0))
        assert_same(got[7], less | (a > 0))
        assert_same(got[8], a < 1.5)
        assert_same(got[9], np.where(less, a, b))
    counts = less.reshape(-1, kernels.width).sum(axis=1)
    assert_same(got[10], np.repeat(counts, kernels.width))
    if kernels.width > 1:
        assert_same(kernels.results("negated", 1, a, b)[0], ~less)


@relaxed
@given(data=st.data())
def test_sums_and_least_across_lanes(kernels, data) -> None:
    """lane_sum adds in the order of the lanes, lane_least is the smallest; both stand in every lane."""
    a, _ = data.draw(PAIRS[kernels.precision])
    w = kernels.width
    got = kernels.results("across", 3, a)
    with np.errstate(all="ignore"):
        total = np.add.accumulate(a.reshape(-1, w), axis=1)[:, -1]
    assert_same(got[0], np.repeat(total, w))
    assert_same(got[2], np.full(ELEMENTS, w))
    ordered = np.where(np.isnan(a), 1.0, a)
    least = kernels.results("across", 3, ordered)[1]
    assert_same(least, np.repeat(ordered.reshape(-1, w).min(axis=1), w))

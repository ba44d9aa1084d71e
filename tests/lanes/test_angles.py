"""atan2 of floats and lanes against the C library's, in both precisions and at every width."""

from functools import cache
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from pliant.lanes.angles import atan2
from pliant.lanes.cache import load_module
from pliant.lanes.types import DTYPES, PRECISIONS, WIDTHS

DECLARATION = 'PRECISION, WIDTH = "single", 1\n'
every_kind = pytest.mark.parametrize(("precision", "width"), [(p, w) for p in PRECISIONS for w in (1, *WIDTHS)])


@cache
def compiled(precision: str, width: int):
    text = (Path(__file__).parent / "angle_kernels.py").read_text()
    assert DECLARATION in text
    own = text.replace(DECLARATION, f'PRECISION, WIDTH = "{precision}", {width}\n')
    return load_module("angle_kernels", own, f"atan2 under test ({precision}, {width})").angle


def angles(precision: str, width: int, y: np.ndarray, x: np.ndarray) -> np.ndarray:
    out = np.empty(len(y), DTYPES[precision])
    compiled(precision, width)(y.astype(DTYPES[precision]), x.astype(DTYPES[precision]), out)
    return out


def assert_accurate(precision: str, width: int, y: np.ndarray, x: np.ndarray) -> None:
    """Within four units in the last place of the correctly rounded angle."""
    y, x = y.astype(DTYPES[precision]), x.astype(DTYPES[precision])
    got = angles(precision, width, y, x)
    exact = np.arctan2(y.astype(np.longdouble), x.astype(np.longdouble))
    unit = np.spacing(np.maximum(np.abs(exact).astype(DTYPES[precision]), np.finfo(DTYPES[precision]).tiny))
    assert np.max(np.abs(got - exact) / unit) < 4


@every_kind
def test_all_directions(precision: str, width: int) -> None:
    """Around the circle, at lengths from very small to very large, and near the axes."""
    circle = np.linspace(-np.pi, np.pi, 4096)[1:-1]
    near_x, near_y = 10.0 ** np.linspace(-7, -1, 2048), np.pi / 2 + np.linspace(-1e-5, 1e-5, 2048)
    turn = np.concatenate([circle, np.zeros(2), near_x, near_y])
    for length in (1e-15, 1.0, 1e15):
        assert_accurate(precision, width, length * np.sin(turn), length * np.cos(turn))


@every_kind
@settings(deadline=None, max_examples=40)
@given(seed=st.integers(0, 2**32 - 1), spread=st.floats(0, 12))
def test_any_two_numbers(precision: str, width: int, seed: int, spread: float) -> None:
    """Signs and magnitudes at random."""
    rng = np.random.default_rng(seed)
    y, x = (rng.choice([-1.0, 1.0], 32) * 10.0 ** rng.uniform(-spread, spread, 32) for _ in range(2))
    assert_accurate(precision, width, y, x)


@every_kind
def test_special_values(precision: str, width: int) -> None:
    """Axes, the zero vector, and NaN in either place."""
    y = np.resize([0.0, 0.0, 1.0, -1.0, 0.0, np.nan, 1.0, 1.0], 16)
    x = np.resize([1.0, -1.0, 0.0, 0.0, 0.0, 1.0, np.nan, 1.0], 16)
    expected = np.resize([0.0, np.pi, np.pi / 2, -np.pi / 2, 0.0, np.nan, np.nan, np.pi / 4], 16)
    np.testing.assert_allclose(angles(precision, width, y, x), expected, rtol=2e-7)


def test_on_arrays() -> None:
    """Uncompiled, the same name works on NumPy arrays."""
    np.testing.assert_array_equal(atan2(np.array([1.0, -2.0]), np.array([1.0, 0.0])), [np.pi / 4, -np.pi / 2])

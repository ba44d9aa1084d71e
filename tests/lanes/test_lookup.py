"""Rows and cubics of a table at places that are numbers: lanes give what NumPy gives."""

import numpy as np
import pytest

from pliant.lanes.cache import load_module
from pliant.lanes.lookup import cubic_at, expanded_cubic_at, row_at
from pliant.lanes.types import DTYPES, PRECISIONS, WIDTHS

SOURCE = '''
from numba import njit
from pliant.lanes import load, make_zero, store
from pliant.lanes.lookup import cubic_at, expanded_cubic_at, row_at

zero = make_zero("{precision}", {width})


@njit
def look_up(table, places, at, out):
    """out: flat (6, 4, width)."""
    place, t = load(places, 0, zero()), load(at, 0, zero())
    found = (row_at(table, place), cubic_at(table, place, t)) + expanded_cubic_at(table, place, t)
    for i in range(6):
        for k in range(4):
            store(out, (4 * i + k) * {width}, found[i][k])
'''


@pytest.mark.parametrize("precision", PRECISIONS)
@pytest.mark.parametrize("width", WIDTHS)
def test_lanes_look_up_what_numpy_does(precision, width):
    module = load_module("lookup", SOURCE.format(precision=precision, width=width), "a test of tables")
    random, dtype = np.random.default_rng(width), DTYPES[precision]
    table = random.normal(size=(40, 4)).astype(dtype).ravel()
    places = random.integers(0, 37, width) + random.uniform(0.0, 0.9, width)
    t, out = random.normal(size=width), np.empty(24 * width, dtype)
    module.look_up(table, places.astype(dtype), t.astype(dtype), out)
    expected = [row_at(table, places), cubic_at(table, places, t), *expanded_cubic_at(table, places, t)]
    tolerance = 60 * np.finfo(dtype).eps * np.abs(expected).max()
    np.testing.assert_allclose(out.reshape(6, 4, width), expected, rtol=0, atol=tolerance)


def test_a_cubic_is_the_polynomial_of_its_rows():
    table = np.random.default_rng(0).normal(size=(6, 4))
    places, t = np.array([0.0, 2.0]), np.array([0.3, -1.7])
    for i, (place, at) in enumerate(zip((0, 2), t, strict=True)):
        cubics = [np.polynomial.Polynomial(table[place : place + 4, k]) for k in range(4)]
        whole = np.array(cubic_at(table.ravel(), places, t))[:, i]
        first, rest, slope, half = np.array(expanded_cubic_at(table.ravel(), places, t))[:, :, i]
        np.testing.assert_allclose(whole, [cubic(at) for cubic in cubics], rtol=1e-13)
        np.testing.assert_allclose(first + rest, whole, rtol=1e-13)
        np.testing.assert_array_equal(first, table[place])
        np.testing.assert_allclose(slope, [cubic.deriv()(at) for cubic in cubics], rtol=1e-13)
        np.testing.assert_allclose(2 * half, [cubic.deriv(2)(at) for cubic in cubics], rtol=1e-13)

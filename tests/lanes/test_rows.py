"""Whole rows are gathered and scattered at any places, and nothing else is touched."""

import numpy as np
import pytest

from pliant.lanes.cache import load_module
from pliant.lanes.types import DTYPES, PRECISIONS, WIDTHS

SOURCE = '''
from numba import njit
from pliant.lanes import make_zero, store
from pliant.lanes.rows import gather4, scatter4

zero = make_zero("{precision}", {width})


@njit
def move(source, target, starts, first, out):
    """Rows from source to target, doubled; out: flat (4, width) what was gathered."""
    r = gather4(source, starts, first, zero())
    for k in range(4):
        store(out, k * {width}, r[k])
    scatter4(target, starts, first, r[0] + r[0], r[1] + r[1], r[2] + r[2], r[3] + r[3])
'''


@pytest.mark.parametrize("precision", PRECISIONS)
@pytest.mark.parametrize("width", [1, *WIDTHS])
def test_gather_and_scatter(precision, width):
    module = load_module("rows", SOURCE.format(precision=precision, width=width), "a test of rows")
    random = np.random.default_rng(width)
    source = random.normal(size=(40, 4)).astype(DTYPES[precision])
    target, out = np.full_like(source, np.nan), np.empty(4 * width, source.dtype)
    rows = random.permutation(40)[: width + 3]
    module.move(source, target, (4 * rows).astype(np.uint32), 3, out)
    np.testing.assert_array_equal(out.reshape(4, width), source[rows[3:]].T)
    np.testing.assert_array_equal(target[rows[3:]], 2 * source[rows[3:]])
    assert np.isnan(target[np.setdiff1d(np.arange(40), rows[3:])]).all()

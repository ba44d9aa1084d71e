"""Whole rows are gathered, scattered and added to at any places, and nothing else is touched."""

import numpy as np
import pytest

from pliant.lanes.cache import load_module
from pliant.lanes.types import DTYPES, PRECISIONS, WIDTHS

SOURCE = '''
from numba import njit
from pliant.lanes import make_zero, store
from pliant.lanes.rows import add_rows, gather4, gather4_beyond, gather4_of, load_vectors
from pliant.lanes.rows import load4, prefetch_rows, scatter3, scatter4, store4, store_vectors

zero = make_zero("{precision}", {width})


@njit
def move(source, target, starts, first, out):
    """Rows from source to target, doubled; out: flat (4, width) what was gathered."""
    r = gather4(source, starts, first, zero())
    for k in range(4):
        store(out, k * {width}, r[k])
    scatter4(target, starts, first, r[0] + r[0], r[1] + r[1], r[2] + r[2], r[3] + r[3])


@njit
def place(source, target, starts, first):
    r = gather4(source, starts, first, zero())
    scatter3(target, starts, first, r[0], r[1], r[2])


@njit
def find(source, starts, places, first, further, out):
    r = gather4_of(source, starts, places, first, further, zero())
    for k in range(4):
        store(out, k * {width}, r[k])


@njit
def deal(source, starts, first, further, target, start, step):
    """Rows that begin beyond the starts, to places a step apart."""
    r = gather4_beyond(source, starts, first, further, zero())
    store4(target, start, step, r[0], r[1], r[2], r[3])


@njit
def carry(source, starts, start, step, target):
    """Rows a step apart to places that follow each other; those at the starts are asked for before."""
    prefetch_rows(source, starts, 0, zero())
    r = load4(source, start, step, zero())
    store4(target, 0, 4, r[0], r[1], r[2], r[3])


@njit
def collect(source, sums, starts, first):
    r = gather4(source, starts, first, zero())
    add_rows(sums, starts, first, r[0], r[1], r[2])


@njit
def double(vectors, first, target):
    """Rows of three numbers each, one after another."""
    r = load_vectors(vectors, first, zero())
    store_vectors(target, first, r[0] + r[0], r[1] + r[1], r[2] + r[2])
'''


@pytest.mark.parametrize("precision", PRECISIONS)
@pytest.mark.parametrize("width", [1, *WIDTHS])
def test_vectors_one_after_another(precision, width):
    module = load_module("rows", SOURCE.format(precision=precision, width=width), "a test of rows")
    vectors = np.random.default_rng(width).normal(size=(width + 5, 3)).astype(DTYPES[precision])
    target = np.full_like(vectors, np.nan)
    module.double(vectors, 2, target)
    np.testing.assert_array_equal(target[2 : 2 + width], 2 * vectors[2 : 2 + width])
    assert np.isnan(np.delete(target, np.arange(2, 2 + width), axis=0)).all()


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


@pytest.mark.parametrize("precision", PRECISIONS)
@pytest.mark.parametrize("width", [1, *WIDTHS])
def test_the_fourth_number_of_a_row_stays(precision, width):
    module = load_module("rows", SOURCE.format(precision=precision, width=width), "a test of rows")
    random = np.random.default_rng(width)
    source = random.normal(size=(40, 4)).astype(DTYPES[precision])
    target = np.full_like(source, np.nan)
    rows = random.permutation(40)[: width + 3]
    module.place(source, target, (4 * rows).astype(np.uint32), 3)
    np.testing.assert_array_equal(target[rows[3:], :3], source[rows[3:], :3])
    target[rows[3:], :3] = np.nan
    assert np.isnan(target).all()


@pytest.mark.parametrize("precision", PRECISIONS)
@pytest.mark.parametrize("width", [1, *WIDTHS])
def test_rows_of_longer_records(precision, width):
    module = load_module("rows", SOURCE.format(precision=precision, width=width), "a test of rows")
    random = np.random.default_rng(width)
    source = random.normal(size=(40, 12)).astype(DTYPES[precision])
    target = np.full((width + 2, 8), np.nan, source.dtype)
    records = random.permutation(40)[: width + 3]
    module.deal(source.ravel(), (12 * records).astype(np.uint32), 3, 4, target.ravel(), 8 + 4, 8)
    np.testing.assert_array_equal(target[1:-1, 4:], source[records[3:], 4:8])
    target[1:-1, 4:] = np.nan
    assert np.isnan(target).all()


@pytest.mark.parametrize("precision", PRECISIONS)
@pytest.mark.parametrize("width", [1, *WIDTHS])
def test_rows_a_step_apart(precision, width):
    module = load_module("rows", SOURCE.format(precision=precision, width=width), "a test of rows")
    source = np.random.default_rng(width).normal(size=(width + 3, 8)).astype(DTYPES[precision])
    target = np.full((width + 1, 4), np.nan, source.dtype)
    module.carry(source.ravel(), np.arange(0, 8 * width, 8, dtype=np.uint32), 2 * 8 + 4, 8, target.ravel())
    np.testing.assert_array_equal(target[:-1], source[2 : 2 + width, 4:])
    assert np.isnan(target[-1]).all()


@pytest.mark.parametrize("precision", PRECISIONS)
@pytest.mark.parametrize("width", [1, *WIDTHS])
def test_lanes_may_add_to_one_row(precision, width):
    """Whole numbers, so that the order of the sums does not matter: equal to np.add.at."""
    module = load_module("rows", SOURCE.format(precision=precision, width=width), "a test of rows")
    random = np.random.default_rng(width)
    source = random.integers(-50, 50, (7, 4)).astype(DTYPES[precision])
    sums = random.integers(-50, 50, (7, 4)).astype(DTYPES[precision])
    rows = random.integers(0, 5, width + 2)
    expected = sums.copy()
    np.add.at(expected[:, :3], rows[2:], source[rows[2:], :3])
    module.collect(source, sums, (4 * rows).astype(np.uint32), 2)
    np.testing.assert_array_equal(sums, expected)


@pytest.mark.parametrize("precision", PRECISIONS)
@pytest.mark.parametrize("width", WIDTHS)
def test_gather_by_places_in_a_list(precision, width):
    """Row starts[places[first + lane] + further] of each lane."""
    module = load_module("rows", SOURCE.format(precision=precision, width=width), "a test of rows")
    random = np.random.default_rng(width)
    source = random.normal(size=(30, 4)).astype(DTYPES[precision])
    rows, places = random.integers(0, 30, 50), random.integers(0, 40, width + 2)
    out = np.empty(4 * width, source.dtype)
    module.find(source, (4 * rows).astype(np.uint32), places, 2, 7, out)
    np.testing.assert_array_equal(out.reshape(4, width), source[rows[places[2:] + 7]].T)

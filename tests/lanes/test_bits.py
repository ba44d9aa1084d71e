"""Bits of integers, and of signs, against NumPy."""

import numpy as np

from pliant.constraints.triples import load_quad, negated_if_odd, quad_of_zeros
from pliant.lanes.bits import lowest_bit
from pliant.lanes.entry import entry
from pliant.lanes.memory import store


@entry(nogil=True)
def lowest_bits(masks, out):
    for k in range(len(masks)):
        out[k] = lowest_bit(masks[k])


@entry(nogil=True)
def signed_rows(rows, entries, out):
    for k in range(len(entries)):
        store(out, 4 * k, quad_of_zeros(rows) + negated_if_odd(load_quad(rows, k), entries[k]))


def test_lowest_bit() -> None:
    masks = np.array([1, 2, 12, 1 << 63, 0, 2**64 - 1, 3 << 40], np.uint64)
    out = np.zeros(len(masks), np.int64)
    lowest_bits(masks, out)
    np.testing.assert_array_equal(out, [0, 1, 2, 63, 64, 0, 40])


def test_rows_are_negated_where_an_entry_is_odd() -> None:
    random = np.random.default_rng(0)
    for dtype in (np.float32, np.float64):
        rows, entries = random.normal(size=(9, 4)).astype(dtype), np.arange(9, dtype=np.int32) * 3
        out = np.zeros(36, dtype)
        signed_rows(rows, entries, out)
        np.testing.assert_array_equal(out.reshape(9, 4), np.where(entries[:, None] % 2 == 1, -rows, rows))

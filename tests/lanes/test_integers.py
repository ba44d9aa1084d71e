"""Whole numbers that are looked at several at a time, against NumPy."""

import numpy as np

from pliant.lanes.entry import entry
from pliant.lanes.integers import MARGIN, find_number


@entry(nogil=True)
def places_of(numbers, first, last, values, out):
    for k in range(len(values)):
        out[k] = find_number(numbers, first[k], last[k], values[k])


def test_a_number_is_found_where_it_is_first() -> None:
    """In parts of all lengths, with the number in them several times, only before, only after, or not at all."""
    random = np.random.default_rng(0)
    numbers = random.integers(-1, 40, 300 + MARGIN).astype(np.int32)
    first = random.integers(0, 300, 5000)
    last = np.minimum(first + random.integers(0, 60, 5000), 300)
    values, out = random.integers(-1, 40, 5000).astype(np.int32), np.zeros(5000, np.int64)
    places_of(numbers, first, last, values, out)
    for a, b, value, found in zip(first, last, values, out, strict=True):
        own = a + np.flatnonzero(numbers[a:b] == value)
        assert found == (own[0] if len(own) else -1)
    assert 0.2 < (out >= 0).mean() < 0.8

"""Pairs of vertices and bodies that press are sorted, each once, with the largest of their depths."""

import numpy as np

from pliant.contact.tracking.pressing import sort_keys
from pliant.lanes.compiled import cached


def test_keys_are_sorted_as_by_a_stable_sort():
    rng = np.random.default_rng(0)
    for vertices, parties, count in ((200, 7, 900), (3, 50, 400), (1, 1, 5), (40, 3, 0)):
        keys = rng.integers(0, vertices * parties, count)
        order = np.empty(count, np.int64)
        cached(sort_keys)(keys, parties, np.zeros(vertices + 1, np.int64), order)
        np.testing.assert_array_equal(order, np.argsort(keys, kind="stable"))

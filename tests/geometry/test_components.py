"""Connected components against SciPy's."""

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.sparse import coo_array
from scipy.sparse.csgraph import connected_components as scipy_components

from pliant.geometry.components import connected_components


@settings(deadline=None)
@given(st.integers(1, 40), st.lists(st.tuples(st.integers(0, 39), st.integers(0, 39)), max_size=60))
def test_components_are_those_of_scipy_numbered_by_first_vertices(n, pairs) -> None:
    links = np.array(pairs, np.int64).reshape(-1, 2) % n
    count, label = connected_components(links, n)
    expected_count, expected = scipy_components(coo_array((np.ones(len(links)), links.T), (n, n)), directed=False)
    assert count == expected_count
    np.testing.assert_array_equal(label, expected)


def test_a_path_in_the_worst_order_is_one_component() -> None:
    n = 1000
    links = np.column_stack([np.arange(n - 1)[::-1], np.arange(1, n)[::-1]])
    count, label = connected_components(links, n)
    assert count == 1
    assert not label.any()

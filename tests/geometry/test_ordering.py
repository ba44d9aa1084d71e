"""The spatial order is a permutation that keeps neighbours near."""

import numpy as np
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays

from pliant.geometry import shapes, spatial_order


@given(arrays(np.float64, st.tuples(st.integers(0, 40), st.just(3)), elements=st.floats(-1e6, 1e6)))
def test_any_points_give_a_permutation(points: np.ndarray) -> None:
    order = spatial_order(points)
    np.testing.assert_array_equal(np.sort(order), np.arange(len(points)))
    np.testing.assert_array_equal(order, spatial_order(points))


def test_a_hilbert_curve_takes_unit_steps_through_a_grid() -> None:
    grid = np.stack(np.meshgrid(*[np.arange(16.0)] * 3), axis=-1).reshape(-1, 3)
    shuffled = np.random.default_rng(1).permutation(grid)
    walk = shuffled[spatial_order(shuffled)]
    np.testing.assert_array_equal(np.abs(np.diff(walk, axis=0)).sum(axis=1), 1)


def test_neighbours_are_near_in_memory() -> None:
    mesh = shapes.ball(cells=10)
    order = spatial_order(mesh.points)
    place = np.empty_like(order)
    place[order] = np.arange(len(order))
    spread = np.abs(np.diff(place[mesh.edges], axis=1))
    # A random order has a median of 0.29 n.
    assert np.median(spread) < 0.02 * mesh.n_vertices


def test_equal_points_keep_their_order() -> None:
    np.testing.assert_array_equal(spatial_order(np.ones((5, 3))), np.arange(5))

"""Closest points equal ipctk's, are points of the primitives whatever their shape, and are nearer than any sample."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from contact_arrays import closest_points
from pliant.elements.closest import EDGE_EDGE, VERTEX_TRIANGLE

KINDS = [VERTEX_TRIANGLE, EDGE_EDGE]
BARYCENTRIC = [(i / 12, j / 12, 1 - (i + j) / 12) for i in range(13) for j in range(13 - i)]


def sampled_distance(kind: int, y: np.ndarray) -> float:
    """Least distance between points spread over both primitives."""
    if kind == VERTEX_TRIANGLE:
        first, second = y[:1], np.array(BARYCENTRIC) @ y[1:]
    else:
        t = np.linspace(0, 1, 13)[:, None]
        first, second = (1 - t) * y[0] + t * y[1], (1 - t) * y[2] + t * y[3]
    return float(np.linalg.norm(first[:, None] - second[None], axis=2).min())


def check_weights(kind: int, w: np.ndarray, y: np.ndarray, distance: np.ndarray) -> None:
    """Both points lie on their primitives, and the distance is the one between them."""
    ours = w[:, :1] if kind == VERTEX_TRIANGLE else w[:, :2]
    theirs = -w[:, 1:] if kind == VERTEX_TRIANGLE else -w[:, 2:]
    for part in (ours, theirs):
        assert part.min() >= 0
        np.testing.assert_allclose(part.sum(axis=1), 1, atol=1e-12)
    r = np.einsum("ki,kia->ka", w, y - y[:, :1])
    np.testing.assert_allclose(np.linalg.norm(r, axis=1), distance, rtol=1e-12)


@pytest.mark.parametrize("kind", KINDS)
def test_random_pairs_equal_ipctk(kind: int) -> None:
    """To rounding, for 3000 pairs."""
    ipctk = pytest.importorskip("ipctk")
    y = np.random.default_rng(1).normal(size=(3000, 4, 3))
    w, distance = closest_points(kind, y)
    check_weights(kind, w, y, distance)
    reference = ipctk.point_triangle_distance if kind == VERTEX_TRIANGLE else ipctk.edge_edge_distance
    np.testing.assert_allclose(distance**2, [reference(*points) for points in y], rtol=1e-9, atol=1e-14)


@settings(deadline=None, max_examples=150)
@given(
    points=st.lists(st.tuples(*[st.integers(-2, 2)] * 3), min_size=4, max_size=4),
    kind=st.sampled_from(KINDS),
    scale=st.sampled_from([1e-9, 1.0, 1e6]),
    flatten=st.sampled_from([1.0, 1e-9, 1e-13]),
)
def test_degenerate_pairs(points, kind: int, scale: float, flatten: float) -> None:
    """On a small grid most pairs are flat, parallel, without length or coincident; squeezed, nearly so."""
    y = np.array(points, dtype=float)[None] * scale * np.array([1.0, 1.0, flatten])
    w, distance = closest_points(kind, y)
    check_weights(kind, w, y, distance)
    assert distance[0] <= sampled_distance(kind, y[0]) + 1e-12 * scale


def test_parallel_edges() -> None:
    """Overlapping parallel edges at height 2; a quarter turn apart they cross in the middle."""
    y = np.array([[[0, 0, 2], [4, 0, 2], [1, 0, 0], [2, 0, 0]], [[-1, 0, 2], [1, 0, 2], [0, -1, 0], [0, 1, 0]]], float)
    w, distance = closest_points(EDGE_EDGE, y)
    np.testing.assert_allclose(distance, 2, rtol=1e-15)
    np.testing.assert_allclose(w[1], [0.5, 0.5, -0.5, -0.5], atol=1e-15)


def test_far_from_the_origin() -> None:
    """Coordinates of 1e8 m cost only the rounding of the input: distances equal those of the rounded points at home."""
    y = np.random.default_rng(2).normal(size=(500, 4, 3))
    far = y + 1e8
    home = far - far[:, :1]
    for kind in KINDS:
        np.testing.assert_allclose(closest_points(kind, far)[1], closest_points(kind, home)[1], rtol=1e-12)

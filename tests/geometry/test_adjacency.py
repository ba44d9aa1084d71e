"""The vertex graph against a plain dictionary of sets."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from pliant.errors import MeshError
from pliant.geometry import shapes, vertex_graph
from pliant.geometry.adjacency import vertex_elements


def plain_graph(elements: list[np.ndarray], n: int) -> list[list[int]]:
    neighbours: list[set[int]] = [set() for _ in range(n)]
    for array in elements:
        for element in array.tolist():
            for v in element:
                neighbours[v].update(element)
    return [sorted(s - {v}) for v, s in enumerate(neighbours)]


@settings(deadline=None)
@given(seed=st.integers(0, 2**32 - 1), n=st.integers(4, 30), counts=st.tuples(*[st.integers(0, 20)] * 3))
def test_mixed_elements_match_the_plain_graph(seed: int, n: int, counts: tuple[int, int, int]) -> None:
    random = np.random.default_rng(seed)
    elements = [
        random.permuted(np.tile(np.arange(n), (m, 1)), axis=1)[:, :k] for m, k in zip(counts, (4, 3, 2), strict=True)
    ]
    indptr, indices = vertex_graph(elements, n)
    rows = [indices[indptr[v] : indptr[v + 1]].tolist() for v in range(n)]
    assert rows == plain_graph(elements, n)


def test_graph_of_tets_is_the_edge_list() -> None:
    mesh = shapes.ball(cells=3)
    indptr, indices = vertex_graph([mesh.tets], mesh.n_vertices)
    owner = np.repeat(np.arange(mesh.n_vertices), np.diff(indptr))
    upper = owner < indices
    np.testing.assert_array_equal(np.stack((owner[upper], indices[upper]), axis=1), mesh.edges)
    assert len(indices) == 2 * len(mesh.edges)


def test_empty_lists_have_no_neighbours() -> None:
    for elements in ([], [np.zeros((0, 4), dtype=np.int64)]):
        indptr, indices = vertex_graph(elements, 3)
        np.testing.assert_array_equal(indptr, [0, 0, 0, 0])
        assert len(indices) == 0


def test_vertex_elements_number_through_the_list() -> None:
    indptr, indices = vertex_elements([np.array([[0, 1, 2]]), np.array([[2, 3], [0, 2]])], 4)
    rows = [indices[indptr[v] : indptr[v + 1]].tolist() for v in range(4)]
    assert rows == [[0, 2], [0], [0, 1, 2], [1]]


def test_bad_indices_are_named() -> None:
    with pytest.raises(MeshError, match=r"Element array 1 has vertex indices from 0 to 9"):
        vertex_graph([np.array([[0, 1, 2]]), np.array([[0, 9]])], 4)
    with pytest.raises(MeshError, match="float64"):
        vertex_graph([np.array([[0.0, 1.0]])], 4)

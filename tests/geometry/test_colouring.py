"""Colourings are proper for any graph, and use few colours of similar size on real meshes."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from pliant.geometry import TetMesh, colour_elements, colour_vertices, shapes, vertex_graph


def coloured(elements: list[np.ndarray], n: int) -> np.ndarray:
    """Sizes of the colours, after checking that no two neighbours are alike and that colours have no gaps."""
    indptr, indices = vertex_graph(elements, n)
    colours = colour_vertices(indptr, indices)
    assert colours.dtype == np.int32
    owner = np.repeat(np.arange(n), np.diff(indptr))
    assert not np.any(colours[owner] == colours[indices])
    sizes = np.bincount(colours)
    assert np.all(np.diff(sizes) <= 0)
    assert sizes.min() > 0
    np.testing.assert_array_equal(colours, colour_vertices(indptr, indices))
    return sizes


@settings(deadline=None)
@given(seed=st.integers(0, 2**32 - 1), n=st.integers(2, 60), density=st.floats(0, 1))
def test_random_graphs_are_coloured_properly(seed: int, n: int, density: float) -> None:
    pairs = np.stack(np.triu_indices(n, 1), axis=1)
    chosen = pairs[np.random.default_rng(seed).random(len(pairs)) < density]
    coloured([chosen], n)


@pytest.mark.parametrize("n", [1, 2, 3, 65, 200])
def test_complete_graphs_need_a_colour_a_vertex(n: int) -> None:
    assert len(coloured([np.arange(n)[None, :]], n)) == n


def test_unconnected_vertices_and_no_vertices() -> None:
    assert len(coloured([], 5)) == 1
    assert len(colour_vertices(np.zeros(1, dtype=np.int64), np.zeros(0, dtype=np.int32))) == 0


@pytest.mark.parametrize("length", [2, 51])
def test_chain_needs_two_colours_of_equal_size(length: int) -> None:
    points, edges = shapes.chain(1.0, length - 1)
    sizes = coloured([edges], len(points))
    assert len(sizes) == 2
    assert sizes[0] - sizes[1] <= 1


@pytest.mark.parametrize(
    ("name", "most"),
    # Octopus: the vertex block descent paper has 8. The star's centre must have a colour of its own.
    [("octopus-3.9k", 7), ("armadillo-15k", 7), ("bunny-1.9k", 7), ("teapot-2k", 7), ("beam-463", 7),
     ("rod-630", 6), ("star-sphere-889", 6)],
)  # fmt: skip
def test_shared_meshes_need_few_colours(name: str, most: int, data_meshes) -> None:
    mesh: TetMesh = data_meshes(name)
    assert len(coloured([mesh.tets], mesh.n_vertices)) <= most


@pytest.mark.parametrize("name", ["octopus-3.9k", "armadillo-15k"])
def test_no_colour_is_tiny(name: str, data_meshes) -> None:
    mesh: TetMesh = data_meshes(name)
    sizes = coloured([mesh.tets], mesh.n_vertices)
    assert sizes.min() > 0.9 * sizes.mean()


@pytest.mark.parametrize("split", ["alternating", "kuhn"])
def test_boxes_need_five_colours(split: str) -> None:
    """Kuhn's would do with four, (x + y + z) mod 4; greedy orders find five. Alternating tets: four of the even
    vertices, each with twelve even neighbours, and one of the odd.
    """
    mesh = shapes.box(cells=(12, 12, 12), split=split)
    assert len(coloured([mesh.tets], mesh.n_vertices)) <= 5


@pytest.mark.parametrize("name", ["octopus-3.9k", "star-sphere-889"])
def test_elements_of_a_colour_share_no_vertex(name: str, data_meshes) -> None:
    mesh: TetMesh = data_meshes(name)
    colours = colour_elements(mesh.tets, mesh.n_vertices)
    # A (colour, vertex) pair must not come twice.
    pairs = colours[:, None].astype(np.int64) * mesh.n_vertices + mesh.tets
    assert len(np.unique(pairs)) == pairs.size
    crowd = np.bincount(mesh.tets.ravel()).max()
    # The paper's octopus has 76 element colours; no fewer are possible than tets at the most crowded vertex.
    assert crowd <= colours.max() + 1 <= max(76, crowd)

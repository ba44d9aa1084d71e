"""Tables of pushes by pack: replayed lane by lane they give every tet of every vertex, at rest F = 1."""

import numpy as np

from pliant.kernels.links import longest_paths, place, pushed_rows
from pliant.kernels.tets_general import CONSTANTS, general_links
from pliant.kernels.tets_volumetric import volumetric_links


def replay(example, links, turned: np.ndarray):
    """Yield (vertex, entry, lane, a, b, c, pushed vertex) for every push, triangle relative to the vertex."""
    packs, x = example.packs, example.mesh.points
    rows = links.pushed.reshape(-1, packs.width)
    for p in range(packs.pack_count):
        for lane in range(packs.width):
            vertex = packs.vertex_of_row[p * packs.width + (0 if packs.is_wide[p] else lane)]
            a = b = c = np.zeros(3)
            for k in range(links.start[p], links.start[p + 1]):
                row = rows[k, lane]
                if row == p * packs.width + lane:  # padding pushes the lane's own row
                    pushed, d = -1, np.zeros(3)
                else:
                    pushed = packs.vertex_of_row[row]
                    d = x[pushed] - x[vertex]
                a, b, c = (c, b, d) if turned[k, lane] < 0 else (a, c, d)
                yield vertex, k, lane, a, b, c, pushed


def tets_at(example) -> np.ndarray:
    return np.bincount(example.mesh.tets.ravel(), minlength=example.mesh.n_vertices)


def test_places_are_taken_once(example) -> None:
    """Each push of a vertex has an entry of its own in its pack's list."""
    packs, walks = example.packs, example.walks
    start, entry, lane = place(packs, walks)
    vertex = np.repeat(np.arange(example.mesh.n_vertices), np.diff(walks.start))
    pack = packs.row_of_vertex[vertex] // packs.width
    assert (entry >= start[pack]).all()
    assert (entry < start[pack + 1]).all()
    assert len(np.unique(entry * packs.width + lane)) == len(entry)
    own = packs.row_of_vertex[vertex] % packs.width
    narrow = packs.is_wide[pack] == 0
    np.testing.assert_array_equal(lane[narrow], own[narrow])
    rows = pushed_rows(packs, walks, start, entry, lane)
    assert rows.dtype == np.uint32
    np.testing.assert_array_equal(rows.reshape(-1, packs.width)[entry, lane], packs.row_of_vertex[walks.pushed])


def test_wide_lists_are_shared_by_the_lanes(example) -> None:
    """The longest lane of a wide pack is shorter than twice its share and a path: nothing waits for one lane."""
    packs, walks = example.packs, example.walks
    start, _, _ = place(packs, walks)
    for p in np.flatnonzero(packs.is_wide):
        vertex = packs.vertex_of_row[p * packs.width]
        pushes = walks.start[vertex + 1] - walks.start[vertex]
        longest = -(-tets_at(example)[vertex] // packs.width) + 2
        assert start[p + 1] - start[p] <= pushes / packs.width + longest


def test_volumetric_tables(example) -> None:
    """At rest area . a / (6 V) = -1 for every tet; edge weights and diagonal are the graph Laplacian's."""
    packs, mesh = example.packs, example.mesh
    b, volumes = example.rest
    shear = np.random.default_rng(13).uniform(1, 2, len(volumes))
    links, diagonal = volumetric_links(packs, example.walks, mesh.tets, b, volumes, shear, np.float64)
    numbers = links.constants.reshape(-1, 2, packs.width)
    seen = np.zeros(mesh.n_vertices, int)
    weights = np.zeros((mesh.n_vertices, mesh.n_vertices))
    for vertex, k, lane, a, b_, c, pushed in replay(example, links, numbers[:, 0]):
        inverse, weight = numbers[k, :, lane]
        if inverse != 0:
            J = -abs(inverse) * np.cross(b_ - a, c - a) @ a
            assert abs(J - 1) < 1e-10
            seen[vertex] += 1
        if pushed >= 0:
            weights[vertex, pushed] += weight
        else:
            assert weight == inverse == 0
    np.testing.assert_array_equal(seen, tets_at(example))
    laplacian = np.zeros_like(weights)
    for tet, gradient, stiffness in zip(mesh.tets, b, volumes * shear, strict=True):
        laplacian[np.ix_(tet, tet)] += stiffness * gradient @ gradient.T
    np.testing.assert_allclose(diagonal, np.diag(laplacian), rtol=1e-12)
    np.fill_diagonal(laplacian, 0)
    np.testing.assert_allclose(weights, laplacian, atol=1e-12 * np.abs(laplacian).max())


def test_general_tables(example) -> None:
    """At rest sum_j (x_j - x_i) b_j^T = 1 for every tet, and the volumes at a vertex are those of its tets."""
    packs, mesh = example.packs, example.mesh
    gradients, volumes = example.rest
    links = general_links(packs, example.walks, mesh.tets, gradients, volumes, np.float64)
    numbers = links.constants.reshape(-1, CONSTANTS, packs.width)
    total = np.zeros(mesh.n_vertices)
    for vertex, k, lane, a, b, c, _ in replay(example, links, numbers[:, 9]):
        if numbers[k, 9, lane] != 0:
            F = np.column_stack([a, b, c]) @ numbers[k, :9, lane].reshape(3, 3)
            np.testing.assert_allclose(F, np.eye(3), atol=1e-10)
            total[vertex] += abs(numbers[k, 9, lane])
        else:
            assert (numbers[k, :, lane] == 0).all()
    expected = np.bincount(mesh.tets.ravel(), np.repeat(volumes, 4), minlength=mesh.n_vertices)
    np.testing.assert_allclose(total, expected, rtol=1e-12)


def test_paths_of_wide_vertices_are_bounded() -> None:
    """A wide vertex with 33 tets and 8 lanes has paths of at most 5 triangles; others have no bound."""
    bounds = longest_paths(np.array([33, 33]), np.array([True, False]), 8)
    np.testing.assert_array_equal(bounds, [5, np.iinfo(np.int64).max])

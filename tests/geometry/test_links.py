"""Walks along vertex links visit every (vertex, tet) pair once, by triangles that share an edge with the last."""

from collections import Counter

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.spatial import Delaunay

from pliant.geometry import TetMesh, shapes
from pliant.geometry.adjacency import vertex_elements
from pliant.geometry.links import LinkWalks, neighbours_across_faces, walk_links

UNBOUNDED = np.iinfo(np.int64).max
SHAPES = {
    "one tet": TetMesh(np.vstack([np.zeros(3), np.eye(3)]), [[0, 1, 2, 3]]),
    "one cell": shapes.box(cells=1),
    "box": shapes.box(cells=4),
    "ball": shapes.ball(cells=4),
    "cylinder": shapes.cylinder(cells=3),
    "torus": shapes.torus(cells=2),
}


def check_walks(points: np.ndarray, tets: np.ndarray, longest: np.ndarray) -> LinkWalks:
    """All that is promised of walks; a plain replay of the pushes."""
    walks = walk_links(tets, len(points), longest)
    assert len(walks.pushed) == len(walks.tet) == len(walks.sign) == walks.start[-1]
    visited: Counter[tuple[int, int]] = Counter()
    for i in range(len(points)):
        a = b = c = last = None
        length = pending = 0
        for e in range(walks.start[i], walks.start[i + 1]):
            d, t, sign = (int(row[e]) for row in (walks.pushed, walks.tet, walks.sign))
            a, b, c = (c, b, d) if sign < 0 else (a, c, d)
            if sign == 0:  # two of these begin a path
                assert t == -1
                pending, length = (pending + 1, 0)
                continue
            assert pending in (0, 2)
            assert length > 0 or (pending == 2 and sign == -1)
            triangle = {a, b, c}
            if length > 0:
                assert len(triangle & last) == 2
            last, pending, length = triangle, 0, length + 1
            assert length <= longest[i]
            assert triangle | {i} == set(tets[t].tolist())
            # V = (b - a) x (c - a) . (x_i - a) / 6
            edges = points[[b, c, i]] - points[a]
            assert np.linalg.det(edges) > 0
            visited[i, t] += 1
        assert pending == 0
    assert visited == Counter((int(v), t) for t, tet in enumerate(tets) for v in tet)
    return walks


def random_mesh(seed: int, n: int) -> tuple[np.ndarray, np.ndarray]:
    """Delaunay tets of random points, slivers dropped (which leaves holes), positively oriented."""
    points = np.random.default_rng(seed).random((n, 3))
    tets = Delaunay(points).simplices.astype(np.int64)
    volumes = np.linalg.det(points[tets[:, 1:]] - points[tets[:, :1]]) / 6
    tets[volumes < 0] = tets[volumes < 0][:, [1, 0, 2, 3]]
    return points, tets[np.abs(volumes) > 1e-4]


@settings(deadline=None, max_examples=60)
@given(seed=st.integers(0, 2**32 - 1), n=st.integers(5, 40), bound=st.integers(1, 12) | st.none())
def test_random_meshes(seed: int, n: int, bound: int | None) -> None:
    """Any mesh, also with holes and loose vertices, with and without a bound on the paths."""
    points, tets = random_mesh(seed, n)
    check_walks(points, tets, np.full(n, bound or UNBOUNDED))


@settings(deadline=None, max_examples=20)
@given(seed=st.integers(0, 2**32 - 1))
def test_bounds_differ_from_vertex_to_vertex(seed: int) -> None:
    """Each vertex keeps its own bound."""
    points, tets = random_mesh(seed, 25)
    longest = np.random.default_rng(seed).choice([1, 2, 5, UNBOUNDED], 25)
    check_walks(points, tets, longest)


@pytest.mark.parametrize("name", SHAPES)
@pytest.mark.parametrize("bound", [1, 4, UNBOUNDED])
def test_shapes(name: str, bound: int) -> None:
    """Regular meshes; a bound of one makes every triangle a path of three pushes."""
    mesh = SHAPES[name]
    walks = check_walks(mesh.points, mesh.tets, np.full(mesh.n_vertices, bound))
    if bound == 1:
        assert len(walks.pushed) == 3 * 4 * len(mesh.tets)


@pytest.mark.parametrize("mesh", [shapes.box(cells=6), shapes.ball(cells=6)], ids=["box", "ball"])
def test_few_pushes_a_tet(mesh: TetMesh) -> None:
    """Below 1.3 pushes a (vertex, tet) pair where three would be read without walks."""
    walks = walk_links(mesh.tets, mesh.n_vertices, np.full(mesh.n_vertices, UNBOUNDED))
    assert len(walks.pushed) / (4 * len(mesh.tets)) < 1.3


def test_neighbours_across_faces() -> None:
    """Two tets share a face exactly when each has the other across it; faces of the box's surface have none."""
    mesh = SHAPES["box"]
    tets = np.ascontiguousarray(mesh.tets, np.int64)
    across = neighbours_across_faces(tets, *vertex_elements([tets], mesh.n_vertices))
    for t, k in np.ndindex(*across.shape):
        other = across[t, k]
        if other >= 0:
            face = set(np.delete(tets[t], k).tolist())
            assert face <= set(tets[other].tolist())
            assert t in across[other]
    assert (across < 0).sum() == 6 * 2 * 4 * 4


def test_no_tets() -> None:
    """Vertices without tets have no pushes."""
    walks = walk_links(np.empty((0, 4), np.int64), 3, np.full(3, UNBOUNDED))
    np.testing.assert_array_equal(walks.start, np.zeros(4))
    assert len(walks.pushed) == 0

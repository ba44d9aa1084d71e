"""Fans, pairs and single hinges around vertices: every hinge at both ends, the right vertices in the right order."""

import numpy as np
import pytest

from pliant.geometry import TriMesh, fold_fans, hinges, shapes

FAN_HINGES = ((0, 1, 2, 4), (0, 2, 3, 1), (0, 3, 5, 2))
PAIR_HINGES = ((0, 1, 2, 3), (0, 2, 4, 1))


def moebius(n: int = 8) -> TriMesh:
    lower, upper = np.arange(n), n + np.arange(n)
    after_lower, after_upper = np.append(lower[1:], upper[0]), np.append(upper[1:], lower[0])
    triangles = np.vstack(
        (np.stack((lower, after_lower, upper), axis=1), np.stack((upper, after_lower, after_upper), axis=1))
    )
    turn = np.concatenate((np.arange(n), np.arange(n))) * 2 * np.pi / n
    side = np.repeat([-0.3, 0.3], n)
    radius = 1 + side * np.cos(turn / 2)
    return TriMesh(np.stack((radius * np.cos(turn), radius * np.sin(turn), side * np.sin(turn / 2)), axis=1), triangles)


def tetrahedron() -> TriMesh:
    points = np.array([[1.0, 1, 1], [1, -1, -1], [-1, 1, -1], [-1, -1, 1]])
    return TriMesh(points, np.array([[0, 1, 2], [0, 3, 1], [0, 2, 3], [1, 3, 2]]))


MESHES = {
    "alternating": shapes.cloth((1, 1), (6, 5)),
    "two triangles": shapes.cloth((1, 1), (1, 1)),
    "ball": shapes.ball(cells=3).surface(),
    "cube": shapes.box((1, 1, 1), (1, 1, 1)).surface(),
    "tetrahedron": tetrahedron(),
    "moebius": moebius(),
}


@pytest.mark.parametrize("name", MESHES)
def test_every_hinge_is_covered_at_both_ends(name: str) -> None:
    mesh = MESHES[name]
    found, folds = hinges(mesh.triangles, mesh.n_vertices), fold_fans(mesh.points, mesh.triangles)
    covered = {
        (int(v), int(h))
        for group in (folds.fans, folds.pairs, folds.singles)
        for v, row in zip(group.vertices, group.hinges, strict=True)
        for h in row
    }
    assert covered == {(int(v), k) for k, hinge in enumerate(found) for v in hinge[:2]}


@pytest.mark.parametrize("name", MESHES)
def test_elements_have_their_hinges(name: str) -> None:
    """Distinct vertices; each hinge by its edge and its wings, oriented alike; and where nothing is torn, all triangles
    agree on the vertices.
    """
    mesh = MESHES[name]
    found, folds = hinges(mesh.triangles, mesh.n_vertices), fold_fans(mesh.points, mesh.triangles)
    of_pairs = np.concatenate((folds.fans.hinges[:, 1:], folds.pairs.hinges))
    for corners, of_hinges, orders in (
        (folds.fan_corners, folds.fans.hinges, FAN_HINGES),
        (folds.pair_corners, of_pairs, PAIR_HINGES),
    ):
        vertices, k = mesh.triangles.ravel()[corners], 3 + len(orders)
        assert all(len(set(row[:k])) == k for row in vertices.tolist())
        for column in range(k, vertices.shape[1]):
            np.testing.assert_array_equal(vertices[:, column], vertices[:, (column - k) % k])
        for order, numbers in zip(orders, of_hinges.T, strict=True):
            own, hinge = vertices[:, order], found[numbers]
            is_same = (own == hinge).all(axis=1) | (own == hinge[:, [1, 0, 3, 2]]).all(axis=1)
            assert is_same.all()


def test_counts_follow_from_the_numbers_of_triangles() -> None:
    """Rings of eight have four fans, of four four pairs, of three three single hinges."""
    grid = fold_fans(MESHES["alternating"].points, MESHES["alternating"].triangles)
    n = np.bincount(grid.fans.vertices, minlength=42).reshape(7, 6)[1:-1, 1:-1]
    m = np.bincount(grid.pairs.vertices, minlength=42).reshape(7, 6)[1:-1, 1:-1]
    assert set(n.ravel()) == {0, 4}
    np.testing.assert_array_equal(m == 4, n == 0)
    closed = fold_fans(MESHES["tetrahedron"].points, MESHES["tetrahedron"].triangles)
    assert (len(closed.fans.hinges), len(closed.pairs.hinges), len(closed.singles.hinges)) == (0, 0, 12)
    assert len(fold_fans(MESHES["ball"].points, MESHES["ball"].triangles).singles.hinges) == 0


def test_short_hinges_are_in_the_middle_of_fans() -> None:
    """Around rings of eight of an alternating grid, the diagonals are the long ones."""
    mesh = MESHES["alternating"]
    folds, found = fold_fans(mesh.points, mesh.triangles), hinges(mesh.triangles, mesh.n_vertices)
    ring = np.bincount(found[:, :2].ravel())[folds.fans.vertices] == 8
    length = np.linalg.norm(mesh.points[found[:, 1]] - mesh.points[found[:, 0]], axis=1)[folds.fans.hinges[ring]]
    assert np.all(length[:, 1] < length[:, 0])
    assert np.all(length[:, 1] < length[:, 2])

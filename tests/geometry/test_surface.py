"""Boundaries close, point outward and enclose the volume of the tets within."""

import numpy as np
import pytest

from pliant.errors import MeshError
from pliant.geometry import (
    TetMesh,
    TriMesh,
    boundary_triangles,
    compact,
    is_closed_surface,
    shapes,
    surface,
    unique_edges,
)

SOLIDS = {
    "box": (lambda: shapes.box((1, 2, 3), (2, 3, 4)), 2),
    "ball": (lambda: shapes.ball(cells=3), 2),
    "cylinder": (lambda: shapes.cylinder(cells=3), 2),
    "torus": (lambda: shapes.torus(cells=2), 0),
}


def enclosed_volume(mesh: TriMesh) -> float:
    """Volume inside a closed surface by the divergence theorem: sum of a . (b x c) / 6."""
    a, b, c = np.moveaxis(mesh.points[mesh.triangles], 1, 0)
    return float(np.einsum("ij,ij->", a, np.cross(b, c)) / 6.0)


@pytest.mark.parametrize("name", SOLIDS)
def test_boundary_is_closed_and_encloses_the_tets(name: str) -> None:
    make, characteristic = SOLIDS[name]
    solid = make()
    skin = solid.surface()
    directed = {(int(t[i]), int(t[i - 2])) for t in skin.triangles for i in range(3)}
    assert len(directed) == 3 * skin.n_triangles
    assert directed == {(b, a) for a, b in directed}
    assert skin.is_closed
    assert skin.n_vertices - len(skin.edges) + skin.n_triangles == characteristic
    # Moved off the origin, so that outward orientation matters for each triangle.
    assert enclosed_volume(skin.transformed(translation=(3, 4, 5))) == pytest.approx(solid.volume, rel=1e-10)


@pytest.mark.parametrize("name", ["armadillo-15k", "teapot-2k", "star-sphere-889"])
def test_boundary_of_shared_meshes_encloses_their_volume(name: str, data_meshes) -> None:
    mesh = data_meshes(name)
    assert enclosed_volume(mesh.surface()) == pytest.approx(mesh.volume, rel=1e-10)


@pytest.mark.parametrize("name", SOLIDS)
def test_euler_characteristic_of_the_solid(name: str) -> None:
    """Vertices - edges + faces - tets is 1 for what shrinks to a point and 0 for a ring."""
    make, surface_characteristic = SOLIDS[name]
    solid = make()
    faces = (4 * solid.n_tets + len(solid.surface_triangles)) // 2
    assert solid.n_vertices - len(solid.edges) + faces - solid.n_tets == surface_characteristic // 2


def test_surface_vertices_map_back_to_the_solid() -> None:
    solid = shapes.box(cells=(3, 3, 3))
    skin = solid.surface()
    assert skin.n_vertices == 4**3 - 2**3
    np.testing.assert_array_equal(skin.points, solid.points[solid.surface_vertices])
    np.testing.assert_array_equal(solid.surface_vertices[skin.triangles], solid.surface_triangles)


def test_faces_of_one_tet_look_outward() -> None:
    points = np.array([[0.0, 0, 0], [1, 0, 0], [0, 1, 0], [0, 0, 1]])
    triangles = TetMesh(points, [[0, 1, 2, 3]]).surface_triangles
    a, b, c = np.moveaxis(points[triangles], 1, 0)
    assert np.all(np.einsum("ij,ij->i", np.cross(b - a, c - a), a - points.mean(axis=0)) > 0)


def test_tets_listed_three_times_are_reported() -> None:
    with pytest.raises(MeshError, match=r"belongs to 3 tets \(0, 1, 2\)"):
        boundary_triangles(np.array([[0, 1, 2, 3], [0, 1, 2, 4], [0, 1, 2, 5]]), 6)


def test_faces_of_huge_meshes_are_told_apart() -> None:
    """Above two million vertices n^3 overflows; the answer must not change."""
    tets = shapes.box(cells=(2, 2, 2)).tets
    expected = boundary_triangles(tets, 27)
    offset = 3_000_000_000
    np.testing.assert_array_equal(boundary_triangles(tets + offset, offset + 27) - offset, expected)


def test_unique_edges_of_one_tet_are_its_six() -> None:
    edges = unique_edges(np.array([[3, 1, 2, 0]]), 4)
    np.testing.assert_array_equal(edges, [[0, 1], [0, 2], [0, 3], [1, 2], [1, 3], [2, 3]])


def test_compact_keeps_the_order() -> None:
    elements, kept = compact(np.array([[7, 2, 5]]), 9)
    np.testing.assert_array_equal(kept, [2, 5, 7])
    np.testing.assert_array_equal(elements, [[2, 0, 1]])


def test_closed_means_one_orientation_too() -> None:
    skin = shapes.ball(cells=1).surface()
    flipped = skin.triangles.copy()
    flipped[0] = flipped[0, ::-1]
    assert not is_closed_surface(flipped, skin.n_vertices)
    assert not is_closed_surface(skin.triangles[1:], skin.n_vertices)
    assert is_closed_surface(skin.triangles[:, ::-1], skin.n_vertices)
    assert len(surface.TET_FACES) == 4

"""Shapes have the counts, volumes, exact boundaries and well-shaped tets they promise."""

import numpy as np
import pytest

from pliant.errors import MeshError
from pliant.geometry import TetMesh, dihedral_angles, shapes


def assert_well_shaped(mesh: TetMesh) -> None:
    angles = dihedral_angles(mesh.points, mesh.tets)
    assert angles.min() > 10
    assert angles.max() < 170
    assert mesh.surface().is_closed


def test_kuhn_box_is_centred_and_split_in_six() -> None:
    mesh = shapes.box((1, 2, 3), (2, 3, 4), "kuhn")
    assert (mesh.n_vertices, mesh.n_tets) == (3 * 4 * 5, 6 * 2 * 3 * 4)
    np.testing.assert_allclose(mesh.bounds, [[-0.5, -1, -1.5], [0.5, 1, 1.5]])
    np.testing.assert_allclose(mesh.volumes, 6 / mesh.n_tets)
    # Every boundary rectangle is two triangles.
    assert len(mesh.surface_triangles) == 4 * (2 * 3 + 3 * 4 + 2 * 4)


def test_cube_of_25_cells_has_the_reference_counts() -> None:
    mesh = shapes.box(cells=(25, 25, 25), split="kuhn")
    assert (mesh.n_vertices, mesh.n_tets) == (17_576, 93_750)


def test_kuhn_tets_have_45_60_and_90_degrees() -> None:
    mesh = shapes.box(split="kuhn")
    angles = np.unique(np.round(dihedral_angles(mesh.points, mesh.tets), 6))
    np.testing.assert_allclose(angles, [45, 60, 90])


@pytest.mark.parametrize(("split", "tets", "added"), [("alternating", 5, 0), ("centred", 12, 24)])
def test_symmetric_splits_fill_the_box(split: str, tets: int, added: int) -> None:
    mesh = shapes.box((1, 2, 3), (2, 3, 4), split)
    assert (mesh.n_vertices, mesh.n_tets) == (3 * 4 * 5 + added, tets * 24)
    assert mesh.volume == pytest.approx(6)
    assert len(mesh.surface_triangles) == 4 * (2 * 3 + 3 * 4 + 2 * 4)
    assert_well_shaped(mesh)


@pytest.mark.parametrize("split", ["alternating", "body-centred", "centred"])
def test_symmetric_splits_treat_axes_alike(split: str) -> None:
    """Exchanging y and z, or mirroring an axis with an even number of cells, maps the tets onto themselves."""
    mesh = shapes.box((1, 1, 1), (2, 2, 2), split)
    for image in (mesh.points[:, [0, 2, 1]], mesh.points[:, [2, 0, 1]], mesh.points * [-1, 1, 1]):
        place = np.argmin(np.linalg.norm(image[:, None] - mesh.points[None], axis=2), axis=1)
        np.testing.assert_array_equal(
            np.unique(np.sort(place[mesh.tets], axis=1), axis=0), np.unique(np.sort(mesh.tets, axis=1), axis=0)
        )


def test_body_centred_tets_fill_the_box() -> None:
    """A vertex in each cell and each rim face; four tets at each face, inside or at the rim."""
    mesh = shapes.box((1, 2, 3), (2, 3, 4), "body-centred")
    rim = 2 * (2 * 3 + 3 * 4 + 2 * 4)
    assert (mesh.n_vertices, mesh.n_tets) == (3 * 4 * 5 + 24 + rim, 4 * (rim + (6 * 24 - rim) // 2))
    assert mesh.volume == pytest.approx(6)
    np.testing.assert_array_equal(mesh.points[:60], shapes.box((1, 2, 3), (2, 3, 4)).points)
    assert_well_shaped(mesh)


@pytest.mark.parametrize("cells", [(1, 1, 1), (3, 1, 1), (1, 2, 3)])
def test_body_centred_tets_have_the_symmetries_of_the_box(cells: tuple[int, int, int]) -> None:
    """Also with odd numbers of cells: mirrored along each axis they are the same, and so are all cells alike."""
    mesh = shapes.box(cells, cells, "body-centred")
    for mirror in ((-1, 1, 1), (1, -1, 1), (1, 1, -1)):
        image = mesh.points * mirror
        place = np.argmin(np.linalg.norm(image[:, None] - mesh.points[None], axis=2), axis=1)
        np.testing.assert_array_equal(
            np.unique(np.sort(place[mesh.tets], axis=1), axis=0), np.unique(np.sort(mesh.tets, axis=1), axis=0)
        )


@pytest.mark.parametrize(
    ("cells", "split"), [((6, 1, 1), "body-centred"), ((1, 1, 1), "alternating"), ((6, 2, 1), "alternating")]
)
def test_bars_one_cell_across_are_body_centred_by_default(cells: tuple[int, int, int], split: str) -> None:
    np.testing.assert_array_equal(shapes.box((3, 1, 1), cells).tets, shapes.box((3, 1, 1), cells, split).tets)
    np.testing.assert_array_equal(shapes.beam(3, 1, 1, cells).tets, shapes.box((3, 1, 1), cells, split).tets)


def test_boxes_and_beams_alternate_by_default() -> None:
    cells = (2, 3, 4)
    for mesh, size in ((shapes.box((1, 2, 3), cells), (1, 2, 3)), (shapes.beam(3, 2, 1, cells), (3, 2, 1))):
        named = shapes.box(size, cells, "alternating")
        np.testing.assert_array_equal(mesh.tets, named.tets)
        np.testing.assert_array_equal(mesh.points, shapes.box(size, cells, "kuhn").points)  # vertices of the grid alone


def test_unknown_split_is_refused() -> None:
    with pytest.raises(MeshError, match="split='bcc'; pass one of 'alternating', 'body-centred', 'centred', 'kuhn'"):
        shapes.box(split="bcc")


def test_beam_lies_along_x() -> None:
    mesh = shapes.beam(4.0, 1.0, 0.5, cells=(8, 2, 1))
    np.testing.assert_allclose(mesh.bounds, [[-2, -0.5, -0.25], [2, 0.5, 0.25]])
    assert mesh.volume == pytest.approx(2.0)


@pytest.mark.parametrize("cells", [1, 2, 3, 5, 8, 13])
@pytest.mark.parametrize("radius", [1e-3, 2.0])
def test_ball(radius: float, cells: int) -> None:
    mesh = shapes.ball(radius, cells)
    # Layer k is an icosahedral sphere of 10 k^2 + 2 vertices.
    assert mesh.n_vertices == 1 + sum(10 * k * k + 2 for k in range(1, cells + 1))
    assert mesh.n_tets == 20 * cells**3
    distance = np.linalg.norm(mesh.points[mesh.surface_vertices], axis=1)
    np.testing.assert_allclose(distance, radius, rtol=1e-12)
    assert len(mesh.surface_vertices) == 10 * cells**2 + 2
    assert_well_shaped(mesh)


@pytest.mark.parametrize("cells", [1, 2, 4, 7])
@pytest.mark.parametrize("height", [0.1, 0.5, 1.0, 4.0])
def test_cylinder(height: float, cells: int) -> None:
    mesh = shapes.cylinder(0.5, height, cells)
    side = np.abs(mesh.points[mesh.surface_vertices, 2]) < 0.5 * height * (1 - 1e-12)
    radial = np.linalg.norm(mesh.points[mesh.surface_vertices, :2], axis=1)
    np.testing.assert_allclose(radial[side], 0.5, rtol=1e-12)
    np.testing.assert_allclose(mesh.bounds[1][2], 0.5 * height)
    assert_well_shaped(mesh)


@pytest.mark.parametrize("factor", [0.5, 2.0])
def test_cylinder_with_other_layers_stays_well_shaped(factor: float) -> None:
    mesh = shapes.cylinder(0.5, 1.0, 5, layers=round(10 * factor))
    assert_well_shaped(mesh)


@pytest.mark.parametrize("cells", [1, 2, 4, 6])
@pytest.mark.parametrize("minor", [0.1, 0.2, 0.3, 0.4])
def test_torus(minor: float, cells: int) -> None:
    mesh = shapes.torus(0.5, minor, cells)
    x, y, z = mesh.points[mesh.surface_vertices].T
    np.testing.assert_allclose(np.hypot(np.hypot(x, y) - 0.5, z), minor, rtol=1e-12)
    assert_well_shaped(mesh)


@pytest.mark.parametrize(
    ("make", "exact"),
    [
        (lambda n: shapes.ball(0.5, n), np.pi / 6),
        (lambda n: shapes.cylinder(0.5, 1.0, n), np.pi / 4),
        (lambda n: shapes.torus(0.5, 0.2, n), 2 * np.pi**2 * 0.5 * 0.2**2),
    ],
    ids=["ball", "cylinder", "torus"],
)
def test_volume_approaches_the_exact_one_from_below_quadratically(make, exact: float) -> None:
    coarse, fine = (1 - make(n).volume / exact for n in (3, 6))
    assert 0 < fine < coarse
    assert coarse / fine == pytest.approx(4, rel=0.1)


def test_cloth_alternates_diagonals() -> None:
    mesh = shapes.cloth((2, 1), (4, 3))
    assert (mesh.n_vertices, mesh.n_triangles) == (20, 24)
    np.testing.assert_allclose(mesh.bounds, [[-1, -0.5, 0], [1, 0.5, 0]])
    assert mesh.area == pytest.approx(2.0)
    a, b, c = np.moveaxis(mesh.points[mesh.triangles], 1, 0)
    assert np.all(np.cross(b - a, c - a)[:, 2] > 0)
    # Alternating diagonals: an inner vertex has either all four or none, so 8 or 4 neighbours.
    valence = np.bincount(mesh.edges.ravel(), minlength=20).reshape(5, 4)
    inner = valence[1:-1, 1:-1]
    assert set(inner.ravel()) == {4, 8}
    assert np.all(inner[1:] != inner[:-1])


def test_chain() -> None:
    points, edges = shapes.chain(2.0, 4)
    np.testing.assert_allclose(points[:, 0], [0, 0.5, 1, 1.5, 2])
    assert not points[:, 1:].any()
    np.testing.assert_array_equal(edges, [[0, 1], [1, 2], [2, 3], [3, 4]])


def edge_lengths(points: np.ndarray, edges: np.ndarray) -> np.ndarray:
    return np.linalg.norm(points[edges[:, 1]] - points[edges[:, 0]], axis=1)


def test_rope_follows_its_path() -> None:
    """An L of two arms of 3 m and 1 m in eight segments: the corner is a point, all edges are half a metre."""
    points, edges = shapes.rope(((0, 0, 0), (0, 0, 3), (0, 1, 3)), 8)
    np.testing.assert_allclose(points[[0, 6, 8]], [[0, 0, 0], [0, 0, 3], [0, 1, 3]], atol=1e-15)
    np.testing.assert_allclose(edge_lengths(points, edges), 0.5, rtol=1e-14)
    np.testing.assert_array_equal(edges, np.stack((np.arange(8), np.arange(1, 9)), axis=1))


@pytest.mark.parametrize("diagonals", [False, True])
def test_net(diagonals: bool) -> None:
    """(nx + 1) ny + nx (ny + 1) edges and two a mesh, each once, of the meshes' sides and diagonals."""
    points, edges = shapes.net((2, 1.5), (4, 6), diagonals)
    assert len(points) == 5 * 7
    assert len(np.unique(np.sort(edges, axis=1), axis=0)) == len(edges) == 5 * 6 + 4 * 7 + diagonals * 2 * 4 * 6
    np.testing.assert_allclose(points.min(axis=0), [-1, -0.75, 0])
    np.testing.assert_allclose(points.max(axis=0), [1, 0.75, 0])
    lengths = edge_lengths(points, edges)
    np.testing.assert_allclose(lengths[:28], 0.5)
    np.testing.assert_allclose(lengths[28:58], 0.25)
    np.testing.assert_allclose(lengths[58:], np.hypot(0.5, 0.25))


def test_polygon_and_wheel() -> None:
    """A side is 2 r sin(pi / n); the wheel adds n spokes of length r to a hub in the centre."""
    points, edges = shapes.polygon(2.0, 5)
    np.testing.assert_allclose(edge_lengths(points, edges), 4 * np.sin(np.pi / 5), rtol=1e-14)
    np.testing.assert_allclose(points[0], [2, 0, 0])
    assert np.cross(points[0], points[1])[2] > 0
    wheel_points, wheel_edges = shapes.wheel(2.0, 5)
    np.testing.assert_array_equal(wheel_points[:5], points)
    np.testing.assert_array_equal(wheel_points[5], np.zeros(3))
    np.testing.assert_array_equal(wheel_edges[:5], edges)
    np.testing.assert_allclose(edge_lengths(wheel_points, wheel_edges[5:]), 2.0)
    np.testing.assert_array_equal(np.bincount(wheel_edges.ravel()), [3] * 5 + [5])


BAD = {
    "no cells": lambda: shapes.box(cells=(0, 1, 1)),
    "float cells": lambda: shapes.box(cells=(1.5, 1, 1)),
    "two cells": lambda: shapes.box(cells=(1, 1)),
    "boolean cells": lambda: shapes.ball(cells=True),
    "negative size": lambda: shapes.box(size=(1, -1, 1)),
    "zero size": lambda: shapes.cloth(size=(0, 1)),
    "nan size": lambda: shapes.box(size=(1, np.nan, 1)),
    "infinite radius": lambda: shapes.ball(radius=np.inf),
    "text": lambda: shapes.ball(radius="big"),
    "one number": lambda: shapes.box(size=1.0),
    "beam": lambda: shapes.beam(length=-1.0),
    "cylinder": lambda: shapes.cylinder(layers=0),
    "fat torus": lambda: shapes.torus(major=1.0, minor=0.9),
    "few segments": lambda: shapes.torus(segments=5),
    "cloth": lambda: shapes.cloth(cells=(3, -3)),
    "chain": lambda: shapes.chain(segments=0),
    "rope": lambda: shapes.rope(segments=0),
    "point as a rope": lambda: shapes.rope(((0, 0, 0),)),
    "flat path": lambda: shapes.rope(((0, 0), (1, 0))),
    "standing path": lambda: shapes.rope(((0, 0, 0), (0, 0, 0), (1, 0, 0))),
    "text as a path": lambda: shapes.rope("straight"),
    "net": lambda: shapes.net(cells=(0, 3)),
    "net size": lambda: shapes.net(size=(1, 2, 3)),
    "two sides": lambda: shapes.polygon(sides=2),
    "polygon": lambda: shapes.polygon(radius=0),
    "two spokes": lambda: shapes.wheel(spokes=2),
    "wheel": lambda: shapes.wheel(radius=-1),
}


@pytest.mark.parametrize("case", BAD)
def test_bad_arguments_are_named(case: str) -> None:
    with pytest.raises(MeshError, match=r"got \w+.*=.*[Pp]ass "):
        BAD[case]()


@pytest.mark.parametrize(
    ("make", "said"),
    [
        (
            lambda: shapes.box(cells=(2, 10**9, 5)),
            r"box would have 5e\+10 tets and need 1.4e\+04 GB, this computer has",
        ),
        (lambda: shapes.ball(cells=10**200), r"ball would have 1e\+99 tets"),
        (lambda: shapes.cylinder(layers=10**12), r"cylinder would have 6.48e\+14 tets"),
        (lambda: shapes.torus(major=1e9, minor=1e-3), r"torus would have .* tets"),
        (lambda: shapes.cloth(cells=10**6), r"cloth would have 2e\+12 triangles"),
        (lambda: shapes.net(cells=10**6), r"net would have 2e\+12 edges"),
        (lambda: shapes.chain(segments=10**13), r"chain would have 1e\+13 edges"),
        (lambda: shapes.rope(segments=10**13), r"rope would have 1e\+13 edges"),
        (lambda: shapes.polygon(sides=10**13), r"polygon would have 1e\+13 edges"),
        (lambda: shapes.wheel(spokes=10**13), r"wheel would have 2e\+13 edges"),
    ],
)
def test_what_no_memory_holds_is_refused_before_it_is_asked_for(make, said):
    with pytest.raises(MeshError, match=said):
        make()

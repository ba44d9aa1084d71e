"""Meshes from and to files."""

import meshio
import numpy as np
import pytest

import pliant as pl


@pytest.mark.parametrize("ending", ["vtu", "vtk", "msh", "mesh"])
def test_tets_come_back_as_written(tmp_path, ending):
    """Points to the bit where the format is binary, to 1e-12 where it is text; tets the same."""
    mesh = pl.shapes.ball(0.3, 2)
    path = tmp_path / f"ball.{ending}"
    pl.save_mesh(path, mesh)
    back = pl.load_mesh(path)
    assert isinstance(back, pl.TetMesh)
    np.testing.assert_allclose(back.points, mesh.points, rtol=0, atol=0 if ending == "vtu" else 1e-12)
    np.testing.assert_array_equal(back.tets, mesh.tets)


@pytest.mark.parametrize("ending", ["obj", "ply", "vtu"])
def test_triangles_come_back_as_written_and_nothing_is_printed(tmp_path, ending, capfd):
    mesh = pl.shapes.ball(0.3, 2).surface()
    path = tmp_path / f"ball.{ending}"
    pl.save_mesh(path, mesh)
    back = pl.load_mesh(path)
    assert not "".join(capfd.readouterr())
    assert isinstance(back, pl.TriMesh)
    np.testing.assert_allclose(back.points, mesh.points, rtol=0, atol=1e-12)
    np.testing.assert_array_equal(back.triangles, mesh.triangles)


@pytest.mark.filterwarnings("ignore::RuntimeWarning")  # meshio's, when it guesses whether the file is binary
def test_stl_keeps_the_triangles_if_not_their_numbering(tmp_path):
    """An STL file has no indices: the corners of every triangle come back, in single precision or better."""
    mesh = pl.shapes.box(cells=2).surface()
    pl.save_mesh(tmp_path / "box.stl", mesh)
    back = pl.load_mesh(tmp_path / "box.stl")
    assert isinstance(back, pl.TriMesh)
    np.testing.assert_allclose(back.points[back.triangles], mesh.points[mesh.triangles], rtol=0, atol=1e-6)


def test_other_positions_are_written_if_given(tmp_path):
    mesh = pl.shapes.box(cells=1)
    pl.save_mesh(tmp_path / "moved.vtu", mesh, mesh.points + 1)
    np.testing.assert_array_equal(pl.load_mesh(tmp_path / "moved.vtu").points, mesh.points + 1)


@pytest.mark.parametrize("ending", ["obj", "vtu"])
def test_quads_are_split_in_two(tmp_path, ending):
    """A unit square of one quad and a triangle on its side: three triangles, area 1.5, all facing up."""
    points = np.array([[0.0, 0, 0], [1, 0, 0], [1, 1, 0], [0, 1, 0], [2, 0, 0]])
    cells = [("triangle", np.array([[1, 4, 2]])), ("quad", np.array([[0, 1, 2, 3]]))]
    meshio.write(tmp_path / f"mixed.{ending}", meshio.Mesh(points, cells))
    mesh = pl.load_mesh(tmp_path / f"mixed.{ending}")
    a, b, c = mesh.points[mesh.triangles].transpose(1, 0, 2)
    areas = np.cross(b - a, c - a) / 2
    np.testing.assert_allclose(areas, [[0, 0, 0.5]] * 3, atol=1e-12)


def test_missing_file(tmp_path):
    with pytest.raises(pl.FileError, match=r"nowhere\.vtu: there is no such file"):
        pl.load_mesh(tmp_path / "nowhere.vtu")


@pytest.mark.parametrize(
    ("name", "content"),
    [
        ("mesh.xyz123", "1 2 3"),
        ("mesh", ""),
        ("bad.vtu", "<VTK"),
        pytest.param("e.obj", ""),
    ],
)
def test_files_that_are_no_meshes(tmp_path, name, content):
    """Unknown endings, broken and empty files: one FileError with the path."""
    path = tmp_path / name
    path.write_text(content)
    with pytest.raises(pl.FileError, match=name):
        pl.load_mesh(path)


@pytest.mark.parametrize(
    ("cells", "found"),
    [([("line", np.array([[0, 1]]))], "line"), ([("hexahedron", np.arange(8)[None])], "hexahedron")],
)
def test_a_mesh_of_other_cells_is_refused(tmp_path, cells, found):
    """What the file holds and what is needed."""
    points = np.stack(np.meshgrid([0.0, 1], [0.0, 1], [0.0, 1], indexing="ij"), -1).reshape(-1, 3)
    meshio.write(tmp_path / "other.vtu", meshio.Mesh(points, cells))
    with pytest.raises(pl.FileError) as error:
        pl.load_mesh(tmp_path / "other.vtu")
    assert f"holds {found}" in str(error.value)
    assert "tetrahedra, triangles or quads" in str(error.value)


def test_inverted_tets_are_refused_or_turned(tmp_path):
    points = np.array([[0.0, 0, 0], [1, 0, 0], [0, 1, 0], [0, 0, 1]])
    meshio.write(tmp_path / "left.vtu", meshio.Mesh(points, [("tetra", np.array([[1, 0, 2, 3]]))]))
    with pytest.raises(pl.MeshError):
        pl.load_mesh(tmp_path / "left.vtu")
    tet = pl.load_mesh(tmp_path / "left.vtu", orient=True).tets[0]
    assert np.linalg.det(points[tet[1:]] - points[tet[0]]) == pytest.approx(1)


@pytest.mark.parametrize(
    "name",
    [
        "missing/ball.vtu",
        "ball.xyz123",
    ],
)
def test_places_and_formats_that_cannot_be_written(tmp_path, name):
    with pytest.raises(pl.FileError, match="ball"):
        pl.save_mesh(tmp_path / name, pl.shapes.ball(0.3, 1))


@pytest.mark.parametrize(
    ("name", "vertices", "tets"),
    [("star-sphere-889", 889, 1772), ("armadillo-15k", 15228, 62770), ("beam-463", 463, 1479)],
)
def test_meshes_of_the_field(data_meshes, name, vertices, tets):
    mesh = data_meshes(name)
    assert (mesh.n_vertices, len(mesh.tets)) == (vertices, tets)
    corners = mesh.points[mesh.tets]
    assert np.linalg.det(corners[:, 1:] - corners[:, :1]).min() > 0


def test_a_surface_of_the_field(data_folder):
    """The squishy ball: a closed surface, every edge shared by two triangles."""
    mesh = pl.load_mesh(data_folder / "squishy-ball-surface.obj")
    assert isinstance(mesh, pl.TriMesh)
    edges = np.sort(mesh.triangles[:, [0, 1, 1, 2, 2, 0]].reshape(-1, 2), axis=1)
    _, counts = np.unique(edges, axis=0, return_counts=True)
    assert (counts == 2).all()

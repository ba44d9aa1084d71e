"""Meshes refuse what cannot be simulated, in one sentence that names the culprit and the remedy."""

import pickle
import sys
from pathlib import Path
from types import SimpleNamespace

import meshio
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays

from pliant.errors import MeshError, PliantError
from pliant.geometry import TetMesh, TriMesh, drop_isolated_vertices, shapes

CORNER = np.array([[0.0, 0, 0], [1, 0, 0], [0, 1, 0], [0, 0, 1]])
TET = np.array([[0, 1, 2, 3]])
TRIANGLE = np.array([[0, 1, 2]])


def moved(vertex: int, value: list[float]) -> np.ndarray:
    points = CORNER.copy()
    points[vertex] = value
    return points


REFUSED = {
    "nan": (moved(2, [np.nan, 0, 0]), TET, r"1 of 4 vertices .* vertex 2 = \(nan, 0, 0\)"),
    "infinite": (moved(1, [0, np.inf, 0]), TET, r"vertex 1 = \(0, inf, 0\)"),
    "huge": (moved(1, [1e200, 0, 0]), TET, r"vertex 1 = \(1e\+200, 0, 0\) lies beyond"),
    "planar": (CORNER[:, :2], TET, r"shape \(4, 2\).*third coordinate"),
    "flat list": (CORNER.ravel(), TET, r"shape \(12,\)"),
    "text": ([["a", "b", "c"]], TET, "type <U1"),
    "complex": (CORNER.astype(complex), TET, "type complex128"),
    "ragged points": ([[0, 0, 0], [1, 0]], TET, "not a rectangular array"),
    "no points": ([], TET, "no vertices"),
    "no tets": (CORNER, np.zeros((0, 4), int), "no tets"),
    "triangles": (CORNER, [[0, 1, 2]], r"shape \(1, 3\)"),
    "float indices": (CORNER, TET.astype(float), r"type float64.*astype\(int\)"),
    "boolean indices": (CORNER, TET.astype(bool), "type bool"),
    "text indices": (CORNER, [["0", "1", "2", "3"]], "whole numbers"),
    "ragged tets": (CORNER, [[0, 1, 2, 3], [0, 1]], "not a rectangular array"),
    "too large": (CORNER, [[0, 1, 2, 4]], "outside 0 to 3, the first is tet 0 with vertex 4 at place 3"),
    "negative": (CORNER, [[0, 1, 2, -1]], "vertex -1 at place 3"),
    "counted from one": (CORNER, [[1, 2, 3, 4]], "subtract 1"),
    "unsigned overflow": (
        CORNER,
        np.array([[0, 1, 2, 2**64 - 1]], dtype=np.uint64),
        "vertex 18446744073709551615",
    ),
    "repeated": (CORNER, [[0, 1, 2, 3], [0, 1, 1, 3]], r"1 of 2 tets .* tet 1 = \(0, 1, 1, 3\)"),
    "isolated": (np.vstack([CORNER, CORNER + 5]), TET, r"4 of 8 vertices in no tet \(vertex 4, 5, 6, 7\)"),
    "flat": (moved(3, [1, 1, 0]), TET, r"1 of 1 tets that are flat, the first is tet 0 = \(0, 1, 2, 3\)"),
    "nearly flat": (moved(3, [0.3, 0.3, 1e-12]), TET, "flat"),
    "inverted": (CORNER, [[0, 2, 1, 3]], "1 of 1 tets that are inverted.*-0.167 m.*orient=True"),
}


@pytest.mark.parametrize("case", REFUSED)
def test_refuses_bad_tets_with_a_reason(case: str) -> None:
    points, tets, sentence = REFUSED[case]
    with pytest.raises(MeshError, match=sentence) as caught:
        TetMesh(points, tets)
    assert str(caught.value).startswith("TetMesh")


def test_reports_the_most_basic_problem_first() -> None:
    """NaN before index before orientation, although all three are wrong."""
    with pytest.raises(MeshError, match="not finite"):
        TetMesh(moved(0, [np.nan, 0, 0]), [[0, 2, 1, 9]])
    with pytest.raises(MeshError, match="outside"):
        TetMesh(CORNER, [[0, 2, 1, 9]])


def test_orient_flips_only_what_is_inverted() -> None:
    cube = shapes.box(cells=(2, 2, 2))
    tets = cube.tets.copy()
    tets[::3, [0, 1]] = tets[::3, [1, 0]]
    with pytest.raises(MeshError, match="14 of 40 tets that are inverted"):
        TetMesh(cube.points, tets)
    mesh = TetMesh(cube.points, tets, orient=True)
    assert mesh.volumes == pytest.approx(cube.volumes)
    np.testing.assert_array_equal(mesh.tets[1::3], cube.tets[1::3])


@pytest.mark.parametrize("size", [1e-60, 1e-6, 1.0, 1e6, 1e74])
def test_flatness_is_relative(size: float) -> None:
    assert TetMesh(size * CORNER, TET).volume == pytest.approx(size**3 / 6)
    assert TriMesh(size * CORNER[:3], TRIANGLE).area == pytest.approx(size**2 / 2)
    with pytest.raises(MeshError, match="flat"):
        TetMesh(size * moved(3, [0.3, 0.3, 1e-12]), TET)


def test_refuses_bad_triangles() -> None:
    with pytest.raises(MeshError, match=r"1 of 1 triangles without area, the first is triangle 0 = \(0, 1, 2\)"):
        TriMesh([[0, 0, 0], [1, 1, 1], [2, 2, 2]], TRIANGLE)
    with pytest.raises(MeshError, match="TriMesh has 1 of 4 vertices in no triangle"):
        TriMesh(CORNER, TRIANGLE)
    with pytest.raises(MeshError, match=r"shape \(1, 4\)"):
        TriMesh(CORNER, TET)


def test_branching_surface_is_accepted() -> None:
    """Three triangles at one edge: no manifold, yet a legal TriMesh."""
    mesh = TriMesh(np.vstack([CORNER, [[0, -1, 0]]]), [[0, 1, 2], [0, 1, 3], [0, 1, 4]])
    assert not mesh.is_closed
    assert len(mesh.edges) == 7


def test_arrays_cannot_be_changed() -> None:
    points = CORNER.copy()
    mesh = TetMesh(points, TET)
    points[0] = 7.0
    assert mesh.points[0, 0] == 0.0
    for array in (mesh.points, mesh.tets, mesh.volumes, mesh.edges, mesh.surface_triangles):
        with pytest.raises(ValueError, match="read-only"):
            array[0] = 1
    with pytest.raises(AttributeError, match="immutable"):
        mesh.points = points  # type: ignore[misc]
    again = pickle.loads(pickle.dumps(mesh))
    assert not again.points.flags.writeable
    np.testing.assert_array_equal(again.tets, mesh.tets)


def test_dropping_isolated_vertices_tells_which_remain() -> None:
    points = np.array([[9.0, 9, 9], *CORNER[:2], [8, 8, 8], *CORNER[2:]])
    new_points, tets, kept = drop_isolated_vertices(points, [[1, 2, 4, 5]])
    np.testing.assert_array_equal(kept, [1, 2, 4, 5])
    np.testing.assert_array_equal(new_points, CORNER)
    assert TetMesh(new_points, tets).volume == pytest.approx(1 / 6)
    with pytest.raises(MeshError, match="from 1 to 9"):
        drop_isolated_vertices(points, [[1, 2, 4, 9]])
    with pytest.raises(MeshError, match="float64"):
        drop_isolated_vertices(points, [[1.0, 2, 4, 5]])


def test_transformed_scales_then_rotates_then_moves() -> None:
    quarter_turn = [[0, -1, 0], [1, 0, 0], [0, 0, 1]]
    mesh = TetMesh(CORNER, TET).transformed(scale=(2, 1, 3), rotation=quarter_turn, translation=(0, 0, 5))
    np.testing.assert_allclose(mesh.points[1], [0, 2, 5])
    np.testing.assert_allclose(mesh.points[3], [0, 0, 8])
    assert mesh.volume == pytest.approx(1.0)
    low, high = mesh.bounds
    np.testing.assert_allclose(low, [-1, 0, 5])
    np.testing.assert_allclose(high, [0, 2, 8])


@pytest.mark.parametrize(
    "change",
    [
        {"scale": 0.0},
        {"scale": (1, -1, 1)},
        {"scale": np.nan},
        {"rotation": np.eye(3) * 2},
        {"rotation": np.diag([1, 1, -1])},
        {"rotation": np.eye(2)},
        {"translation": (1, 2)},
        {"translation": (np.inf, 0, 0)},
    ],
)
def test_transformed_refuses_what_is_no_motion(change: dict) -> None:
    with pytest.raises(MeshError, match=r"transformed got"):
        TetMesh(CORNER, TET).transformed(**change)


@given(
    points=arrays(np.float64, st.tuples(st.integers(0, 6), st.integers(2, 4))),
    tets=arrays(np.int64, st.tuples(st.integers(0, 4), st.integers(3, 5)), elements=st.integers(-2, 7)),
    orient=st.booleans(),
)
def test_any_arrays_give_a_sound_mesh_or_one_error(points: np.ndarray, tets: np.ndarray, orient: bool) -> None:
    try:
        mesh = TetMesh(points, tets, orient=orient)
    except MeshError:
        return
    assert np.all(mesh.volumes > 0)


def test_shared_meshes_load(data_meshes) -> None:
    sizes = {
        "armadillo-15k": (15228, 62770),
        "bunny-1.9k": (1869, 7356),
        "teapot-2k": (1970, 8455),
        "octopus-3.9k": (3891, 14802),
        "beam-463": (463, 1479),
        "star-sphere-889": (889, 1772),
        "rod-630": (630, 1722),
    }
    for name, size in sizes.items():
        mesh = data_meshes(name)
        assert (mesh.n_vertices, mesh.n_tets) == size


def test_squishy_ball_surface_is_a_closed_trimesh(data_folder: Path) -> None:
    surface = meshio.read(data_folder / "squishy-ball-surface.obj")
    quads = surface.cells_dict["quad"]
    triangles = np.vstack([surface.cells_dict["triangle"], quads[:, [0, 1, 2]], quads[:, [0, 2, 3]]])
    assert TriMesh(surface.points, triangles).is_closed


def test_tetrahedralize_fills_a_ball(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Where it is not installed, tests/cli/test_wheel.py installs the extra `mesh` into a clean environment."""
    pytest.importorskip("pytetwild", reason="the extra mesh is not installed")
    monkeypatch.chdir(tmp_path)
    skin = shapes.ball(cells=3).surface()
    solid = skin.tetrahedralize(edge_length=0.4)
    # fTetWild keeps the surface within a thousandth of the diagonal; the ball's faces lose little volume.
    assert solid.volume == pytest.approx(shapes.ball(cells=3).volume, rel=0.02)
    assert solid.surface().is_closed
    assert list(tmp_path.iterdir()) == [], "the user's folder stays clean"
    with pytest.raises(MeshError, match="open edges and encloses nothing"):
        shapes.cloth(cells=(2, 2)).tetrahedralize(edge_length=0.5)
    with pytest.raises(MeshError, match="edge_length=-1"):
        skin.tetrahedralize(edge_length=-1)


def test_tetrahedralize_says_what_to_install(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "pytetwild", None)
    with pytest.raises(PliantError, match=r'pytetwild.*pip install "pliant\[mesh\]"'):
        shapes.cloth(cells=(1, 1)).tetrahedralize()


def test_the_original_import_error_is_shown(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "pytetwild.py").write_text("import a_package_that_is_not_there\n")
    monkeypatch.syspath_prepend(tmp_path)
    monkeypatch.delitem(sys.modules, "pytetwild", raising=False)
    with pytest.raises(PliantError, match="No module named 'a_package_that_is_not_there'"):
        shapes.cloth(cells=(1, 1)).tetrahedralize()


@pytest.mark.parametrize(
    ("surface", "words"),
    [
        (shapes.cloth(cells=(2, 2)), "8 open edges"),
        (shapes.box((1, 1, 1e-4), (1, 1, 1)).surface(), "closed, but only about 0.0001 m thick"),
        (
            TriMesh(shapes.box(cells=1).surface().points, shapes.box(cells=1).surface().triangles[:, ::-1]),
            "closed, but its triangles face inward",
        ),
    ],
)
def test_what_cannot_be_filled_is_told_why(surface, words, monkeypatch: pytest.MonkeyPatch) -> None:
    nothing = SimpleNamespace(tetrahedralize=lambda *_, **__: (np.empty((0, 3)), np.empty((0, 4), int)))
    monkeypatch.setitem(sys.modules, "pytetwild", nothing)
    with pytest.raises(MeshError, match=words):
        surface.tetrahedralize()


def test_an_open_surface_is_filled_with_a_warning(monkeypatch: pytest.MonkeyPatch, caplog) -> None:
    box = shapes.box(cells=1)
    filled = SimpleNamespace(tetrahedralize=lambda *_, **__: (box.points, box.tets))
    monkeypatch.setitem(sys.modules, "pytetwild", filled)
    closed = box.surface()
    closed.tetrahedralize()
    assert not caplog.records
    TriMesh(closed.points, closed.triangles[1:]).tetrahedralize()
    assert "3 open edges" in caplog.text


def test_duplicate_elements_are_refused() -> None:
    box = shapes.box(cells=1)
    with pytest.raises(MeshError, match=r"1 of \d+ tets that repeat an earlier one.*the same as tet 2"):
        TetMesh(box.points, [*box.tets, box.tets[2][[1, 2, 0, 3]]])
    sheet = shapes.cloth(cells=(1, 1))
    with pytest.raises(MeshError, match="the same as triangle 0"):
        TriMesh(sheet.points, [*sheet.triangles, sheet.triangles[0][::-1]])

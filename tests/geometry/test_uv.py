"""Warp directions from UV coordinates: of a rolled sheet, turned and cut panels; files; bad input."""

import numpy as np
import pytest

import pliant as pl
from pliant.errors import FileError, MeshError


def rolled(angle: float) -> tuple[pl.TriMesh, np.ndarray]:
    """A sheet rolled about y with radius 1, and UVs that are its flat coordinates turned by an angle, (n, 2)."""
    flat = pl.shapes.cloth((1.0, 0.5), (40, 20))
    s, y = flat.points[:, 0], flat.points[:, 1]
    mesh = pl.TriMesh(np.column_stack([np.sin(s), y, np.cos(s)]), flat.triangles)
    c, d = np.cos(angle), np.sin(angle)
    return mesh, np.column_stack([c * s + d * y, -d * s + c * y])


@pytest.mark.parametrize("angle", [0.0, 0.5])
def test_warp_of_a_rolled_sheet_is_its_tangent(angle):
    """Along u the sheet goes by cos a along the circle and by sin a along y."""
    mesh, uv = rolled(angle)
    place = mesh.points[mesh.triangles].mean(axis=1)
    s = np.arctan2(place[:, 0], place[:, 2])
    tangent = np.column_stack([np.cos(s), np.zeros(len(s)), -np.sin(s)])
    expected = np.cos(angle) * tangent + np.sin(angle) * np.array([0.0, 1.0, 0.0])
    np.testing.assert_allclose(pl.warp_from_uv(mesh, uv), expected, atol=0.02)  # half an angle of 1/40


def test_scale_and_place_of_panels_do_not_matter():
    mesh, uv = rolled(0.3)
    corners = 7.0 * uv[mesh.triangles] + np.arange(mesh.n_triangles)[:, None, None]
    np.testing.assert_allclose(pl.warp_from_uv(mesh, corners), pl.warp_from_uv(mesh, uv), atol=1e-9)


OBJ = """v 0 0 0
v 1 0 0
v 1 1 0
v 0 1 0
vt 0 0
vt 0 1
vt -1 1
vt -1 0
f 1/1 2/2 3/3
f 1/-4 3/-2 4/-1
"""


def test_obj_files_and_scene_files(tmp_path):
    """Here u grows against y."""
    (tmp_path / "panel.obj").write_text(OBJ)
    mesh = pl.load_mesh(tmp_path / "panel.obj")
    warp = pl.warp_from_uv(mesh, pl.load_uv(tmp_path / "panel.obj"))
    np.testing.assert_allclose(warp, [(0, -1, 0), (0, -1, 0)], atol=1e-15)
    text = '[[bodies]]\nkind = "yarn_cloth"\nmesh = "panel.obj"\nwarp_from_uv = true\n'
    (tmp_path / "scene.toml").write_text(text)
    sheet = pl.load_scene(tmp_path / "scene.toml").bodies[0]
    np.testing.assert_allclose(sheet.warp_field, warp)


def test_bad_input(tmp_path):
    mesh, uv = rolled(0.0)
    with pytest.raises(MeshError, match="triangle 0 has no area in the uv plane"):
        pl.warp_from_uv(mesh, uv * [1.0, 0.0])
    with pytest.raises(MeshError, match=r"uv has shape \(3, 2\)"):
        pl.warp_from_uv(mesh, np.zeros((3, 2)))
    bare = tmp_path / "bare.obj"
    bare.write_text(OBJ.replace("1/1 2/2 3/3", "1 2 3"))
    with pytest.raises(FileError, match=r"line 9: the corner '1' has no UV coordinates"):
        pl.load_uv(bare)
    bare.write_text(OBJ.replace("3/3", "3/9"))
    with pytest.raises(FileError, match="UV coordinate 9, but there are 4"):
        pl.load_uv(bare)
    with pytest.raises(FileError, match=r"reads UV coordinates of \.obj files"):
        pl.load_uv(tmp_path / "a.ply")

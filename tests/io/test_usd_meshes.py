"""Meshes of USD stages: places, units, axes, orientation, and what physics schemas say."""

import numpy as np
import pytest

import pliant as pl

pytest.importorskip("pxr")
from pxr import Gf, Sdf, Usd, UsdGeom, UsdPhysics, UsdShade

CUBE = np.array([[x, y, z] for z in (0, 1) for y in (0, 1) for x in (0, 1)], float)
FACES = [[0, 2, 3, 1], [4, 5, 7, 6], [0, 1, 5, 4], [2, 6, 7, 3], [0, 4, 6, 2], [1, 3, 7, 5]]


def add_cube(stage, path, orientation="rightHanded"):
    mesh = UsdGeom.Mesh.Define(stage, path)
    mesh.CreatePointsAttr([Gf.Vec3f(*map(float, p)) for p in CUBE])
    mesh.CreateFaceVertexCountsAttr([4] * 6)
    faces = FACES if orientation == "rightHanded" else [face[::-1] for face in FACES]
    mesh.CreateFaceVertexIndicesAttr([k for face in faces for k in face])
    mesh.CreateOrientationAttr(orientation)
    return mesh


def volume(mesh):
    a, b, c = np.moveaxis(mesh.points[mesh.triangles], 1, 0)
    return float(np.einsum("ka,ka->", a, np.cross(b, c)) / 6)


@pytest.fixture
def stage():
    stage = Usd.Stage.CreateInMemory()
    UsdGeom.SetStageUpAxis(stage, UsdGeom.Tokens.z)
    UsdGeom.SetStageMetersPerUnit(stage, 1.0)
    return stage


def written(stage, folder):
    path = folder / "stage.usda"
    stage.GetRootLayer().Export(str(path))
    return path


def test_transforms_units_and_axes(stage, tmp_path):
    """A cube of 2 x 3 x 4 cm, moved and turned below a moved parent, in centimetres with y up."""
    UsdGeom.SetStageUpAxis(stage, UsdGeom.Tokens.y)
    UsdGeom.SetStageMetersPerUnit(stage, 0.01)
    parent = UsdGeom.Xform.Define(stage, "/world")
    parent.AddTranslateOp().Set(Gf.Vec3d(10, 0, 0))
    cube = add_cube(stage, "/world/cube")
    cube.AddTranslateOp().Set(Gf.Vec3d(0, 20, 0))
    cube.AddRotateYOp().Set(90.0)
    cube.AddScaleOp().Set(Gf.Vec3f(2, 3, 4))
    (body,) = pl.load_usd(written(stage, tmp_path))
    assert body.name == "/world/cube"
    # scaled (2, 3, 4), turned about y: x -> -z, z -> x; moved by (10, 20, 0) cm; y up -> z up: (x, y, z) -> (x, -z, y)
    scaled = CUBE * [2, 3, 4]
    turned = np.stack([scaled[:, 2], scaled[:, 1], -scaled[:, 0]], axis=1) + np.array([10, 20, 0])
    expected = 0.01 * np.stack([turned[:, 0], -turned[:, 2], turned[:, 1]], axis=1)
    np.testing.assert_allclose(body.mesh.points, expected, atol=1e-9)
    assert volume(body.mesh) == pytest.approx(24e-6)


@pytest.mark.parametrize(("orientation", "scale"), [("leftHanded", 1), ("rightHanded", -1), ("leftHanded", -1)])
def test_surfaces_face_outward(stage, tmp_path, orientation, scale):
    """Whether the file winds them the other way, a mirror turns them, or both."""
    add_cube(stage, "/cube", orientation).AddScaleOp().Set(Gf.Vec3f(scale, 1, 1))
    mesh = pl.load_mesh(written(stage, tmp_path))
    assert mesh.is_closed
    assert volume(mesh) == pytest.approx(1.0)


def test_several_meshes_are_one_and_hidden_ones_are_left_out(stage, tmp_path):
    add_cube(stage, "/a")
    add_cube(stage, "/b").AddTranslateOp().Set(Gf.Vec3d(0, 0, 5))
    UsdGeom.Imageable(add_cube(stage, "/c").GetPrim()).MakeInvisible()
    UsdGeom.Imageable(add_cube(stage, "/d").GetPrim()).CreatePurposeAttr("guide")
    path = written(stage, tmp_path)
    assert [body.name for body in pl.load_usd(path)] == ["/a", "/b"]
    mesh = pl.load_mesh(path)
    assert (mesh.n_vertices, volume(mesh)) == (16, pytest.approx(2.0))


def test_tets_and_deformable_attributes(stage, tmp_path):
    """In centimetres and grams: density 1 g/cm^3 is 1000 kg/m^3, 1e5 g/(cm s^2) is 1e4 Pa."""
    UsdGeom.SetStageMetersPerUnit(stage, 0.01)
    UsdPhysics.SetStageKilogramsPerUnit(stage, 0.001)
    tets = UsdGeom.TetMesh.Define(stage, "/jelly")
    tets.CreatePointsAttr([Gf.Vec3f(*p) for p in ((0, 0, 0), (1, 0, 0), (0, 1, 0), (0, 0, 1))])
    tets.CreateTetVertexIndicesAttr([Gf.Vec4i(0, 1, 2, 3)])
    material = UsdShade.Material.Define(stage, "/rubber")
    for name, value in (("youngsModulus", 1e5), ("poissonsRatio", 0.4), ("density", 1.0), ("dynamicFriction", 0.7)):
        material.GetPrim().CreateAttribute(f"omniphysics:{name}", Sdf.ValueTypeNames.Float).Set(value)
    UsdShade.MaterialBindingAPI.Apply(tets.GetPrim()).Bind(material, materialPurpose="physics")
    (body,) = pl.load_usd(written(stage, tmp_path))
    assert body.mesh.volumes == pytest.approx([1e-6 / 6])
    assert body.density == pytest.approx(1000.0)
    assert body.youngs_modulus == pytest.approx(1e4)
    assert (body.poissons_ratio, body.friction) == (pytest.approx(0.4), pytest.approx(0.7))


def test_bad_files_are_refused(stage, tmp_path):
    with pytest.raises(pl.FileError, match="no such file"):
        pl.load_usd(tmp_path / "none.usda")
    (tmp_path / "text.usda").write_text("hello")
    with pytest.raises(pl.FileError, match="usd-core cannot read it"):
        pl.load_usd(tmp_path / "text.usda")
    with pytest.raises(pl.FileError, match="no visible mesh"):
        pl.load_usd(written(stage, tmp_path))
    mesh = add_cube(stage, "/cube")
    mesh.GetFaceVertexCountsAttr().Set([4] * 5)
    with pytest.raises(pl.FileError, match="/cube: its faces have 20 corners by their counts, but 24 are given"):
        pl.load_usd(written(stage, tmp_path))

"""Sheets of yarn cloth in scenes: what is refused, and what files keep."""

import numpy as np
import pytest

import pliant as pl
from pliant.model import YarnTriangles, build_model

MESH = pl.shapes.cloth(size=(0.06, 0.06), cells=(4, 4))
JERSEY = pl.YarnCloth.example()


def test_mass_and_warp():
    scene = pl.Scene()
    sheet = scene.add_cloth(MESH, JERSEY, warp=(0, 1, 0.5))
    assert sheet.masses().sum() == pytest.approx(0.2 * 0.06**2)  # the file's density
    (block,) = build_model(scene).blocks
    assert isinstance(block, YarnTriangles)
    # F_x = x b_x is the unit vector of the warp, laid into the sheet, where the sheet is at rest
    warp = np.einsum("mka,mk->ma", MESH.points[MESH.triangles], block.gradients[:, :, 0])
    assert np.abs(warp - [0, 1, 0]).max() < 1e-12


def test_two_sheets_of_one_material_are_one_block():
    scene = pl.Scene()
    scene.add_cloth(MESH, JERSEY)
    scene.add_cloth(MESH, pl.YarnCloth("jersey"), density=0.3)
    assert len(build_model(scene).blocks) == 1


@pytest.mark.parametrize(
    ("options", "words"),
    [
        ({"warp": (0, 0, 0)}, "warp is zero in triangle 0"),
        ({"warp": (0, 0, 2)}, "is across triangle 0"),
        ({"warp": np.zeros((3, 3))}, "not shape (3, 3)"),
        ({"warp": (0, np.nan, 0)}, "finite vector"),
        ({"bending": 1e-4}, "bending is 0.0001, but a yarn cloth has none of its own"),
        ({"tear_at": 1.5}, "tear_at is 1.5"),
        ({"density": -1.0}, "density is -1.0"),
    ],
)
def test_bad_sheets_are_refused(options, words):
    with pytest.raises(pl.PliantError) as refused:
        pl.Scene().add_cloth(MESH, JERSEY, **options)
    assert words in str(refused.value)


def test_sheets_that_do_not_lie_side_by_side_are_refused():
    points = np.array([[0.0, 0, 0], [1, 0, 0], [0, 1, 0], [0, -1, 0], [0, 0, 1]])
    turned = pl.TriMesh(points[:4], [[0, 1, 2], [0, 1, 3]])
    with pytest.raises(pl.SceneError, match=r"\[0, 1\] joins two triangles that face opposite sides"):
        pl.Scene().add_cloth(turned, JERSEY)
    branched = pl.TriMesh(points, [[0, 1, 2], [1, 0, 3], [0, 1, 4]])
    with pytest.raises(pl.SceneError, match="belongs to 3 triangles"):
        pl.Scene().add_cloth(branched, JERSEY)


def test_solvers_without_a_form_refuse_it():
    scene = pl.Scene()
    scene.add_cloth(MESH, JERSEY).pin([0])
    for solver in (pl.XPBD(), pl.ProjectiveDynamics(), pl.PositionBased()):
        with pytest.raises(pl.SolverError):
            pl.Simulation(scene, solver=solver).step()


def test_checkpoints_and_scene_files_keep_it(tmp_path):
    scene = pl.Scene()
    sheet = scene.add_cloth(MESH, JERSEY, warp=(1, 1, 0), damping=1e-3)
    sheet.pin([0, 4])
    sim = pl.Simulation(scene, solver=pl.Newton(residual=1e-6), substeps=2)
    sim.step()
    sim.save(tmp_path / "run.npz")
    again = pl.Simulation.resume(tmp_path / "run.npz")
    sim.step()
    again.step()
    assert np.array_equal(sim.positions, again.positions)
    pl.save_scene(scene, tmp_path / "scene.toml")
    read = pl.load_scene(tmp_path / "scene.toml")
    assert read.bodies[0].material == JERSEY
    assert np.array_equal(read.bodies[0].warp_field, sheet.warp_field)
    with pytest.raises(pl.SceneError, match="cannot be taken apart"):
        sim.delete(sheet, [0])

"""Displacements, reactions and tensors in results that other programs open."""

import numpy as np
import pytest

import pliant as pl
from pliant.io.results import open_result
from pliant.scenes.files.schema import Output
from pliant.scenes.runs import Run


@pytest.fixture
def hanging():
    """A beam that is held at one end and falls with the other."""
    scene = pl.Scene()
    mesh = pl.shapes.box((0.3, 0.1, 0.1), (3, 1, 1))
    body = scene.add_solid(mesh, pl.StableNeoHookean.from_young(1e5, 0.3), name="part 0")
    body.pin(mesh.points[:, 0] < -0.149)
    return pl.Simulation(scene, pl.Newton(), frame_rate=50, substeps=1, precision="double")


def test_reactions_balance_weight_and_inertia(hanging):
    """Elastic forces cancel over a body, so that reactions are sum m (a - g), a from the velocities of the step."""
    assert not hanging.reaction_forces.any()
    mass = hanging.model.mass
    for _ in range(3):
        before = hanging.velocities
        hanging.step()
        a = (hanging.velocities - before) / hanging.h
        expected = mass @ (a - np.array([0, 0, -9.81]))
        np.testing.assert_allclose(hanging.reaction_forces.sum(axis=0), expected, atol=1e-6 * 9.81 * mass.sum())
        assert not hanging.reaction_forces[hanging.model.is_free].any()


def test_paraview_gets_displacements_reactions_and_stresses(hanging, tmp_path):
    meshio = pytest.importorskip("meshio")
    with (
        hanging.record(tmp_path / "all.pvd", volume=True, tensors=True),
        hanging.record(tmp_path / "usual.pvd"),
        hanging.record(tmp_path / "usual.npz"),
    ):
        hanging.advance()
    grid = meshio.read(tmp_path / "all" / "all_00001.vtu")
    start = hanging.model.positions
    np.testing.assert_allclose(grid.point_data["displacement"], hanging.positions - start, atol=1e-8)
    np.testing.assert_allclose(grid.point_data["reaction_force"], hanging.reaction_forces, rtol=1e-6)
    assert grid.cell_data_dict["stress"]["tetra"].shape == (hanging.model.n_tets, 9)
    assert grid.cell_data_dict["strain"]["tetra"].shape == (hanging.model.n_tets, 9)
    usual = meshio.read(tmp_path / "usual" / "usual_00001.vtu").point_data
    assert "velocity" in usual
    assert not {"displacement", "reaction_force"} & set(usual)
    with open_result(tmp_path / "usual.npz") as result:
        assert "displacement" not in result.frame(1).point_fields


def test_scene_files_ask_for_tensors(hanging, tmp_path):
    for _ in Run(hanging, 1, tmp_path, (Output(file="kept.npz", tensors=True),)):
        pass
    with open_result(tmp_path / "kept.npz") as result:
        frame = result.frame(1)
    assert {"stress", "strain"} <= set(frame.cell_fields)
    assert {"displacement", "reaction_force"} <= set(frame.point_fields)

"""Spheres in results and pictures."""

import json
import struct

import numpy as np
import pytest

import pliant as pl
from pliant.io.results import open_result
from pliant.io.results.convert import convert
from pliant.io.results.spheres import with_surfaces


@pytest.fixture(scope="module")
def recorded(tmp_path_factory):
    """Two spheres with spin, one that comes after 1.5 frames, and a spring, three frames."""
    scene = pl.Scene()
    scene.add_springs([[0, 0, 0.5], [0, 0, 0.6]], [[0, 1]], stiffness=100.0, mass=0.1)
    scene.add_particles([[0, 0, 0.2], [0.1, 0, 0.3]], radius=[0.02, 0.03], spin=True)
    late = scene.add_emitter((0.5, 0, 0.5), rate=1.0, velocity=(1, 0, 0), until=0.5, start=0.025)
    late.colour = (0, 0, 1)
    sim = pl.Simulation(scene, pl.VelocityTimeStepping(), substeps=4)
    path = tmp_path_factory.mktemp("run") / "run.npz"
    states = [sim.positions]
    with sim.record(path):
        for _ in range(2):
            sim.advance()
            states.append(sim.positions)
    return path, np.array(states)


def test_archives_have_radii_births_and_spins(recorded):
    path, states = recorded
    file = np.load(path)
    np.testing.assert_allclose(file["radii"], [0, 0, 0.02, 0.03, 0.01])
    np.testing.assert_allclose(file["births"], [0, 0, 0, 0, 0.025])
    assert file["spin_00001"].shape == (5, 3)
    with open_result(path) as result:
        for k in range(3):
            np.testing.assert_allclose(result.positions(k), states[k])
        np.testing.assert_allclose(result.layout.radii_at(0.0), [0, 0, 0.02, 0.03, 0.0])
        np.testing.assert_allclose(result.layout.radii_at(2 / 60), [0, 0, 0.02, 0.03, 0.01])


@pytest.mark.parametrize("ending", ["pvd", "usdc", "usda"])
def test_formats_with_spheres_give_them_back(recorded, tmp_path, ending):
    if ending.startswith("us"):
        pytest.importorskip("pxr")
    path, states = recorded
    convert(path, tmp_path / f"run.{ending}")
    with open_result(tmp_path / f"run.{ending}") as result:
        layout = result.layout
        np.testing.assert_allclose(layout.radii[layout.spheres], [0.02, 0.03, 0.01], rtol=1e-6)
        for k in range(3):
            np.testing.assert_allclose(result.positions(k)[layout.spheres], states[k, 2:], atol=1e-6)
        sizes = [layout.radii_at(time)[layout.spheres][2] for time in result.times]
        np.testing.assert_allclose(sizes, [0, 0, 0.01], rtol=1e-6)


def test_paraview_has_vertices_with_a_radius(recorded, tmp_path):
    meshio = pytest.importorskip("meshio")
    convert(recorded[0], tmp_path / "run.pvd")
    grid = meshio.read(tmp_path / "run" / "run_00002.vtu")
    np.testing.assert_array_equal(grid.cells_dict["vertex"].ravel(), [2, 3, 4])
    np.testing.assert_allclose(grid.point_data["radius"], [0, 0, 0.02, 0.03, 0.01], rtol=1e-6)
    assert grid.point_data["spin"].shape == (5, 3)


def test_glb_has_a_node_for_each_sphere(recorded, tmp_path):
    """Two meshes of unit spheres; translations are the positions of the frames, scales the radii, 0 until one comes."""
    path, states = recorded
    convert(path, tmp_path / "run.glb")
    data = (tmp_path / "run.glb").read_bytes()
    length = struct.unpack("<L", data[12:16])[0]
    about, binary = json.loads(data[20 : 20 + length]), data[28 + length :]

    def values(accessor):
        item = about["accessors"][accessor]
        view = about["bufferViews"][item["bufferView"]]
        return np.frombuffer(binary, np.float32, 3 * item["count"], view["byteOffset"]).reshape(-1, 3)

    spheres = [k for k, node in enumerate(about["nodes"]) if "scale" in node]
    assert [about["nodes"][k]["scale"][0] for k in spheres] == pytest.approx([0.02, 0.03, 0.0])
    animation = about["animations"][0]
    tracks = {
        (channel["target"]["node"], channel["target"]["path"]): animation["samplers"][channel["sampler"]]
        for channel in animation["channels"]
    }
    for number, node in enumerate(spheres):
        if (node, "translation") in tracks:
            way = values(tracks[node, "translation"]["output"])
            np.testing.assert_allclose(way, states[:, 2 + number], atol=1e-6)
    assert (spheres[0], "translation") in tracks
    sizes = values(tracks[spheres[2], "scale"]["output"])
    np.testing.assert_allclose(sizes[:, 0], [0, 0, 0.01], rtol=1e-6)


@pytest.mark.parametrize("ending", ["ply", "obj"])
def test_surfaces_where_a_format_has_no_spheres(recorded, tmp_path, ending):
    """Closed, outward, around the centres, of 0.9 to 1 times the volume of the ball."""
    path, states = recorded
    with open_result(path) as result:
        surfaces = with_surfaces(result)
        corners = surfaces.positions(1)[surfaces.layout.triangles[:80]] - states[1, 2]
        volume = np.einsum("ta,ta->t", corners[:, 0], np.cross(corners[:, 1], corners[:, 2])).sum() / 6
        assert 0.85 < volume / (4 / 3 * np.pi * 0.02**3) < 1
        assert np.ptp(surfaces.positions(1)[-42:], axis=0).max() == 0  # not there yet
        np.testing.assert_allclose(np.linalg.norm(corners, axis=2), 0.02, rtol=1e-6)
    convert(path, tmp_path / f"run.{ending}")
    with open_result(tmp_path / f"run.{ending}") as written:
        assert written.layout.n_points == 2 + 3 * 42
        assert len(written.triangles) == 3 * 80


def test_pictures_show_spheres_and_not_those_to_come(recorded):
    from pliant.viewer.stage import Stage, View

    with open_result(recorded[0]) as result:
        stage = Stage([result], View(height=200))
        first, last = (np.asarray(stage.picture(time)) for time in (0.0, 2 / 60))
    assert not _blue(first).any()
    assert _blue(last).any()


def _blue(picture):
    red, green, blue = (picture[..., k].astype(int) for k in range(3))
    return (blue > 2 * red) & (blue > 2 * green) & (blue > 60)

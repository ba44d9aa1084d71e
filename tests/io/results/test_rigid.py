"""Rigid bodies in results: poses, not vertices, where a format has transforms."""

import json
import struct

import numpy as np
import pytest

import pliant as pl
from pliant.geometry import rotations
from pliant.io.results import open_result

FRAMES = 5


@pytest.fixture(scope="module")
def run(tmp_path_factory):
    """Two boxes that tumble through the air for a tenth of a second, one of them held, in every format."""
    folder = tmp_path_factory.mktemp("rigid")
    scene = pl.Scene()
    spin = {"velocity": (1, 0, 2), "angular_velocity": (20, 9, -6)}
    scene.add_rigid(pl.Box((0.4, 0.3, 0.2)), position=(0, 0, 1), orientation=(0.8, 0.6, 0, 0), name="box", **spin)
    held = scene.add_rigid(pl.Box((0.2, 0.2, 0.2)), position=(1, 0, 0), name="held")
    held.pin()
    sim = pl.Simulation(scene, pl.AVBD())
    endings = ("npz", "pvd", "usdc", "usda", "glb")
    recorders = [sim.record(folder / f"run.{ending}") for ending in endings]
    for _ in sim.frames(FRAMES):
        pass
    for recorder in recorders:
        recorder.close()
    return folder


@pytest.mark.parametrize("ending", ["pvd", "usdc", "usda"])
def test_poses_and_points_come_back(run, ending: str) -> None:
    """As .npz has them in double precision: poses to 1e-7, points to single precision."""
    with open_result(run / "run.npz") as own, open_result(run / f"run.{ending}") as other:
        assert len(other) == len(own) == FRAMES + 1
        assert other.layout.rigid == own.layout.rigid == (0, 1)
        for k in range(len(own)):
            np.testing.assert_allclose(other.positions(k), own.positions(k), atol=1e-6)
            np.testing.assert_allclose(other.poses(k)[:, :3], own.poses(k)[:, :3], atol=1e-7)
            same = np.abs(np.einsum("ka,ka->k", other.poses(k)[:, 3:], own.poses(k)[:, 3:]))
            np.testing.assert_allclose(same, 1.0, atol=1e-7)
        assert np.abs(own.poses(FRAMES)[0] - own.poses(0)[0]).max() > 0.1


def test_usd_has_transforms_and_points_that_stay(run) -> None:
    pxr = pytest.importorskip("pxr.Usd")
    stage = pxr.Stage.Open(str(run / "run.usdc"))
    prim = stage.GetPrimAtPath("/result/box")
    assert prim.GetAttribute("points").GetNumTimeSamples() == 0
    assert prim.GetAttribute("xformOp:translate").GetNumTimeSamples() == FRAMES + 1
    assert prim.GetAttribute("xformOp:orient").GetNumTimeSamples() == FRAMES + 1


def read_glb(path) -> tuple[dict, bytes]:
    data = path.read_bytes()
    length = struct.unpack_from("<L", data, 12)[0]
    return json.loads(data[20 : 20 + length]), data[28 + length :]


def test_glb_has_nodes_that_move(run) -> None:
    """Translation and rotation of the node put its mesh, in its own axes, where the points of .npz are."""
    document, binary = read_glb(run / "run.glb")

    def array(number: int) -> np.ndarray:
        about = document["accessors"][number]
        view, width = document["bufferViews"][about["bufferView"]], int(about["type"][-1])
        values = np.frombuffer(binary, np.float32, about["count"] * width, view["byteOffset"])
        return values.reshape(-1, width).astype(float)

    assert all("targets" not in part for mesh in document["meshes"] for part in mesh["primitives"])
    node = next(k for k, node in enumerate(document["nodes"]) if node["name"] == "box")
    animation = document["animations"][0]
    tracks = {
        channel["target"]["path"]: array(animation["samplers"][channel["sampler"]]["output"])
        for channel in animation["channels"]
        if channel["target"]["node"] == node
    }
    assert set(tracks) == {"translation", "rotation"}
    assert len(animation["channels"]) == 2  # the held box has none
    mesh = document["meshes"][document["nodes"][node]["mesh"]]
    points = array(mesh["primitives"][0]["attributes"]["POSITION"])
    with open_result(run / "run.npz") as own:
        for k in range(FRAMES + 1):
            turn = rotations.matrices(np.roll(tracks["rotation"][k], 1))
            placed = points @ turn.T + tracks["translation"][k]
            np.testing.assert_allclose(placed, own.positions(k)[: len(points)], atol=1e-6)

"""Every format is read back by a program that is not ours: positions agree to the format's precision in every frame."""

import json
import struct
import xml.etree.ElementTree as ET

import numpy as np
import pytest

import pliant as pl
from pliant.energies import stress
from pliant.io.results import open_result

READABLE = ("npz", "pvd", "ply", "obj", "usdc", "usda")
SINGLE = 1e-7  # of positions below 1 m in single precision


def expected_fields(run, frame):
    """von Mises stress of every tet, body after body, each body by itself."""
    values = []
    for body, first in zip(run.sim.scene.bodies, run.sim.model.body_start[:-1], strict=True):
        alone = pl.Scene()
        alone.add_solid(body.mesh, body.material)
        solids = pl.Simulation(alone).model.solids[0]
        x = run.positions[frame][first : first + body.n_vertices]
        values.append(stress.TetFields(solids).measure(stress.in_rows(x))[1])
    return np.concatenate(values)


def test_numpy_reads_npz(run):
    file = np.load(run.folder / "run.npz")
    np.testing.assert_array_equal([file[f"time_{k:05d}"] for k in range(5)], run.times)
    for k, x in enumerate(run.positions):
        np.testing.assert_array_equal(file[f"points_{k:05d}"], x[run.kept])
        np.testing.assert_array_equal(file[f"velocity_{k:05d}"], run.velocities[k][run.kept].astype(np.float32))


@pytest.mark.parametrize("name", ["run", "whole"])
def test_vtk_reads_pvd(run, name):
    vtk = pytest.importorskip("vtk")
    from vtk.util.numpy_support import vtk_to_numpy

    kept = run.kept if name == "run" else slice(None)
    sets = ET.parse(run.folder / f"{name}.pvd").getroot().findall("./Collection/DataSet")
    assert [float(entry.attrib["timestep"]) for entry in sets] == run.times
    for k, entry in enumerate(sets):
        reader = vtk.vtkXMLUnstructuredGridReader()
        reader.SetFileName(str(run.folder / entry.attrib["file"]))
        reader.Update()
        grid = reader.GetOutput()
        np.testing.assert_array_equal(vtk_to_numpy(grid.GetPoints().GetData()), run.positions[k][kept])
        velocity = vtk_to_numpy(grid.GetPointData().GetArray("velocity"))
        np.testing.assert_allclose(velocity, run.velocities[k][kept], rtol=1e-6)
        assert grid.GetFieldData().GetArray("TimeValue").GetValue(0) == run.times[k]
    bodies = vtk_to_numpy(grid.GetCellData().GetArray("body"))
    if name == "whole":
        assert grid.GetNumberOfCells() == run.sim.model.n_tets
        assert grid.GetCellType(0) == vtk.VTK_TETRA
        equivalent = vtk_to_numpy(grid.GetCellData().GetArray("von_mises"))
        np.testing.assert_allclose(equivalent, expected_fields(run, 4), rtol=1e-5)
        assert np.bincount(bodies).tolist() == [body.mesh.n_tets for body in run.sim.scene.bodies]
    else:
        assert np.bincount(bodies).tolist() == [len(body.mesh.surface_triangles) for body in run.sim.scene.bodies]
        assert grid.GetCellType(0) == vtk.VTK_TRIANGLE


def test_meshio_reads_vtu(run):
    meshio = pytest.importorskip("meshio")
    for k in range(5):
        grid = meshio.read(run.folder / "whole" / f"whole_{k:05d}.vtu")
        np.testing.assert_array_equal(grid.points, run.positions[k])
        np.testing.assert_allclose(grid.cell_data["von_mises"][0], expected_fields(run, k), rtol=1e-5)


@pytest.mark.parametrize("ending", ["ply", "obj"])
def test_trimesh_reads_sequences(run, ending):
    trimesh = pytest.importorskip("trimesh")
    for k, x in enumerate(run.positions):
        mesh = trimesh.load(run.folder / f"run_{k:05d}.{ending}", process=False, force="mesh", maintain_order=True)
        triangles = np.asarray(mesh.vertices)[mesh.faces]
        np.testing.assert_allclose(triangles, x[run.kept][open_result(run.folder / "run.npz").triangles], atol=SINGLE)


def test_ply_carries_velocity_and_colour(run):
    meshio = pytest.importorskip("meshio")
    data = meshio.read(run.folder / "run_00003.ply").point_data  # it takes uchar for int8
    np.testing.assert_allclose(data["velocity_y"], run.velocities[3][run.kept][:, 1], rtol=1e-6)
    assert data["red"].view(np.uint8)[0] == 219  # 0.86 of 255
    assert data["blue"].view(np.uint8)[-1] == 92  # the third body's 0.36


@pytest.mark.parametrize("ending", ["usdc", "usda"])
def test_usd_core_reads_usd(run, ending):
    pytest.importorskip("pxr")
    from pxr import Usd, UsdGeom, UsdShade

    stage = Usd.Stage.Open(str(run.folder / f"run.{ending}"))
    assert UsdGeom.GetStageUpAxis(stage) == "Z"
    assert UsdGeom.GetStageMetersPerUnit(stage) == 1
    assert stage.GetTimeCodesPerSecond() == 50
    assert (stage.GetStartTimeCode(), stage.GetEndTimeCode()) == pytest.approx((0, 4))
    meshes = [UsdGeom.Mesh(prim) for prim in stage.Traverse() if prim.IsA(UsdGeom.Mesh)]
    for mesh, body, own, first in zip(
        meshes, run.sim.scene.bodies, run.surface, run.sim.model.body_start[:-1], strict=True
    ):
        assert mesh.GetPointsAttr().GetTimeSamples() == pytest.approx(range(5))
        corners = np.array(mesh.GetFaceVertexIndicesAttr().Get()).reshape(-1, 3)
        np.testing.assert_array_equal(own[corners], body.mesh.surface_triangles)
        for k, x in enumerate(run.positions):
            code = mesh.GetPointsAttr().GetTimeSamples()[k]
            np.testing.assert_allclose(mesh.GetPointsAttr().Get(code), x[first + own], atol=SINGLE)
            normals = np.array(mesh.GetNormalsAttr().Get(code))
            np.testing.assert_allclose(np.linalg.norm(normals, axis=1), 1, rtol=1e-5)
            extent = np.array(mesh.GetExtentAttr().Get(code))
            np.testing.assert_allclose(extent, [x[first + own].min(axis=0), x[first + own].max(axis=0)], atol=SINGLE)
        material, _ = UsdShade.MaterialBindingAPI(mesh.GetPrim()).ComputeBoundMaterial()
        assert material.ComputeSurfaceSource()[0].GetIdAttr().Get() == "UsdPreviewSurface"


def test_pygltflib_reads_glb(run):
    """One mesh per body, of its name; at the time of a frame the weights of its target alone give its points."""
    pygltflib = pytest.importorskip("pygltflib")
    file = pygltflib.GLTF2().load(str(run.folder / "run.glb"))
    document, blob = json.loads(file.to_json()), file.binary_blob()

    def values(number):
        about = document["accessors"][number]
        view = document["bufferViews"][about["bufferView"]]
        width = {"SCALAR": 1, "VEC3": 3}[about["type"]]
        kind = {5126: "<f4", 5125: "<u4"}[about["componentType"]]
        flat = np.frombuffer(blob, kind, width * about["count"], view["byteOffset"] + about.get("byteOffset", 0))
        if "min" in about:
            rows = flat.reshape(-1, width)
            np.testing.assert_array_equal([about["min"], about["max"]], [rows.min(axis=0), rows.max(axis=0)])
        return flat.reshape(-1, width)

    layout = open_result(run.folder / "run.npz").layout
    nodes = document["nodes"][1:]
    assert [node["name"] for node in nodes] == list(layout.body_names)
    (sampler,) = document["animations"][0]["samplers"]
    np.testing.assert_allclose(values(sampler["input"]).ravel(), run.times, atol=1e-6)
    weights = values(sampler["output"]).reshape(len(run.times), -1)
    assert sampler["interpolation"] == "LINEAR"
    targets = [channel["target"] for channel in document["animations"][0]["channels"]]
    assert targets == [{"node": k + 1, "path": "weights"} for k in range(len(nodes))]
    for b, node in enumerate(nodes):
        first, last = layout.body_start[b : b + 2]
        mesh = document["meshes"][node["mesh"]]
        (primitive,) = mesh["primitives"]
        assert len(mesh["extras"]["targetNames"]) == len(primitive["targets"]) == len(run.times) - 1
        corners = values(primitive["indices"]).reshape(-1, 3)
        np.testing.assert_array_equal(corners + first, layout.triangles[layout.triangle_bodies == b])
        points = values(primitive["attributes"]["POSITION"])
        moved = np.array([values(target["POSITION"]) for target in primitive["targets"]])
        normals = values(primitive["attributes"]["NORMAL"])
        turned = np.array([values(target["NORMAL"]) for target in primitive["targets"]])
        for x, own in zip(run.positions, weights, strict=True):
            shown = points + np.einsum("t,tna->na", own, moved)
            np.testing.assert_allclose(shown, x[run.kept][first:last], atol=2 * SINGLE)
            lengths = np.linalg.norm(normals + np.einsum("t,tna->na", own, turned), axis=1)
            np.testing.assert_allclose(lengths, 1, rtol=1e-5)


def test_trimesh_reads_glb_turned_to_y_up(run):
    """The scene graph as a viewer sees it: the first frame has its size, z is up as y."""
    trimesh = pytest.importorskip("trimesh")
    scene = trimesh.load(run.folder / "run.glb")
    moved = np.concatenate(
        [
            trimesh.transform_points(scene.geometry[name].vertices, transform)
            for transform, name in (scene.graph[node] for node in scene.graph.nodes_geometry)
            if abs(np.linalg.det(transform[:3, :3])) > 0.5
        ]
    )
    x, y, z = run.positions[0][run.kept].T
    np.testing.assert_allclose(moved.min(axis=0), [x.min(), z.min(), -y.max()], atol=1e-6)
    np.testing.assert_allclose(moved.max(axis=0), [x.max(), z.max(), -y.min()], atol=1e-6)


def test_glb_lengths_add_up(run):
    data = (run.folder / "run.glb").read_bytes()
    magic, version, length = struct.unpack_from("<4s2L", data)
    text, _ = struct.unpack_from("<L4s", data, 12)
    binary, _ = struct.unpack_from("<L4s", data, 20 + text)
    assert (magic, version, length) == (b"glTF", 2, len(data))
    assert 12 + 8 + text + 8 + binary == length


@pytest.mark.parametrize("name", [*(f"run.{ending}" for ending in READABLE), "whole.npz", "whole.pvd"])
def test_open_result_reads_what_was_written(run, name):
    kept = run.kept if name.startswith("run") else np.arange(len(run.positions[0]))
    with open_result(run.folder / name) as result, open_result(run.folder / "run.npz") as reference:
        np.testing.assert_allclose(result.times, run.times, atol=1e-12)
        assert result.layout.frame_rate == pytest.approx(50)
        for k, x in enumerate(run.positions):
            np.testing.assert_allclose(result.positions(k), x[kept], atol=SINGLE)
        np.testing.assert_array_equal(kept[result.triangles], run.kept[reference.triangles])
        assert len(result.tets) == (run.sim.model.n_tets if name.startswith("whole") else 0)
        if name.endswith((".npz", ".pvd", ".usdc", ".usda")):
            np.testing.assert_array_equal(np.diff(result.layout.body_start) > 0, [True] * 3)


def test_surface_fields_are_those_of_the_tets_behind(run):
    with open_result(run.folder / "run.npz") as surface, open_result(run.folder / "whole.npz") as whole:
        frame = whole.frame(-1)
        np.testing.assert_allclose(frame.cell_fields["von_mises"], expected_fields(run, 4), rtol=1e-5)
        shown = whole.layout.on_triangles(frame.cell_fields["von_mises"])
        np.testing.assert_allclose(surface.frame(-1).cell_fields["von_mises"], shown, rtol=1e-6)
        corners, tets = whole.triangles, whole.tets[whole.layout.triangle_tets]
        assert all(set(triangle) <= set(tet) for triangle, tet in zip(corners, tets, strict=True))

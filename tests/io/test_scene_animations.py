"""Animations from glTF and USD: morph targets, skins and moving nodes against formulas; files written by Pliant."""

import base64
import json

import numpy as np
import pytest

import pliant as pl
from pliant.errors import FileError

SQUARE = np.array([[0, 0, 0], [1, 0, 0], [1, 2, 0], [0, 2, 0]], np.float32)  # y up
FACES = np.array([0, 1, 2, 0, 2, 3], np.uint16)


def z_up(points):
    points = np.asarray(points, float)
    return np.stack([points[..., 0], -points[..., 2], points[..., 1]], axis=-1)


class Builder:
    """A .gltf file with its data inside."""

    def __init__(self):
        self.data, self.views, self.accessors = b"", [], []

    def add(self, values, kind):
        values = np.ascontiguousarray(values)
        code = {"float32": 5126, "uint16": 5123, "uint8": 5121}[values.dtype.name]
        self.data += bytes(-len(self.data) % 4)
        self.views.append({"buffer": 0, "byteOffset": len(self.data), "byteLength": values.nbytes})
        self.data += values.tobytes()
        count = values.size // {"SCALAR": 1, "VEC3": 3, "VEC4": 4, "MAT4": 16}[kind]
        self.accessors.append({"bufferView": len(self.views) - 1, "componentType": code, "count": count, "type": kind})
        return len(self.accessors) - 1

    def write(self, path, **parts):
        uri = "data:application/octet-stream;base64," + base64.b64encode(self.data).decode()
        whole = {"asset": {"version": "2.0"}, "buffers": [{"byteLength": len(self.data), "uri": uri}]}
        path.write_text(json.dumps(whole | {"bufferViews": self.views, "accessors": self.accessors} | parts))


def square(builder, **attributes):
    attributes = {"POSITION": builder.add(SQUARE, "VEC3"), **attributes}
    return {"attributes": attributes, "indices": builder.add(FACES, "SCALAR")}


def animated(builder, times, values, kind, path, node, **sampler):
    inputs = {"input": builder.add(np.array(times, np.float32), "SCALAR")}
    samplers = [inputs | {"output": builder.add(np.array(values, np.float32), kind)} | sampler]
    return {"samplers": samplers, "channels": [{"sampler": 0, "target": {"node": node, "path": path}}]}


def test_morph_targets(tmp_path):
    """Two targets; the weight of the second goes from 0 to 1 in 2 s, that of the first stays 0.5."""
    b = Builder()
    up, out = np.zeros((4, 3), np.float32), np.zeros((4, 3), np.float32)
    up[2:, 1], out[:, 2] = 1.0, 3.0
    primitive = square(b) | {"targets": [{"POSITION": b.add(up, "VEC3")}, {"POSITION": b.add(out, "VEC3")}]}
    moves = animated(b, [0, 2], [0.5, 0, 0.5, 1], "SCALAR", "weights", 0)
    b.write(tmp_path / "a.gltf", nodes=[{"mesh": 0}], meshes=[{"primitives": [primitive]}], animations=[moves])
    animation = pl.load_animation(tmp_path / "a.gltf", frame_rate=2)
    np.testing.assert_allclose(animation.times, [0, 0.5, 1, 1.5, 2])
    for time in (0.0, 0.3, 1.5, 2.0):
        expected = z_up(SQUARE + 0.5 * up + time / 2 * out)
        np.testing.assert_allclose(animation.positions(time), expected, atol=1e-6)


def test_a_skin_bends(tmp_path):
    """Two joints at y = 0 and y = 1; the upper one turns about z by 90 degrees in 1 s, the upper points with it."""
    b = Builder()
    joints = np.array([[0, 1, 0, 0]] * 4, np.uint8)
    weights = np.array([[1, 0, 0, 0], [1, 0, 0, 0], [0, 1, 0, 0], [0.5, 0.5, 0, 0]], np.float32)
    primitive = square(b, JOINTS_0=b.add(joints, "VEC4"), WEIGHTS_0=b.add(weights, "VEC4"))
    inverse = np.stack([np.eye(4), np.eye(4)]).astype(np.float32)
    inverse[1, 3, 1] = -1.0  # column by column
    skin = {"joints": [1, 2], "inverseBindMatrices": b.add(inverse, "MAT4")}
    half = np.sqrt(0.5)
    moves = animated(b, [0, 1], [[0, 0, 0, 1], [0, 0, half, half]], "VEC4", "rotation", 2)
    nodes = [{"mesh": 0, "skin": 0, "translation": [9, 9, 9]}, {"children": [2]}, {"translation": [0, 1, 0]}]
    about = {"scenes": [{"nodes": [0, 1]}], "scene": 0, "skins": [skin], "animations": [moves]}
    b.write(tmp_path / "a.gltf", nodes=nodes, meshes=[{"primitives": [primitive]}], **about)
    animation = pl.load_animation(tmp_path / "a.gltf", frame_rate=8)
    assert len(animation.times) == 9
    for time in (0.0, 0.25, 1.0):  # at frames: exact
        angle = time * np.pi / 2
        turn = np.array([[np.cos(angle), -np.sin(angle), 0], [np.sin(angle), np.cos(angle), 0], [0, 0, 1]])
        bent = (SQUARE - [0, 1, 0]) @ turn.T + [0, 1, 0]
        expected = np.stack([SQUARE[0], SQUARE[1], bent[2], 0.5 * SQUARE[3] + 0.5 * bent[3]])
        np.testing.assert_allclose(animation.positions(time), z_up(expected), atol=1e-6)


@pytest.mark.parametrize(
    ("interpolation", "values", "expected"),
    [
        ("LINEAR", [[0, 0, 0], [4, 0, 0]], lambda t: 4 * t),
        ("STEP", [[0, 0, 0], [4, 0, 0]], lambda t: 4.0 * (t >= 1)),
        ("CUBICSPLINE", [[0, 0, 0], [0, 0, 0], [8, 0, 0], [0, 0, 0], [4, 0, 0], [0, 0, 0]],
         lambda t: 8 * (t**3 - 2 * t**2 + t) + 4 * (3 * t**2 - 2 * t**3)),
    ],
)  # fmt: skip
def test_nodes_move_with_their_parents(tmp_path, interpolation, values, expected):
    b = Builder()
    moves = animated(b, [0, 1], values, "VEC3", "translation", 0, interpolation=interpolation)
    nodes = [{"children": [1]}, {"mesh": 0, "scale": [2, 2, 2], "translation": [0, 1, 0]}]
    b.write(tmp_path / "a.gltf", scenes=[{"nodes": [0]}], nodes=nodes, meshes=[{"primitives": [square(b)]}],
            animations=[moves])  # fmt: skip
    animation = pl.load_animation(tmp_path / "a.gltf", frame_rate=10)
    for time in (0.0, 0.4, 0.7, 1.0):
        place = 2 * SQUARE + [expected(time), 1, 0]
        np.testing.assert_allclose(animation.positions(time), z_up(place), atol=1e-5)


def test_vertices_that_files_split_are_welded(tmp_path):
    """Six vertices of two triangles, as files with normals have them: four remain, and the surface is connected."""
    b = Builder()
    primitive = {"attributes": {"POSITION": b.add(SQUARE[FACES], "VEC3")}}
    b.write(tmp_path / "a.gltf", nodes=[{"mesh": 0}], meshes=[{"primitives": [primitive]}])
    mesh = pl.load_animation(tmp_path / "a.gltf").mesh
    np.testing.assert_array_equal(mesh.triangles, FACES.reshape(2, 3))
    np.testing.assert_allclose(mesh.points, z_up(SQUARE), atol=1e-7)


@pytest.mark.parametrize("ending", [".glb", ".usda"])
def test_results_come_back(tmp_path, ending):
    """A result that Pliant writes is the animation again, within single precision."""
    if ending == ".usda":
        pytest.importorskip("pxr")
    scene = pl.Scene()
    body = scene.add_cloth(pl.shapes.cloth((1, 1), (2, 2)), pl.StVenantKirchhoff(mu=1e3, lam=0.0))
    sim = pl.Simulation(scene, solver=pl.Newton(iterations=2), frame_rate=20, substeps=1)
    x = [body.positions]
    with sim.record(tmp_path / f"fall{ending}"):
        x += [body.positions for _ in sim.frames(3)]
    animation = pl.load_animation(tmp_path / f"fall{ending}", frame_rate=20)
    for k, expected in enumerate(x):
        np.testing.assert_allclose(animation.positions(0.05 * k), expected, atol=1e-6)


USD = """#usda 1.0
(
    metersPerUnit = 0.01
    upAxis = "Z"
    timeCodesPerSecond = 10
)
def Xform "root"
{
    double3 xformOp:translate.timeSamples = { 0: (0, 0, 0), 20: (100, 0, 0), }
    uniform token[] xformOpOrder = ["xformOp:translate"]
    def Mesh "m"
    {
        int[] faceVertexCounts = [3]
        int[] faceVertexIndices = [0, 1, 2]
        point3f[] points.timeSamples = { 0: [(0,0,0), (100,0,0), (0,100,0)], 10: [(0,0,50), (100,0,50), (0,100,50)] }
    }
}
"""


def test_usd_samples_of_points_and_transforms(tmp_path):
    """Points rise by 0.5 m in 1 s while the prim above them goes 1 m along x in 2 s."""
    pytest.importorskip("pxr")
    (tmp_path / "a.usda").write_text(USD)
    animation = pl.load_animation(tmp_path / "a.usda", frame_rate=5)
    rest = np.array([[0, 0, 0], [1, 0, 0], [0, 1, 0]])
    for time in (0.0, 0.5, 1.0, 1.7, 2.0):
        expected = rest + np.array([time / 2, 0, 0.5 * min(time, 1)])
        np.testing.assert_allclose(animation.positions(time), expected, atol=1e-6)


SKELETON = """#usda 1.0
(
    metersPerUnit = 1
    upAxis = "Z"
    timeCodesPerSecond = 4
)
def SkelRoot "Root" (prepend apiSchemas = ["SkelBindingAPI"])
{
    def Skeleton "Skel" (prepend apiSchemas = ["SkelBindingAPI"])
    {
        uniform token[] joints = ["lower", "lower/upper"]
        uniform matrix4d[] bindTransforms = [
            ((1,0,0,0),(0,1,0,0),(0,0,1,0),(0,0,0,1)), ((1,0,0,0),(0,1,0,0),(0,0,1,0),(0,0,1,1))]
        uniform matrix4d[] restTransforms = [
            ((1,0,0,0),(0,1,0,0),(0,0,1,0),(0,0,0,1)), ((1,0,0,0),(0,1,0,0),(0,0,1,0),(0,0,1,1))]
        rel skel:animationSource = </Root/Anim>
    }
    def SkelAnimation "Anim"
    {
        uniform token[] joints = ["lower", "lower/upper"]
        float3[] translations = [(0,0,0), (0,0,1)]
        half3[] scales = [(1,1,1), (1,1,1)]
        quatf[] rotations.timeSamples = {
            0: [(1,0,0,0), (1,0,0,0)],
            2: [(1,0,0,0), (0.9238795325, 0, 0.3826834324, 0)],
            4: [(1,0,0,0), (0.7071067812, 0, 0.7071067812, 0)],
        }
    }
    def Mesh "Strip" (prepend apiSchemas = ["SkelBindingAPI"])
    {
        int[] faceVertexCounts = [4, 4]
        int[] faceVertexIndices = [0, 1, 3, 2, 2, 3, 5, 4]
        point3f[] points = [(0,-0.5,0), (0,0.5,0), (0,-0.5,1), (0,0.5,1), (0,-0.5,2), (0,0.5,2)]
        rel skel:skeleton = </Root/Skel>
        int[] primvars:skel:jointIndices = [0, 0, 1, 1, 1, 1] (interpolation = "vertex")
        float[] primvars:skel:jointWeights = [1, 1, 1, 1, 1, 1] (interpolation = "vertex")
        matrix4d primvars:skel:geomBindTransform = ((1,0,0,0),(0,1,0,0),(0,0,1,0),(0,0,0,1))
    }
}
"""


def test_usd_skeletons_move_their_skins(tmp_path):
    """The upper half of a strip turns by 90 degrees in a second about its lower end; what is read is not changed."""
    pytest.importorskip("pxr")
    (tmp_path / "a.usda").write_text(SKELETON)
    animation = pl.load_animation(tmp_path / "a.usda")
    assert animation.seconds == pytest.approx(1.0)
    for time, degrees in ((0.0, 0.0), (0.5, 45.0), (1.0, 90.0)):
        angle = np.radians(degrees)
        tip = [np.sin(angle), 0.0, 1 + np.cos(angle)]
        expected = [[0, -0.5, 0], [0, 0.5, 0], [0, -0.5, 1], [0, 0.5, 1]] + [[tip[0], y, tip[2]] for y in (-0.5, 0.5)]
        np.testing.assert_allclose(animation.positions(time), expected, atol=1e-6)
    assert (tmp_path / "a.usda").read_text() == SKELETON


def test_changing_topology_is_told(tmp_path):
    pytest.importorskip("pxr")
    changed = USD.replace("faceVertexIndices = [0, 1, 2]", "faceVertexIndices.timeSamples = {0: [0,1,2], 10: [0,2,1]}")
    (tmp_path / "a.usda").write_text(changed)
    with pytest.raises(FileError, match=r"/root/m has 3 vertices and 1 triangles at time code 1\d, not 3 and 1"):
        pl.load_animation(tmp_path / "a.usda")


def test_bad_files_are_told(tmp_path):
    (tmp_path / "a.glb").write_bytes(b"glTF nonsense")
    with pytest.raises(FileError, match="this is not a glTF file"):
        pl.load_animation(tmp_path / "a.glb")
    with pytest.raises(FileError, match="there is no such file"):
        pl.load_animation(tmp_path / "b.gltf")
    b = Builder()
    about = {"nodes": [{"mesh": 0}], "meshes": [{"primitives": [square(b)]}], "animations": []}
    b.write(tmp_path / "c.gltf", **about)
    with pytest.raises(FileError, match=r"no animation 'run'; its animations are none"):
        pl.load_animation(tmp_path / "c.gltf", name="run")
    b.write(tmp_path / "d.gltf", **about, extensionsRequired=["KHR_draco_mesh_compression"])
    with pytest.raises(FileError, match="KHR_draco_mesh_compression"):
        pl.load_animation(tmp_path / "d.gltf")
    b.accessors[0]["count"] = 10**6
    b.write(tmp_path / "e.gltf", **about)
    with pytest.raises(FileError, match="accessor 0 is damaged"):
        pl.load_animation(tmp_path / "e.gltf")

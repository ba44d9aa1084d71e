"""The Blender add-on: its reader, and, with Blender's module bpy, results and scenes there and back."""

import importlib.util
import json
import subprocess
import sys
import zipfile
from pathlib import Path

import numpy as np
import pytest

import pliant as pl
from pliant.io.results.archive import ArchiveWriter
from pliant.io.results.result import Frame, Layout
from pliant.model import build_model

ROOT = Path(__file__).parents[2]


def load(path, name):
    spec = importlib.util.spec_from_file_location(name, path)
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


@pytest.fixture
def addon(tmp_path):
    """The folder into which the zip was unpacked."""
    builder = load(ROOT / "tools" / "build_blender_addon.py", "build_blender_addon")
    with zipfile.ZipFile(builder.build(tmp_path / "dist")) as archive:
        archive.extractall(tmp_path / "addons")
    return tmp_path / "addons"


@pytest.fixture
def result(tmp_path):
    """Two cubes, of which the second rises by 1 m per frame of 0.1 s."""
    cube, path = pl.shapes.box(cells=1).surface(), tmp_path / "run.npz"
    n = cube.n_vertices
    layout = Layout(
        2 * n,
        np.concatenate([cube.triangles, cube.triangles + n]),
        np.empty((0, 4), int),
        np.full(2 * len(cube.triangles), -1),
        ("below", "above"),
        np.array([0, n, 2 * n]),
        np.array([[0.9, 0.1, 0.1], [0.1, 0.1, 0.9]]),
        10.0,
    )
    writer = ArchiveWriter(path, layout)
    for k in range(3):
        writer.write(Frame(k / 10, np.concatenate([cube.points, cube.points + np.array([0.0, 0.0, 2.0 + k])])))
    writer.close()
    return path, cube


def test_the_zip_holds_the_add_on(addon):
    names = {path.name for path in (addon / "pliant_blender").iterdir()}
    assert names == {"__init__.py", "blender_manifest.toml", "playing.py", "results.py", "scenes.py"}
    assert f'version = "{pl.__version__}"' in (addon / "pliant_blender" / "blender_manifest.toml").read_text()


def test_its_reader_reads_results(addon, result):
    path, cube = result
    module = load(addon / "pliant_blender" / "results.py", "addon_results")
    found = module.Result(str(path))
    assert found.names == ["below", "above"]
    np.testing.assert_array_equal(found.faces(1), cube.triangles)
    np.testing.assert_array_equal(found.points(2, 1), cube.points + np.array([0.0, 0.0, 4.0]))
    (path.parent / "bad.npz").write_bytes(b"bad")
    with pytest.raises(module.ResultError, match="no whole result of Pliant"):
        module.Result(str(path.parent / "bad.npz"))


IN_BLENDER = """
import json, sys
import bpy
sys.path.insert(0, sys.argv[1])
import pliant_blender
bpy.ops.wm.read_factory_settings(use_empty=True)
pliant_blender.register()
bpy.ops.import_scene.pliant(filepath=sys.argv[2])
scene, seen = bpy.context.scene, []
for frame in (0, 2, 1):
    scene.frame_set(frame)
    seen.append([[v.co.z for v in scene.objects[name].data.vertices] for name in ("below", "above")])
bpy.ops.mesh.primitive_cube_add(size=2.0, location=(0, 0, 5))
ball = bpy.context.object
ball.scale = (1, 1, -0.5)
ball.name, ball.pliant.kind, ball.pliant.density, ball.pliant.edge_length = 'the "ball"', "rigid", 500.0, 0.5
bpy.ops.mesh.primitive_grid_add(x_subdivisions=4, y_subdivisions=4, size=2.0, location=(0, 0, 3))
sheet = bpy.context.object
sheet.name, sheet.pliant.kind, sheet.pliant.thickness, sheet.pliant.pinned = "sheet", "cloth", 0.5, "held"
sheet.vertex_groups.new(name="held").add([0, 4], 1.0, "REPLACE")
bpy.ops.mesh.primitive_plane_add(size=8.0)
bpy.context.object.pliant.kind = "obstacle"
bpy.ops.export_scene.pliant(filepath=sys.argv[3], duration=0.5)
pliant_blender.unregister()
print("SEEN" + json.dumps({"z": seen, "end": scene.frame_end, "rate": scene.render.fps / scene.render.fps_base}))
"""


@pytest.mark.slow
def test_results_and_scenes_in_blender(addon, result, tmp_path):
    """A result follows the timeline, marked objects become a scene; in a process of its own, as bpy stays loaded."""
    if importlib.util.find_spec("bpy") is None:
        pytest.skip("bpy is not installed")
    path, cube = result
    command = [sys.executable, "-c", IN_BLENDER, str(addon), str(path), str(tmp_path / "made.toml")]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    seen = json.loads(done.stdout.split("SEEN")[1].splitlines()[0])
    assert (seen["end"], seen["rate"]) == (2, 10.0)
    for frame, (below, above) in zip((0, 2, 1), seen["z"], strict=True):
        np.testing.assert_allclose(below, cube.points[:, 2], atol=1e-6)
        np.testing.assert_allclose(above, cube.points[:, 2] + 2 + frame, atol=1e-6)
    scene = pl.load_scene(tmp_path / "made.toml")
    ball, sheet, floor = scene.bodies
    assert [body.name for body in scene.bodies] == ['the "ball"', "sheet", floor.name]
    assert ball.mass == pytest.approx(500.0 * 2 * 2 * 1, rel=1e-5)
    np.testing.assert_allclose(ball.position, [0, 0, 5], atol=1e-6)
    assert (sheet.n_vertices, sheet.density) == (25, pytest.approx(500.0))
    assert sheet.material.mu == pytest.approx(0.5 * 1e5 / (2 * 1.4), rel=1e-5)
    model = build_model(scene)
    assert np.flatnonzero(~model.is_free[model.vertices_of(1)]).tolist() == [0, 4]

"""What a result holds beside surfaces: springs, obstacles that move, and contact fields."""

import numpy as np
import pytest

import pliant as pl
from pliant.io.results import open_result
from pliant.io.results.paraview import ParaViewWriter
from pliant.io.results.result import Frame
from pliant.io.results.surfaces import Part, layout_of_parts

ENDINGS = ("npz", "pvd", "ply", "obj", "usda", "usdc", "glb")
WEIGHT = 0.3 * 0.2 * 0.2 * 1000 * 9.81  # [N] of the block
FRAMES = 3


def lift(time):
    return (0.0, 0.0, 0.5 * time), np.eye(3)


@pytest.fixture(scope="module")
def run(tmp_path_factory):
    """A block on the floor, a rope and a ball that is lifted, recorded in every format."""
    folder = tmp_path_factory.mktemp("contents")
    scene = pl.Scene()
    mesh = pl.shapes.box((0.3, 0.2, 0.2), (3, 2, 2)).transformed(translation=(0, 0, 0.1))
    block = scene.add_solid(mesh, pl.StableNeoHookean.from_young(1e5, 0.4), name="block")
    points, edges = pl.shapes.rope([[1.0, 0.0, 1.0], [2.0, 0.0, 1.0]], 4)
    rope = scene.add_springs(points, edges, 1e3, 0.1, name="rope")
    rope.pin([0])
    scene.add_plane((0, 0, 0), (0, 0, 1))
    scene.add_sphere((0, 1, 0.5), 0.2, motion=lift)
    scene.contact = pl.Contact(stiffness=1e4)
    sim = pl.Simulation(scene, pl.VBD(iterations=10), substeps=2)
    recorders = [sim.record(folder / f"run.{ending}") for ending in ENDINGS]
    positions = [sim.positions]
    for _ in sim.frames(FRAMES):
        positions.append(sim.positions)
    for recorder in recorders:
        recorder.close()
    return folder, sim, block, positions


def rope_points(sim, x):
    first = int(sim.model.body_start[1])
    return x[first : first + 5]


@pytest.mark.parametrize("ending", [ending for ending in ENDINGS if ending != "glb"])
def test_springs_come_back_where_they_were(run, ending):
    folder, sim, _, positions = run
    with open_result(folder / f"run.{ending}") as result:
        assert len(result) == FRAMES + 1
        for k, x in enumerate(positions):
            ends = result.positions(k)[result.layout.edges]
            expected = rope_points(sim, x)
            np.testing.assert_allclose(ends, np.stack([expected[:-1], expected[1:]], axis=1), atol=1e-6)


def test_the_text_of_a_stage_says_what_the_binary_one_says(run):
    """usd-core writes the binary one; every attribute is the same number by number, at every time and without time."""
    pytest.importorskip("pxr")
    from pxr import Usd

    folder, *_ = run
    text, binary = (Usd.Stage.Open(str(folder / f"run.{ending}")) for ending in ("usda", "usdc"))
    prims = [prim.GetPath() for prim in binary.TraverseAll()]
    assert [prim.GetPath() for prim in text.TraverseAll()] == prims
    assert len(text.GetRootLayer().ListAllTimeSamples()) == FRAMES + 1
    sampled = set()
    for prim in map(binary.GetPrimAtPath, prims):
        for attribute in prim.GetAuthoredAttributes():
            same = text.GetAttributeAtPath(attribute.GetPath())
            assert same.GetTimeSamples() == attribute.GetTimeSamples()
            sampled |= {attribute.GetName()} if attribute.GetTimeSamples() else set()
            for code in [*attribute.GetTimeSamples(), Usd.TimeCode.Default()]:
                assert same.Get(code) == attribute.Get(code)
    assert sampled == {"points", "normals", "extent"}


def test_text_of_many_frames_goes_through_the_disk(run, tmp_path, monkeypatch):
    """What is too large to be held comes out the same."""
    pytest.importorskip("pxr")
    from pliant.io.results import usd_text

    folder, *_ = run
    monkeypatch.setattr(usd_text, "SAVE_BYTES", 1000)
    with open_result(folder / "run.npz") as result:
        usd_text.export(result, tmp_path / "again.usda")
    assert (tmp_path / "again.usda").read_bytes() == (folder / "run.usda").read_bytes()
    assert [path.name for path in tmp_path.iterdir()] == ["again.usda"]


def test_vtk_and_pygltflib_see_lines(run):
    vtk = pytest.importorskip("vtk")
    pygltflib = pytest.importorskip("pygltflib")
    folder, sim, *_ = run
    reader = vtk.vtkXMLUnstructuredGridReader()
    reader.SetFileName(str(folder / "run" / "run_00003.vtu"))
    reader.Update()
    grid = reader.GetOutput()
    kinds = [grid.GetCellType(k) for k in range(grid.GetNumberOfCells())]
    assert kinds.count(vtk.VTK_LINE) == 4
    ends = [grid.GetCell(k).GetPoints().GetPoint(0) for k, kind in enumerate(kinds) if kind == vtk.VTK_LINE]
    np.testing.assert_allclose(ends, rope_points(sim, sim.positions)[:4], atol=1e-12)
    document = pygltflib.GLTF2().load(str(folder / "run.glb"))
    of_lines = [p for mesh in document.meshes for p in mesh.primitives if p.mode == pygltflib.LINES]
    assert [document.accessors[lines.indices].count for lines in of_lines] == [8]


def test_obstacles_are_there_and_move(run):
    with open_result(run[0] / "run.npz") as result:
        layout = result.layout
        assert [layout.body_names[k] for k in layout.scenery] == ["plane 0", "sphere 1"]
        ball = slice(*layout.body_start[3:5])
        for k, time in enumerate(result.times):
            centre = result.positions(k)[ball].mean(axis=0)
            np.testing.assert_allclose(centre, (0, 1, 0.5 + 0.5 * time), atol=1e-12)
        np.testing.assert_allclose(result.frame(2).point_fields["velocity"][ball], [(0, 0, 0.5)] * 1106, atol=1e-5)


def test_contact_forces_carry_the_weight_and_sink_in_as_they_push(run):
    """Of a block let come to rest: they sum to its weight, and each vertex pushes by stiffness times depth."""
    folder, sim, block, _ = run
    block.air_damping = 30.0
    resting = pl.Simulation(sim.scene, pl.VBD(iterations=40), substeps=2, precision="double")
    for _ in resting.frames(60):
        pass
    with resting.record(folder / "rest.npz"):
        resting.advance()
    with open_result(folder / "rest.npz") as result:
        fields = result.frame(1).point_fields
        n = int(result.layout.body_start[1])
    force, depth = fields["contact_force"], fields["penetration"]
    assert force[:n, 2].sum() == pytest.approx(WEIGHT, rel=1e-3)
    np.testing.assert_allclose(force[:n, 2], 1e4 * depth[:n], rtol=1e-3, atol=1e-3)
    assert (force[n:] == 0).all()


def test_pvd_takes_fields_that_come_later_and_clears_an_older_recording(tmp_path):
    """The XML is written again when the fields change; frames of an older, longer recording are gone."""
    meshio = pytest.importorskip("meshio")
    points, triangles = np.eye(3), np.array([[0, 1, 2]])
    layout = layout_of_parts([Part(3, triangles, np.empty((0, 4)))], ["sheet"], 30.0)
    for frames in (4, 2):
        writer = ParaViewWriter(tmp_path / "a.pvd", layout)
        for k in range(frames):
            writer.write(Frame(k / 30, points + k, {"heat": np.arange(3.0)} if k else {}, {"c": np.full(1, k)}))
        writer.close()
    assert [path.name for path in sorted((tmp_path / "a").iterdir())] == ["a_00000.vtu", "a_00001.vtu"]
    first, second = (meshio.read(path) for path in sorted((tmp_path / "a").iterdir()))
    assert not first.point_data
    np.testing.assert_array_equal(second.point_data["heat"], [0, 1, 2])
    np.testing.assert_array_equal(second.points, points + 1)
    np.testing.assert_array_equal(second.cell_data["c"][0], [1])


def test_meshio_finds_every_array_whatever_the_sizes(tmp_path):
    """Sizes at which offsets of raw data are those of arrays before them in meshio's own encoding are among these."""
    for n in range(3, 90):
        triangles = np.stack([np.arange(n - 2) + k for k in range(3)], axis=1)
        layout = layout_of_parts([Part(n, triangles, np.empty((0, 4)))], ["strip"], 30.0)
        values = np.random.default_rng(n).uniform(size=(n, 5)).astype(np.float32)
        writer = ParaViewWriter(tmp_path / "a.pvd", layout)
        writer.write(Frame(0.5, values[:, :3], {"heat": values[:, 3]}, {"c": values[2:, 4]}))
        writer.close()
        with open_result(tmp_path / "a.pvd") as result:
            read = result.frame(0)
            np.testing.assert_array_equal(result.layout.triangles, triangles)
        np.testing.assert_array_equal(read.points, values[:, :3])
        np.testing.assert_array_equal(read.point_fields["heat"], values[:, 3])
        np.testing.assert_array_equal(read.cell_fields["c"], values[2:, 4])

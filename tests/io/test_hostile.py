"""Files and names that come from anywhere: one clear error, soon, whatever they claim."""

import json
import os
import subprocess
import sys
import tracemalloc
import zipfile

import numpy as np
import pytest

import pliant as pl
from pliant.io.archives import read_arrays, write_arrays


@pytest.fixture
def simulation():
    scene = pl.Scene()
    scene.add_solid(pl.shapes.box((1, 1, 1), (1, 1, 1)), pl.StableNeoHookean.from_young(1e6, 0.3))
    scene.add_plane((0, 0, -5))
    return pl.Simulation(scene)


@pytest.fixture
def checkpoint(simulation, tmp_path):
    simulation.save(tmp_path / "run.npz")
    return tmp_path / "run.npz"


def test_a_bomb_is_refused_before_it_is_unpacked(tmp_path):
    path = tmp_path / "bomb.npz"
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as archive, archive.open("state.x.npy", "w") as file:
        np.lib.format.write_array_header_1_0(file, {"descr": "<f8", "fortran_order": False, "shape": (10**7, 3)})
        for _ in range(240):
            file.write(bytes(10**6))
    assert path.stat().st_size < 10**6
    tracemalloc.start()
    with pytest.raises(pl.FileError, match=r"not a whole Pliant checkpoint .*larger than the file"):
        pl.Simulation.resume(path)
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert peak < 10**8  # of 2.4e8 bytes


def test_an_array_that_claims_terabytes_is_refused(tmp_path):
    path = tmp_path / "claims.npz"
    with zipfile.ZipFile(path, "w") as archive, archive.open("state.x.npy", "w") as file:
        np.lib.format.write_array_header_1_0(file, {"descr": "<f8", "fortran_order": False, "shape": (10**12, 3)})
        file.write(bytes(24))
    with pytest.raises(pl.FileError, match="claims the shape"):
        pl.Simulation.resume(path)


def test_arrays_of_whole_files_are_read_as_numpy_reads_them(checkpoint):
    with np.load(checkpoint) as file:
        expected = dict(file)
    found = read_arrays(checkpoint, "file")
    assert found.keys() == expected.keys()
    assert all(np.array_equal(found[name], expected[name]) for name in expected)


def test_python_objects_are_not_written_and_names_are_those_of_the_arrays(tmp_path):
    with pytest.raises(ValueError, match="b: Python objects cannot be written"):
        write_arrays(tmp_path / "a.npz", {"a": np.zeros(3), "b": np.array([None])})
    write_arrays(tmp_path / "a.npz", {"a": np.zeros(3)})
    assert list(read_arrays(tmp_path / "a.npz", "file")) == ["a"]


def edited(path, change):
    arrays = read_arrays(path, "file")
    header = json.loads(str(arrays["header"]))
    header = change(header) or header
    np.savez(path, **{**arrays, "header": np.array(json.dumps(header))})


@pytest.mark.parametrize(
    "change",
    [
        lambda h: [1],
        lambda h: h.update(step="7"),
        lambda h: h.update(step=-1),
        lambda h: h.update(step=1e300),
        lambda h: h.update(gravity=None),
        lambda h: h.update(gravity=[0, 0]),
        lambda h: h.update(contact=7),
        lambda h: h.update(contact={"stiffness": "soft"}),
        lambda h: h.update(obstacles=[{"kind": "teapot"}]),
        lambda h: h.update(obstacles=7),
        lambda h: h.update(apart=[1]),
        lambda h: h.update(bodies=None),
        lambda h: h["bodies"][0].update(kind="ghost"),
        lambda h: h["bodies"][0].update(ingredients={}),
        lambda h: h["bodies"][0]["ingredients"].update(material={"law": "StableNeoHookean", "parameters": ["a", 1]}),
        lambda h: h["bodies"][0]["ingredients"].update(material={"law": "StableNeoHookean", "parameters": [1.0]}),
        lambda h: h["bodies"][0].update(motions=[{"name": "Slide"}]),
        lambda h: h["bodies"][0].update(settings={"gravity": "down"}),
        lambda h: h["bodies"][0].pop("colour") and None,
        lambda h: h.update(outside={}),
        lambda h: h.update(solver={"name": "Oracle"}),
        lambda h: h.update(solver=3),
        lambda h: h.update(settings={}),
        lambda h: h["settings"].update(frame_rate="fast"),
        lambda h: h["settings"].update(extra=1),
        lambda h: h.pop("settings") and None,
    ],
)  # fmt: skip
def test_edited_headers_give_one_error(checkpoint, change):
    edited(checkpoint, change)
    with pytest.raises(pl.PliantError):
        pl.Simulation.resume(checkpoint)


WRONG = (None, 3, 2.5, b"run.npz", [], {}, "", ".", "a\0b.npz", "a" * 300 + ".npz", "\ud800.npz")


@pytest.mark.parametrize("name", WRONG, ids=repr)
@pytest.mark.parametrize("call", ["record", "save", "resume", "load_mesh", "load_scene", "load_simulation",
                                  "save_scene", "save_mesh", "load_phases", "save_phases"])  # fmt: skip
def test_wrong_names_give_one_error(simulation, call, name, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    box = pl.shapes.box(cells=1)
    calls = {
        "record": lambda: simulation.record(name),
        "save": lambda: simulation.save(name),
        "resume": lambda: pl.Simulation.resume(name),
        "load_mesh": lambda: pl.load_mesh(name),
        "load_scene": lambda: pl.load_scene(name),
        "load_simulation": lambda: pl.load_simulation(name),
        "save_scene": lambda: pl.save_scene(simulation.scene, name),
        "save_mesh": lambda: pl.save_mesh(name, box),
        "load_phases": lambda: pl.load_phases(name),
        "save_phases": lambda: pl.save_phases(name, [(0.5, 3)]),
    }
    with pytest.raises(pl.PliantError):
        calls[call]()
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize(
    ("options", "words"),
    [
        ({"frame_rate": 1e-300}, "frame_rate is 1e-300"),
        ({"frame_rate": 1e300}, "must be between"),
        ({"substeps": 10**400}, "must be between"),
        ({"threads": 100_000}, "threads is 100000: give at most 1024"),
        ({"solver": 0}, "solver is 0"),
        ({"solver": ""}, "solver is ''"),
        ({"solver": False}, "solver is False"),
    ],
)
def test_settings_that_cannot_be_are_refused(simulation, options, words):
    with pytest.raises(pl.PliantError, match=words):
        pl.Simulation(simulation.scene, **options)


@pytest.mark.parametrize("scene", [None, "scene.toml", 3])
def test_what_is_no_scene_is_refused(scene):
    with pytest.raises(pl.SceneError, match=r"give a pl\.Scene"):
        pl.Simulation(scene)


def test_what_killed_processes_left_is_deleted(simulation, tmp_path):
    ended = subprocess.Popen([sys.executable, "-c", ""])
    ended.wait()
    left, living = tmp_path / f"run.npz.{ended.pid}.tmp", tmp_path / f"run.npz.{os.getppid()}.tmp"
    other = tmp_path / "notes.tmp"
    for path in (left, living, other):
        path.write_bytes(b"half")
    simulation.save(tmp_path / "run.npz")
    assert not left.exists()
    assert living.exists()
    assert other.exists()


#: Options of record, plot, equilibrium, save_mesh, register_solver, add_rigid and Simulation.
OPTIONS = ("fields", "volume", "tensors", "field", "marks", "azimuth", "elevation", "scene", "mesh", "solver", "name",
           "device")  # fmt: skip
NO_OPTION = (3, 2.5, "x", b"x", [1], {"a": 1}, np.zeros((2, 3)), np.array([None]), object())
RIGHT = {("azimuth", int), ("azimuth", float), ("elevation", int), ("elevation", float), ("name", str),
         ("marks", np.ndarray)}  # fmt: skip


@pytest.mark.parametrize(
    ("option", "value"),
    [(option, value) for option in OPTIONS for value in NO_OPTION if (option, type(value)) not in RIGHT],
)
def test_wrong_options_give_one_error(simulation, option, value, tmp_path):
    pytest.importorskip("PIL")
    calls = {
        "fields": lambda: simulation.record(tmp_path / "a.npz", fields=value),
        "volume": lambda: simulation.record(tmp_path / "a.npz", volume=value),
        "tensors": lambda: simulation.record(tmp_path / "a.npz", tensors=value),
        "field": lambda: simulation.plot(field=value),
        "marks": lambda: simulation.plot(marks=value),
        "azimuth": lambda: simulation.plot(azimuth=value),
        "elevation": lambda: simulation.plot(elevation=value),
        "scene": lambda: pl.equilibrium(value),
        "mesh": lambda: pl.save_mesh(tmp_path / "m.vtu", value),
        "solver": lambda: pl.register_solver(value),
        "name": lambda: pl.Scene().add_rigid(pl.Sphere(0.1), name=value),
        "device": lambda: pl.Simulation(simulation.scene, device=value),
    }
    with pytest.raises(pl.PliantError):
        calls[option]()

"""`pliant run`, `resume`, `gallery`, `schema`, `info SCENE`: what they write, say and return."""

import errno
import json
import os
import random
import shutil
import signal
import subprocess
import sys
import time

import numpy as np
import pytest
from typer.testing import CliRunner

import pliant as pl
from pliant.cli.main import app
from pliant.io.results import open_result
from pliant.io.results.archive import ArchiveWriter
from pliant.scenes import beams
from pliant.scenes.disk import bytes_a_frame
from pliant.simulate import Simulation

SCENE = """
title = "Block"
[simulation]
duration = 0.2
substeps = 2
[solver]
name = "VBD"
iterations = 3
[[bodies]]
kind = "solid"
name = "block"
shape = { kind = "box", size = [0.2, 0.2, 0.4], cells = [2, 2, 4] }
material = { law = "StableNeoHookean", youngs_modulus = 1e5, poissons_ratio = 0.4 }
[[bodies.holds]]
kind = "turn"
where = { kind = "face", side = "+z" }
turns = 0.3
seconds = 0.15
until = 0.15
[[outputs]]
file = "sub/block.npz"
"""


def run(*arguments):
    return CliRunner().invoke(app, [str(a) for a in arguments])


@pytest.fixture
def scene(tmp_path):
    path = tmp_path / "block.toml"
    path.write_text(SCENE)
    return path


def plain(scene, frames):
    sim = pl.load_simulation(scene)
    for _ in range(frames):
        sim.advance()
    return sim


def test_run_writes_results_and_a_checkpoint(scene, tmp_path):
    result = run("run", scene, "--out", tmp_path / "out")
    assert result.exit_code == 0, result.output
    with open_result(tmp_path / "out" / "sub" / "block.npz") as frames:
        assert len(frames.times) == 13
    kept = pl.Simulation.resume(tmp_path / "out" / "run.npz")
    np.testing.assert_array_equal(kept.state.x, plain(scene, 12).state.x)
    assert "12 frames" in result.output


def test_overrides_and_json(scene, tmp_path):
    named = tmp_path / "elsewhere.npz"
    arguments = ("--solver", "newton", "--set", "solver.iterations=2", "--set", "bodies.0.density=500", "--frames", 2)
    result = run("run", scene, "--out", tmp_path / "out", *arguments, "--output", named, "--json")
    assert result.exit_code == 0, result.output
    about = json.loads(result.stdout)
    assert (about["solver"], about["iterations"], about["frames"]) == ("Newton", 2, 2)
    assert about["time"] == pytest.approx(2 / 60)
    assert about["residual"] >= 0
    assert str(named) in about["results"]
    assert named.exists()
    assert pl.Simulation.resume(tmp_path / "out" / "run.npz").model.mass.sum() == pytest.approx(500 * 0.016)


def test_quiet_says_nothing(scene, tmp_path):
    result = run("run", scene, "--out", tmp_path / "out", "--frames", 1, "--quiet")
    assert (result.exit_code, result.output) == (0, "")


def test_resume_goes_on_into_files_of_its_own(scene, tmp_path):
    run("run", scene, "--out", tmp_path / "out", "--frames", 5, "--quiet")
    checkpoint = tmp_path / "out" / "run.npz"
    finished = run("resume", checkpoint)
    assert finished.exit_code == 1
    assert "this run is finished, 5 frames" in finished.stderr
    result = run("resume", checkpoint, "--frames", 7, "--output", tmp_path / "rest.npz")
    assert result.exit_code == 0, result.output
    for path in (tmp_path / "out" / "sub" / "block-from-5.npz", tmp_path / "rest-from-5.npz"):
        with open_result(path) as rest:
            np.testing.assert_allclose(rest.times, np.arange(5, 13) / 60)
    np.testing.assert_array_equal(pl.Simulation.resume(checkpoint).state.x, plain(scene, 12).state.x)


@pytest.mark.skipif(os.name != "posix", reason="signals of POSIX")
@pytest.mark.parametrize("kind", [signal.SIGKILL, pytest.param(signal.SIGINT, marks=pytest.mark.slow)])
def test_a_run_that_is_killed_ends_with_the_same_bits(scene, tmp_path, kind):
    """At a random moment; a kill loses what came after the last checkpoint, Ctrl-C nothing."""
    out = tmp_path / "out"
    total = 400
    command = [sys.executable, "-m", "pliant.cli.main", "run", str(scene), "--out", str(out), "--frames", str(total)]
    process = subprocess.Popen(
        [*command, "--keep-every", "0"], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True
    )
    kept, first = out / "run.npz", None
    while first is None or kept.stat().st_mtime_ns == first:  # until the second checkpoint, which has a frame
        assert process.poll() is None, process.communicate()
        time.sleep(0.01)
        first = kept.stat().st_mtime_ns if first is None and kept.exists() else first
    time.sleep(random.uniform(0.0, 0.5))
    process.send_signal(kind)
    _, said = process.communicate(timeout=60)
    assert process.returncode == (130 if kind == signal.SIGINT else -9)
    if kind == signal.SIGINT:
        assert f"pliant resume {out / 'run.npz'}" in " ".join(said.split())
        assert "Traceback" not in said
    assert 0 < pl.Simulation.resume(out / "run.npz").state.step < 2 * total
    with open_result(out / "sub" / "block.npz") as whole_frames:
        assert len(whole_frames.times) > 0
    result = run("resume", out / "run.npz", "--quiet")
    assert result.exit_code == 0, result.output
    np.testing.assert_array_equal(pl.Simulation.resume(out / "run.npz").state.x, plain(scene, total).state.x)


def test_what_cannot_be_written_is_told_before_any_work(scene, tmp_path, monkeypatch):
    (tmp_path / "file").write_text("in the way")
    result = run("run", scene, "--out", tmp_path / "file")
    assert result.exit_code == 1
    assert "cannot write into this folder" in result.stderr
    usage = shutil.disk_usage(tmp_path)._replace(free=1000)
    monkeypatch.setattr(shutil, "disk_usage", lambda path: usage)
    result = run("run", scene, "--out", tmp_path / "out")
    assert result.exit_code == 1
    assert "MB are free" in result.stderr
    assert not (tmp_path / "out" / "run.npz").exists()


@pytest.mark.parametrize(
    ("output", "said"),
    [
        ("nowhere/a.npz", "there is no folder"),
        ("out/run.npz", "this is the checkpoint's name"),
        ("out/sub/../sub/block.npz", "this is the name of another output"),
        ("a.foo", "results with the ending '.foo' cannot be written; known are .npz"),
        ("", "results with the ending '(none)' cannot be written"),
    ],
)
def test_outputs_that_cannot_be_are_told_before_any_work(scene, tmp_path, output, said):
    result = run("run", scene, "--out", tmp_path / "out", "--output", tmp_path / output)
    assert result.exit_code == 1
    assert said in result.stderr
    assert not (tmp_path / "out" / "run.npz").exists()


@pytest.mark.parametrize("results", [1, 2])
def test_a_disk_that_fills_up_leaves_a_checkpoint_of_the_last_frame(scene, tmp_path, monkeypatch, results):
    """The disk is full from the fourth frame on, until the reserve is given back; all results fail, one is told."""
    out, refused = tmp_path / "out", []
    reserve, keep = out / ".run.npz.reserve", Simulation.save

    def write(writer, frame):
        if frame.time > 2.5 / 60:  # by time, not by count: results are written by threads of their own
            refused.append(frame.time)
            raise OSError(errno.ENOSPC, "No space left on device")

    def save(simulation, path):
        if refused and reserve.exists():
            raise pl.FileError(f"{path}: the checkpoint cannot be written (No space left on device).")
        keep(simulation, path)

    monkeypatch.setattr(ArchiveWriter, "write", write)
    monkeypatch.setattr(Simulation, "save", save)
    more = ("--output", tmp_path / "more.npz") if results == 2 else ()
    result = run("run", scene, "--out", out, *more)
    assert result.exit_code == 1
    assert "frame 3 could not be written (No space left on device)" in result.stderr
    assert f"pliant resume {out / 'run.npz'}" in result.stderr
    assert pl.Simulation.resume(out / "run.npz").state.step >= 2 * 3
    assert not reserve.exists()


def test_bytes_needed_are_a_lower_bound_of_what_is_written(scene, tmp_path):
    """Within a third for frames of many points; here of what headers leave of few."""
    sim = pl.Simulation(beams.twisted_beam())
    triangles = len(sim.scene.bodies[0].surface)
    points = len(np.unique(sim.scene.bodies[0].surface))
    for ending in ("npz", "pvd", "ply", "obj"):
        folder = tmp_path / ending
        folder.mkdir()
        with sim.record(folder / f"a.{ending}"):
            for _ in range(4):
                sim.advance()
        size = sum(path.stat().st_size for path in folder.glob("**/*") if path.is_file())
        needed = 5 * bytes_a_frame(folder / f"a.{ending}", points, triangles, 3)
        assert needed <= size, ending
        if ending != "obj":
            assert size <= 1.34 * needed, ending


def test_resume_names_what_a_kill_left_unfinished(scene, tmp_path):
    out = tmp_path / "out"
    run("run", scene, "--out", out, "--frames", 2, "--set", "outputs.0.file='a.glb'", "--quiet")
    (out / "a.glb").rename(out / "a.glb.frames.npz")  # as a kill leaves it, but for what is in it
    result = run("resume", out / "run.npz", "--frames", 1)
    assert f"pliant convert {out / 'a.glb.frames.npz'} {out / 'a.glb'}" in result.stdout


def test_view_refuses_addresses_that_are_not_this_computers(scene, tmp_path):
    result = run("view", scene, "--host", "192.0.2.1")  # RFC 5737: nobody's
    assert result.exit_code == 1
    assert "--host 192.0.2.1 --port 8080: this computer cannot listen there" in result.stderr


def test_a_link_out_of_the_folder_is_refused(scene, tmp_path):
    (tmp_path / "out").mkdir()
    (tmp_path / "out" / "sub").symlink_to(tmp_path, target_is_directory=True)
    result = run("run", scene, "--out", tmp_path / "out")
    assert result.exit_code == 1
    assert "leads out of the output folder" in result.stderr
    assert not (tmp_path / "block.npz").exists()


def test_python_scenes_run_with_settings(tmp_path):
    path = tmp_path / "mine.py"
    path.write_text(
        "import pliant as pl\n"
        "def scene():\n"
        "    scene = pl.Scene()\n"
        "    scene.add_solid(pl.shapes.box(cells=2), pl.StableNeoHookean.from_young(1e5, 0.4))\n"
        "    return pl.Simulation(scene, pl.VBD(iterations=2), substeps=3)\n"
    )
    result = run("run", path, "--out", tmp_path / "out", "--frames", 2, "--set", "solver.iterations=4", "--json")
    assert result.exit_code == 0, result.output
    assert json.loads(result.stdout)["iterations"] == 4
    assert pl.Simulation.resume(tmp_path / "out" / "run.npz").substeps == 3
    path.write_text("def scene():\n    return 1 / 0\n")
    result = run("run", path)
    assert result.exit_code == 1
    assert f"{path}, line 2: ZeroDivisionError: division by zero" in result.stderr
    path.write_text("x = 1\n")
    assert "no function scene()" in run("run", path).stderr


def test_unknown_scenes_name_the_nearest():
    result = run("run", "twst")
    assert result.exit_code == 1
    assert "Did you mean 'twist'?" in result.stderr


def test_gallery_lists_its_scenes():
    from pliant.scenes.gallery import entries

    listed = run("gallery").output
    about = json.loads(run("gallery", "--json").stdout)
    assert [entry["name"] for entry in about] == [entry.name for entry in entries()]
    for entry in entries():
        assert entry.title in listed
    assert "pliant render NAME/NAME.npz -o NAME.mp4" in listed
    assert "--threads" in run("gallery", "--help").output


def test_schema_accepts_the_gallery_and_refuses_unknown_keys():
    import tomllib

    from pliant.scenes.gallery import entries

    schema = json.loads(run("schema").stdout)
    validator = pytest.importorskip("jsonschema").Draft202012Validator(schema)
    for entry in entries():
        data = tomllib.loads(entry.path.read_text())
        validator.validate(data)
        data["bodies"][0]["densty"] = 1
        assert not validator.is_valid(data)


def test_info_of_a_scene(scene):
    result = run("info", scene)
    assert result.exit_code == 0, result.output
    assert "45, 9 of them held" in result.output
    assert "16 kg" in result.output

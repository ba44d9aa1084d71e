"""What a run says at its end, and what it leaves when it is killed at any time."""

import json
import logging
import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import numpy as np
import pytest
from typer.testing import CliRunner

import pliant as pl
from pliant.cli.main import app
from pliant.cli.start_file import NAME, kept_start, start_of
from pliant.cli.summary import RunSummary

DROP = """
title = "Drop"
[simulation]
duration = 0.1
substeps = 2
[solver]
name = "VBD"
iterations = 60
[contact]
stiffness = 1e5
[[bodies]]
kind = "solid"
shape = { kind = "box", size = [0.1, 0.1, 0.1], cells = 1 }
transform = { translation = [0.0, 0.0, 0.055] }
material = { law = "StableNeoHookean", youngs_modulus = 1e6, poissons_ratio = 0.3 }
[[obstacles]]
kind = "plane"
"""


@pytest.fixture
def scene(tmp_path):
    path = tmp_path / "drop.toml"
    path.write_text(DROP)
    return path


def run(*arguments):
    return CliRunner().invoke(app, [str(a) for a in arguments])


def test_a_run_ends_with_how_to_look_at_its_result(scene, tmp_path):
    out = tmp_path / "out"
    result = run("run", scene, "--out", out, "--frames", "1", "--output", out / "drop.npz")
    assert f"pliant view {out / 'drop.npz'}, " in result.stdout
    assert result.stdout.rstrip().endswith(f"pliant render {out / 'drop.npz'} -o drop.mp4")
    assert "pliant render" not in run("run", scene, "--out", out, "--frames", "1").stdout  # a checkpoint alone


def test_numbers_of_the_summary_are_those_of_the_run(scene, tmp_path):
    result = run("run", scene, "--out", tmp_path / "out", "--json")
    about = json.loads(result.stdout)
    sim = pl.load_simulation(scene)
    start, deepest = sim.energies()["total"], 0.0
    for _ in range(12):
        deepest = max(deepest, sim.step().contact.deepest)
    assert about["deepest_contact"] == deepest > 0
    assert about["energy_start"] == start == pytest.approx(9.81 * 0.055, rel=1e-6)  # 1 kg
    assert about["energy_end"] == sim.energies()["total"]
    assert about["real_time_factor"] == pytest.approx(0.1 / about["seconds"], rel=1e-6)
    assert about["warnings"] == []
    assert not (tmp_path / "out" / NAME).exists()


def test_people_are_told_in_lines(scene, tmp_path):
    said = run("run", scene, "--out", tmp_path / "out").stdout
    for words in ("Real-time factor: ", "Deepest contact: ", " mm at t = ", "Energy: 0.5396 J at the start"):
        assert words in said


def test_warnings_come_once_each_with_their_number(scene):
    sim = pl.load_simulation(scene)
    summary, logger = RunSummary(sim), logging.getLogger("pliant")
    with summary.watching():
        for k in range(3):
            logger.warning("t = %g s: too soft", k)
        logger.warning("something else")
        logger.info("no warning")
    logger.warning("after the run")
    lines = [line for line in summary.lines(1.0) if line.startswith("Warning")]
    assert lines == ["Warning (3 times): t = 0 s: too soft", "Warning: something else"]
    assert sim.observers == []


def wait_until(condition):
    until = time.monotonic() + 120
    while not condition():
        assert time.monotonic() < until
        time.sleep(0.002)


def test_a_run_killed_before_its_first_checkpoint_is_resumed(scene, tmp_path):
    out = tmp_path / "out"
    run("run", scene, "--out", out, "--frames", "1", "--quiet")  # a run before, in the same folder
    before = (out / "run.npz").read_bytes()
    command = [sys.executable, "-m", "pliant", "run", str(scene), "--out", str(out), "--frames", "4", "--set",
               "solver.iterations=3"]  # fmt: skip
    process = subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    wait_until(lambda: (out / NAME).exists())
    os.kill(process.pid, signal.SIGKILL)
    process.wait()
    assert (out / "run.npz").read_bytes() == before, "killed while it imports, builds and compiles"
    result = run("resume", out / "run.npz", "--quiet")
    assert result.exit_code == 0, result.output
    again = pl.Simulation(pl.load_scene(scene), pl.VBD(iterations=3), 60, 2)
    for _ in again.frames(4):
        pass
    kept = pl.Simulation.resume(out / "run.npz")
    assert kept.state.step == 8
    assert np.array_equal(kept.positions, again.positions)


@pytest.mark.parametrize("text", ["", "{}", "[1]", '{"scene": 3, "output": [], "keep_every": 1, "frames": 1}'])
def test_a_damaged_start_is_one_error(tmp_path, text):
    (tmp_path / NAME).write_text(text)
    result = run("resume", tmp_path / "run.npz")
    assert result.exit_code == 1
    assert "this is not what a run keeps of its start" in result.output


def test_a_run_that_is_refused_leaves_no_start(tmp_path):
    result = run("run", "no-such-scene", "--out", tmp_path / "out")
    assert result.exit_code == 1
    assert list(tmp_path.iterdir()) == []


def test_a_scene_of_the_gallery_keeps_its_name_in_a_folder_of_that_name(tmp_path, monkeypatch):
    """`pliant run stack` writes into ./stack, which is no scene file."""
    monkeypatch.chdir(tmp_path)
    with kept_start(Path("stack"), "stack", (), solver=None, settings=[], frames=None, keep_every=30.0):
        assert start_of(Path("stack/run.npz"))["scene"] == "stack"
        with pytest.raises(pl.FileError, match=r"no such file to resume"):
            start_of(Path("stack/copy.npz"))  # what was killed would have written run.npz


def test_nothing_to_resume_is_one_error_and_leaves_nothing(tmp_path):
    result = run("resume", tmp_path / "out" / "run.npz")
    assert result.exit_code == 1
    assert "there is no such file to resume" in result.output
    assert list(tmp_path.iterdir()) == []


STACK = ("run", "stack", "--frames", "30")


def killed_after(seconds, folder):
    """Run `pliant run stack` in a folder and kill it; whether it had ended by then."""
    folder.mkdir(exist_ok=True)
    process = subprocess.Popen(
        [sys.executable, "-m", "pliant", *STACK],
        cwd=folder,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
    )
    try:
        process.wait(seconds)
    except subprocess.TimeoutExpired:
        os.kill(process.pid, signal.SIGKILL)
        process.wait()
    return process.returncode == 0


@pytest.fixture(scope="module")
def whole(tmp_path_factory):
    """Seconds that the run takes where all is compiled, and positions at its end."""
    for _ in range(2):
        folder, began = tmp_path_factory.mktemp("whole"), time.monotonic()
        assert killed_after(600, folder)
    return time.monotonic() - began, pl.Simulation.resume(folder / "stack" / "run.npz").positions


@pytest.mark.slow
def test_a_run_killed_at_any_time_leaves_something_to_resume(whole, tmp_path, monkeypatch):
    """Twenty kills at random moments, from a fifth of a second to the end: each is resumed and ends with the same bits,
    or had not begun to write and says so.
    """
    seconds, expected = whole
    kinds = []
    for k, moment in enumerate(np.random.default_rng(7).uniform(0.2, seconds, 20)):
        has_ended = killed_after(moment, tmp_path / str(k))
        monkeypatch.chdir(tmp_path / str(k))
        began = Path("stack", NAME).exists() or Path("stack", "run.npz").exists()
        result = run("resume", "stack/run.npz", "--quiet")
        if not began:
            kinds.append("not begun")
            assert result.exit_code == 1
            assert "there is no such file to resume" in result.output
            continue
        is_whole = result.exit_code == 1 and "this run is finished, 30 frames" in result.output
        kinds.append("ended" if has_ended else "finished" if is_whole else "resumed")
        assert is_whole or result.exit_code == 0, result.output
        assert np.array_equal(pl.Simulation.resume("stack/run.npz").positions, expected)
        assert not Path("stack", NAME).exists() or is_whole
    print(kinds)  # shown by pytest -rP
    assert "resumed" in kinds


@pytest.mark.slow
def test_a_run_killed_while_it_compiles_is_resumed(scene, tmp_path):
    """Three kills with one cache of compiled code, empty at first: what they leave in it does no harm."""
    out, environment = tmp_path / "out", os.environ | {"PLIANT_CACHE_DIR": str(tmp_path / "cache")}
    program = [sys.executable, "-m", "pliant"]
    for seconds in np.random.default_rng(8).uniform(0.2, 4.0, 3):
        (out / NAME).unlink(missing_ok=True)
        process = subprocess.Popen([*program, "run", str(scene), "--out", str(out), "--quiet"], env=environment)
        wait_until(lambda: (out / NAME).exists())
        time.sleep(seconds)
        assert process.poll() is None
        os.kill(process.pid, signal.SIGKILL)
        process.wait()
        assert not (out / "run.npz").exists(), "killed before its first frame"
    command = [*program, "resume", str(out / "run.npz"), "--quiet"]
    done = subprocess.run(command, env=environment, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    again = pl.load_simulation(scene)
    for _ in range(12):
        again.step()
    assert np.array_equal(pl.Simulation.resume(out / "run.npz").positions, again.positions)

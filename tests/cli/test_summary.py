"""What a run says at its end, and what it leaves when it is killed at any time."""

import json
import logging
import os
import signal
import subprocess
import sys
import time

import numpy as np
import pytest
from typer.testing import CliRunner

import pliant as pl
from pliant.cli.main import app
from pliant.cli.start_file import NAME, start_of
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
    for words in ("simulated seconds per second.", "Deepest contact: ", " mm at t = ", "Energy: 0.5396 J at the start"):
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


def test_a_run_killed_before_its_first_checkpoint_is_resumed(scene, tmp_path):
    out = tmp_path / "out"
    run("run", scene, "--out", out, "--frames", "1", "--quiet")  # a run before, in the same folder
    before = (out / "run.npz").read_bytes()
    command = [sys.executable, "-m", "pliant", "run", str(scene), "--out", str(out), "--frames", "4", "--set",
               "solver.iterations=3"]  # fmt: skip
    process = subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    until = time.monotonic() + 60
    while not (out / NAME).exists() and time.monotonic() < until:
        time.sleep(0.002)
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


@pytest.mark.slow
def test_a_run_killed_at_any_time_leaves_something_to_resume(tmp_path):
    """Twenty kills at random moments, from when its folder is made: a checkpoint, or what the run was asked for."""
    moments = np.random.default_rng(7).uniform(0.0, 6.0, 20)
    kinds = []
    for k, seconds in enumerate(moments):
        out = tmp_path / str(k)
        command = [sys.executable, "-m", "pliant", "run", "stack", "--out", str(out), "--frames", "30"]
        process = subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        until = time.monotonic() + 60
        while not (out / NAME).exists() and process.poll() is None and time.monotonic() < until:
            time.sleep(0.002)
        time.sleep(seconds)
        os.kill(process.pid, signal.SIGKILL)
        process.wait()
        start = start_of(out / "run.npz")
        if start is not None:
            assert (start["scene"], start["frames"]) == ("stack", 30)
            kinds.append("start")
        else:
            assert pl.Simulation.resume(out / "run.npz").state.step >= 0
            kinds.append("checkpoint")
    assert len(kinds) == 20

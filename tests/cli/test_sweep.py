"""`pliant sweep`: the grid, the table, going on after kills."""

import csv
import json
import os
import signal
import subprocess
import sys
import threading
import time
from pathlib import Path

import pytest
from typer.testing import CliRunner

import pliant as pl
from pliant.cli.main import app
from pliant.scenes import sweeps
from pliant.scenes.clusters import run_on_cluster
from pliant.scenes.sweeps import Sweep, varied

SCENE = """
[simulation]
substeps = 1
[[bodies]]
kind = "solid"
shape = { kind = "box", size = [0.1, 0.1, 0.1], cells = 1 }
material = { law = "StableNeoHookean", youngs_modulus = 1e6, poissons_ratio = 0.3 }
"""


@pytest.fixture
def scene(tmp_path):
    path = tmp_path / "box.toml"
    path.write_text(SCENE)
    return path


def run(*arguments):
    return CliRunner().invoke(app, [str(a) for a in arguments])


def rows(folder):
    with (folder / "results.csv").open() as file:
        return list(csv.DictReader(file))


@pytest.mark.parametrize(
    ("text", "values"),
    [
        ("a.b=1,2 , x", ("1", "2", "x")),
        ("gravity=[0,0,-1],[0, 0, -2]", ("[0,0,-1]", "[0, 0, -2]")),
        ("title='a,b',c", ("'a,b'", "c")),
        ("a=0..1:3", ("0", "0.5", "1")),
        ("a=1e4..1e6:3:log", ("10000", "100000", "1000000")),
    ],
)
def test_values_of_a_key(text, values):
    assert varied(text).values == values


@pytest.mark.parametrize(
    "text", ["a", "a=", "=1", "a=1,,2", "a=1,1", "a=1..2", "a=1..2:1", "a=0..1:3:log", "a=1..2:3:x"]
)
def test_bad_values_are_refused(text):
    with pytest.raises(pl.SceneError, match="--vary"):
        varied(text)


@pytest.mark.slow
def test_a_sweep_makes_one_table_and_goes_on(scene, tmp_path):
    out = tmp_path / "out"
    arguments = ("sweep", scene, "--out", out, "--frames", 2, "-j", 2, "--vary", "bodies.0.density=500,1000", "--vary",
                 "bodies.0.air_damping=0..2:2")  # fmt: skip
    result = run(*arguments)
    assert result.exit_code == 0, result.output
    found = rows(out)
    assert [(row["bodies.0.density"], row["bodies.0.air_damping"]) for row in found] == [
        ("500", "0"), ("500", "2"), ("1000", "0"), ("1000", "2")]  # fmt: skip
    assert {row["status"] for row in found} == {"done"}
    h, g = 1 / 60, 9.81
    for row in found[::2]:  # in free fall, implicit Euler loses m g h per step: E = m (v^2 / 2 - g y), v = 2 g h
        mass = float(row["bodies.0.density"]) * 1e-3
        assert float(row["energy_end"]) == pytest.approx(mass * ((2 * g * h) ** 2 / 2 - g * g * h * h * 3), rel=1e-4)
    (out / "run-00002" / "report.json").unlink()
    marks = [(out / f"run-{k:05d}" / "report.json") for k in (0, 1, 3)]
    before = [mark.stat().st_mtime_ns for mark in marks]
    assert run(*arguments).exit_code == 0
    assert [mark.stat().st_mtime_ns for mark in marks] == before, "only what was missing ran again"
    other = run("sweep", scene, "--out", out, "--vary", "bodies.0.density=3,4")
    assert "another sweep" in other.output


def kill_when_begun(process, folder):
    while not folder.exists() and process.poll() is None:
        time.sleep(0.01)
    process.kill()


def assert_all_ran(told, out):
    """32 boxes in free fall for one step: E = m (v^2 / 2 - g y)."""
    assert sorted(told) == [(job, "done") for job in range(32)]
    found = rows(out)
    assert len(found) == 32
    h, g = 1 / 60, 9.81
    for row in found:
        mass = float(row["bodies.0.density"]) * 1e-3
        assert float(row["energy_end"]) == pytest.approx(mass * ((g * h) ** 2 / 2 - g * g * h * h), rel=1e-4)


@pytest.mark.slow
def test_a_sweep_in_processes_survives_killed_ones(scene, tmp_path, monkeypatch):
    """Of 32 runs the third and the seventh are killed in the middle, as by a system out of memory."""
    plan = Sweep(str(scene), [varied("bodies.0.density=500..1000:32")], tmp_path, ["--frames", "1"])
    start, started = subprocess.Popen, []

    def popen(command, **options):
        process = start(command, **options)
        started.append(process)
        if len(started) in (3, 7):
            threading.Thread(target=kill_when_begun, args=(process, Path(command[command.index("--out") + 1]))).start()
        return process

    monkeypatch.setattr(sweeps.subprocess, "Popen", popen)
    told = []
    plan.run(2, lambda job, report: told.append((job, report["status"])))
    assert [process.returncode for process in started].count(-signal.SIGKILL) == 2
    assert len(started) == 34
    assert_all_ran(told, tmp_path)


def test_a_run_that_fails_is_told_and_the_others_go_on(scene, tmp_path):
    result = run("sweep", scene, "--out", tmp_path / "o", "--frames", 1, "--vary", "bodies.0.density=500,-1", "--json")
    assert result.exit_code == 1
    about = json.loads(result.stdout)
    assert (about["done"], about["failed"]) == (1, 1)
    assert "bodies.0.density" in rows(tmp_path / "o")[1]["error"]


@pytest.mark.slow
def test_a_killed_sweep_goes_on(scene, tmp_path):
    out = tmp_path / "out"
    command = [sys.executable, "-m", "pliant", "sweep", str(scene), "--out", str(out), "--frames", "1", "-j", "2",
               "--vary", "bodies.0.density=500..1000:8"]  # fmt: skip
    process = subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    until = time.monotonic() + 120
    while len(list(out.glob("run-*/report.json"))) < 2 and time.monotonic() < until:
        time.sleep(0.05)
    process.kill()
    process.wait()
    assert run(*command[3:]).exit_code == 0
    assert [row["status"] for row in rows(out)] == ["done"] * 8


def test_lines_of_a_plot(tmp_path):
    """A line per value of the second key, over the first."""
    from pliant.scenes.sweep_plots import lines

    plan = Sweep("box", [varied("a=1,2"), varied("b=x,y")], tmp_path)
    for job, energy in enumerate((1.0, 2.0, 3.0, None)):
        plan.finish(job, 0, json.dumps({"energy_end": energy}), "")
    assert lines(plan, "energy_end") == {"b=x": [("1", 1.0), ("2", 3.0)], "b=y": [("1", 2.0)]}


def test_a_table_in_parquet_has_numbers_and_missing_values(tmp_path):
    parquet = pytest.importorskip("pyarrow.parquet")
    from pliant.scenes.sweep_parquet import write_parquet

    plan = Sweep("box", [varied("a=1,2"), varied("b=x,0.5")], tmp_path)
    for job, energy in enumerate((1.0, 2.5, None)):
        plan.finish(job, 0, json.dumps({"energy_end": energy, "iterations": 7}), "")
    table = parquet.read_table(write_parquet(plan)).to_pydict()
    assert list(table) == plan.columns()
    assert table["a"] == [1, 1, 2, 2]
    assert table["b"] == ["x", "0.5", "x", "0.5"]
    assert table["energy_end"] == [1.0, 2.5, None, None]
    assert table["status"] == ["done", "done", "done", "missing"]
    assert table["iterations"] == [7, 7, 7, None]


def test_a_column_or_cluster_that_is_not_there_is_refused(scene, tmp_path):
    result = run("sweep", scene, "--out", tmp_path / "o", "--plot", "speed", "--vary", "bodies.0.density=1,2")
    assert result.exit_code == 1
    assert "choose one of frames, time" in result.output
    assert not (tmp_path / "o").exists()


@pytest.mark.slow
def test_a_sweep_on_a_cluster_survives_a_killed_worker(scene, tmp_path):
    """32 runs on two real workers, of which one is killed after the third run; its nanny starts another."""
    distributed = pytest.importorskip("distributed")
    out, told = tmp_path / "out", []
    plan = Sweep(str(scene), [varied("bodies.0.density=500..1000:32")], out, ["--frames", "1"])
    out.mkdir()
    with distributed.LocalCluster(n_workers=2, threads_per_worker=1, dashboard_address=None) as cluster:

        def done(job, report):
            told.append((job, report["status"]))
            if len(told) == 3:
                os.kill(next(iter(cluster.workers.values())).pid, signal.SIGKILL)

        run_on_cluster(plan, cluster.scheduler_address, done)
    assert_all_ran(told, out)


def test_no_scheduler_is_told(tmp_path, monkeypatch):
    pytest.importorskip("distributed")
    monkeypatch.setattr("pliant.scenes.clusters.CONNECT_SECONDS", 0.5)
    plan = Sweep("drop", [varied("contact.friction=0.1,0.3")], tmp_path)
    with pytest.raises(pl.PliantError, match="no scheduler answers"):
        run_on_cluster(plan, "tcp://127.0.0.1:9", lambda job, report: None)

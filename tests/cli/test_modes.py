"""`--json` and `--quiet` of every command: one JSON object and nothing else on standard output, or nothing at all."""

import io
import json
import logging
import re
import signal
import subprocess
import sys

import numpy as np
import pytest
from typer.testing import CliRunner

import pliant as pl
from pliant.cli.main import app
from pliant.cli.output import log_above_bar, print_json

SCENE = """
title = "Block"
[simulation]
duration = 0.05
substeps = 2
[solver]
name = "VBD"
iterations = 3
[[bodies]]
kind = "solid"
name = "block"
density = 500
shape = { kind = "box", size = [0.2, 0.2, 0.4], cells = [2, 2, 4] }
material = { law = "StableNeoHookean", youngs_modulus = 1e5, poissons_ratio = 0.4 }
holds = [{ kind = "pin", where = { kind = "face", side = "+z" } }]
[[outputs]]
file = "block.npz"
volume = true
"""


def run(*arguments):
    result = CliRunner().invoke(app, [str(a) for a in arguments])
    assert result.exit_code == 0, result.output
    return result


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    """With a scene, block.toml, and its result out/block.npz of three frames and a checkpoint."""
    folder = tmp_path_factory.mktemp("modes")
    (folder / "block.toml").write_text(SCENE)
    run("run", folder / "block.toml", "--out", folder / "out", "--quiet")
    return folder


def calls(folder, tmp_path):
    """A short call of every command that ends by itself."""
    scene, frames = folder / "block.toml", folder / "out" / "block.npz"
    return {
        "run": (scene, "--frames", 1, "--out", tmp_path),
        "resume": (folder / "out" / "run.npz", "--frames", 1),
        "compare": (scene, "--solvers", "vbd,newton", "--iterations", 2, "--frames", 1, "--out", tmp_path),
        "gallery": (),
        "bench": ("--cells", 2, "--iterations", 1),
        "info": (),
        "render": (frames, "-o", tmp_path / "a.png", "--height", 32),
        "convert": (frames, tmp_path / "a.pvd"),
    }


COMMANDS = ("run", "resume", "compare", "gallery", "bench", "info", "render", "convert")


@pytest.mark.parametrize("command", COMMANDS)
def test_json_is_all_that_is_on_standard_output(folder, tmp_path, command):
    said = run(command, *calls(folder, tmp_path)[command], "--json").stdout
    json.loads(said, parse_constant=lambda word: pytest.fail(f"{word} is no JSON"))


@pytest.mark.parametrize("command", [command for command in COMMANDS if command != "gallery"])
def test_quiet_says_nothing_at_all(folder, tmp_path, command):
    assert run(command, *calls(folder, tmp_path)[command], "--quiet").output == ""


def test_info_gives_numbers_of_a_scene(folder):
    about = json.loads(run("info", folder / "block.toml", "--json").stdout)
    assert about["bodies"] == [{"name": "block", "kind": "solid", "vertices": 45}]
    assert (about["vertices"], about["held_vertices"], about["tets"]) == (45, 9, 80)
    assert about["mass_kg"] == pytest.approx(500 * 0.2 * 0.2 * 0.4)
    assert (about["substeps"], about["frames_a_second"], about["frames"]) == (2, 60, 3)
    assert about["duration_s"] == pytest.approx(0.05)
    assert about["iterations"] == 3
    assert about["outputs"] == ["block.npz"]


def test_info_gives_numbers_of_the_computer(tmp_path, monkeypatch):
    monkeypatch.setenv("PLIANT_CACHE_DIR", str(tmp_path))
    (tmp_path / "0123").mkdir()
    (tmp_path / "0123" / "last_used").write_text("12345")
    about = json.loads(run("info", "--json").stdout)
    assert (about["cache_bytes"], about["cache_generations"], about["cache_has_this_one"]) == (5, 1, False)
    assert about["numpy"] == np.__version__
    assert about["vector_bits"] in (128, 256, 512)
    assert about["lanes_double"] == max(4, about["vector_bits"] // 64)
    assert about["threads"] >= 1
    cleared = json.loads(run("info", "--clear-cache", "--json").stdout)
    assert (cleared["deleted_generations"], cleared["deleted_bytes"], cleared["cache_bytes"]) == (1, 5, 0)


def test_convert_counts_what_it_wrote(folder, tmp_path):
    source, target = folder / "out" / "block.npz", tmp_path / "a.glb"
    about = json.loads(run("convert", source, target, "--json").stdout)
    assert about == {"source": str(source), "target": str(target), "frames": 4}
    pl.save_mesh(tmp_path / "a.vtu", pl.shapes.box(cells=2))
    about = json.loads(run("convert", tmp_path / "a.vtu", tmp_path / "a.msh", "--json").stdout)
    assert (about["vertices"], about["tets"]) == (27, 40)
    about = json.loads(run("convert", tmp_path / "a.vtu", tmp_path / "a.ply", "--json").stdout)
    assert (about["vertices"], about["triangles"]) == (26, 48)


def test_render_tells_what_it_drew(folder, tmp_path):
    source, target = folder / "out" / "block.npz", tmp_path / "a.png"
    about = json.loads(run("render", source, source, "-o", target, "--height", 32, "--json").stdout)
    assert (about["target"], about["bytes"]) == (str(target), target.stat().st_size)
    assert about["results"] == [{"source": str(source), "frames": 4, "begin_s": 0.0, "end_s": pytest.approx(0.05)}] * 2


def test_compare_gives_the_numbers_of_its_files(folder, tmp_path):
    solvers = ("--solvers", "vbd,newton", "--iterations", 6, "--frames", 2)
    about = json.loads(run("compare", folder / "block.toml", *solvers, "--out", tmp_path, "--json").stdout)
    curves = json.loads((tmp_path / "compare.json").read_text())
    assert about["files"] == [str(tmp_path / f"compare.{kind}") for kind in ("csv", "json", "png", "svg")]
    assert about["verdicts"] == curves["verdicts"]
    for solver, curve in zip(about["solvers"], curves["runs"], strict=True):
        assert solver["relative_energy_error"] == curve["errors"][-1]
        assert solver["residual_m_per_s2"] == curve["residuals"][-1]
        first = next(k for k, error in enumerate(curve["errors"]) if error <= 0.1)
        assert solver["reached"]["0.1"] == {
            "iterations": curve["iterations"][first],
            "seconds": curve["seconds"][first],
        }
    assert [run["frames"] for run in about["motion"]] == [2, 2]
    assert about["motion"][1]["distance_largest"] < 1e-3  # Newton's method against the converged motion


@pytest.mark.slow
@pytest.mark.parametrize("mode", ["--json", "--quiet"])
def test_view_says_where_it_listens(folder, mode):
    pytest.importorskip("viser")
    command = [sys.executable, "-m", "pliant", "view", str(folder / "block.toml"), "--port", "0", mode]
    with subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True) as process:
        assert process.stdout is not None
        try:
            said = "".join(iter(process.stdout.readline, "}\n")) + "}" if mode == "--json" else ""
            if mode == "--quiet":
                with pytest.raises(subprocess.TimeoutExpired):
                    process.wait(8)
        finally:
            process.send_signal(signal.SIGINT)
        rest, _ = process.communicate(timeout=60)
    assert rest == ""
    if mode == "--json":
        about = json.loads(said)
        assert about["title"] == "Block"
        assert re.fullmatch(rf"http://127\.0\.0\.1:{about['port']}/[\w-]{{22}}/", about["url"]), "with a token"
        assert about["only_this_computer"] is True


def test_numbers_that_are_not_finite_become_null(capsys):
    print_json({"a": [1.5, float("nan")], "b": (float("-inf"),), "c": "nan"})
    assert json.loads(capsys.readouterr().out) == {"a": [1.5, None], "b": [None], "c": "nan"}


def test_warnings_go_where_standard_error_goes(monkeypatch):
    """As rich replaces it while it shows a bar; afterwards they go where they went before."""
    logger, (before, during) = logging.getLogger("pliant"), (io.StringIO(), io.StringIO())
    handler = logging.StreamHandler(before)
    monkeypatch.setattr(logger, "handlers", [handler])
    monkeypatch.setattr(sys, "stderr", during)
    logger.warning("one")
    with log_above_bar():
        logger.warning("two")
    logger.warning("three")
    assert (before.getvalue(), during.getvalue()) == ("one\nthree\n", "two\n")

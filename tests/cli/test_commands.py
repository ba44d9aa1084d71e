"""The command line: what it writes, what it says, and how it ends."""

import json
import re
import subprocess
import sys

import numpy as np
import pytest
from typer.testing import CliRunner

import pliant as pl
from pliant import scenes
from pliant.cli import demo as demo_command
from pliant.cli.main import app


def run(*arguments):
    return CliRunner().invoke(app, [str(a) for a in arguments])


def test_help_lists_the_commands_within_80_columns():
    result = run("--help")
    assert result.exit_code == 0
    commands = "demo run view resume sweep gallery schema bench compare info render convert explain"
    for command in commands.split():
        assert re.search(rf"^\s+{command}\s", result.output, re.MULTILINE)
        about = run(command, "--help").output
        assert f"Example: pliant {command}" in about
        assert max(map(len, about.splitlines())) <= 80


def test_help_does_not_load_the_simulator():
    code = "import sys, pliant.cli.main; sys.exit(bool({'numpy', 'numba', 'scipy'} & set(sys.modules)))"
    assert subprocess.run([sys.executable, "-c", code], check=False).returncode == 0


def test_version():
    assert run("--version").output == f"pliant {pl.__version__}\n"


@pytest.fixture
def small_demo(monkeypatch):
    """The demo on a coarse beam: what it writes does not depend on the size."""
    whole = scenes.twisted_beam
    monkeypatch.setattr(scenes, "twisted_beam", lambda: whole(cells=(2, 2, 12)))


@pytest.mark.slow
def test_demo_writes_picture_shape_and_checkpoint(small_demo, tmp_path):
    image = pytest.importorskip("PIL.Image")
    out = tmp_path / "new" / "folder"
    result = run("demo", "--frames", 12, "--out", out)
    assert result.exit_code == 0, result.output
    pixels = np.asarray(image.open(out / "demo.png"))
    assert pixels.shape[0] == 606
    assert pixels.std() > 15
    shape = pl.load_mesh(out / "demo.vtu")
    assert shape.n_tets == 6 * 2 * 2 * 12
    resumed = pl.Simulation.resume(out / "demo.npz")
    assert resumed.time == pytest.approx(0.2)
    np.testing.assert_allclose(resumed.positions, shape.points, atol=1e-12)
    for name in ("demo.png", "demo.vtu", "demo.npz"):
        assert str(out / name) in result.output


def test_demo_without_pillow_says_so_and_goes_on(small_demo, tmp_path, monkeypatch):
    monkeypatch.setitem(sys.modules, "PIL", None)
    result = run("demo", "--frames", 1, "--out", tmp_path)
    assert result.exit_code == 0
    assert 'No picture was made. Pictures need the package pillow: pip install "pliant[render]".' in result.output
    assert not (tmp_path / "demo.png").exists()
    assert (tmp_path / "demo.npz").exists()


def test_unwritable_folder_fails_before_simulating(tmp_path):
    (tmp_path / "file").write_text("in the way")
    result = run("demo", "--out", tmp_path / "file")
    assert result.exit_code == 1
    assert "cannot write into this folder" in result.stderr
    assert "--out" in result.stderr
    assert "Wringing" not in result.output


def test_interrupt_leaves_a_checkpoint_and_exits_130(small_demo, tmp_path, monkeypatch):
    def stop_after_one(simulation, frames, checkpoint):
        simulation.advance()
        simulation.save(checkpoint)
        raise KeyboardInterrupt

    monkeypatch.setattr(demo_command, "_simulate", stop_after_one)
    result = run("demo", "--out", tmp_path)
    assert result.exit_code == 130
    assert f"pliant resume {tmp_path / 'demo.npz'}" in result.output
    assert (tmp_path / "demo.npz").exists()


def test_wrong_options_exit_2():
    assert run("demo", "--frames", 0).exit_code == 2
    assert run("nonsense").exit_code == 2


def test_info_names_versions_cpu_and_cache():
    result = run("info")
    assert result.exit_code == 0
    for line in ("pliant", "Python", "NumPy", "Numba", "CPU", "vectors", "lanes", "threads", "cache"):
        assert re.search(rf"^{line}\s", result.output, re.MULTILINE)


def test_info_clears_the_cache(tmp_path, monkeypatch):
    monkeypatch.setenv("PLIANT_CACHE_DIR", str(tmp_path))
    generation = tmp_path / "0123"
    generation.mkdir()
    (generation / "last_used").write_text("0")
    result = run("info", "--clear-cache")
    assert "Deleted 1 generation of compiled code" in result.output
    assert not generation.exists()


def test_bench_prints_times():
    result = run("bench", "--cells", 3, "--iterations", 2)
    assert result.exit_code == 0, result.output
    assert re.search(r"1 thread\s+[\d.]+ ms per iteration\s+[\d.]+ ns per tet", result.output)
    assert "bytes per tet" in result.output


@pytest.mark.slow
def test_compare_writes_curves_and_names_the_first(tmp_path):
    """A scene of a file, two solvers, three iterations: a table, sentences and four files."""
    scene = tmp_path / "small.py"
    scene.write_text("from pliant import scenes\n\n\ndef scene():\n    return scenes.cube(2)\n")
    solvers = "vbd,newton:linear=cg"
    result = run("compare", str(scene), "--solvers", solvers, "--iterations", "3", "--out", str(tmp_path / "out"))
    assert result.exit_code == 0, result.output
    assert "Newton(linear=cg) is first" in result.output or "VBD is first" in result.output
    assert sorted(p.name for p in (tmp_path / "out").iterdir()) == [
        f"compare.{k}" for k in ("csv", "json", "png", "svg")
    ]
    rows = (tmp_path / "out" / "compare.csv").read_text().splitlines()
    assert len([row for row in rows if row.startswith("VBD")]) == 4


def test_compare_without_matplotlib_makes_no_pictures_and_says_so(tmp_path, monkeypatch):
    monkeypatch.setitem(sys.modules, "matplotlib.figure", None)
    scene = tmp_path / "small.py"
    scene.write_text("from pliant import scenes\n\n\ndef scene():\n    return scenes.cube(2)\n")
    options = ("--solvers", "vbd", "--iterations", "2", "--out", tmp_path / "out")
    result = run("compare", scene, *options)
    assert result.exit_code == 0, result.output
    assert 'No pictures were made. Curves need the package matplotlib: pip install "pliant[plot]".' in result.output
    about = json.loads(run("compare", scene, *options, "--json").stdout)
    assert about["files"] == [str(tmp_path / "out" / f"compare.{kind}") for kind in ("csv", "json")]


def test_compare_says_what_is_wrong(tmp_path):
    scene = tmp_path / "small.py"
    scene.write_text("from pliant import scenes\n\n\ndef scene():\n    return scenes.cube(2)\n")
    for arguments, words in (
        (["nowhere"], "nowhere: this is neither a .toml file"),
        ([scene, "--solvers", "euler"], "there is no solver 'euler'"),
        ([scene, "--budget", "soon"], "--budget is 'soon'"),
    ):
        result = run("compare", *arguments, "--out", str(tmp_path))
        assert result.exit_code == 1
        assert words in result.output


def test_info_lists_what_a_scene_compiles():
    """Each compiled function with its origin, seconds and size, and totals that count them."""
    result = run("info", "jelly", "--compile")
    assert result.exit_code == 0, result.output
    rows = re.findall(r"^(compiled|in cache|in wheel)\s+\d+\.\d{3}\s+\d+  (\S.*)$", result.output, re.MULTILINE)
    assert any(name.endswith(": sweep") for _, name in rows)
    counts = re.search(r"(\d+) functions compiled in .*; (\d+) loaded .*; (\d+) loaded .* First frame", result.output)
    assert counts is not None
    assert [int(n) for n in counts.groups()] == [
        sum(origin == name for origin, _ in rows) for name in ("compiled", "in cache", "in wheel")
    ]
    assert run("info", "--compile").exit_code == 2


@pytest.mark.parametrize("option", ["--out", "--output"])
def test_names_that_the_system_refuses_are_one_error(option, tmp_path):
    result = run("run", "jelly", "--out", tmp_path, option, tmp_path / f"{'a' * 300}.npz")
    assert result.exit_code == 1
    assert "File name too long" in result.output
    assert "Traceback" not in result.output
    assert not isinstance(result.exception, OSError)


def test_explain_has_the_sections_of_the_troubleshooting_page():
    assert "Steps end before they have converged" in run("explain", "not-converged").output
    assert {"not-converged", "scene-errors"} <= {line.split()[0] for line in run("explain").output.splitlines()}
    mistyped = run("explain", "scene-error")
    assert mistyped.exit_code == 1
    assert "Did you mean 'scene-errors'?" in mistyped.output


@pytest.mark.parametrize("name", ["jelly", "mine.toml", "mine.py"])
def test_a_scene_in_place_of_a_command_names_the_command(name):
    result = run(name)
    assert result.exit_code == 2
    assert f"'{name}' is a scene, not a command: pliant run {name}" in " ".join(result.output.split())
    assert "No such command" in run("jellly").output


@pytest.mark.parametrize(("name", "remedy"), [("run.npz", "pliant resume"), ("bunny.obj", "needs a scene around it")])
def test_files_that_are_no_scenes_name_what_they_are_for(name, remedy):
    result = run("run", name)
    assert result.exit_code == 1
    assert remedy in " ".join(result.output.split())

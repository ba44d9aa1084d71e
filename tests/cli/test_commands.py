"""The command line: what it writes, what it says, and how it ends."""

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
    for command in ("demo", "run", "view", "resume", "gallery", "schema", "bench", "info", "render", "convert"):
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
    assert re.search(r"1 thread\s+[\d.]+ ms an iteration\s+[\d.]+ ns a tet", result.output)
    assert "bytes a tet" in result.output

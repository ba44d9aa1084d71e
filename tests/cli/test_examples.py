"""The examples run as they are."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

import pliant as pl

EXAMPLES = Path(__file__).parents[2] / "examples"


def run(folder, name, *arguments):
    environment = {**os.environ, "MPLBACKEND": "Agg"}
    command = [sys.executable, str(EXAMPLES / name), *map(str, arguments)]
    done = subprocess.run(command, cwd=folder, env=environment, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    return done.stdout


def test_hanging_beam(tmp_path):
    pytest.importorskip("PIL")
    assert "the lowest point is at z = -0." in run(tmp_path, "hanging_beam.py", 3)
    assert (tmp_path / "hanging_beam.png").stat().st_size > 5000


def test_compare_solvers(tmp_path):
    pytest.importorskip("matplotlib")
    lines = run(tmp_path, "compare_solvers.py", 20).splitlines()
    residual = {line[:26].strip(): float(line.split("residual")[1].split()[0]) for line in lines}
    assert residual["Newton"] < 1e-8
    assert residual["VBD + Chebyshev, rho 0.9"] < residual["VBD"]
    assert (tmp_path / "compare_solvers.png").exists()


def test_balloon(tmp_path):
    """65 litres at rest; under pressure it holds more."""
    pytest.importorskip("PIL")
    said = run(tmp_path, "balloon.py", 20)
    assert float(said.split("holds")[1].split()[0]) > 65
    assert (tmp_path / "balloon.png").stat().st_size > 3000


def test_own_mesh(tmp_path):
    pytest.importorskip("PIL")
    pl.save_mesh(tmp_path / "ball.vtu", pl.shapes.ball(0.5, 4))
    run(tmp_path, "own_mesh.py", "ball.vtu", 2)
    assert pl.load_mesh(tmp_path / "own_mesh.vtu").n_tets == 20 * 4**3


def test_own_mesh_without_arguments_explains_itself(tmp_path):
    done = subprocess.run([sys.executable, str(EXAMPLES / "own_mesh.py")], capture_output=True, text=True, check=False)
    assert done.returncode == 1
    assert "own_mesh.py MESH" in done.stderr

"""The examples run as they are."""

import base64
import io
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


@pytest.mark.slow
def test_compare_solvers(tmp_path):
    pytest.importorskip("matplotlib")
    lines = run(tmp_path, "compare_solvers.py", 20).splitlines()
    residual = {line[:26].strip(): float(line.split("residual")[1].split()[0]) for line in lines}
    assert residual["Newton"] < 1e-8
    assert residual["VBD + Chebyshev, rho 0.9"] < residual["VBD"]
    assert (tmp_path / "compare_solvers.png").exists()


@pytest.mark.slow
def test_balloon(tmp_path):
    """65 litres at rest; under pressure it holds more."""
    pytest.importorskip("PIL")
    said = run(tmp_path, "balloon.py", 20)
    assert float(said.split("holds")[1].split()[0]) > 65
    assert (tmp_path / "balloon.png").stat().st_size > 3000


@pytest.mark.slow
def test_own_mesh(tmp_path):
    pytest.importorskip("PIL")
    pl.save_mesh(tmp_path / "ball.vtu", pl.shapes.ball(0.5, 4))
    run(tmp_path, "own_mesh.py", "ball.vtu", 2)
    assert pl.load_mesh(tmp_path / "own_mesh.vtu").n_tets == 20 * 4**3


def test_own_mesh_without_arguments_explains_itself(tmp_path):
    done = subprocess.run([sys.executable, str(EXAMPLES / "own_mesh.py")], capture_output=True, text=True, check=False)
    assert done.returncode == 1
    assert "own_mesh.py MESH" in done.stderr


@pytest.mark.slow
def test_notebook(tmp_path):
    """A still, a movie and a still by field, as a notebook keeps them."""
    pytest.importorskip("PIL")
    nbformat, nbclient = pytest.importorskip("nbformat"), pytest.importorskip("nbclient")
    book = nbformat.read(EXAMPLES / "falling_jelly.ipynb", 4)
    nbclient.NotebookClient(book, timeout=300, resources={"metadata": {"path": str(tmp_path)}}).execute()
    shown = [
        output.data for cell in book.cells if cell.cell_type == "code" for output in cell.outputs if "data" in output
    ]
    still, movie, by_field, energies = shown
    sizes = [_image(data["image/png"]).size for data in (still, by_field)]
    assert [height for _, height in sizes] == [300 + 24, 300 + 24]  # and the line below
    assert sizes[1][0] > sizes[0][0]  # the legend
    gif = _image(movie["text/html"].split("base64,")[1].split('"')[0])
    assert (gif.n_frames, gif.height) == (20, 240 + 20)  # 0.75 s at 25 pictures a second, and the last moment
    assert len(movie["text/plain"]) < 50  # not the bytes of the movie
    assert "gravity" in energies["text/plain"]


def _image(text):
    from PIL import Image

    return Image.open(io.BytesIO(base64.b64decode(text)))

"""`pliant render` and `pliant convert` on files."""

import numpy as np
import pytest
from typer.testing import CliRunner

import pliant as pl
from pliant.cli.main import app
from pliant.io.results import open_result


def run(*arguments):
    return CliRunner().invoke(app, [str(a) for a in arguments])


@pytest.fixture(scope="module")
def folder(make_simulation, tmp_path_factory):
    """With a result of three frames, whole.npz."""
    folder = tmp_path_factory.mktemp("results")
    sim = make_simulation(solver=pl.VBD(iterations=3))
    with sim.record(folder / "whole.npz", volume=True):
        for _ in sim.frames(2):
            pass
    return folder


@pytest.mark.parametrize("ending", ["npz", "pvd", "ply", "obj", "usda"])
def test_convert_there_and_back_keeps_positions(folder, tmp_path, ending):
    there, back = tmp_path / f"a.{ending}", tmp_path / "back.npz"
    for arguments in ((folder / "whole.npz", there), (there, back)):
        result = run("convert", *arguments, "--surface")
        assert result.output == f"{arguments[1]}: 3 frames\n"
    with open_result(folder / "whole.npz") as before, open_result(back) as after:
        kept = before.layout.surface()[1]
        np.testing.assert_allclose(after.times, before.times, atol=1e-9)
        for k in range(3):
            np.testing.assert_allclose(after.positions(k), before.positions(k)[kept], atol=1e-7)


def test_convert_keeps_tets_unless_told(folder, tmp_path):
    assert run("convert", folder / "whole.npz", tmp_path / "a.pvd").exit_code == 0
    with open_result(tmp_path / "a.pvd") as result, open_result(folder / "whole.npz") as before:
        np.testing.assert_array_equal(result.tets, before.tets)
        np.testing.assert_array_equal(
            result.frame(2).cell_fields["von_mises"], before.frame(2).cell_fields["von_mises"]
        )


def test_convert_meshes(tmp_path):
    box = pl.shapes.box(cells=2)
    pl.save_mesh(tmp_path / "a.vtu", box)
    assert run("convert", tmp_path / "a.vtu", tmp_path / "a.msh").exit_code == 0
    np.testing.assert_array_equal(pl.load_mesh(tmp_path / "a.msh").tets, box.tets)
    assert run("convert", tmp_path / "a.vtu", tmp_path / "a.ply").exit_code == 0
    assert pl.load_mesh(tmp_path / "a.ply").area == pytest.approx(6.0)
    assert run("convert", tmp_path / "a.ply", tmp_path / "b.obj").exit_code == 0  # one file is a mesh, not a result
    assert pl.load_mesh(tmp_path / "b.obj").area == pytest.approx(6.0)


def test_convert_refuses_in_one_sentence(folder, tmp_path):
    whole = folder / "whole.npz"
    for arguments, what in [
        ((whole, whole), "this is the file to read"),
        ((whole, tmp_path / "a.uscd"), "Did you mean .usd?"),
        ((whole, tmp_path / "missing" / "a.glb"), "there is no folder"),
        ((tmp_path / "none.npz", tmp_path / "a.glb"), "there is no such file"),
        ((tmp_path / "none.stl", tmp_path / "a.obj"), "there is no such file"),
    ]:
        result = run("convert", *arguments)
        assert result.exit_code == 1
        assert what in result.output
        told, link = result.output.splitlines()
        assert told.startswith("Error: ")
        assert link == "See docs/troubleshooting.md#file-errors, or run: pliant explain file-errors"


def test_render_makes_pictures_and_movies(folder, tmp_path):
    image = pytest.importorskip("PIL.Image")
    whole = folder / "whole.npz"
    still, strip, both = tmp_path / "a.png", tmp_path / "b.png", tmp_path / "c.gif"
    assert (
        run("render", whole, "-o", still, "--at", 0.01, "--height", 64, "--field", "von_mises").output == f"{still}\n"
    )
    assert run("render", whole, "-o", strip, "--height", 64).exit_code == 0
    labels = ("--label", "one", "--label", "two")
    assert run("render", whole, whole, "-o", both, *labels, "--height", 64).exit_code == 0
    assert image.open(still).height == image.open(strip).height == 64 + 16
    assert image.open(strip).width % 3 == 0  # three frames, three panels
    assert image.open(both).n_frames == 2  # 0.02 s at 25 frames a second


def test_render_refuses_in_one_sentence(folder, tmp_path):
    whole = folder / "whole.npz"
    for arguments, what in [
        (("-o", tmp_path / "a.jpg"), "pictures and movies are .mp4, .gif, .png"),
        (("-o", tmp_path / "missing" / "a.png"), "there is no folder"),
        (("-o", tmp_path / "a.png", "--field", "von_mise"), "Did you mean 'von_mises'?"),
        (("-o", tmp_path / "a.png", "--elevation", 95), "between 0 and 90"),
        (("-o", tmp_path / "a.png", "--label", "a", "--label", "b"), "2 labels for 1 results"),
    ]:
        result = run("render", whole, *arguments)
        assert result.exit_code == 1
        assert what in result.output
        assert result.output.startswith("Error: ")


def test_a_result_is_only_looked_at(tmp_path):
    result = CliRunner().invoke(app, ["view", str(tmp_path / "run.npz"), "--play"])
    assert result.exit_code == 1
    assert "a result is only looked at; --solver, --set and --play are for scenes" in result.output
    result = CliRunner().invoke(app, ["view", str(tmp_path / "run.npz")])
    assert "there is no such file" in result.output

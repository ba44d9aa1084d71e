"""The gallery: every scene is there with its picture, and runs."""

import numpy as np
import pytest

import pliant as pl
from pliant.scenes.gallery import entries
from pliant.scenes.plans import open_plan

EVERY = pytest.mark.parametrize("entry", entries(), ids=lambda entry: entry.name)
LONG = ("card-house", "curl", "gripper", "skirt", "teapot")  # compile for long
EVERY_RUN = pytest.mark.parametrize(
    "entry",
    [pytest.param(e, id=e.name, marks=pytest.mark.slow if e.name in LONG else ()) for e in entries()],
)


def test_there_are_twelve():
    assert len(entries()) >= 12


@EVERY
def test_each_has_a_title_a_sentence_a_picture_and_a_time(entry):
    image = pytest.importorskip("PIL.Image")
    assert entry.title
    assert entry.description.endswith(".")
    assert 0 < entry.run_seconds < 60
    picture = np.asarray(image.open(entry.thumbnail).convert("RGB"))
    assert picture.shape[0] >= 200
    assert picture.std() > 8  # something is drawn
    assert entry.thumbnail.stat().st_size < 100_000


@EVERY_RUN
def test_each_runs_two_frames_and_keeps_its_volume_upright(entry):
    """No tet turns over, and held vertices are where they are told to be."""
    plan = open_plan(entry.name, threads=1)
    sim = plan.simulation()
    assert plan.frames > 30
    for _ in range(2):
        sim.advance()
    for solids in sim.model.solids:
        corners = sim.positions[solids.tets]
        assert np.linalg.det(corners[:, 1:] - corners[:, :1]).min() > 0
    for kinematic in sim.model.kinematic:
        np.testing.assert_allclose(sim.positions[kinematic.vertices], kinematic.positions(sim.time), atol=1e-6)
    assert np.abs(sim.positions - sim.model.positions).max() > 1e-5  # [m]: gravity or a motion acts in every one


@EVERY_RUN
def test_each_written_back_runs_with_the_same_bits(entry, tmp_path):
    sim = open_plan(entry.name, threads=1).simulation()
    pl.save_scene(sim, tmp_path / "again.toml")
    again = pl.load_simulation(tmp_path / "again.toml", threads=1)
    for _ in range(3):
        sim.advance()
        again.advance()
    np.testing.assert_array_equal(again.state.x, sim.state.x)
    np.testing.assert_array_equal(again.state.v, sim.state.v)

"""Figure 3 in small: a box flattened to the last bit, and a few frames of the scrambled teapot."""

import numpy as np
import pytest
from experiments.vbd import data, recovery

import pliant as pl


def test_a_flat_box_rises_again():
    mesh = pl.shapes.box((0.4, 0.3, 0.2), (4, 3, 2))
    run = recovery.recover(mesh, recovery.flattened(mesh.points), frames=20, label="flat box")
    numbers = recovery.numbers_of(run)
    assert run["inverted"][0] == mesh.n_tets
    assert numbers["frames_until_no_tet_is_inverted"] <= 5
    assert numbers["energy_over_initial_at_end"] < 1e-3
    assert numbers["distance_at_end_percent_of_size"] < 1


def test_alignment_undoes_a_rigid_motion():
    points = np.random.default_rng(1).normal(size=(20, 3))
    turn = np.array([[0.0, -1, 0], [1, 0, 0], [0, 0, 1]])
    np.testing.assert_allclose(recovery.aligned(points @ turn.T + 3, points), points, atol=1e-12)


def test_numbers_of_a_run_that_does_not_recover():
    run = {"ended": "did all frames", "inverted": [9, 0, 2], "energy": [2.0, 1.0, 1.0], "distance": [0.5, 0.3, 0.2]}
    numbers = recovery.numbers_of(run)
    assert numbers["frames_until_no_tet_is_inverted"] is None  # one was inverted again
    assert numbers["frames_until_within_1_percent_of_size"] is None
    assert (numbers["frames"], numbers["inverted_at_end"]) == (2, 2)


@pytest.mark.slow
@pytest.mark.skipif(not data.has("teapot-2k"), reason="teapot-2k.vtu is not here")
@pytest.mark.parametrize("precision", ["single", "double"])
def test_scrambled_teapot_recovers_with_chebyshev(precision):
    mesh = data.load("teapot-2k")
    balls = [recovery.scrambled(mesh.points, seed) for seed in (0, 1, 2)]
    runs = [recovery.recover(mesh, ball, 40, precision=precision, label="teapot") for ball in balls]
    numbers = [recovery.numbers_of(run) for run in runs]
    for run, found in zip(runs, numbers, strict=True):
        assert run["inverted"][0] > 4000
        assert run["ended"] == "did all frames"
        assert found["frames_until_no_tet_is_inverted"] <= 20
        assert found["distance_at_end_percent_of_size"] < 5  # a handle that stays coiled up is 3 % away
        assert found["energy_over_initial_at_end"] < 1e-9

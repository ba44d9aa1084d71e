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


@pytest.mark.slow
@pytest.mark.skipif(not data.has("teapot-2k"), reason="teapot-2k.vtu is not here")
def test_scrambled_teapot_recovers_in_double_precision():
    mesh = data.load("teapot-2k")
    run = recovery.recover(mesh, recovery.scrambled(mesh.points), 30, precision="double", label="teapot")
    assert run["inverted"][0] > 4000
    assert recovery.numbers_of(run)["frames_until_no_tet_is_inverted"] <= 15
    assert run["distance"][-1] < 0.02

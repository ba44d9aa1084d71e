"""Scenes have the sizes, masses and holds that their docstrings promise."""

import numpy as np
import pytest

from pliant import Simulation, scenes
from pliant.model import build_model


@pytest.mark.parametrize(
    ("make", "tets", "kilograms"),
    [(scenes.twisted_beam, 23_040, 25.6), (scenes.cube, 93_750, 1000.0), (scenes.hanging_beam, 12_288, 62.5)],
)
def test_promised_size_and_mass(make, tets, kilograms):
    model = build_model(make())
    assert model.n_tets == tets
    assert model.mass.sum() == pytest.approx(kilograms, rel=1e-12)


def test_held_vertices():
    assert np.count_nonzero(~build_model(scenes.cube(4)).is_free) == 25
    assert np.count_nonzero(~build_model(scenes.hanging_beam((8, 2, 2))).is_free) == 9
    assert np.count_nonzero(~build_model(scenes.twisted_beam((2, 2, 8))).is_free) == 18


def test_twisted_beam_resumes_with_its_motions(tmp_path):
    def scene():
        return scenes.twisted_beam(cells=(2, 2, 8))

    through = Simulation(scene())
    through.advance()
    through.save(tmp_path / "half.npz")
    resumed = Simulation.resume(tmp_path / "half.npz")
    through.advance()
    resumed.advance()
    np.testing.assert_array_equal(through.positions, resumed.positions)


@pytest.mark.slow
def test_wrung_beam_keeps_every_tet_upright_and_buckles():
    scene = scenes.twisted_beam()
    mesh = scene.bodies[0].mesh
    sim = Simulation(scene)
    for _ in sim.frames(120):
        a, b, c, d = (sim.positions[mesh.tets[:, k]] for k in range(4))
        assert np.einsum("na,na->n", np.cross(b - a, c - a), d - a).min() > 0
    middle = sim.positions[np.abs(mesh.points[:, 2]) < 1e-9].mean(axis=0)
    assert np.hypot(*middle[:2]) > 0.05  # [m]; a third of its width

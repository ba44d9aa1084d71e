"""When steps are looked at: where the last two ended, in runs that go on from a checkpoint too."""

import numpy as np

import pliant as pl
from pliant.solvers.contract.marks import Looks
from pliant.solvers.contract.step_error import StepError


def _error(largest, owed=None):
    one = np.ones(1)
    return StepError(largest * one, one, (largest if owed is None else owed) * one, 0.5 * one, one, one, one, 0 * one)


def test_the_first_look_is_where_the_easier_of_two_steps_ended():
    looks, ended = Looks(), (5, 5, 7, 4)
    first = []
    for done in ended:
        first.append(max(looks.begin(200, is_new=True)))
        looks.note(2, _error(0.1), 0.01)  # not there yet
        looks.note(done, _error(0.009), 0.01)
    assert first == [2, 2, 5, 5]
    assert max(looks.begin(3, is_new=True)) == 3  # of at most three iterations
    assert max(looks.begin(200, is_new=False)) == 2  # of another solver


def test_steps_that_become_easier_are_looked_at_sooner():
    """By an iteration for each factor of four by which the error, and what vertices owe, was within the tolerance."""
    looks = Looks()
    for done, error, sooner in ((6, 0.009, 6), (6, 0.002, 5), (6, 0.0006, 4), (3, 1e-9, 2)):
        looks.needed = [done, done]
        looks.begin(200, is_new=True)
        looks.note(done, _error(error), 0.01)
        assert looks.needed == [sooner, done]
    looks.begin(200, is_new=True)
    looks.note(6, _error(1e-5, owed=0.02), 0.01)
    assert looks.needed[0] == 6


def test_a_resumed_run_looks_at_the_same_iterations(tmp_path):
    mesh = pl.shapes.beam(length=1.0, width=0.1, height=0.1, cells=(8, 2, 2))
    scene = pl.Scene(gravity=(0, 0, -9.81))
    beam = scene.add_solid(mesh, pl.StableNeoHookean.from_young(2e4, 0.45), density=1000.0)
    beam.pin(mesh.points[:, 0] < -0.499)
    whole = pl.Simulation(scene, threads=1)
    for _ in range(12):
        whole.step()
    whole.save(tmp_path / "half.npz")
    state = whole.state_dict()
    resumed, loaded = pl.Simulation.resume(tmp_path / "half.npz"), pl.Simulation(scene, threads=1)
    loaded.load_state_dict(state)
    runs = [[(sim.step().iterations, sim.positions) for _ in range(12)] for sim in (whole, resumed, loaded)]
    iterations = [done for done, _ in runs[0]]
    assert min(iterations) > 2  # looked at later than at first
    for run in runs[1:]:
        assert [done for done, _ in run] == iterations
        np.testing.assert_array_equal(run[-1][1], runs[0][-1][1])

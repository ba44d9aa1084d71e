"""Tuning of Chebyshev's phases."""

import numpy as np
import pytest

import pliant as pl
from pliant import scenes
from pliant.comparison import tuning


def test_changes_follow_equation_9():
    """1 - rho by a factor 1 +- epsilon, one phase at a time; borders earlier and later, the sum of lengths kept."""
    changed = list(tuning._changes(((10, 0.5), (20, 0.9)), 0.1))
    rhos = {phases for phases in changed if [length for length, _ in phases] == [10, 20]}
    found = sorted(tuple(rho for _, rho in phases) for phases in rhos)
    np.testing.assert_allclose(found, [(0.45, 0.9), (0.5, 0.89), (0.5, 0.91), (0.55, 0.9)])
    assert all(sum(length for length, _ in phases) == 30 for phases in changed)
    assert len(changed) == 6


def test_tuned_phases_leave_a_smaller_residual(tmp_path):
    """Less than two thirds of what the first guess leaves on the steps it was tuned on; the file keeps it."""
    scene = scenes.hanging_beam(cells=(6, 2, 2))
    solver = pl.GradientDescent(iterations=48)
    phases = pl.tune_chebyshev(scene, solver, steps=4, samples=2, precision="double", most_cycles=25)
    assert sum(length for length, _ in phases) == 48
    sim = pl.Simulation(scene, pl.Chebyshev(solver, ((24, tuning.FIRST_RHO), (24, tuning.FIRST_RHO))), 30, 1, "double")
    trial = tuning._Trial(tuning._sample(sim, 4, 2), solver, sim.execution)
    assert trial.error(phases) < trial.error(((24, tuning.FIRST_RHO), (24, tuning.FIRST_RHO))) - np.log(1.5)
    pl.save_phases(tmp_path / "phases.json", phases)
    assert pl.load_phases(tmp_path / "phases.json") == phases
    assert pl.Chebyshev(solver, pl.load_phases(tmp_path / "phases.json")).rho == phases


def test_a_file_without_phases_is_refused(tmp_path):
    (tmp_path / "other.json").write_text("{}")
    with pytest.raises(pl.FileError, match=r"other\.json: this is not a file of Chebyshev phases"):
        pl.load_phases(tmp_path / "other.json")


def test_too_few_iterations_are_refused():
    with pytest.raises(pl.SolverError, match="3 iterations are too few for 2 phases"):
        pl.tune_chebyshev(scenes.cube(2), pl.GradientDescent(iterations=3))

"""The reference converges below the rounding of the energy."""

import numpy as np
import pytest
from experiments.vbd import starts
from experiments.vbd.converged import converged_step

import pliant as pl


@pytest.mark.slow
def test_reference_steps_converge_and_fall_freely_at_first():
    sim = pl.Simulation(starts.hung(starts.pendulum(0.2)), precision="double")
    reports = [converged_step(sim) for _ in range(3)]
    assert max(report.residual for report in reports) < 1e-6
    bob = sim.positions[:, 0] > 4.2
    np.testing.assert_allclose(sim.velocities[bob, 2].mean(), 3 * sim.h * -9.81, rtol=0.01)

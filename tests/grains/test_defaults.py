"""Grains with default settings."""

import numpy as np
import pytest

import pliant as pl


@pytest.mark.slow
def test_a_scene_with_particles_needs_no_solver() -> None:
    """Ten spheres on the ground: after half a second they still rest there, to a hundredth of a radius."""
    scene = pl.Scene()
    points = np.column_stack([0.05 * np.arange(10), np.zeros(10), np.full(10, 0.01)])
    grains = scene.add_particles(points, radius=0.01)
    scene.add_plane((0, 0, 0), (0, 0, 1), friction=0.4)
    sim = pl.Simulation(scene)
    assert isinstance(sim.solver, pl.VelocityTimeStepping)
    for _ in range(30):
        sim.advance()
    np.testing.assert_allclose(grains.positions, points, atol=1e-4)
    assert np.abs(sim.velocities).max() == pytest.approx(0.0, abs=1e-6)

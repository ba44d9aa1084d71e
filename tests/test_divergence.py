"""A run that has blown up stops with a diagnosis; physical motion, however fast, does not."""

import numpy as np
import pytest

import pliant as pl

LAW = pl.StableNeoHookean.from_young(1e5, 0.3)


def two_balls(stiffness: float) -> pl.Simulation:
    """4.2 kg each, 0.2 m across, meeting at 1 m/s."""
    scene = pl.Scene(gravity=(0, 0, 0))
    scene.contact = pl.Contact(stiffness=stiffness)
    for side in (-1, 1):
        mesh = pl.shapes.ball(0.1, 5).transformed(translation=(0.105 * side, 0, 0))
        scene.add_solid(mesh, LAW, density=1000.0).set_velocities((-0.5 * side, 0, 0))
    return pl.Simulation(scene, pl.VBD())


def test_a_run_that_has_blown_up_stops() -> None:
    """A stiffness of 1e9 N/m throws the soft balls about: the run ends with the vertex, the number and what helps; the
    state before is kept.
    """
    sim = two_balls(1e9)
    with pytest.raises(pl.SimulationError, match="the run has blown up") as error:
        list(sim.frames(12))
    assert "of solid" in str(error.value)
    assert "leave the contact's stiffness=1e+09 N/m out" in str(error.value)
    steps = sim.state.step
    assert steps < 60
    assert np.isfinite(sim.positions).all()
    with pytest.raises(pl.SimulationError, match="blown up"):
        sim.step()
    assert sim.state.step == steps


def test_velocities_that_are_set_by_hand_are_no_explosion() -> None:
    """A cube at rest without gravity, where nothing was put in, is spun so that its corners would move by 0.47 m in a
    step of 1/300 s, more than its edges: their energy counts from then on.
    """
    scene = pl.Scene(gravity=(0, 0, 0))
    mesh = pl.shapes.box((0.1,) * 3, (2, 2, 2))
    scene.add_solid(mesh, pl.StableNeoHookean.from_young(1e9, 0.3), density=1000.0)
    sim = pl.Simulation(scene, pl.VBD())
    sim.step()
    sim.state.v[:, 0], sim.state.v[:, 1] = -2000.0 * sim.state.x[:, 1], 2000.0 * sim.state.x[:, 0]
    for _ in range(3):
        sim.step()
    assert sim.state.step == 4

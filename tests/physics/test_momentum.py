"""Momentum: implicit Euler keeps the linear one and loses angular momentum at a known rate."""

import numpy as np
import pytest

import pliant as pl
from pliant.materials import SOLID_LAWS

SPIN = np.array([0.0, 0.0, 4.0])  # [rad/s]


def spinning(h, law=pl.StableNeoHookean, solver=None, drift=(0.5, 0.0, 0.2), stretch=1.05):
    """A free block that turns about z, drifts, and if stretched vibrates too."""
    mesh = pl.shapes.box((0.4, 0.3, 0.2), (2, 2, 1))
    scene = pl.Scene(gravity=(0, 0, 0))
    body = scene.add_solid(mesh, law.from_young(2e5, 0.0 if law is pl.ARAP else 0.3))
    body.set_positions(mesh.points * (stretch, 1, 1))
    body.set_velocities(np.cross(SPIN, mesh.points) + drift)
    solver = pl.Newton(iterations=8) if solver is None else solver
    return pl.Simulation(scene, solver, frame_rate=1 / h, substeps=1, precision="double")


def momentum(sim):
    return sim.model.mass @ sim.velocities


def angular_momentum(sim):
    """About the centre of mass."""
    m = sim.model.mass
    r = sim.positions - m @ sim.positions / m.sum()
    return m @ np.cross(r, sim.velocities)


@pytest.mark.parametrize("law", SOLID_LAWS.values(), ids=SOLID_LAWS)
@pytest.mark.parametrize("solver", [pl.Newton(iterations=8), pl.VBD(iterations=300)], ids=["Newton", "VBD"])
def test_linear_momentum_is_kept(law, solver):
    """To 1e-9 over 10 converged steps."""
    sim = spinning(0.01, law, solver)
    before = momentum(sim)
    for _ in range(10):
        sim.step()
    np.testing.assert_allclose(momentum(sim), before, rtol=0, atol=1e-9 * np.linalg.norm(before))


def test_each_step_loses_the_angular_momentum_implicit_euler_loses():
    """No elastic torque at the new positions gives L_(n+1) = L_n + h sum m v_(n+1) x v_n, exactly."""
    sim = spinning(0.01, drift=(0, 0, 0))
    for _ in range(10):
        before, v = angular_momentum(sim), sim.velocities
        sim.step()
        expected = before + sim.h * sim.model.mass @ np.cross(sim.velocities, v)
        np.testing.assert_allclose(angular_momentum(sim), expected, rtol=0, atol=1e-10 * np.linalg.norm(before))


def test_angular_momentum_decreases_and_half_the_step_halves_the_loss():
    """Loss per second is about omega^2 h: monotone, and in proportion to h within 25 %."""
    seconds, loss = 0.4, {}
    for h in (0.01, 0.005):
        sim = spinning(h, stretch=1.0)
        course = [angular_momentum(sim)[2]]
        for _ in range(round(seconds / h)):
            sim.step()
            course.append(angular_momentum(sim)[2])
        assert np.diff(course).max() < 0
        loss[h] = np.log(course[0] / course[-1]) / seconds
    assert loss[0.01] / loss[0.005] == pytest.approx(2, rel=0.25)
    assert loss[0.005] == pytest.approx(SPIN[2] ** 2 * 0.005, rel=0.25)

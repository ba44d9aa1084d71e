"""Viscosity brakes what neighbours do differently, at the rate of theory."""

import numpy as np
import pytest

import pliant as pl

MU, RHO, LENGTH = 2e4, 1000.0, 1.0
BAR = pl.shapes.beam(LENGTH, 0.1, 0.1, (24, 2, 2))


def test_translation_is_not_braked():
    """To rounding, however viscous."""
    scene = pl.Scene(gravity=(0, 0, 0))
    body = scene.add_solid(BAR, pl.StableNeoHookean.from_young(1e5, 0.3))
    body.viscosity = 1e3
    body.set_velocities((1.0, -2.0, 0.5))
    sim = pl.Simulation(scene, pl.VBD(iterations=10), frame_rate=100, substeps=1, precision="double")
    for _ in range(20):
        sim.step()
    np.testing.assert_allclose(sim.velocities, np.tile((1.0, -2.0, 0.5), (BAR.n_vertices, 1)), rtol=0, atol=1e-10)


def test_rotation_is_braked_by_the_documented_power():
    """2 eta omega^2 V [W]: the first step's viscous term is half of h times it, for a small turn."""
    scene, omega, h = pl.Scene(gravity=(0, 0, 0)), 1e-3, 0.01
    body = scene.add_solid(BAR, pl.StableNeoHookean.from_young(1e5, 0.3))
    body.viscosity = 7.0
    problem = pl.Simulation(scene, pl.Newton(), frame_rate=1 / h, substeps=1).problem()
    turned = BAR.points + h * np.cross((0, 0, omega), BAR.points)
    assert problem.energies(turned)["viscosity"] == pytest.approx(0.5 * h * 2 * 7.0 * omega**2 * 0.01, rel=1e-9)


def sheared(viscosity, rate, steps):
    """A bar whose vertices move along y only, in its first mode of shear; its amplitude step by step.

    The continuum has rho u'' = mu u_xx + eta u'_xx, free ends, u ~ cos(k x) with k = pi / length.
    """
    scene = pl.Scene(gravity=(0, 0, 0))
    body = scene.add_solid(BAR, pl.StableNeoHookean(MU, MU), RHO)
    body.constrain_to_line(np.arange(BAR.n_vertices), (0, 1, 0))
    body.viscosity = viscosity
    mode = np.cos(np.pi * (BAR.points[:, 0] / LENGTH + 0.5))
    body.set_positions(BAR.points + 1e-4 * mode[:, None] * (0, 1, 0))
    sim = pl.Simulation(scene, pl.VBD(iterations=30), frame_rate=rate, substeps=1, precision="double")
    mass = sim.model.mass

    def amplitude():
        return mass * mode @ (sim.positions - BAR.points)[:, 1] / (mass * mode @ mode)

    course = [amplitude()]
    for _ in range(steps):
        sim.step()
        course.append(amplitude())
    return np.array(course)


@pytest.mark.parametrize("viscosity", [0.0, 100.0, 400.0])
def test_a_shear_wave_decays_at_the_analytic_rate(viscosity):
    """The wave as implicit Euler steps it, (1 - 2/z + 1/z^2) / h^2 = -omega^2 - (1 - 1/z) 2 gamma / h with
    omega^2 = mu k^2 / rho and gamma = eta k^2 / (2 rho), to 2 % of the first amplitude over a period.
    """
    rate, k = 200, np.pi / LENGTH
    h, omega2, gamma = 1 / rate, MU * k**2 / RHO, viscosity * k**2 / (2 * RHO)
    steps = round(2 * np.pi / np.sqrt(omega2) / h)
    course = sheared(viscosity, rate, steps)
    expected = [1e-4, 1e-4]  # at rest before the first step
    while len(expected) < steps + 2:
        u, before = expected[-1], expected[-2]
        expected.append((2 * u - before + 2 * gamma * h * u) / (1 + omega2 * h**2 + 2 * gamma * h))
    np.testing.assert_allclose(course, expected[1:], rtol=0, atol=2e-6)


def test_modes_without_elasticity_decay_exactly():
    """With L v = lam M v a velocity loses 1 / (1 + h lam) a step; L assembled here from the mesh."""
    eta, h, steps = 50.0, 0.01, 10
    edges = BAR.points[BAR.tets[:, 1:]] - BAR.points[BAR.tets[:, :1]]
    b = np.linalg.inv(edges).transpose(0, 2, 1)
    b = np.concatenate([-b.sum(axis=1, keepdims=True), b], axis=1)
    L = np.zeros((BAR.n_vertices, BAR.n_vertices))
    for tet, volume, gradients in zip(BAR.tets, BAR.volumes, b, strict=True):
        L[np.ix_(tet, tet)] += eta * volume * gradients @ gradients.T
    scene = pl.Scene(gravity=(0, 0, 0))
    body = scene.add_solid(BAR, pl.StableNeoHookean(1e-9, 1e-9), RHO)
    root = np.sqrt(body.masses)
    values, vectors = np.linalg.eigh(L / np.outer(root, root))
    mode = (vectors[:, 5] / root)[:, None] * (0.3, -1.0, 0.5)
    body.viscosity = eta
    body.set_velocities(mode)
    sim = pl.Simulation(scene, pl.VBD(iterations=400), frame_rate=1 / h, substeps=1, precision="double")
    for _ in range(steps):
        sim.step()
    kept = (1 + h * values[5]) ** -steps
    assert kept < 0.8
    np.testing.assert_allclose(sim.velocities, kept * mode, rtol=0, atol=1e-8 * np.abs(mode).max())
    assert values[1] == pytest.approx(eta / RHO * (np.pi / LENGTH) ** 2, rel=0.01)  # the continuum's

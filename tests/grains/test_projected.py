"""Particles in XPBD and GPBD: vertices with a radius, whose contacts are projected as others are."""

import numpy as np
import pytest

import pliant as pl

R = 0.02
SOLVERS = {
    "GPBD": pl.GPBD(iterations=60),
    "GPBD-jacobi": pl.GPBD(iterations=200, mode="jacobi", relaxation=1.5),
    "XPBD": pl.XPBD(iterations=60),
}


def ball_above_sheet(held: bool):
    """A ball of 1.7 g that comes at a square of 20 g with 1 m/s, without gravity."""
    scene = pl.Scene(gravity=(0, 0, 0), contact=pl.Contact(friction=0.0, self_contact=False, thickness=2e-3))
    mesh = pl.shapes.cloth(size=(0.2, 0.2), cells=(8, 8))
    sheet = scene.add_cloth(mesh, pl.StVenantKirchhoff.from_young(200.0, 0.3), density=0.5, bending=0)
    if held:
        sheet.pin(np.abs(mesh.points[:, :2]).max(axis=1) > 0.0999)
    scene.add_particles([[0.011, 0.004, R + 0.005]], R, 50.0).set_velocities((0.0, 0.0, -1.0))
    return scene


def simulated(scene, solver, seconds=0.05):
    sim = pl.Simulation(scene, solver, precision="double", frame_rate=100, substeps=20, threads=1)
    for _ in range(round(100 * seconds)):
        sim.advance()
    return sim


@pytest.mark.parametrize("name", ["GPBD", *(pytest.param(name, marks=pytest.mark.slow) for name in [*SOLVERS][1:])])
def test_a_ball_that_meets_a_free_sheet_keeps_their_momentum(name):
    sim = simulated(ball_above_sheet(held=False), SOLVERS[name], 0.02)
    masses, before = sim.model.mass, -sim.model.mass[-1]
    assert sim.velocities[-1, 2] > -0.8  # it has met the sheet
    np.testing.assert_allclose(masses @ sim.velocities, [0, 0, before], rtol=0, atol=1e-12)


@pytest.fixture(scope="module")
def with_newton():
    """The ball's velocity [m/s] after the bounce."""
    return simulated(ball_above_sheet(held=True), pl.Newton()).velocities[-1]


@pytest.mark.slow
@pytest.mark.parametrize("solver", SOLVERS.values(), ids=SOLVERS)
def test_a_ball_bounces_off_a_held_sheet_as_with_newtons_method(solver, with_newton):
    """Steps of 1/2000 s: its velocity after the bounce to half a percent of that before."""
    assert with_newton[2] > 0.1
    ours = simulated(ball_above_sheet(held=True), solver).velocities[-1]
    np.testing.assert_allclose(ours, with_newton, rtol=0, atol=5e-3)


def test_particles_alone_rest_on_each_other():
    """A scene without elements: the floor carries the weight of both, which overlap it by less than 2 % of a radius."""
    scene = pl.Scene()
    balls = scene.add_particles([[0, 0, 1.2 * R], [0, 0, 3.5 * R]], R)
    floor = scene.add_plane()
    sim = pl.Simulation(scene, pl.GPBD(), precision="double", threads=1)
    for _ in range(60):
        sim.advance()
    np.testing.assert_allclose(balls.positions[:, 2], [R, 3 * R], rtol=0, atol=0.02 * R)
    np.testing.assert_allclose(floor.contact_force, [0, 0, -9.81 * balls.masses.sum()], rtol=1e-6, atol=1e-9)

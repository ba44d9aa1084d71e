"""Friction that converges: limits and closest points are held while Newton's method minimises, and then agree."""

import numpy as np
import pytest

import pliant as pl

G, MU, SLOPE = 9.81, 0.4, np.arctan(0.5)


def incline(young: float, speed: float, solver, damping: float = 0.0, speed_down: float = 0.0) -> pl.Simulation:
    """A block of 0.5 m on an incline (gravity is turned), steps of 1/200 s."""
    scene = pl.Scene(gravity=(G * np.sin(SLOPE), 0, -G * np.cos(SLOPE)))
    scene.contact = pl.Contact(stiffness=1e5, friction_speed=speed, damping=damping)
    mesh = pl.shapes.box((0.5, 0.5, 0.5), (2, 2, 2)).transformed(translation=(0, 0, 0.25))
    body = scene.add_solid(mesh, pl.StableNeoHookean.from_young(young, 0.3), density=1000.0)
    body.set_velocities((0, 0, -speed_down))
    scene.add_plane((0, 0, 0), (0, 0, 1), friction=MU)
    return pl.Simulation(scene, solver, frame_rate=200, substeps=1, precision="double")


def newton() -> pl.Newton:
    return pl.Newton(iterations=100, residual=1e-8)


@pytest.mark.parametrize("young", [1e5, pytest.param(1e6, marks=pytest.mark.slow), 1e7, 1e8])
@pytest.mark.parametrize("speed", [1e-2, pytest.param(1e-3, marks=pytest.mark.slow), 1e-4])
def test_newton_converges_on_an_incline(young: float, speed: float) -> None:
    """In every step, with the normal forces and closest points of its end, within 40 iterations.  Refreshed at every
    iteration, each would minimise another potential, and residuals of 0.1 m/s^2 remain.
    """
    sim = incline(young, speed, newton())
    for _ in range(12):
        report = sim.step()
        assert report.converged
        assert report.iterations <= 40
        assert report.residual <= 1e-8


def test_sweeps_of_one_iteration_are_a_sweep_of_many() -> None:
    """What is held is held from sweep to sweep, and measuring in between does not refresh it."""
    sim = incline(1e6, 1e-3, newton())
    for _ in range(4):
        sim.step()
    problem = sim.problem()
    one = pl.solve(problem, pl.Newton(), stop=pl.Stop(iterations=7), measure_every=1)
    many = pl.solve(problem, pl.Newton(), stop=pl.Stop(iterations=7), measure_every=7)
    np.testing.assert_array_equal(one.x, many.x)


@pytest.mark.parametrize("speed", [1e-2, 1e-3])
def test_vertex_block_descent_ends_where_newton_does(speed: float) -> None:
    """To 1e-6 of the motion in the step, and its residual falls from measurement to measurement."""
    sim = incline(1e5, speed, newton())
    for _ in range(12):
        sim.step()
    problem = sim.problem()
    exact = pl.solve(problem, pl.Newton(iterations=100, residual=1e-10)).x
    report = pl.solve(problem, pl.VBD(iterations=3000), measure_every=250)
    assert np.abs(report.x - exact).max() < 1e-6 * np.abs(exact - problem.x_prev).max()
    measured = np.array(report.residuals)
    assert (np.diff(measured)[measured[:-1] > 1e-8] < 0).all()


@pytest.mark.slow
def test_a_soft_block_slides_as_far_in_both() -> None:
    """In a second, in which it bounces and sways: to 1e-8 of the way."""
    ways = []
    for solver in (newton(), pl.VBD(iterations=1000)):
        sim = incline(1e5, 1e-3, solver)
        before = sim.positions[:, 0].mean()
        for _ in range(200):
            sim.step()
        ways.append(sim.positions[:, 0].mean() - before)
    assert ways[0] == pytest.approx(ways[1], rel=1e-8)


@pytest.mark.parametrize(("young", "changes"), [(1e5, 3), pytest.param(1e7, 1, marks=pytest.mark.slow)])
def test_newton_converges_with_damped_contacts(young: float, changes: int) -> None:
    """In every step of a block that is dropped on the incline, while vertices arrive and leave: their damping has no
    jump.  The normal force never pulls.
    """
    sim = incline(young, 1e-3, newton(), damping=0.02, speed_down=0.5)
    arrivals = 0
    for _ in range(60):
        before = np.count_nonzero(np.linalg.norm(sim.contacts.forces, axis=1))
        report = sim.step()
        arrivals += np.count_nonzero(np.linalg.norm(sim.contacts.forces, axis=1)) != before
        assert report.converged
        assert report.residual <= 1e-8
        assert (sim.contacts.forces[:, 2] >= 0).all()
    assert arrivals >= changes

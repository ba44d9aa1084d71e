"""Where the iterations of a step begin (VBD 3.7), seen through the problem it poses."""

import numpy as np
import pytest

import pliant as pl


@pytest.fixture
def state():
    """x_t, v_t, v_(t-1) of random bodies."""
    random = np.random.default_rng(0)
    mesh = pl.shapes.box(cells=1)
    return mesh, random.normal(size=(8, 3)), random.normal(size=(8, 3))


def posed(state, start, gravity=(0.0, 0.0, -9.81), fraction=None):
    mesh, v, v_previous = state
    scene = pl.Scene(gravity)
    scene.add_solid(mesh, pl.StableNeoHookean.from_young(1e5, 0.3))
    sim = pl.Simulation(scene, pl.VBD(start=start), frame_rate=50, substeps=1)
    sim.state.v[:] = v
    sim.state.v_previous[:] = v_previous if fraction is None else v - fraction * sim.h * np.array(gravity)
    return sim.problem(), mesh.points, v, sim.h, np.array(gravity)


@pytest.mark.parametrize("start", ["previous", "inertial", "accelerated", "adaptive"])
def test_target_is_equation_3_for_every_start(state, start):
    """y = x + h v + h^2 g."""
    problem, x, v, h, g = posed(state, start)
    np.testing.assert_allclose(problem.y, x + h * v + h**2 * g, rtol=0, atol=1e-15)


@pytest.mark.parametrize(
    ("start", "inertial", "weight"), [("previous", 0, 0), ("inertial", 1, 0), ("accelerated", 1, 1)]
)
def test_simple_starts(state, start, inertial, weight):
    problem, x, v, h, g = posed(state, start)
    np.testing.assert_allclose(problem.x_guess, x + inertial * h * v + weight * h**2 * g, rtol=0, atol=1e-15)


@pytest.mark.parametrize(("fraction", "taken"), [(-0.5, 0.0), (0.0, 0.0), (0.4, 0.4), (1.0, 1.0), (3.0, 1.0)])
def test_adaptive_start_takes_the_part_of_gravity_that_was_followed(state, fraction, taken):
    """Equation 17: the last acceleration along gravity, over gravity, cut to [0, 1]."""
    problem, x, v, h, g = posed(state, "adaptive", gravity=(3.0, -4.0, -9.0), fraction=fraction)
    np.testing.assert_allclose(problem.x_guess, x + h * v + taken * h**2 * g, rtol=0, atol=1e-14)


def test_adaptive_start_without_gravity_is_inertial(state):
    problem, x, v, h, _ = posed(state, "adaptive", gravity=(0.0, 0.0, 0.0))
    np.testing.assert_allclose(problem.x_guess, x + h * v, rtol=0, atol=1e-15)


def test_the_start_does_not_change_the_converged_step(make_simulation):
    """All four lead to the same minimiser."""
    results = []
    for start in ("previous", "inertial", "accelerated", "adaptive"):
        sim = make_simulation(held=True, solver=pl.VBD(iterations=150, start=start))
        sim.step()
        results.append(sim.positions)
    for other in results[1:]:
        np.testing.assert_allclose(other, results[0], rtol=0, atol=1e-10)


def test_extrapolated_start_expects_a_fifth_of_the_last_acceleration(state):
    """Wang and Yang 2016, Section 4.4: x + h v + 0.2 h (v - v_previous)."""
    problem, x, v, h, _ = posed(state, "extrapolated")
    np.testing.assert_allclose(problem.x_guess, x + h * v + 0.2 * h * (v - state[2]), rtol=0, atol=1e-15)


def test_optimised_start_minimises_the_quadratic_model_along_the_velocity(state):
    """Equation 10, against the exact Hessian."""
    problem, x, v, _, _ = posed(state, "optimised")
    slope = np.sum(v * problem.gradient(x))
    curvature = v.ravel() @ (problem.hessian(x) @ v.ravel())
    np.testing.assert_allclose(problem.x_guess, x - slope / curvature * v, rtol=1e-6)

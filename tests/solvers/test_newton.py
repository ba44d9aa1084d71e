"""Newton's method: quadratic convergence near the solution, descent far from it."""

import numpy as np
import pytest

import pliant as pl
from pliant.materials import SOLID_LAWS
from pliant.solvers.contract.loop import Execution

every_law = pytest.mark.parametrize("law", SOLID_LAWS.values(), ids=SOLID_LAWS)


@every_law
def test_converges_quadratically(make_simulation, law):
    """Near the solution each error is at most a constant times the square of the one before: exponent above 1.8."""
    problem = make_simulation(law, held=True).problem()
    exact = pl.solve(problem, pl.Newton(), stop=pl.Stop(iterations=20)).x
    noise = problem.project(np.random.default_rng(0).normal(0, 2e-3, exact.shape))
    x, errors = exact + noise, []
    work = pl.Newton().init(problem, Execution("double"))
    for _ in range(3):
        errors.append(np.abs(x - exact).max())
        pl.Newton().sweep(problem, x, work)
    exponent = np.log(errors[2] / errors[1]) / np.log(errors[1] / errors[0])
    assert exponent > 1.8


@pytest.mark.parametrize("law", [pl.StableNeoHookean, pl.StVenantKirchhoff])
def test_descends_from_a_tangle(make_simulation, law):
    """From positions at random, elements inverted, G falls every iteration until the gradient vanishes."""
    problem = make_simulation(law).problem()
    x0 = np.random.default_rng(1).uniform(-0.1, 0.1, problem.x_guess.shape)
    report = pl.solve(problem, pl.Newton(), x0=x0, stop=pl.Stop(iterations=300, residual=1e-8))
    energies = np.array(report.energies)
    assert report.reason.startswith("converged")
    assert (energies[1:] <= energies[:-1] * (1 + 1e-14)).all()


@pytest.mark.parametrize("linear", ["direct", "cg"])
def test_linear_solvers_find_the_same_minimiser(make_simulation, linear):
    """By Cholesky's factors and by conjugate gradients."""
    problem = make_simulation(held=True, damping=2e-3).problem()
    exact = pl.solve(problem, pl.Newton(), stop=pl.Stop(iterations=20)).x
    report = pl.solve(problem, pl.Newton(linear=linear), stop=pl.Stop(iterations=30, residual=1e-9))
    assert report.reason.startswith("converged")
    np.testing.assert_allclose(report.x, exact, rtol=0, atol=1e-12)


def test_linear_is_checked():
    with pytest.raises(pl.SolverError, match="'cholesky': choose one of direct, cg"):
        pl.Newton(linear="cholesky")


def test_rests_where_the_gradient_vanishes():
    """A body at rest without gravity: no step, no division by zero."""
    mesh = pl.shapes.box(cells=1)
    scene = pl.Scene(gravity=(0, 0, 0))
    scene.add_solid(mesh, pl.StableNeoHookean(1.0, 1.0))
    sim = pl.Simulation(scene, pl.Newton(), precision="double")
    sim.step()
    np.testing.assert_allclose(sim.positions, mesh.points, rtol=0, atol=1e-15)

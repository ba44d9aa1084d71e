"""Newton's method: quadratic convergence near the solution, descent far from it."""

import numpy as np
import pytest
import scipy.sparse as sp

import pliant as pl
from pliant.materials import SOLID_LAWS
from pliant.solvers import factorisation
from pliant.solvers.conjugate_gradients import conjugate_gradients
from pliant.solvers.newton import free_basis

every_law = pytest.mark.parametrize("law", SOLID_LAWS.values(), ids=SOLID_LAWS)


@every_law
def test_converges_quadratically(make_simulation, law):
    """Near the solution each error is at most a constant times the square of the one before: exponent above 1.8."""
    problem = make_simulation(law, held=True).problem()
    exact = pl.solve(problem, pl.Newton(), stop=pl.Stop(iterations=20)).x
    noise = problem.project(np.random.default_rng(0).normal(0, 2e-3, exact.shape))
    x, errors = exact + noise, []
    basis = free_basis(problem)
    for _ in range(3):
        errors.append(np.abs(x - exact).max())
        pl.Newton().sweep(problem, x, basis)
    exponent = np.log(errors[2] / errors[1]) / np.log(errors[1] / errors[0])
    assert exponent > 1.8


@pytest.mark.parametrize("law", [pl.StableNeoHookean, pl.StVenantKirchhoff])
def test_descends_from_a_tangle(make_simulation, law):
    """From positions at random, elements inverted, G falls every iteration until the gradient vanishes."""
    problem = make_simulation(law).problem()
    x0 = np.random.default_rng(1).uniform(-0.1, 0.1, problem.start.shape)
    report = pl.solve(problem, pl.Newton(), x0=x0, stop=pl.Stop(iterations=300, residual=1e-8))
    energies = np.array(report.energies)
    assert report.reason.startswith("converged")
    assert (energies[1:] <= energies[:-1] * (1 + 1e-14)).all()


@pytest.mark.parametrize("linear", ["direct", "cg"])
@pytest.mark.parametrize("has_cholespy", [True, False])
def test_linear_solvers_find_the_same_minimiser(make_simulation, monkeypatch, linear, has_cholespy):
    """By Cholesky's factors, by SciPy's where cholespy is missing, and by conjugate gradients."""
    problem = make_simulation(held=True, damping=2e-3).problem()
    exact = pl.solve(problem, pl.Newton(), stop=pl.Stop(iterations=20)).x
    if not has_cholespy:
        monkeypatch.setattr(factorisation, "_cholespy", lambda: None)
    report = pl.solve(problem, pl.Newton(linear=linear), stop=pl.Stop(iterations=30, residual=1e-9))
    assert report.reason.startswith("converged")
    np.testing.assert_allclose(report.x, exact, rtol=0, atol=1e-12)


def test_linear_is_checked():
    with pytest.raises(pl.SolverError, match="'cholesky': choose one of direct, cg"):
        pl.Newton(linear="cholesky")


@pytest.mark.parametrize("has_cholespy", [True, False])
def test_factors_tell_whether_a_matrix_is_positive(monkeypatch, has_cholespy):
    """A random positive matrix is solved to rounding, for one and three right-hand sides; an indefinite one refused."""
    if not has_cholespy:
        monkeypatch.setattr(factorisation, "_cholespy", lambda: None)
    rng = np.random.default_rng(5)
    B = sp.random(40, 40, 0.1, random_state=5)
    A = (B @ B.T + sp.identity(40)).tocsc()
    for shape in ((40,), (40, 3)):
        x = rng.normal(size=shape)
        np.testing.assert_allclose(factorisation.factorise(A)(A @ x), x, atol=1e-12)
        np.testing.assert_allclose(A @ conjugate_gradients(A, 1e-20 * (A @ np.ones(40))), 1e-20 * (A @ np.ones(40)),
                                   rtol=1e-6)  # fmt: skip
    for solve in (lambda M: factorisation.factorise(M), lambda M: conjugate_gradients(M, np.ones(40))):
        with pytest.raises(factorisation.NotPositiveDefinite):
            solve(A - 5 * sp.identity(40))


def test_free_basis_spans_what_may_move(make_simulation):
    """Orthonormal columns, as many as free directions, and basis basis^T is the model's projection."""
    problem = make_simulation(held=True).problem()
    basis = free_basis(problem).toarray()
    assert basis.shape == (3 * problem.model.n_vertices, problem.model.subspace.sum())
    np.testing.assert_allclose(basis.T @ basis, np.eye(basis.shape[1]), atol=1e-14)
    vectors = np.random.default_rng(2).normal(size=(problem.model.n_vertices, 3))
    np.testing.assert_allclose(
        (basis @ (basis.T @ vectors.ravel())).reshape(-1, 3), problem.project(vectors), atol=1e-14
    )


def test_rests_where_the_gradient_vanishes():
    """A body at rest without gravity: no step, no division by zero."""
    mesh = pl.shapes.box(cells=1)
    scene = pl.Scene(gravity=(0, 0, 0))
    scene.add_solid(mesh, pl.StableNeoHookean(1.0, 1.0))
    sim = pl.Simulation(scene, pl.Newton(), precision="double")
    sim.step()
    np.testing.assert_allclose(sim.positions, mesh.points, rtol=0, atol=1e-15)

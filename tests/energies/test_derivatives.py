"""Energy, gradient and Hessian of one step are derivatives of each other, for every law."""

import numpy as np
import pytest

import pliant as pl
from pliant.materials import SOLID_LAWS

EPS = 1e-6  # [m], a 1e-5th of an edge


@pytest.fixture(params=[(False, 0.0), (True, 0.0), (True, 2e-3)], ids=["free", "held", "held-damped"])
def setting(request):
    return request.param


@pytest.fixture(params=SOLID_LAWS.values(), ids=SOLID_LAWS)
def case(request, setting, make_simulation, shaken):
    """A problem and a deformed state of it with det F > 0, other than its start."""
    held, damping = setting
    mesh = pl.shapes.box((0.2, 0.2, 0.2), (2, 2, 2))
    simulation = make_simulation(
        request.param, held=held, damping=damping, damping_form="vertex_block", mesh=mesh, seed=3
    )
    return simulation.problem(), shaken(mesh, seed=11)


def central(function, x):
    """Central differences of a function of (n, 3), all 3n of them, first index last."""
    columns = []
    for k in range(x.size):
        d = np.zeros(x.size)
        d[k] = EPS
        d = d.reshape(x.shape)
        columns.append((function(x + d) - function(x - d)) / (2 * EPS))
    return np.stack(columns, axis=-1)


def test_gradient_is_the_derivative_of_the_energy(case):
    """Pinned and constrained vertices too: the gradient is that of all positions."""
    problem, x = case
    g = problem.gradient(x).ravel()
    np.testing.assert_allclose(central(problem.energy, x), g, rtol=0, atol=1e-7 * np.abs(g).max())


def test_hessian_is_the_derivative_of_the_gradient(case):
    problem, x = case
    H = problem.hessian(x).toarray()
    differences = central(lambda p: problem.gradient(p).ravel(), x)
    np.testing.assert_allclose(differences, H, rtol=0, atol=1e-7 * np.abs(H).max())


def test_hessian_is_symmetric(case):
    problem, x = case
    H = problem.hessian(x).toarray()
    np.testing.assert_allclose(H, H.T, rtol=0, atol=1e-13 * np.abs(H).max())


def test_vertex_blocks_are_the_hessians_diagonal_blocks(case):
    """Equations 9 and 10: what a vertex solves with is the Hessian's own block."""
    problem, x = case
    n = problem.model.n_vertices
    H = problem.hessian(x).toarray().reshape(n, 3, n, 3)
    diagonal = H[np.arange(n), :, np.arange(n), :]
    np.testing.assert_allclose(problem.vertex_blocks(x), diagonal, rtol=0, atol=1e-13 * np.abs(diagonal).max())


def test_energy_is_the_sum_of_its_terms_by_hand(case, elastic_energy):
    """G = 1/(2 h^2) |x - y|_M^2 + E + 1/2 (x - x_t) D (x - x_t) (Equations 2 and 10)."""
    problem, x = case
    model = problem.model
    inertia = sum(m * (a - b) @ (a - b) for m, a, b in zip(model.mass, x, problem.y, strict=True)) / (2 * problem.h**2)
    moved = x - problem.x_prev
    damping = sum(d @ D @ d for d, D in zip(moved, problem.damping_blocks, strict=True)) / 2
    elastic = elastic_energy(problem, x)
    expected = {"inertia": inertia, "elastic": elastic, "damping": damping, "contact": 0.0}
    assert problem.energies(x) == pytest.approx(expected, rel=1e-12)
    assert problem.energy(x) == pytest.approx(sum(expected.values()), rel=1e-12)


@pytest.mark.parametrize("law", SOLID_LAWS.values(), ids=SOLID_LAWS)
def test_projected_hessian_has_no_negative_eigenvalue(law, make_simulation, shaken):
    """Where the Hessian of a squeezed body is indefinite, psd=True makes it at least inertia alone."""
    mesh = pl.shapes.box((0.2, 0.2, 0.2), (2, 2, 2))
    problem = make_simulation(law, mesh=mesh, frame_rate=1).problem()
    x = shaken(mesh, seed=5, noise=0.1) * (1.0, 1.0, 0.4)
    plain = np.linalg.eigvalsh(problem.hessian(x).toarray())
    projected = np.linalg.eigvalsh(problem.hessian(x, psd=True).toarray())
    assert plain[0] < -1e-3 * plain[-1]
    least_inertia = problem.model.mass.min() / problem.h**2
    assert projected[0] >= least_inertia - 1e-10 * projected[-1]


def test_projection_leaves_a_positive_hessian_alone(make_simulation):
    """At rest every element's Hessian is positive semidefinite already."""
    mesh = pl.shapes.box((0.2, 0.2, 0.2), (2, 2, 2))
    problem = make_simulation(mesh=mesh).problem()
    H = problem.hessian(mesh.points).toarray()
    projected = problem.hessian(mesh.points, psd=True).toarray()
    np.testing.assert_allclose(projected, H, rtol=0, atol=1e-12 * np.abs(H).max())


def test_damping_blocks_are_the_positive_part_of_the_elastic_blocks(make_simulation):
    """k_d / h times the elastic vertex blocks at the start of the step, negative eigenvalues cut (documented)."""
    damped = make_simulation(pl.StVenantKirchhoff, damping=3e-3, damping_form="vertex_block", seed=2).problem()
    plain = make_simulation(pl.StVenantKirchhoff, damping=0.0, seed=2).problem()
    inertia = plain.model.mass / plain.h**2
    elastic_blocks = plain.vertex_blocks(plain.x_prev) - inertia[:, None, None] * np.eye(3)
    for block, measured in zip(elastic_blocks, damped.damping_blocks, strict=True):
        values, vectors = np.linalg.eigh(block)
        expected = 3e-3 / damped.h * (vectors * np.maximum(values, 0)) @ vectors.T
        np.testing.assert_allclose(measured, expected, rtol=0, atol=1e-12 * np.abs(expected).max())

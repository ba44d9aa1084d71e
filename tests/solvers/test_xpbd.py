"""XPBD against the same iterations in plain NumPy, and its own fixed point."""

import numpy as np
import pytest

import pliant as pl
from pliant.energies import elastic
from pliant.solvers import Execution


def measures(block, x):
    """C (m, 2) and its gradients (m, 2, 4, 3) of stable neo-Hookean tets (Macklin and Mueller 2021), compliances."""
    F = elastic.deformation_gradients(block, x)
    size = np.linalg.norm(F, axis=(1, 2))
    mu, lam = block.parameters.T
    C = np.stack([size, np.linalg.det(F) - 1 - mu / (lam + mu)], axis=1)
    dF = np.stack([F / size[:, None, None], elastic.cofactors(F)], axis=1)
    gradients = np.einsum("mkac,mic->mkia", dF, block.gradients)
    return C, gradients, 1 / (np.stack([mu, lam + mu], axis=1) * block.volumes[:, None])


def projectors(model):
    """(n, 3, 3) of the directions each vertex may move in."""
    return np.stack([model.project(np.tile(e, (model.n_vertices, 1))) for e in np.eye(3)], axis=2)


def plain_xpbd(problem, work, iterations):
    """Elements in the order of the kernel, both constraints at once, with damping (XPBD, Equation 26)."""
    model, block = problem.model, problem.model.solids[0]
    moving = np.flatnonzero(model.is_free[block.tets].any(axis=1))
    order = moving[work.constraints[0].packs.element[work.constraints[0].packs.is_first]]
    W = projectors(model) * np.where(model.is_free, 1 / problem.inertia, 0)[:, None, None]
    x = np.where((model.subspace < 3)[:, None], problem.x_prev + problem.project(problem.y - problem.x_prev), problem.y)
    x[~model.is_free] = problem.y[~model.is_free]
    multipliers = np.zeros((len(block.tets), 2))
    for _ in range(iterations):
        for t in order:
            C, gradients, a = (v[t] for v in measures(block, x))
            corners = block.tets[t]
            g = gradients.reshape(2, 12)
            w = np.zeros((12, 12))
            for i, vertex in enumerate(corners):
                w[3 * i : 3 * i + 3, 3 * i : 3 * i + 3] = W[vertex]
            rate = model.damping[corners[0]] / problem.h
            held = np.einsum("kia,iab->kib", gradients, projectors(model)[corners]).reshape(2, 12)
            drift = held @ (x - problem.x_prev)[corners].ravel()
            A = (1 + rate) * g @ w @ g.T + np.diag(a)
            step = np.linalg.solve(A, -(C + a * multipliers[t] + rate * drift))
            multipliers[t] += step
            x[corners] += (w @ g.T @ step).reshape(4, 3)
    return x, multipliers


@pytest.mark.parametrize("damping", [0.0, 2e-3])
@pytest.mark.parametrize("held", [False, True])
def test_equals_plain_numpy(make_simulation, from_packs, held, damping):
    """Positions and multipliers after three iterations, to 1e-11, with pins, lines and planes."""
    problem = make_simulation(held=held, damping=damping).problem()
    solver = pl.XPBD(3)
    work = solver.init(problem, Execution("double", 1))
    solver.begin_step(problem, work)
    x = problem.x_guess.copy()
    solver.sweep(problem, x, work, 3)
    expected, multipliers = plain_xpbd(problem, work, 3)
    np.testing.assert_allclose(x, expected, rtol=0, atol=1e-11)
    moving = problem.model.is_free[problem.model.solids[0].tets].any(axis=1)
    kept = from_packs(work.constraints[0].packs, work.constraints[0].accumulated, 2)
    np.testing.assert_allclose(kept, multipliers[moving], rtol=1e-8)


def test_fixed_point_is_a_multiplier_for_every_constraint(make_simulation, from_packs):
    """C + a lambda = 0 for both constraints of every tet, to 1e-10 of C."""
    problem = make_simulation().problem()
    solver = pl.XPBD()
    work = solver.init(problem, Execution("double", 1))
    solver.begin_step(problem, work)
    x = problem.x_guess.copy()
    solver.sweep(problem, x, work, 3000)
    C, _, a = measures(problem.model.solids[0], x)
    multipliers = from_packs(work.constraints[0].packs, work.constraints[0].accumulated, 2)
    assert np.abs(C).min(axis=0)[0] > 1
    np.testing.assert_allclose(a * multipliers, -C, rtol=0, atol=1e-10)


def test_the_constraints_have_the_energy_of_the_law(make_simulation):
    """sum C^2 / (2 a) = V (psi + 3/2 mu + mu^2 / (2 l)): the same forces, for any deformation."""
    sim = make_simulation()
    block, x = sim.model.solids[0], sim.positions
    C, _, a = measures(block, x)
    mu, lam = block.parameters.T
    constant = 1.5 * mu + mu**2 / (2 * (lam + mu))
    expected = block.volumes * (elastic.densities(block, x) + constant)
    np.testing.assert_allclose((C**2 / (2 * a)).sum(axis=1), expected, rtol=1e-12)


def test_first_update_is_gpbds_newton_update_of_appendix_a(make_simulation):
    """(1 + sum W g g^T / a) dx = -(sum W c g / a + d), constraint Hessians left out and d = 0, for one tet."""
    mesh = pl.TetMesh(np.array([[0.0, 0, 0], [0.1, 0, 0], [0, 0.12, 0], [0.01, 0.02, 0.09]]), np.array([[0, 1, 2, 3]]))
    problem = make_simulation(mesh=mesh).problem()
    block = problem.model.solids[0]
    C, g, a = (v[0] for v in measures(block, problem.y))
    g, W = g.reshape(2, 12), np.repeat(1 / problem.inertia[block.tets[0]], 3)
    A = np.eye(12) + sum(np.outer(W * g[k], g[k]) / a[k] for k in range(2))
    expected = np.linalg.solve(A, -sum(W * C[k] * g[k] / a[k] for k in range(2)))
    ours = pl.solve(problem, pl.XPBD(1)).x - problem.y
    np.testing.assert_allclose(ours[block.tets[0]].ravel(), expected, rtol=0, atol=1e-13)


def test_damping_of_a_spring_has_the_rate_of_theory():
    """m x'' = -k x - k_d k x' decays with exp(-k_d k / (2 m) t): within 3 %, with small steps."""
    k, m, k_d, h = 400.0, 1.0, 0.01, 1e-4
    scene = pl.Scene(gravity=(0, 0, 0))
    body = scene.add_springs([(0, 0, 0), (1, 0, 0)], [(0, 1)], k, m, damping=k_d)
    body.pin([0])
    body.set_positions([(0, 0, 0), (1.01, 0, 0)])
    sim = pl.Simulation(scene, pl.XPBD(1), frame_rate=1 / h, substeps=1, precision="double")
    energies = []
    for step in range(6001):
        if step % 3000 == 0:  # 0.3 s apart
            x, v = sim.positions[1, 0] - 1, sim.velocities[1, 0]
            energies.append(k * x * x / 2 + m * v * v / 2 + k_d * k * x * v / 2)  # decays without ripple
        sim.step()
    rate = np.log(energies[0] / energies[2]) / 0.6
    assert rate == pytest.approx(k_d * k / m + h * k / m, rel=0.03)  # implicit Euler adds h k / m


def test_a_slack_rope_does_not_push():
    scene = pl.Scene(gravity=(0, 0, 0))
    rope = scene.add_springs([(0, 0, 0), (1, 0, 0)], [(0, 1)], 1e4, 1.0, one_sided=True)
    rope.pin([0])
    rope.set_positions([(0, 0, 0), (0.8, 0, 0)])
    rope.set_velocities([(0, 0, 0), (1.0, 0, 0)])
    sim = pl.Simulation(scene, pl.XPBD(5), frame_rate=100, substeps=1, precision="double")
    for _ in range(10):
        sim.step()
    np.testing.assert_allclose(sim.positions[1], (0.9, 0, 0), atol=1e-14)
    for _ in range(20):
        sim.step()
    assert sim.positions[1, 0] < 1.02  # caught


@pytest.mark.parametrize("law", [pl.Fung, pl.NeoHookean, pl.StVenantKirchhoff])
def test_other_laws_are_refused(law, make_simulation):
    with pytest.raises(pl.SolverError, match=rf"XPBD needs .* {law.__name__} of solids has none: use StableNeoHookean"):
        make_simulation(law, solver=pl.XPBD())


def test_lines_and_planes_are_kept(make_simulation):
    problem = make_simulation(held=True).problem()
    model = problem.model
    moved = pl.solve(problem, pl.XPBD(5)).x - problem.x_prev
    held = (model.subspace == 1) | (model.subspace == 2)
    assert np.linalg.norm(moved[held], axis=1).min() > 1e-5
    np.testing.assert_allclose(model.project(moved)[held], moved[held], rtol=0, atol=1e-15)

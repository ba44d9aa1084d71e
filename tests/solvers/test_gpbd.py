"""GPBD against the paper's formulas in plain NumPy, its fixed point, and its repair of inverted elements."""

import numpy as np
import pytest

import pliant as pl
from pliant.energies import elastic
from pliant.geometry.quality import tet_volumes
from pliant.kernels.element_packs import spread_over_packs
from pliant.kernels.strain_frame import frame_numbers
from pliant.materials import SOLID_LAWS
from pliant.materials.calculus import law_code
from pliant.solvers import Execution

# One law of each path, and the rest in the slow run: they differ in their formula alone.
QUICK = ("StableNeoHookean", "NeoHookean", "StVenantKirchhoff")
every_law = pytest.mark.parametrize(
    "law",
    [pytest.param(law, id=name, marks=() if name in QUICK else pytest.mark.slow) for name, law in SOLID_LAWS.items()],
)


def volume_only(kappa):
    """kappa/2 (J - 1)^2; a law must have some shear modulus, here too small to be seen."""
    return pl.StableNeoHookean.from_coefficients(1e-13 * kappa, kappa)


def pinned_block(law, h=0.01):
    """A deformed, moving block with corners pinned so that elements have one, two and three free corners."""
    mesh = pl.shapes.box((0.3, 0.2, 0.2), (3, 2, 2))
    random = np.random.default_rng(2)
    scene = pl.Scene()
    body = scene.add_solid(mesh, law.from_young(1e5, 0.0 if law is pl.ARAP else 0.35), 1000.0)
    body.set_positions(mesh.points @ (np.eye(3) + 0.1 * random.uniform(-1, 1, (3, 3))).T)
    body.set_velocities(random.normal(0, 0.2, mesh.points.shape))
    order = np.argsort(mesh.points[:, 0], kind="stable")
    body.pin(np.r_[order[:11], order[-2:]])
    return pl.Simulation(scene, pl.Newton(), frame_rate=1 / h, substeps=1, precision="double")


def begun(problem, solver):
    work = solver.init(problem, Execution("double", 1))
    solver.begin_step(problem, work)
    return work


def strain_jacobian(block, t, x):
    """S (6, 12) of Green's strain: dE_ab/dx_i = (b_ia F_b + b_ib F_a) / 2 with columns F_a of F."""
    F, b = elastic.deformation_gradients(block, x)[t], block.gradients[t]
    pairs = [(0, 0), (0, 1), (0, 2), (1, 1), (1, 2), (2, 2)]
    return np.stack([(b[:, [p]] * F[:, q] + b[:, [q]] * F[:, p]).ravel() / 2 for p, q in pairs])


def element_gradient(block, t, x):
    one = type(block)(block.tets[t : t + 1], block.law, block.gradients[t : t + 1], block.volumes[t : t + 1],
                      block.parameters[t : t + 1])  # fmt: skip
    return elastic.gradient(one, x)[block.tets[t]].ravel()


def plain_gpbd(problem, work, iterations):
    """Algorithm 1 with one Newton step for each element, no search; d (m, 12) of all elements."""
    block, free = problem.model.solids[0], problem.model.is_free
    moving = np.flatnonzero(free[block.tets].any(axis=1))
    packs = work.constraints[0].packs
    x, d = problem.y.copy(), np.zeros((len(block.tets), 12))
    for _ in range(iterations):
        for t in moving[packs.element[packs.is_first]]:
            corners = block.tets[t]
            W = np.repeat(np.where(free, 1 / problem.inertia, 0)[corners], 3)
            S = strain_jacobian(block, t, x)
            SW = S * W
            H = SW @ S.T + SW @ elastic.element_hessians(block, x, slice(t, t + 1)).reshape(12, 12) @ SW.T
            gradient = S @ d[t] + SW @ element_gradient(block, t, x)
            step = SW.T @ np.linalg.lstsq(H, -gradient, rcond=1e-12)[0]
            d[t] += step
            x[corners] += step.reshape(4, 3)
    return x, d


@every_law
def test_equals_the_papers_formulas(law):
    """Positions after two iterations, to 1e-9: the frame of six numbers is the space of W S^T."""
    problem = pinned_block(law, h=0.004).problem()
    solver = pl.GPBD(2, line_search=law_code(law).has_barrier)
    work = begun(problem, solver)
    x = problem.x_guess.copy()
    solver.sweep(problem, x, work, 2)
    expected, _ = plain_gpbd(problem, work, 2)
    assert np.abs(expected - problem.y).max() > 1e-3
    np.testing.assert_allclose(x, expected, rtol=0, atol=1e-9)


@every_law
def test_fixed_point(law, from_packs):
    """S_i (d_i + W grad U_i) = 0 for every element, to 1e-9 of its size; here D = sum d_i c_i^T is what is kept."""
    problem = pinned_block(law).problem()
    solver = pl.GPBD(newton_iterations=3)
    work = begun(problem, solver)
    x = problem.x_guess.copy()
    solver.sweep(problem, x, work, 1500)
    block, free = problem.model.solids[0], problem.model.is_free
    moving = np.flatnonzero(free[block.tets].any(axis=1))
    own = from_packs(work.constraints[0].packs, work.constraints[0].accumulated, 9)
    w = np.where(free, 1 / problem.inertia, 0)[block.tets[moving]]
    numbers = frame_numbers(block.gradients[moving], w, block.volumes[moving], np.ones(len(moving)))
    c = numbers[:, :9].reshape(-1, 3, 3)
    c = np.concatenate([-c.sum(axis=1, keepdims=True), c], axis=1)
    for k, t in enumerate(moving[::7]):
        row = 7 * k
        # any d with D = sum d_i c_i^T has the same S d: take the one of the form w_i A c_i
        d = np.einsum("i,ca,ic->ia", w[row], own[row].reshape(3, 3), c[row]).ravel()
        S = strain_jacobian(block, t, x)
        force = S @ (np.repeat(w[row], 3) * element_gradient(block, t, x))
        np.testing.assert_allclose(S @ d, -force, rtol=0, atol=1e-9 * max(np.abs(force).max(), 1e-6))


def single_tet(material, positions, mass=1.0, h=0.01):
    mesh = pl.TetMesh(np.array([[0.0, 0, 0], [1, 0, 0], [0, 1, 0], [0, 0, 1]]), np.array([[0, 1, 2, 3]]))
    scene = pl.Scene(gravity=(0, 0, 0))
    scene.add_solid(mesh, material, density=24 * mass).set_positions(positions)
    return pl.Simulation(scene, pl.GPBD(), frame_rate=1 / h, substeps=1, precision="double").problem()


def test_equals_xpbd_on_a_linearly_compliant_constraint():
    """Appendix A, with the law kappa/2 (J - 1)^2, C = J - 1: where C = 0 its Hessian plays no part, and with
    d = W lambda grad C both updates are delta lambda = -a lambda / (grad C . W grad C + a), to rounding.
    """
    kappa, multiplier, h, m = 3e4, 70.0, 0.01, 1.0
    shear = np.array([[1.0, 0.3, 0.1], [0, 1.25, 0.2], [0, 0, 0.8]])  # det 1
    rest = np.array([[0.0, 0, 0], [1, 0, 0], [0, 1, 0], [0, 0, 1]])
    problem = single_tet(volume_only(kappa), rest @ shear.T, m, h)
    block = problem.model.solids[0]
    g = np.einsum("ac,ic->ia", elastic.cofactors(shear[None])[0], block.gradients[0])
    w, a = h**2 / m, 1 / (kappa * block.volumes[0])
    step = -a * multiplier / (w * np.sum(g * g) + a)

    c = frame_numbers(block.gradients, np.full((1, 4), w), block.volumes, np.ones(1))[0, :9].reshape(3, 3)
    D = np.einsum("ia,ic->ca", w * multiplier * g, np.vstack([-c.sum(axis=0), c]))
    accumulated = {pl.GPBD(1, line_search=False): D.reshape(1, 9), pl.XPBD(1): np.array([[0.0, multiplier]])}
    for solver, kept in accumulated.items():
        work = begun(problem, solver)
        own = work.constraints[0]
        own.accumulated[:] = spread_over_packs(own.packs, kept, float)
        x = problem.x_guess.copy()
        solver.sweep(problem, x, work, 1)
        np.testing.assert_allclose(x - problem.y, w * step * g, rtol=0, atol=1e-13)


def test_differs_from_xpbd_in_second_order_only():
    """From d = 0 and C of size e the updates differ by O(e^2): half the C, a quarter of the difference."""
    rest = np.array([[0.0, 0, 0], [1, 0, 0], [0, 1, 0], [0, 0, 1]])
    kappa, h = 3e4, 0.01
    differences = []
    for e in (0.02, 0.01):
        problem = single_tet(volume_only(kappa), rest * (1 + e, 1, 1), h=h)
        block = problem.model.solids[0]
        g = np.einsum("ac,ic->ia", np.diag([1, 1 + e, 1 + e]), block.gradients[0])
        step = -e / (h**2 * np.sum(g * g) + 1 / (kappa * block.volumes[0]))
        x = pl.solve(problem, pl.GPBD(1, line_search=False)).x
        differences.append(np.abs(x - problem.y - h**2 * step * g).max())
    assert differences[0] < 0.02**2
    assert differences[0] / differences[1] == pytest.approx(4, rel=0.1)


@pytest.mark.parametrize("law", [pl.StableNeoHookean, pytest.param(pl.NeoHookean, marks=pytest.mark.slow)])
def test_enough_newton_iterations_minimise_an_element(law):
    """One tet, far from rest: no displacement W S^T delta lambda lowers Equation 19, by finite differences."""
    rest = np.array([[0.0, 0, 0], [1, 0, 0], [0, 1, 0], [0, 0, 1]])
    problem = single_tet(law.from_young(1e5, 0.45), rest @ np.diag([1.6, 0.5, 0.8]), mass=10.0)
    block = problem.model.solids[0]
    x = pl.solve(problem, pl.GPBD(1, newton_iterations=30)).x
    S, W = strain_jacobian(block, 0, problem.y), 1 / problem.inertia[0]
    move = (x - problem.y).ravel()
    gradient = S @ (move + W * elastic.gradient(block, x).ravel())
    start = S @ (W * elastic.gradient(block, problem.y).ravel())
    assert np.abs(gradient).max() < 1e-9 * np.abs(start).max()


@pytest.mark.parametrize("law", [pl.StableNeoHookean, pl.NeoHookean])
def test_a_search_never_raises_the_energy_of_an_element(law):
    """Equation 19 after one Newton iteration is below its value before, from wild shapes, indefinite ones too."""
    random = np.random.default_rng(5)
    rest = np.array([[0.0, 0, 0], [1, 0, 0], [0, 1, 0], [0, 0, 1]])
    tried = 0
    while tried < 25:
        F = random.normal(0, 0.8, (3, 3))
        if np.linalg.det(F) < 0.02:
            continue
        tried += 1
        problem = single_tet(law.from_young(1e6, 0.45), rest @ F.T)
        x = pl.solve(problem, pl.GPBD(1)).x
        assert problem.energy(x) <= problem.energy(problem.y) * (1 + 1e-12)


def test_repair_negates_the_smallest_singular_value_and_keeps_the_centre():
    """A soft and heavy inverted tet moves by the repair alone: singular values (1.2, 0.9, -0.6) become positive."""
    rest = np.array([[0.0, 0, 0], [1, 0, 0], [0, 1, 0], [0, 0, 1]])
    random = np.random.default_rng(0)
    U, V = (np.linalg.qr(random.normal(size=(3, 3)))[0] for _ in range(2))
    U, V = U * np.sign(np.linalg.det(U)), V * np.sign(np.linalg.det(V))
    F = U @ np.diag([1.2, 0.9, -0.6]) @ V.T
    problem = single_tet(pl.NeoHookean.from_young(1e-6, 0.3), rest @ F.T)
    work = begun(problem, solver := pl.GPBD(1))
    x = problem.x_guess.copy()
    solver.sweep(problem, x, work, 1)
    repaired = elastic.deformation_gradients(problem.model.solids[0], x)[0]
    np.testing.assert_allclose(repaired, U @ np.diag([1.2, 0.9, 0.6]) @ V.T, atol=1e-9)
    np.testing.assert_allclose(x.mean(axis=0), problem.y.mean(axis=0), atol=1e-12)


def wrecked_cube(law, nu, positions, solver, cells=4, split="alternating"):
    """positions: a function of the points at rest."""
    mesh = pl.shapes.box((1, 1, 1), (cells,) * 3, split)
    scene = pl.Scene(gravity=(0, 0, 0))
    body = scene.add_solid(mesh, law.from_young(1e5, nu), 1000.0)
    body.set_positions(positions(mesh.points))
    return mesh, pl.Simulation(scene, solver, frame_rate=100, substeps=1, precision="single")


def flattened(points):
    return points * (1, 1, 0)


every_ratio = pytest.mark.parametrize("nu", [0.45, 0.4995])


@pytest.mark.slow
@every_ratio
def test_a_flattened_cube_recovers(nu):
    """Neo-Hookean with its barrier, from a plane, h = 0.01 s: no inverted tet, and its own volume."""
    mesh, sim = wrecked_cube(pl.NeoHookean, nu, flattened, pl.GPBD(10, "jacobi", newton_iterations=8))
    for _ in range(150):
        sim.step()
    volumes = tet_volumes(sim.positions, mesh.tets)
    assert volumes.min() > 0
    assert volumes.sum() == pytest.approx(1, rel=0.02)


@pytest.mark.slow
@every_ratio
@pytest.mark.parametrize("seed", [0, 1])
@pytest.mark.parametrize(("split", "knots"), [("kuhn", 0.01), ("alternating", 0.03)])
def test_a_randomised_cube_recovers(nu, seed, split, knots):
    """From chaos, half of the tets inverted: few stay so (a knot is a minimum too)."""
    random = np.random.default_rng(seed)
    solver = pl.GPBD(10, "jacobi", newton_iterations=8)
    mesh, sim = wrecked_cube(pl.NeoHookean, nu, lambda x: random.uniform(-0.5, 0.5, x.shape), solver, 5, split)
    assert np.mean(tet_volumes(sim.positions, mesh.tets) < 0) > 0.4
    for _ in range(400):
        sim.step()
    volumes = tet_volumes(sim.positions, mesh.tets)
    assert np.mean(volumes <= 0) <= knots
    assert volumes.sum() == pytest.approx(1, rel=0.06)


@pytest.mark.slow
def test_a_law_without_barrier_survives_a_flat_start():
    """No strain of a flat element can lift it: it stays flat, and narrows, as its energy falls with its area."""
    _, sim = wrecked_cube(pl.StableNeoHookean, 0.4995, flattened, pl.GPBD(3, newton_iterations=3))
    for _ in range(10):
        sim.step()
    width = np.ptp(sim.positions, axis=0)
    assert 0 < width[:2].min() <= width[:2].max() < 1
    assert width[2] < 1e-6


def test_refuses_damping_lines_and_blind_steps_across_a_barrier(make_simulation):
    with pytest.raises(pl.SolverError, match="GPBD does not support damping"):
        make_simulation(damping=2e-3, solver=pl.GPBD())
    with pytest.raises(pl.SolverError, match=r"GPBD cannot hold vertices to a line or a plane, as vertex \d+ of block"):
        make_simulation(held=True, solver=pl.GPBD())
    with pytest.raises(pl.SolverError, match="barrier of NeoHookean: set line_search=True"):
        make_simulation(pl.NeoHookean, solver=pl.GPBD(line_search=False))
    with pytest.raises(pl.SolverError, match="GPBD: newton_iterations is 0"):
        pl.GPBD(newton_iterations=0)

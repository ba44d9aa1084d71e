"""Every relaxation finds the solution of small complementarity problems that independent methods find."""

from itertools import product

import numpy as np
import pytest
import scipy.sparse.linalg as spla
from scipy.optimize import nnls

import pliant as pl


def name_of(value):
    return type(value).__name__


RELAXATIONS = {
    "Jacobi": pl.Jacobi(),
    "Jacobi-diagonal": pl.Jacobi(weights="diagonal"),
    "Jacobi-count": pl.Jacobi(omega=1.0, weights="count"),
    "GaussSeidel": pl.GaussSeidel(),
    "SOR": pl.GaussSeidel(omega=1.2),
    "MinimumResidual-power": pl.MinimumResidual(),
    "MinimumResidual-residual": pl.MinimumResidual(alpha="residual"),
    "ConjugateResiduals": pl.ConjugateResiduals(),
    "ImprovedJacobi": pl.ImprovedJacobi(),
    "ImprovedJacobi-diagonal": pl.ImprovedJacobi(weights="diagonal"),
    "ImprovedJacobi-count": pl.ImprovedJacobi(weights="count"),
    "ImprovedGaussSeidel": pl.ImprovedGaussSeidel(),
}
every_relaxation = pytest.mark.parametrize("relaxation", RELAXATIONS.values(), ids=RELAXATIONS)
R = 0.01


def heap(friction=0.0, spin=False):
    """Four spheres on a floor with one on top that falls: eight contacts."""
    scene = pl.Scene()
    square = R * 1.2 * np.array([[1, 1, 0], [1, -1, 0], [-1, 1, 0], [-1, -1, 0]]) + [0, 0, R]
    points = np.concatenate([square, [[0.0005, 0.0002, R * (1 + np.sqrt(1.12)) + 0.0002]]])
    grains = scene.add_particles(points, radius=R, spin=spin)
    grains.set_velocities(np.array([[0.3, 0, 0], [0, 0, 1.5], [0, -0.2, 0], [0.1, 0, 0], [0.1, 0.05, -1.0]]))
    scene.add_plane((0, 0, 0), (0, 0, 1), friction=friction)
    scene.contact = pl.Contact(friction=friction)
    return scene


def stack():
    """Spheres of different radii that fly in all directions, in a container."""
    scene, random = pl.Scene(), np.random.default_rng(3)
    points = pl.shapes.packed_spheres((0.12, 0.12, 0.12), radius=0.0095, spacing=1.05, jitter=0.5)
    grains = scene.add_particles(points, radius=random.uniform(0.0088, 0.0095, len(points)), friction=0.0)
    grains.set_velocities(random.normal(size=points.shape))
    scene.add_container((0, 0, 0.5), (0.12, 0.12, 1.12), friction=0.0)
    return scene


def active_set(A, b):
    """lambda >= 0, A lambda + b >= 0 by trying every set of contacts that press."""
    m = len(b)
    for chosen in product((False, True), repeat=m):
        free = np.flatnonzero(chosen)
        x = np.zeros(m)
        if len(free):
            x[free] = np.linalg.lstsq(A[np.ix_(free, free)], -b[free], rcond=None)[0]
        if x.min(initial=0) > -1e-12 and (A @ x + b).min(initial=0) > -1e-12:
            return x
    raise AssertionError("there is no solution")


def velocities_of(problem, impulses, start):
    """Velocities that impulses lead to from those without any."""
    return start + (problem.inverse_masses() @ (problem.jacobian().T @ impulses)).reshape(-1, 3)


@every_relaxation
def test_finds_the_exhaustive_solution(pose, relaxation):
    """Velocities within 1e-8 m/s of those of the active set."""
    scheme = pl.VelocityTimeStepping(relaxation, iterations=2000, warm_start=0.0)
    problem = pose(heap(), scheme)
    assert 5 <= problem.count <= 8
    start = problem.bodies.velocity[:, :3].copy()
    A, b = problem.matrix().toarray()[::3, ::3], problem.target()[:, 0]
    exact = np.zeros(3 * problem.count)
    exact[::3] = active_set(A, b)
    assert 0 < (exact > 0).sum() < 8
    relaxation.iterate(problem, 2000)
    np.testing.assert_allclose(problem.bodies.velocity[:, :3], velocities_of(problem, exact, start), atol=1e-8)
    assert problem.residual() < 1e-8


@every_relaxation
def test_finds_the_solution_of_a_larger_problem(pose, relaxation):
    """The least change of velocity that satisfies all constraints, by non-negative least squares (Lawson and Hanson's
    LDP) of SciPy.
    """
    scheme = pl.VelocityTimeStepping(relaxation, iterations=6000, warm_start=0.0, margin=0.3)
    problem = pose(stack(), scheme)
    assert problem.count > 300
    start = problem.bodies.velocity[:, :3].copy()
    root = np.sqrt(problem.inverse_masses().diagonal())
    G, least = problem.jacobian()[::3] @ np.diag(root), -problem.residuals()[:, 0]
    u = nnls(np.vstack([G.T, least / np.abs(least).max()]), np.append(np.zeros(G.shape[1]), 1.0), maxiter=10**5)[0]
    excess = np.append(G.T @ u, least @ u / np.abs(least).max() - 1.0)
    exact = start + (root * (-excess[:-1] / excess[-1]) * np.abs(least).max()).reshape(-1, 3)
    assert np.abs(exact - start).max() > 0.1
    relaxation.iterate(problem, 3000)
    np.testing.assert_allclose(problem.bodies.velocity[:, :3], exact, atol=1e-8)


@every_relaxation
@pytest.mark.parametrize("friction", ["cone", "pyramid"])
def test_friction_obeys_coulomb(pose, relaxation, friction):
    """Equations 12 and 13: inside the bound nothing slips, on it friction opposes the slip."""
    # beta stays below 1/4: where it comes near 1, impulses of friction do not settle to the last digits
    scheme = pl.VelocityTimeStepping(relaxation, iterations=40_000, warm_start=0.0, friction=friction)
    problem = pose(heap(friction=0.3, spin=True), scheme)
    relaxation.iterate(problem, 4000)
    m = problem.count
    impulse, slip = problem.rows.impulse[:m], problem.residuals()
    normal, bound = impulse[:, 0], 0.3 * impulse[:, 0]
    assert normal.min() >= 0
    assert (slip[:, 0] > -1e-8).all()
    np.testing.assert_allclose(normal * slip[:, 0], 0, atol=1e-10)
    assert bound.max() > 1e-4
    if friction == "cone":
        size = np.hypot(impulse[:, 1], impulse[:, 2])
        assert (size <= bound + 1e-12).all()
        inside = size < bound * (1 - 1e-9)
        np.testing.assert_allclose(slip[inside, 1:], 0, atol=1e-8)
        speed = np.hypot(slip[:, 1], slip[:, 2])
        np.testing.assert_allclose(impulse[:, 1:] * speed[:, None], -bound[:, None] * slip[:, 1:], atol=1e-9)
        assert inside.any() or (speed[normal > 0] > 0).any()
    else:
        for k in (1, 2):
            inside = np.abs(impulse[:, k]) < bound * (1 - 1e-9)
            np.testing.assert_allclose(slip[inside, k], 0, atol=1e-8)
            assert (impulse[:, k] * slip[:, k] <= 1e-10).all()


def chain():
    scene, random = pl.Scene(), np.random.default_rng(1)
    points = np.column_stack([np.linspace(0, 0.5, 11), np.zeros(11), 0.02 * np.sin(np.arange(11))])
    rope = scene.add_springs(points, np.column_stack([np.arange(10), np.arange(1, 11)]), stiffness=1e9, mass=0.01)
    rope.set_velocities(random.normal(size=(11, 3)))
    rope.pin([0])
    return scene


def test_conjugate_residuals_are_minres(pose):
    """On bilateral constraints, iterate by iterate."""
    for k in (1, 3, 6):
        relaxation = pl.ConjugateResiduals(largest_beta=1e9)
        problem = pose(chain(), pl.VelocityTimeStepping(relaxation, warm_start=0.0))
        A, b = problem.matrix()[::3, ::3], problem.target()[:, 0]
        relaxation.iterate(problem, k)
        other, _ = spla.minres(A, -b, rtol=1e-30, maxiter=k)
        np.testing.assert_allclose(problem.rows.impulse[: problem.count, 0], other, rtol=1e-8)


def test_direct_solution_of_distances(pose):
    for relaxation in (pl.ConjugateResiduals(), pl.GaussSeidel()):
        problem = pose(chain(), pl.VelocityTimeStepping(relaxation, iterations=3000, warm_start=0.0))
        A, b = problem.matrix()[::3, ::3], problem.target()[:, 0]
        relaxation.iterate(problem, 3000)
        exact = spla.spsolve(A.tocsc(), -b)
        np.testing.assert_allclose(problem.rows.impulse[: problem.count, 0], exact, rtol=1e-8)


def test_the_operator_is_the_matrix(pose):
    """A of NumPy's rows, assembled, and as the compiled iterations see it: one Jacobi change gives A times it."""
    problem = pose(heap(friction=0.4, spin=True), pl.VelocityTimeStepping(pl.Jacobi(), warm_start=0.0))
    random = np.random.default_rng(0)
    vector = random.normal(size=(problem.count, 3))
    A = problem.matrix()
    np.testing.assert_allclose(problem.apply(vector).ravel(), A @ vector.ravel(), rtol=1e-12, atol=1e-9)
    before = problem.residuals()
    pl.Jacobi().iterate(problem, 1)
    change = problem.rows.impulse[: problem.count]
    np.testing.assert_allclose((problem.residuals() - before).ravel(), A @ change.ravel(), atol=1e-10)
    np.testing.assert_allclose(A.diagonal().reshape(-1, 3)[:, :2], problem.rows.diagonal[: problem.count], rtol=1e-12)


@pytest.mark.parametrize(
    "relaxation", [pl.GaussSeidel(), pl.ImprovedJacobi(), pl.ConjugateResiduals()], ids=lambda s: type(s).__name__
)
@pytest.mark.parametrize("scheme", [pl.VelocityTimeStepping, pl.SequentialPositions, pl.PositionBased])
def test_any_number_of_threads_gives_the_same_bits(relaxation, scheme):
    states = []
    for threads in (1, 3):
        sim = pl.Simulation(stack(), scheme(relaxation), threads=threads, substeps=2)
        sim._work.team.run_for = lambda _, function, *arguments, team=sim._work.team: team.run(function, *arguments)
        for _ in range(5):
            sim.step()
        states.append(sim.positions)
    assert np.array_equal(*states)


@pytest.mark.parametrize(
    "relaxation", [pl.GaussSeidel(), pl.ImprovedJacobi(), pl.MinimumResidual()], ids=lambda s: type(s).__name__
)
def test_many_sweeps_of_one_are_one_sweep_of_many(pose, relaxation):
    scheme = pl.VelocityTimeStepping(relaxation, iterations=12)
    one, many = pose(heap(0.3), scheme), pose(heap(0.3), scheme)
    relaxation.iterate(one, 12)
    for _ in range(12):
        relaxation.iterate(many, 1)
    assert np.array_equal(one.bodies.velocity, many.bodies.velocity)


@pytest.mark.parametrize(
    ("make", "words"),
    [
        (lambda: pl.Jacobi(omega=0.0), r"Jacobi: omega is 0.0: give a number above 0 and below 2"),
        (lambda: pl.ImprovedJacobi(b=float("nan")), r"ImprovedJacobi: b is nan"),
        (lambda: pl.Jacobi(weights="mass"), r"Jacobi: weights is 'mass': choose one of diagonal, count, bounded"),
        (lambda: pl.MinimumResidual(alpha=1), r"MinimumResidual: alpha is 1: choose one of residual, power"),
        (lambda: pl.VelocityTimeStepping("sor"), r"VelocityTimeStepping: relaxation is 'sor': give one of pl.Improved"),
        (lambda: pl.VelocityTimeStepping(pl.Jacobi), r"relaxation is the class Jacobi: give an object of it"),
        (lambda: pl.VelocityTimeStepping(gamma=1.5), r"VelocityTimeStepping: gamma is 1.5"),
        (lambda: pl.SequentialPositions(k_v=0, k_c=0), r"k_v and k_c are both 0"),
        (lambda: pl.PositionBased(friction="box"), r"PositionBased: friction is 'box': choose one of cone, pyramid"),
    ],
)
def test_bad_options(make, words):
    with pytest.raises(pl.SolverError, match=words):
        make()


def test_names_of_relaxations():
    assert pl.VelocityTimeStepping("gaussseidel") == pl.VelocityTimeStepping(pl.GaussSeidel())

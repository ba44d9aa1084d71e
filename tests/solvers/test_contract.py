"""What every solver must do: find the minimiser of the step, whatever the law, the damping and the holds."""

import functools

import numpy as np
import pytest

import pliant as pl
from pliant.materials import SOLID_LAWS
from pliant.solvers import SOLVERS

# every name in the registry, with all the options that change the iterations
VARIANTS = {
    "VBD": pl.VBD(),
    "AVBD": pl.AVBD(),
    "VBD-line-search": pl.VBD(line_search=True),
    "VBD-psd": pl.VBD(psd=True),
    "Newton": pl.Newton(),
    "Newton-cg": pl.Newton(linear="cg"),
    "GradientDescent": pl.GradientDescent(),
    "BlockJacobi": pl.BlockJacobi(),
    "NonlinearCG": pl.NonlinearCG(),
    "NonlinearCG-plain": pl.NonlinearCG(preconditioned=False),
    "LBFGS": pl.LBFGS(),
    "LBFGS-plain": pl.LBFGS(preconditioned=False),
    "LaplacianQuasiNewton": pl.LaplacianQuasiNewton(),
    "Chebyshev": pl.Chebyshev(pl.VBD(), rho=0.5),
    "Chebyshev-auto": pl.Chebyshev(pl.VBD(), rho="auto"),
    "Chebyshev-descent": pl.Chebyshev(pl.GradientDescent(), rho=((8, 0.5), (1, 0.7))),
    "Nesterov": pl.Nesterov(pl.GradientDescent()),
    "HeavyBall": pl.HeavyBall(pl.BlockJacobi(), beta=0.3),
    "Anderson": pl.Anderson(pl.VBD()),
    "Backtracking": pl.Backtracking(pl.VBD()),
    "Multilevel": pl.Multilevel(pl.VBD(), aggregate=8),
    "Auto": pl.Auto(tolerance=1e-12),
}
PROJECTIVE = {
    "direct": pl.ProjectiveDynamics(),
    "jacobi": pl.ProjectiveDynamics(global_step="jacobi"),
    "gauss-seidel": pl.ProjectiveDynamics(global_step="gauss-seidel"),
    "Chebyshev": pl.Chebyshev(pl.ProjectiveDynamics(global_step="jacobi"), rho=0.7),
    "HeavyBall": pl.HeavyBall(pl.ProjectiveDynamics(global_step="gauss-seidel"), beta=0.3),
    "Anderson": pl.Anderson(pl.ProjectiveDynamics()),
}
# The options choose a kernel of their own, which takes seconds to compile: one law of each path tries them all, the
# others differ from it in their formula alone.
FULLY_TRIED = (pl.StableNeoHookean, pl.NeoHookean, pl.StVenantKirchhoff)
every_law = pytest.mark.parametrize(
    "law",
    [
        pytest.param(law, id=name, marks=() if law in FULLY_TRIED else pytest.mark.slow)
        for name, law in SOLID_LAWS.items()
    ],
)
every_law_and_solver = pytest.mark.parametrize(
    ("law", "solver"),
    [
        pytest.param(
            law,
            solver,
            id=f"{name}-{law_name}",
            marks=() if law in FULLY_TRIED or name in ("VBD", "Chebyshev", "Newton") else pytest.mark.slow,
        )
        for law_name, law in SOLID_LAWS.items()
        for name, solver in VARIANTS.items()
    ],
)
every_solver = pytest.mark.parametrize("solver", VARIANTS.values(), ids=VARIANTS)
every_damping = pytest.mark.parametrize("damping", [0.0, 2e-3], ids=["undamped", "damped"])


@pytest.fixture(scope="module")
def case(make_simulation):
    """A function: a held problem and its minimiser by Newton's method, checked to be one."""

    @functools.cache
    def make(law, damping):
        problem = make_simulation(law, held=True, damping=damping).problem()
        report = pl.solve(problem, pl.Newton(), stop=pl.Stop(iterations=30))
        assert report.residual < 1e-9
        assert np.linalg.eigvalsh(problem.hessian(report.x).toarray())[0] > 0
        return problem, report.x

    return make


def test_every_registered_solver_is_in_the_suite():
    """A new solver is tested because it exists. Those that end elsewhere than at the minimiser say so, and have tests
    of their own (test_projections).
    """
    tried = [*VARIANTS.values(), *PROJECTIVE.values()]
    minimisers = {name for name, solver in SOLVERS.items() if solver.capabilities.minimises}
    assert {type(solver).__name__ for solver in tried} == minimisers
    assert all(solver.supports.minimises for solver in tried)


@every_law_and_solver
@pytest.mark.parametrize(
    "damping", [pytest.param(0.0, id="undamped"), pytest.param(2e-3, id="damped", marks=pytest.mark.slow)]
)
def test_converges_to_the_minimiser(case, law, damping, solver):
    """Within 1e-6 of the way travelled, in double precision, from a deformed start."""
    problem, minimiser = case(law, damping)
    report = pl.solve(problem, solver, stop=pl.Stop(iterations=600, residual=1e-9), measure_every=20)
    travelled = np.abs(minimiser - problem.x_guess).max()
    assert travelled > 1e-3
    assert np.abs(report.x - minimiser).max() <= 1e-6 * travelled
    assert report.energies[-1] == pytest.approx(problem.energy(minimiser), rel=1e-12)


@every_law
@pytest.mark.parametrize("solver", [pl.VBD(), pl.Chebyshev(pl.VBD(), rho=0.5)], ids=["VBD", "Chebyshev"])
def test_single_precision_comes_as_near_as_its_rounding(case, law, solver):
    """Within 1e-4 of the way travelled."""
    problem, minimiser = case(law, 2e-3)
    report = pl.solve(problem, solver, stop=pl.Stop(iterations=100), precision="single", measure_every=50)
    assert np.abs(report.x - minimiser).max() <= 1e-4 * np.abs(minimiser - problem.x_guess).max()


class Springy(pl.Corotated):
    """Corotated without lam, the law of projective dynamics, for the fixture that asks for a Poisson's ratio."""

    @classmethod
    def from_young(cls, youngs_modulus, poissons_ratio):
        return pl.Corotated.from_young(youngs_modulus, 0.0)


@every_damping
@pytest.mark.parametrize("solver", PROJECTIVE.values(), ids=PROJECTIVE)
def test_projective_dynamics_converges_on_its_laws(case, damping, solver):
    problem, minimiser = case(Springy, damping)
    report = pl.solve(problem, solver, stop=pl.Stop(iterations=600, residual=1e-9), measure_every=20)
    assert np.abs(report.x - minimiser).max() <= 1e-6 * np.abs(minimiser - problem.x_guess).max()


def test_projective_dynamics_says_what_it_cannot_take(case):
    with pytest.raises(pl.SolverError, match=r"ProjectiveDynamics cannot take StableNeoHookean with parameters"):
        pl.solve(case(pl.StableNeoHookean, 0.0)[0], pl.ProjectiveDynamics())
    with pytest.raises(pl.SolverError, match=r"ProjectiveDynamics cannot take Corotated with parameters"):
        pl.solve(case(pl.Corotated, 0.0)[0], pl.ProjectiveDynamics())


@every_law_and_solver
def test_the_minimiser_is_a_fixed_point(case, law, solver):
    """Started there, no solver leaves."""
    problem, minimiser = case(law, 2e-3)
    report = pl.solve(problem, solver, x0=minimiser, stop=pl.Stop(iterations=3))
    np.testing.assert_allclose(report.x, minimiser, rtol=0, atol=1e-12)


@every_solver
def test_held_vertices_stay_held(case, solver):
    """Pinned ones keep their bits; others move along their line or in their plane only."""
    problem, _ = case(pl.StableNeoHookean, 2e-3)
    model = problem.model
    report = pl.solve(problem, solver, stop=pl.Stop(iterations=5))
    moved = report.x - problem.x_guess
    np.testing.assert_array_equal(report.x[model.subspace == 0], problem.x_guess[model.subspace == 0])
    held = (model.subspace == 1) | (model.subspace == 2)
    assert np.linalg.norm(moved[held], axis=1).min() > 1e-5
    np.testing.assert_allclose(model.project(moved)[held], moved[held], rtol=0, atol=1e-15)


@every_solver
def test_the_problem_is_not_changed(case, solver):
    problem, _ = case(pl.StableNeoHookean, 2e-3)
    before = problem.x_guess.copy(), problem.y.copy(), problem.x_prev.copy()
    pl.solve(problem, solver, stop=pl.Stop(iterations=2))
    for old, new in zip(before, (problem.x_guess, problem.y, problem.x_prev), strict=True):
        np.testing.assert_array_equal(old, new)


@every_solver
def test_n_iterations_at_once_are_n_times_one(case, solver):
    """Bit for bit: what is kept between iterations survives from call to call."""
    problem, _ = case(pl.StVenantKirchhoff, 2e-3)
    at_once = pl.solve(problem, solver, stop=pl.Stop(iterations=7), measure_every=7)
    one_by_one = pl.solve(problem, solver, stop=pl.Stop(iterations=7))
    np.testing.assert_array_equal(at_once.x, one_by_one.x)
    assert at_once.reason == one_by_one.reason
    assert at_once.measured_at == [0, at_once.iterations]
    assert one_by_one.measured_at == list(range(at_once.iterations + 1))
    assert at_once.iterations == 7 or at_once.reason.startswith(("no further progress", "converged"))


def test_no_block_of_a_sound_problem_counts_as_singular(case):
    """Lanes that only fill up a pack are no vertices, and are not counted."""
    problem, _ = case(pl.StableNeoHookean, 2e-3)
    assert pl.solve(problem, pl.VBD(), stop=pl.Stop(iterations=2)).singular_blocks == 0


@every_solver
def test_threads_do_not_change_a_bit(make_simulation, solver):
    """One and two threads, on a mesh large enough to be shared."""
    runs = []
    for threads in (1, 2):
        problem = make_simulation(mesh=pl.shapes.box((0.3, 0.3, 0.3), (4, 4, 4)), held=True).problem()
        runs.append(pl.solve(problem, solver, stop=pl.Stop(iterations=10), threads=threads, measure_every=10).x)
    np.testing.assert_array_equal(*runs)


@every_solver
def test_a_resumed_run_continues_with_the_same_bits(make_simulation, tmp_path, solver):
    """What a solver supports from step to step, as a step length, is in the checkpoint."""
    sim = make_simulation(held=True, solver=solver)
    for _ in range(2):
        sim.step()
    sim.save(tmp_path / "run.npz")
    again = pl.Simulation.resume(tmp_path / "run.npz")
    for run in (sim, again):
        for _ in range(2):
            run.step()
    np.testing.assert_array_equal(again.positions, sim.positions)

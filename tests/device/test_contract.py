"""What every solver that minimises must do on a device: as tests/solvers/test_contract.py, with device="opencl"."""

import functools

import numpy as np
import pytest

import pliant as pl
from pliant.materials import SOLID_LAWS
from pliant.solvers import SOLVERS

VARIANTS = {
    "VBD": pl.VBD(),
    "VBD-psd": pl.VBD(psd=True),
    "Chebyshev": pl.Chebyshev(pl.VBD(), rho=0.5),
    "Chebyshev-auto": pl.Chebyshev(pl.VBD(), rho="auto"),
    "GradientDescent": pl.GradientDescent(),
    "Chebyshev-descent": pl.Chebyshev(pl.GradientDescent(), rho=((8, 0.5), (1, 0.7))),
    "BlockJacobi": pl.BlockJacobi(),
}
QUICK = ("VBD", "Chebyshev-descent")
every_solver = pytest.mark.parametrize(
    "solver",
    [
        pytest.param(solver, id=name, marks=() if name in QUICK else pytest.mark.slow)
        for name, solver in VARIANTS.items()
    ],
)


@pytest.fixture(scope="module")
def case(make_simulation):
    """A function: a held, damped problem and its minimiser by Newton's method."""

    @functools.cache
    def make(law):
        problem = make_simulation(law, held=True, damping=2e-3).problem()
        report = pl.solve(problem, pl.Newton(), stop=pl.Stop(iterations=30))
        assert report.residual < 1e-9
        return problem, report.x

    return make


def test_every_solver_that_minimises_on_devices_is_in_the_suite():
    tried = {type(solver).__name__ for solver in VARIANTS.values()}
    can = {name: solver.capabilities for name, solver in SOLVERS.items()}
    assert tried == {name for name, own in can.items() if own.device and own.minimises}


@every_solver
def test_converges_to_the_minimiser(case, solver):
    """Within 1e-6 of the way travelled, in double precision; in single precision within 1e-4."""
    problem, minimiser = case(pl.StableNeoHookean)
    travelled = np.abs(minimiser - problem.x_guess).max()
    stop = pl.Stop(iterations=600, residual=1e-9)
    report = pl.solve(problem, solver, stop=stop, measure_every=20, device="opencl")
    assert np.abs(report.x - minimiser).max() <= 1e-6 * travelled
    stop = pl.Stop(iterations=300)
    report = pl.solve(problem, solver, stop=stop, precision="single", measure_every=300, device="opencl")
    assert np.abs(report.x - minimiser).max() <= 1e-4 * travelled


@pytest.mark.slow
@pytest.mark.parametrize("law", SOLID_LAWS.values(), ids=SOLID_LAWS)
@pytest.mark.parametrize("name", ["VBD", "Chebyshev-descent"])
def test_every_law_converges_to_its_minimiser(case, law, name):
    problem, minimiser = case(law)
    stop = pl.Stop(iterations=600, residual=1e-9)
    report = pl.solve(problem, VARIANTS[name], stop=stop, measure_every=20, device="opencl")
    assert np.abs(report.x - minimiser).max() <= 1e-6 * np.abs(minimiser - problem.x_guess).max()


@every_solver
def test_the_minimiser_is_a_fixed_point_and_the_problem_is_not_changed(case, solver):
    problem, minimiser = case(pl.StableNeoHookean)
    before = problem.x_guess.copy(), problem.y.copy(), problem.x_prev.copy()
    report = pl.solve(problem, solver, x0=minimiser, stop=pl.Stop(iterations=3), device="opencl")
    np.testing.assert_allclose(report.x, minimiser, rtol=0, atol=1e-12)
    for old, new in zip(before, (problem.x_guess, problem.y, problem.x_prev), strict=True):
        np.testing.assert_array_equal(old, new)


@every_solver
def test_held_vertices_stay_held(case, solver):
    problem, _ = case(pl.StableNeoHookean)
    model = problem.model
    report = pl.solve(problem, solver, stop=pl.Stop(iterations=5), device="opencl")
    moved = report.x - problem.x_guess
    np.testing.assert_array_equal(report.x[model.subspace == 0], problem.x_guess[model.subspace == 0])
    held = (model.subspace == 1) | (model.subspace == 2)
    assert np.linalg.norm(moved[held], axis=1).min() > 1e-5
    np.testing.assert_allclose(model.project(moved)[held], moved[held], rtol=0, atol=1e-15)


@every_solver
def test_runs_repeat_and_n_iterations_are_n_times_one(case, solver):
    """Bit for bit."""
    problem, _ = case(pl.StableNeoHookean)
    stop = pl.Stop(iterations=7)
    at_once = [pl.solve(problem, solver, stop=stop, measure_every=7, device="opencl").x for _ in range(2)]
    one_by_one = pl.solve(problem, solver, stop=stop, device="opencl").x
    np.testing.assert_array_equal(*at_once)
    np.testing.assert_array_equal(at_once[0], one_by_one)


@pytest.mark.slow
@every_solver
def test_a_resumed_run_continues_with_the_same_bits(make_simulation, tmp_path, solver):
    sim = make_simulation(held=True, solver=solver, device="opencl")
    for _ in range(2):
        sim.step()
    sim.save(tmp_path / "run.npz")
    again = pl.Simulation.resume(tmp_path / "run.npz", device="opencl")
    for run in (sim, again):
        for _ in range(2):
            run.step()
    np.testing.assert_array_equal(again.positions, sim.positions)

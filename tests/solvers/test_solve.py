"""pl.solve: when it stops, what it reports, what it refuses."""

import numpy as np
import pytest

import pliant as pl
from pliant.solvers.contract.report import SolveReport


@pytest.fixture(scope="module")
def problem(make_simulation):
    return make_simulation().problem()


def test_stops_after_its_iterations(problem):
    report = pl.solve(problem, pl.Newton(), stop=pl.Stop(iterations=2))
    assert report.reason == "did all 2 iterations"
    assert report.iterations == 2
    assert report.measured_at == [0, 1, 2]


def test_stops_below_its_residual(problem):
    """The reason names the residual, which is the problem's own at the result."""
    report = pl.solve(problem, pl.Newton(), stop=pl.Stop(residual=1e-6))
    assert report.residual <= 1e-6
    assert report.residuals[-2] > 1e-6
    assert report.residual == problem.residual(report.x)
    assert report.reason == f"converged: residual {report.residual:.3g} m/s^2 after {report.iterations} iterations"


def test_stops_after_its_seconds(problem):
    report = pl.solve(problem, pl.Newton(), stop=pl.Stop(seconds=1e-9))
    assert report.reason == "used up 1e-09 s after 1 iterations"
    assert report.seconds >= 1e-9


@pytest.mark.filterwarnings("ignore::RuntimeWarning")
def test_stops_when_it_breaks_down(problem):
    """NaN is told at once, with the iteration, not iterated on."""
    x0 = problem.x_guess.copy()
    x0[3] = np.nan
    report = pl.solve(problem, pl.Newton(), x0=x0)
    assert report.reason == "broke down: the residual is nan after 0 iterations"


def test_default_is_the_solvers_number_of_iterations(problem):
    assert pl.solve(problem, pl.Newton(iterations=3)).iterations == 3


def test_measures_every_so_many_iterations_and_at_the_end(problem):
    report = pl.solve(problem, pl.VBD(), stop=pl.Stop(iterations=7), measure_every=3)
    assert report.measured_at == [0, 3, 6, 7]
    assert len(report.residuals) == len(report.energies) == 4
    assert report.energies[-1] == problem.energy(report.x)
    assert report.residuals[0] == problem.residual(problem.x_guess)


def test_starts_where_told_and_leaves_the_array_alone(problem):
    x0 = problem.x_guess + 1e-3
    kept = x0.copy()
    report = pl.solve(problem, pl.VBD(), x0=x0, stop=pl.Stop(iterations=1))
    np.testing.assert_array_equal(x0, kept)
    assert report.energies[0] == problem.energy(x0)


def test_pinned_vertices_of_x0_are_put_in_place(make_simulation):
    held = make_simulation(held=True).problem()
    fixed = ~held.model.is_free
    report = pl.solve(held, pl.Newton(), x0=held.x_guess + 0.01, stop=pl.Stop(iterations=1))
    np.testing.assert_array_equal(report.x[fixed], held.x_guess[fixed])


def test_constrained_vertices_of_x0_are_put_on_their_lines_and_planes(make_simulation):
    """They can only be where the step may take them, wherever x0 has them."""
    held = make_simulation(held=True).problem()
    report = pl.solve(held, pl.Newton(), x0=held.x_guess + 0.01, stop=pl.Stop(iterations=1))
    moved = report.x - held.x_guess
    np.testing.assert_allclose(held.project(moved), moved, rtol=0, atol=1e-15)


def test_a_class_is_no_solver(problem):
    with pytest.raises(pl.SolverError):
        pl.solve(problem, pl.VBD)


@pytest.mark.parametrize("shape", [(3,), (4, 3), (108,), (36, 2)])
def test_x0_of_a_wrong_shape(problem, shape):
    with pytest.raises(pl.SolverError) as error:
        pl.solve(problem, pl.Newton(), x0=np.zeros(shape))
    assert str(shape) in str(error.value)
    assert str(problem.x_guess.shape) in str(error.value)


@pytest.mark.parametrize("every", [0, -1, 1.5])
def test_measure_every_is_positive(problem, every):
    with pytest.raises(pl.SolverError, match=f"measure_every is {every}"):
        pl.solve(problem, pl.Newton(), measure_every=every)


def test_stop_after_a_part_of_an_iteration():
    with pytest.raises(pl.SolverError, match=r"iterations is 2\.5"):
        pl.Stop(iterations=2.5)


def test_threads_are_at_least_one(problem):
    with pytest.raises(pl.SolverError, match="threads is 0"):
        pl.solve(problem, pl.VBD(), threads=0)


def test_an_endless_stop_is_refused():
    with pytest.raises(pl.SolverError, match="never ends"):
        pl.Stop()


@pytest.mark.parametrize("name", ["iterations", "residual", "seconds"])
@pytest.mark.parametrize("value", [0, -1, np.nan, np.inf])
def test_stop_takes_positive_numbers(name, value):
    with pytest.raises(pl.SolverError, match=f"Stop: {name} is {value}"):
        pl.Stop(**{name: value})


@pytest.mark.parametrize("solver", [pl.VBD, pl.Newton])
@pytest.mark.parametrize("value", [0, -3, 2.5, True, None])
def test_iterations_are_whole_and_positive(solver, value):
    with pytest.raises(pl.SolverError) as error:
        solver(iterations=value)
    assert f"{solver.__name__}: iterations is {value!r}" in str(error.value)
    assert "at least 1" in str(error.value)


@pytest.mark.parametrize(
    "solver",
    [pl.VBD, pl.Newton],
)
def test_unknown_start(solver):
    """Told when the solver is made, with the choices."""
    with pytest.raises(pl.SolverError) as error:
        solver(start="guess")
    assert f"{solver.__name__}: start is 'guess'" in str(error.value)
    for choice in ("previous", "inertial", "accelerated", "adaptive"):
        assert choice in str(error.value)


def test_an_unmeasured_report_says_so():
    with pytest.raises(pl.SolverError, match="not measured"):
        _ = SolveReport("", 1, 0.0, np.zeros((1, 3))).residual


@pytest.mark.slow
def test_a_solve_goes_on_where_iterations_will_be_taken_back(make_simulation):
    """Descent looks at the energy every eighth iteration. Before that, momentum overflows in an exponential law."""
    problem = make_simulation(pl.Fung, held=True, damping=2e-3).problem()
    report = pl.solve(problem, pl.Nesterov(pl.GradientDescent()), stop=pl.Stop(iterations=600, residual=1e-9))
    assert report.converged
    assert not np.isfinite(report.residuals).all()
    assert not np.isfinite(report.energies).all()
    assert report.energies[-1] == pytest.approx(pl.solve(problem, pl.Newton()).energies[-1], rel=1e-12)

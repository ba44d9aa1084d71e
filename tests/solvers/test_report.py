"""Reports of steps: the iterations that were done and why they ended; what a solver keeps; a look at the next step."""

import re

import numpy as np
import pytest

import pliant as pl
from pliant.solvers import Execution
from pliant.solvers.contract.work import bytes_of


def resting_cube(solver: pl.Solver) -> pl.Simulation:
    """Nothing moves it."""
    scene = pl.Scene(gravity=(0, 0, 0))
    scene.add_solid(pl.shapes.box(cells=1), pl.StableNeoHookean.from_young(1e5, 0.3))
    return pl.Simulation(scene, solver, precision="double")


def test_newton_reports_the_iterations_it_did(make_simulation) -> None:
    """Quadratic convergence: fewer than 10 of 50 iterations to a residual of 1e-6 m/s^2."""
    report = make_simulation(held=True, solver=pl.Newton(iterations=50, residual=1e-6)).step()
    assert 2 < report.iterations < 10
    assert report.converged
    assert report.residual <= 1e-6
    told = re.fullmatch(
        r"converged: residual (\S+) m/s\^2 is at most 1e-06 m/s\^2, after (\d+) iterations", report.reason
    )
    assert told is not None, report.reason
    assert float(told[1]) == pytest.approx(report.residual, rel=0.01, abs=1e-11)  # summed in another order
    assert int(told[2]) == report.iterations


def test_newton_ends_where_rounding_stops_it(make_simulation) -> None:
    report = make_simulation(held=True, solver=pl.Newton(iterations=50)).step()
    assert report.iterations < 50
    assert report.converged  # by its error, although it has not been asked for one
    assert report.error < 1e-9
    ends = (
        "no part of Newton's step lowers the energy",  # of these, rounding decides
        "forces have fallen to their rounding",
    )
    assert report.reason in {f"no further progress: {end}, after {report.iterations} iterations" for end in ends}
    assert report.residual < 1e-9


def test_newton_that_does_all_iterations_reports_so(make_simulation) -> None:
    report = make_simulation(held=True, solver=pl.Newton(iterations=2)).step()
    assert (report.reason, report.iterations, report.converged) == ("did all 2 iterations", 2, False)


@pytest.mark.parametrize("solver", [pl.NonlinearCG(), pl.LBFGS()], ids=["NonlinearCG", "LBFGS"])
def test_descents_end_where_no_force_is_left(solver) -> None:
    report = resting_cube(solver).step()
    assert report.iterations == 1
    assert report.reason == ("no further progress: no step along the force lowers the energy, after 1 iterations")


@pytest.mark.parametrize("solver", [pl.GradientDescent(), pl.BlockJacobi()], ids=["GradientDescent", "BlockJacobi"])
@pytest.mark.parametrize("wrap", [None, pl.Nesterov, pl.HeavyBall, pl.Anderson, pl.Backtracking, pl.Chebyshev])
def test_an_exhausted_step_length_ends_a_step(make_simulation, solver, wrap) -> None:
    """The accelerator around such a descent stops as well, and leaves the positions where they are."""
    problem = make_simulation(held=True).problem()
    chosen = solver if wrap is None else wrap(solver)
    work = chosen.init(problem, Execution("double"))
    chosen.begin_step(problem, work)
    x = problem.x_guess.copy()
    assert chosen.sweep(problem, x, work, 9) == pl.SweepResult(9)
    (work if wrap is None else work.inner).exhausted = True
    before = x.copy()
    result = chosen.sweep(problem, x, work, 5)
    assert result == pl.SweepResult(0, "no further progress: the step length fell below 0.0001")
    np.testing.assert_array_equal(x, before)


def test_solve_ends_with_a_solver_that_has_ended_though_a_residual_was_asked_for(make_simulation) -> None:
    problem = make_simulation(held=True).problem()
    report = pl.solve(problem, pl.Newton(), stop=pl.Stop(residual=1e-300))
    assert report.reason.startswith("no further progress")
    assert not report.converged
    assert report.measured_at[-1] == report.iterations < 30


def test_solve_converges_by_the_residual_that_was_asked_for(make_simulation) -> None:
    problem = make_simulation(held=True).problem()
    assert pl.solve(problem, pl.VBD(), stop=pl.Stop(residual=1.0)).converged
    assert not pl.solve(problem, pl.VBD(), stop=pl.Stop(iterations=2)).converged
    assert pl.solve(problem, pl.Newton(residual=1e-3), stop=pl.Stop(iterations=30)).converged


def test_iterations_between_detections_add_up() -> None:
    """Detected again after every three of ten iterations."""
    scene = pl.Scene()
    scene.contact = pl.Contact(stiffness=1e5, detect_every=3)
    scene.add_plane((0, 0, -0.5), (0, 0, 1))
    scene.add_solid(pl.shapes.box(cells=1), pl.StableNeoHookean.from_young(1e5, 0.3))
    report = pl.Simulation(scene, pl.VBD(iterations=10)).step()
    assert (report.reason, report.iterations) == ("did all 10 iterations", 10)


def test_newton_counts_its_arrays(make_simulation) -> None:
    """At least the blocks of its matrix."""
    sim = make_simulation()
    assert sim.solver_bytes >= sim._work.values.nbytes + sim._work.pattern.column.nbytes > 0


def test_contacts_of_vertex_block_descent_are_counted() -> None:
    """A block that falls through a plane: its tables grow by what its contacts need."""
    scene = pl.Scene()
    scene.contact = pl.Contact(stiffness=1e5)
    scene.add_plane((0, 0, -0.51), (0, 0, 1))
    block = scene.add_solid(pl.shapes.box(cells=2), pl.StableNeoHookean.from_young(1e5, 0.3))
    block.set_velocities((0, 0, -1))
    sim = pl.Simulation(scene, pl.VBD(iterations=3))
    apart = sim.solver_bytes
    for _ in range(12):
        sim.step()
    assert sim.n_contacts >= 9
    assert sim.solver_bytes > apart
    assert sim.solver_bytes > bytes_of(sim._work.contacts) > 0


def released(solver: pl.Solver) -> pl.Simulation:
    """Hangs by one face, until it is let go after one step."""
    scene = pl.Scene()
    block = scene.add_solid(pl.shapes.box(cells=2), pl.StableNeoHookean.from_young(1e5, 0.3))
    block.pin(block.positions[:, 2] > 0.49, until=1 / 300)
    return pl.Simulation(scene, solver)


def test_a_look_at_the_next_step_changes_nothing() -> None:
    """Neither the model nor the solver, although vertices are let go in that step; it is posed with them free."""
    sim, other = released(pl.VBD(iterations=3)), released(pl.VBD(iterations=3))
    sim.step()
    other.step()
    model, work = sim.model, sim._work
    held = int((~model.is_free).sum())
    problem = sim.problem()
    assert sim.model is model
    assert sim._work is work
    assert held == 9
    assert problem.model.is_free.all()
    sim.step()
    other.step()
    assert sim.model.is_free.all()
    np.testing.assert_array_equal(sim.positions, other.positions)
    expected = pl.solve(problem, pl.VBD(iterations=3), precision="single").x
    np.testing.assert_allclose(sim.positions, expected, rtol=0, atol=1e-7)  # the step restores its momenta, by 6e-9 m

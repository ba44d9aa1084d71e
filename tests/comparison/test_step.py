"""One step by several solvers: the ruler, the verdicts and the files."""

import csv
import json

import numpy as np
import pytest

import pliant as pl
from pliant.comparison import outputs
from pliant.comparison.step import Comparison, Run, converged


@pytest.fixture(scope="module")
def problem(make_simulation):
    return make_simulation(held=True, frame_rate=30).problem()


@pytest.fixture(scope="module")
def comparison(problem):
    solvers = [pl.VBD(), pl.Chebyshev(pl.VBD(), rho=0.5), pl.Newton()]
    return pl.compare(problem, solvers, iterations=40, precision="double", threads=1)


def test_the_reference_is_the_minimum(problem):
    """Residual 1e-11 of the start's, and the Hessian is positive there."""
    x = converged(problem)
    assert problem.residual(x) <= 1e-11 * problem.residual(problem.x_guess)
    assert np.linalg.eigvalsh(problem.hessian(x).toarray())[0] > 0


def test_curves_are_those_of_single_solves(problem, comparison):
    """Errors and residuals at the moments are what pl.solve gives after as many iterations."""
    run = comparison.runs[0]
    assert run.iterations[:6] == [0, 1, 2, 3, 4, 5]
    assert run.iterations[-1] == 40
    assert run.errors[0] == 1.0
    report = pl.solve(problem, pl.VBD(), stop=pl.Stop(iterations=40))
    np.testing.assert_allclose(run.residuals, np.array(report.residuals)[run.iterations], rtol=1e-12)
    span = comparison.start - comparison.minimum
    expected = (np.array(report.energies)[run.iterations] - comparison.minimum) / span
    np.testing.assert_allclose(run.errors, expected, rtol=0, atol=1e-14)
    assert (np.diff(run.seconds) > 0).all()


def test_newton_needs_the_fewest_iterations(comparison):
    """Quadratic convergence: below 1e-8 in 8 iterations; vertex block descent, linear, is above it after 40."""
    plain, accelerated, newton = (run.reaches(1e-8) for run in comparison.runs)
    assert comparison.runs[2].name == "Newton"
    assert newton[0] <= 8
    assert plain is accelerated is None


class Hesitant(pl.VBD):
    """Does nothing in its second iteration, as a descent that goes back."""

    def sweep(self, problem, x, work, n=1):
        before = getattr(work, "swept", 0)
        work.swept = before + n
        return pl.SweepResult(n) if before == 1 else super().sweep(problem, x, work, n)


def test_one_iteration_that_stands_still_is_not_the_end(problem):
    """The run goes on to its last iteration; one that has converged ends before."""
    runs = pl.compare(problem, {"hesitant": Hesitant(iterations=12), "Newton": pl.Newton(50)}, threads=1).runs
    assert runs[0].iterations[-1] == 12
    assert runs[0].errors[1] == runs[0].errors[2] > runs[0].errors[3]
    assert runs[1].iterations[-1] < 50


def test_verdicts_name_the_first_at_each_accuracy():
    fast = Run("A", 0.0, [0, 10, 20], [0.0, 0.01, 0.02], [1.0, 0.05, 0.04], [9.0, 1.0, 1.0])
    slow = Run("B", 0.0, [0, 1, 2], [0.0, 0.5, 1.0], [1.0, 0.02, 1e-5], [9.0, 1.0, 0.1])
    verdicts = Comparison(3, "single", 0.0, 1.0, 0.0, [fast, slow]).verdicts()
    assert verdicts[0] == (
        "To a relative error of 0.1, A is first: 10 ms, 10 iterations; B needs the fewest iterations, 1."
    )
    assert verdicts[1] == "To a relative error of 0.01, B is first: 1e+03 ms, 2 iterations."
    assert verdicts[-1] == "Nobody reaches a relative error of 1e-06."


def test_an_error_that_rises_again_has_not_reached():
    run = Run("A", 0.0, [0, 1, 2, 3], [0.0, 1.0, 2.0, 3.0], [1.0, 0.01, 0.5, float("nan")], [0.0] * 4)
    assert run.reaches(0.1) is None
    assert run.reaches(1.0) is None


def test_a_lower_minimum_is_told():
    run = Run("A", 0.0, [0, 1], [0.0, 1.0], [1.0, -0.1], [0.0] * 2)
    assert Comparison(3, "single", 0.0, 1.0, 0.0, [run]).verdicts()[-1].startswith("A went below the reference")


def test_files(comparison, tmp_path):
    """Curves as CSV and JSON hold the same numbers; PNG and SVG are pictures."""
    paths = {path.suffix: path for path in outputs.save(comparison, tmp_path)}
    paths |= {path.suffix: path for path in outputs.save_pictures(comparison, tmp_path)}
    rows = list(csv.DictReader(paths[".csv"].open()))
    about = json.loads(paths[".json"].read_text())
    assert len(rows) == sum(len(run["errors"]) for run in about["runs"])
    assert float(rows[3]["relative_energy_error"]) == about["runs"][0]["errors"][3] == comparison.runs[0].errors[3]
    assert about["verdicts"] == comparison.verdicts()
    assert paths[".png"].read_bytes().startswith(b"\x89PNG")
    assert "<svg" in paths[".svg"].read_text()[:600]
    assert len(outputs.table(comparison).rows) == 3


def test_a_budget_of_time_is_kept(problem):
    """The run ends with the sweep in which the time is up."""
    run = pl.compare(problem, {"mine": pl.VBD()}, seconds=0.02).runs[0]
    assert run.name == "mine"
    assert run.seconds[-2] < 0.02 <= run.seconds[-1]


def test_iterations_or_seconds_or_the_solvers_own(problem):
    with pytest.raises(pl.SolverError, match="iterations or seconds, not both"):
        pl.compare(problem, [pl.VBD()], iterations=5, seconds=1.0)
    assert pl.compare(problem, [pl.VBD(iterations=3)]).runs[0].iterations == [0, 1, 2, 3]


def test_solvers_that_do_not_carry_contact_say_so():
    """The solver itself, and inside a part around it."""
    scene = pl.Scene()
    scene.add_solid(pl.shapes.box(cells=1), pl.ARAP(1e5))
    scene.add_plane((0, 0, -1), (0, 0, 1))
    for solver in (pl.ProjectiveDynamics(), pl.Anderson(pl.ProjectiveDynamics())):
        with pytest.raises(pl.SolverError, match="ProjectiveDynamics does not support contact"):
            pl.compare(scene, [pl.VBD(), solver], iterations=3)


class Drifting(pl.VBD):
    """Moves all vertices, pinned ones too."""

    def sweep(self, problem, x, work, n):
        done = super().sweep(problem, x, work, n)
        x += 1e-3
        return done


def test_a_solver_that_moves_what_is_held_is_refused(problem):
    with pytest.raises(pl.SolverError, match=r"Drifting moves vertex \d+ of .*pinned or prescribed, by 0\.001 m"):
        pl.compare(problem, [Drifting()], iterations=2, precision="double", threads=1)


@pytest.mark.slow
def test_a_step_in_contact_is_measured_with_the_contacts_of_its_minimum():
    """Friction limits and closest points change as solvers go on; all end at the same energy, none below it."""
    scene = pl.Scene()
    scene.contact = pl.Contact(stiffness=3e3, friction=0.4, friction_speed=0.5)
    for centre in ((0, 0, 0.0485), (0.02, 0.01, 0.1465)):
        mesh = pl.shapes.box((0.1,) * 3, (2,) * 3).transformed(translation=centre)
        scene.add_solid(mesh, pl.StableNeoHookean.from_young(1e5, 0.3)).set_velocities((0.3, 0.1, 0))
    scene.add_plane((0, 0, 0), (0, 0, 1), friction=0.5)
    solvers = [pl.Newton(15), pl.VBD(200), pl.LBFGS(200)]
    comparison = pl.compare(scene, solvers, frame_rate=100, precision="double")
    assert comparison.reference_residual < 1e-7
    for run in comparison.runs:
        assert run.errors[0] == 1
        assert abs(run.errors[-1]) < 1e-9
        assert min(run.errors) > -1e-9
        assert run.residuals[-1] < 1e-4

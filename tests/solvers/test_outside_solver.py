"""A solver that is defined outside the package runs wherever the package's own do."""

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
import pytest

import pliant as pl
from pliant.solvers import SOLVERS
from pliant.solvers.contract.names import solver_from_text


@dataclass
class DescentWork(pl.Work):
    """The step length, which steps hand on, and the preconditioner."""

    scales: np.ndarray  # (n, 1) 1 / diag(H), an estimate [m/N]
    length: float = 1.0

    def state_dict(self) -> dict[str, float]:
        return {"length": self.length}

    def load_state_dict(self, state: dict[str, float]) -> None:
        self.length = state["length"]


@dataclass(frozen=True)
class PlainDescent(pl.Solver[DescentWork]):
    """Gradient descent in NumPy: halves its step length where the energy rises, and lengthens it after each step."""

    iterations: int = 60
    start: str = "inertial"

    capabilities = pl.Capabilities("minimise", contact=True, pressure=True, fixed_point=True)

    def init(self, problem: pl.IncrementalPotential, execution) -> DescentWork:
        stiffness = np.trace(problem.vertex_blocks(problem.model.positions), axis1=1, axis2=2) / 3
        return DescentWork(1 / stiffness[:, None])

    def begin_step(self, problem: pl.IncrementalPotential, work: DescentWork) -> None:
        work.length = min(1.0, max(0.1, 2 * work.length))

    def sweep(self, problem, x: np.ndarray, work: DescentWork, n: int = 1) -> pl.SweepResult:
        for done in range(n):
            problem.update_internal_state(x)
            direction = -problem.project(work.scales * problem.gradient(x))
            before = problem.energy(x)
            while problem.energy(x + work.length * direction) > before:
                work.length /= 2
                if work.length < 1e-9:
                    return pl.SweepResult(done, "no further progress: the step length is zero")
            x += work.length * direction
        return pl.SweepResult(n)


@pytest.fixture
def registered() -> Iterator[type[PlainDescent]]:
    """The solver, known by its name for one test."""
    yield pl.register_solver(PlainDescent)
    del SOLVERS["PlainDescent"]


def test_it_runs_in_a_simulation_and_nears_the_motion_of_newton(make_simulation) -> None:
    exact, plain = make_simulation(held=True), make_simulation(held=True, solver=PlainDescent(iterations=400))
    for _ in range(3):
        exact.step()
        report = plain.step()
    assert report.iterations == 400
    assert report.reason == "did all 400 iterations"
    travelled = np.abs(exact.positions - exact.model.positions).max()
    assert travelled > 1e-3
    assert np.abs(plain.positions - exact.positions).max() < 1e-3 * travelled


def test_solve_ends_at_the_minimum_or_says_why_not(make_simulation) -> None:
    problem = make_simulation(held=True).problem()
    minimiser = pl.solve(problem, pl.Newton(), stop=pl.Stop(iterations=30)).x
    report = pl.solve(problem, PlainDescent(), stop=pl.Stop(iterations=3000, residual=1e-6), measure_every=50)
    assert report.converged == report.reason.startswith("converged: residual")
    assert np.abs(report.x - minimiser).max() < 1e-4 * np.abs(minimiser - problem.x_guess).max()
    assert all(after <= before for before, after in zip(report.energies, report.energies[1:], strict=False))


def test_accelerators_wrap_it(make_simulation) -> None:
    """Also those that measure energies, with tables of their own; Chebyshev, which needs momentum, does not."""
    problem = make_simulation(held=True).problem()
    plain, fast = (
        pl.solve(problem, solver, stop=pl.Stop(iterations=40), measure_every=40).residual
        for solver in (PlainDescent(), pl.Anderson(PlainDescent()))
    )
    assert fast < 0.2 * plain
    with pytest.raises(pl.SolverError, match="Chebyshev cannot wrap PlainDescent"):
        pl.Chebyshev(PlainDescent())


def test_it_is_compared_with_others(make_simulation) -> None:
    comparison = pl.compare(make_simulation(held=True), [pl.VBD(), PlainDescent()], iterations=30, precision="double")
    assert [run.name for run in comparison.runs] == ["VBD", "PlainDescent"]
    assert comparison.runs[1].iterations[-1] == 30
    assert comparison.runs[1].errors[-1] < 0.5 * comparison.runs[1].errors[0]


def test_a_checkpoint_names_it_and_keeps_its_state(make_simulation, registered, tmp_path) -> None:
    sim = make_simulation(held=True, solver=registered(iterations=5))
    sim.step()
    sim.save(tmp_path / "run.npz")
    again = pl.Simulation.resume(tmp_path / "run.npz")
    assert again.solver == registered(iterations=5)
    assert again._work.length == sim._work.length
    for run in (sim, again):
        run.step()
    np.testing.assert_array_equal(again.positions, sim.positions)


def test_a_checkpoint_refuses_a_solver_that_is_not_registered(make_simulation, tmp_path) -> None:
    sim = make_simulation(held=True, solver=PlainDescent(iterations=5))
    with pytest.raises(pl.FileError, match=r"the solver PlainDescent is not registered.*pl\.register_solver"):
        sim.save(tmp_path / "run.npz")
    assert not list(tmp_path.iterdir())


def test_words_name_it_when_it_is_registered(registered) -> None:
    solver = solver_from_text("plaindescent:iterations=7+anderson", SOLVERS)
    assert solver == pl.Anderson(registered(iterations=7))


def test_scenes_it_does_not_support_are_refused() -> None:
    scene = pl.Scene()
    law = pl.NeoHookean.from_young(1e5, 0.3)
    scene.add_solid(pl.shapes.box(cells=1), pl.Invertible(law))
    with pytest.raises(pl.SolverError, match=r"PlainDescent does not support pl\.Invertible materials"):
        pl.Simulation(scene, PlainDescent())


def test_its_arrays_are_counted(make_simulation) -> None:
    sim = make_simulation(solver=PlainDescent())
    assert sim.solver_bytes == 8 * len(sim.positions)


def test_what_cannot_be_registered() -> None:
    with pytest.raises(pl.SolverError, match=r"not a frozen dataclass derived from pl\.Solver"):
        pl.register_solver(int)

    @dataclass(frozen=True)
    class NoDefault(pl.Solver[pl.Work]):
        iterations: int

    with pytest.raises(pl.SolverError, match="NoDefault has no default for 'iterations'"):
        pl.register_solver(NoDefault)

    @dataclass(frozen=True)
    class VBD(PlainDescent):
        pass

    with pytest.raises(pl.SolverError, match=r"pliant\.solvers\.vbd has a solver VBD already"):
        pl.register_solver(VBD)
    assert SOLVERS["VBD"] is pl.VBD


def test_a_solver_without_capabilities_cannot_be_made() -> None:
    @dataclass(frozen=True)
    class Silent(pl.Solver[pl.Work]):
        iterations: int = 1

        def init(self, problem, execution) -> pl.Work:
            return pl.Work()

        def sweep(self, problem, x, work, n: int = 1) -> pl.SweepResult:
            return pl.SweepResult(n)

    with pytest.raises(TypeError, match="capabilities"):
        Silent()

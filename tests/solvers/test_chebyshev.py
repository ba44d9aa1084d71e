"""Chebyshev's acceleration: the factors of Equation 19, the recurrence of Equation 18, and a new start every step."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import pliant as pl
from pliant.geometry import colour_vertices, vertex_graph
from pliant.solvers import Execution
from pliant.solvers.chebyshev import Factors
from pliant.solvers.vbd_reference import chebyshev_factors, vbd_sweep


@settings(deadline=None, derandomize=True)
@given(rho=st.floats(1e-3, 0.9999), split=st.integers(1, 11))
def test_factors_are_those_of_equation_19(rho, split):
    """omega_n = T_(n-1)(1/rho) / T_n(1/rho) * 2/rho with Chebyshev's polynomials, however the calls are split."""
    factors = Factors(((1, rho),))
    omegas = np.concatenate([factors.next(split), factors.next(12 - split)])
    a = np.arccosh(1 / rho)
    n = np.arange(1, 13)
    closed = 2 / rho * np.cosh((n - 1) * a) / np.cosh(n * a)
    closed[0] = 1.0  # the first iteration is not accelerated; the polynomials give 2 there, half of it is used
    np.testing.assert_allclose(omegas, closed, rtol=1e-9)
    np.testing.assert_array_equal(omegas, chebyshev_factors(rho, 12))
    assert omegas[1] == 2 / (2 - rho**2)


def test_every_phase_begins_anew():
    """Phases have the factors of their own rho, from the first; a restart begins the phase again."""
    factors = Factors(((3, 0.5), (4, 0.9), (2, 0.99)))
    expected = [*chebyshev_factors(0.5, 3), *chebyshev_factors(0.9, 4), *chebyshev_factors(0.99, 6)]
    np.testing.assert_array_equal(factors.next(13), expected)
    factors.restart()
    np.testing.assert_array_equal(factors.next(4), chebyshev_factors(0.99, 4))


def test_estimate_of_rho_is_the_rate_of_a_linear_iteration(make_simulation):
    """Plain iterations become shorter at the rate of their spectral radius: "auto" finds it, a little below."""
    solver = pl.Chebyshev(pl.VBD(), rho="auto")
    problem = make_simulation(held=True, frame_rate=20).problem()
    work = solver.init(problem, Execution("double", 1))
    solver.begin_step(problem, work)
    x = problem.x_guess.copy()
    solver.sweep(problem, x, work, 20)
    plain = [pl.solve(problem, pl.VBD(), stop=pl.Stop(iterations=n), measure_every=n).x for n in (5, 6, 7, 11, 12)]
    moved = [np.linalg.norm(b - a) for a, b in ((plain[1], plain[2]), (plain[3], plain[4]))]
    assert work.rho == pytest.approx(0.98 * (moved[1] / moved[0]) ** (1 / 5), rel=1e-6)


def test_iterations_follow_equation_18(make_simulation):
    """x_n = omega_n (sweep(x_(n-1)) - x_(n-2)) + x_(n-2), against the reference's sweeps."""
    rho, problem = 0.9, make_simulation(pl.NeoHookean).problem()
    model = problem.model
    colours = colour_vertices(*vertex_graph([block.elements for block in model.blocks], model.n_vertices))
    before, x = problem.x_guess, problem.x_guess
    for omega in chebyshev_factors(rho, 6):
        before, x = x, omega * (vbd_sweep(problem, x, colours) - before) + before
    report = pl.solve(problem, pl.Chebyshev(pl.VBD(), rho), stop=pl.Stop(iterations=6))
    np.testing.assert_allclose(report.x, x, rtol=0, atol=1e-12)


def test_every_step_starts_anew(make_simulation):
    """A step after other steps gives the bits of a fresh simulation from that state."""
    solver = pl.Chebyshev(pl.VBD(iterations=7), rho=0.9)
    run, fresh = (make_simulation(solver=solver) for _ in range(2))
    for _ in range(3):
        run.step()
    fresh.state = run.state.copy()
    run.step()
    fresh.step()
    np.testing.assert_array_equal(run.positions, fresh.positions)
    np.testing.assert_array_equal(run.velocities, fresh.velocities)


def test_acceleration_converges_sooner_on_a_stiff_step(make_simulation):
    """The point of it: at equal iterations the residual of a stiff, long step is less than half."""
    problem = make_simulation(held=True, frame_rate=20).problem()
    stop = pl.Stop(iterations=60)
    plain = pl.solve(problem, pl.VBD(), stop=stop, measure_every=60)
    fast = pl.solve(problem, pl.Chebyshev(pl.VBD(), rho=0.9), stop=stop, measure_every=60)
    assert fast.residual < 0.5 * plain.residual


@pytest.mark.parametrize("rho", [0, 1, -0.5, 1.5, np.nan, np.inf])
def test_rho_lies_between_0_and_1(rho):
    with pytest.raises(pl.SolverError) as error:
        pl.Chebyshev(pl.VBD(), rho=rho)
    assert repr(rho) in str(error.value)
    assert "between 0 and 1" in str(error.value)


@pytest.mark.parametrize(
    "solver",
    [pl.Newton(), pl.Chebyshev(pl.VBD()), 20, pl.VBD],
    ids=repr,
)
def test_only_solvers_that_take_momentum_are_wrapped(solver):
    """Newton does not, Chebyshev itself does not, a number and a class are no solvers."""
    with pytest.raises(pl.SolverError, match=r"Chebyshev cannot wrap|Chebyshev: solver is"):
        pl.Chebyshev(solver)


@pytest.mark.parametrize(
    ("phases", "words"),
    [
        ([(0, 0.9)], "iterations of phase 0 is 0"),
        ([(5, 0.9), (5, 1.0)], "rho of phase 1 is 1.0"),
        ([0.9], "phase 0 is 0.9"),
        ([], "there are no phases"),
        ("automatic", "'automatic'"),
    ],
)
def test_phases_are_checked(phases, words):
    with pytest.raises(pl.SolverError, match=words):
        pl.Chebyshev(pl.VBD(), rho=phases)

"""Solvers as words."""

import pytest

import pliant as pl
from pliant.solvers import SOLVERS
from pliant.solvers.contract.names import solver_from_text, solver_name


@pytest.mark.parametrize(
    ("text", "solver", "name"),
    [
        ("vbd", pl.VBD(), "VBD"),
        ("newton:linear=cg", pl.Newton(linear="cg"), "Newton(linear=cg)"),
        ("VBD + Chebyshev:rho=0.9", pl.Chebyshev(pl.VBD(), 0.9), "VBD + Chebyshev(rho=0.9)"),
        ("lbfgs:pairs=8:preconditioned=False", pl.LBFGS(pairs=8, preconditioned=False),
         "LBFGS(pairs=8, preconditioned=False)"),
    ],
)  # fmt: skip
def test_words_become_solvers_and_back(text, solver, name):
    assert solver_from_text(text, SOLVERS) == solver
    assert solver_name(solver) == name


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("euler", "no solver 'euler': choose among VBD"),
        ("chebyshev", "Chebyshev wraps another"),
        ("vbd+newton", "Newton wraps none"),
        ("vbd:speed=3", "VBD has no option 'speed'"),
        ("vbd:psd", "'psd' is not an option: write name=value"),
        ("newton+chebyshev", "Chebyshev cannot wrap Newton"),
        ("lbfgs+nesterov", "Nesterov cannot wrap LBFGS"),
    ],
)
def test_words_that_are_no_solver(text, words):
    with pytest.raises(pl.SolverError, match=words):
        solver_from_text(text, SOLVERS)


def test_iterations_reach_the_innermost():
    assert pl.Chebyshev(pl.VBD(), 0.9).with_iterations(7) == pl.Chebyshev(pl.VBD(7), 0.9)

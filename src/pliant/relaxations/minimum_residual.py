"""Projected minimum residual (Equations 30 and 31)."""

from __future__ import annotations

from dataclasses import dataclass

from pliant.arguments import is_one_of
from pliant.constraints.krylov import FIXED_ALPHA, MINIMUM_RESIDUAL, largest_eigenvalue, minimise_residual
from pliant.constraints.problem import ConstraintProblem
from pliant.errors import SolverError
from pliant.relaxations.relaxation import Relaxation, register_relaxation

ALPHAS = ("residual", "power")
POWER_ITERATIONS = 12


@register_relaxation
@dataclass(frozen=True)
class MinimumResidual(Relaxation):
    """Along the residual, by alpha.

    alpha: "power", 1 / rho(A) by power iteration at the start of the step, which the paper found robust, or
        "residual", Equation 31.
    """

    resists_rolling = False

    alpha: str = "power"

    def __post_init__(self) -> None:
        if not is_one_of(self.alpha, ALPHAS):
            raise SolverError(f"MinimumResidual: alpha is {self.alpha!r}: choose one of {', '.join(ALPHAS)}.")

    def begin(self, problem: ConstraintProblem) -> None:
        p = problem
        about = (p.rows, p.count, p.bodies, p.scheme, p.vectors, POWER_ITERATIONS)
        p.team.run_for(50.0 * POWER_ITERATIONS * p.count, largest_eigenvalue, *about)

    def iterate(self, problem: ConstraintProblem, n: int) -> None:
        p = problem
        method = FIXED_ALPHA if self.alpha == "power" else MINIMUM_RESIDUAL
        about = (p.rows, p.count, p.bodies, p.scheme, p.vectors, method, 0.0, p.done, n)
        p.team.run_for(80.0 * n * p.count, minimise_residual, *about)
        p.done += n

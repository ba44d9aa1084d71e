"""Projected conjugate residuals (Equations 33 to 35)."""

from __future__ import annotations

from dataclasses import dataclass

from pliant.constraints.krylov import CONJUGATE, largest_eigenvalue, minimise_residual
from pliant.constraints.problem import ConstraintProblem
from pliant.relaxations.relaxation import Relaxation, check_real, register_relaxation

POWER_ITERATIONS = 12


@register_relaxation
@dataclass(frozen=True)
class ConjugateResiduals(Relaxation):
    """Along directions that are conjugate as long as no constraint meets or leaves a bound; then it begins again.

    largest_beta: the coefficient beta is clamped to it, as the paper does for stability (Figure 1).
    """

    resists_rolling = False

    largest_beta: float = 1.0

    def __post_init__(self) -> None:
        check_real(self.largest_beta, "ConjugateResiduals: largest_beta", 0.0)

    def begin(self, problem: ConstraintProblem) -> None:
        p = problem
        about = (p.rows, p.count, p.bodies, p.scheme, p.vectors, POWER_ITERATIONS)
        p.team.run_for(50.0 * POWER_ITERATIONS * p.count, largest_eigenvalue, *about)

    def iterate(self, problem: ConstraintProblem, n: int) -> None:
        p = problem
        about = (p.rows, p.count, p.bodies, p.scheme, p.vectors, CONJUGATE, float(self.largest_beta), p.done, n)
        p.team.run_for(80.0 * n * p.count, minimise_residual, *about)
        p.done += n

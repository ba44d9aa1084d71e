"""Projected Gauss-Seidel and successive over-relaxation (Equation 29), by colours."""

from __future__ import annotations

from dataclasses import dataclass

from pliant.constraints.problem import ConstraintProblem
from pliant.constraints.rows import DIAGONAL
from pliant.constraints.sweeps import Pace, gauss_seidel
from pliant.relaxations.relaxation import Relaxation, check_real, register_relaxation


@register_relaxation
@dataclass(frozen=True)
class GaussSeidel(Relaxation):
    """One constraint after another. Those of one colour share no vertex, so that threads may take them in any order.

    omega: relaxation factor, below 2; above 1 it is over-relaxation.
    """

    omega: float = 1.0

    def __post_init__(self) -> None:
        check_real(self.omega, "GaussSeidel: omega", 0.0, 2.0)

    def begin(self, problem: ConstraintProblem) -> None:
        problem.colour()

    def iterate(self, problem: ConstraintProblem, n: int) -> None:
        p = problem
        pace = Pace(float(self.omega), 0.0, 1.0, p.done, p.planned, DIAGONAL)
        about = (p.rows, p.colours, p.bodies, p.scheme)
        p.team.run_for(10.0 * n * p.count, gauss_seidel, *about, pace, n, *p.packed_for(pace, by_colours=True))
        p.advance(n, pace, by_colours=True)

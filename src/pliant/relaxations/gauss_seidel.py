"""Projected Gauss-Seidel and successive over-relaxation (Equation 29), by colours."""

from __future__ import annotations

from dataclasses import dataclass

from pliant.constraints.problem import ConstraintProblem
from pliant.constraints.rows import DIAGONAL
from pliant.constraints.sweeps import Pace
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
        pace = Pace(float(self.omega), 0.0, 1.0, problem.done, problem.planned, DIAGONAL)
        problem.iterate(n, pace, is_apart=False)

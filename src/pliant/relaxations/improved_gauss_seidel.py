"""Gauss-Seidel with the momentum of Equation 38, as the paper tried (end of Section 4.3)."""

from __future__ import annotations

from dataclasses import dataclass

from pliant.constraints.problem import ConstraintProblem
from pliant.constraints.rows import DIAGONAL
from pliant.constraints.sweeps import Pace
from pliant.relaxations.relaxation import Relaxation, check_real, register_relaxation


@register_relaxation
@dataclass(frozen=True)
class ImprovedGaussSeidel(Relaxation):
    """Gauss-Seidel whose changes are carried on by beta; omega, a and b as of pl.ImprovedJacobi.

    omega has to be low: what is carried on and what neighbours have changed meanwhile add up.
    """

    omega: float = 0.3
    a: float = 1.0
    b: float = 0.6

    def __post_init__(self) -> None:
        check_real(self.omega, "ImprovedGaussSeidel: omega", 0.0, 2.0)
        check_real(self.a, "ImprovedGaussSeidel: a", 0.0)
        check_real(self.b, "ImprovedGaussSeidel: b", 0.0)

    def begin(self, problem: ConstraintProblem) -> None:
        problem.colour()

    def iterate(self, problem: ConstraintProblem, n: int) -> None:
        pace = Pace(float(self.omega), float(self.a), float(self.b), problem.done, problem.planned, DIAGONAL)
        problem.iterate(n, pace, is_apart=False)

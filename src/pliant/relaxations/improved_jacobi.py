"""Improved Jacobi (Equations 36 to 38): the paper's method."""

from __future__ import annotations

from dataclasses import dataclass

from pliant.constraints.problem import ConstraintProblem
from pliant.constraints.sweeps import Pace
from pliant.relaxations.relaxation import WEIGHTS, Relaxation, check_real, check_weights, register_relaxation


@register_relaxation
@dataclass(frozen=True)
class ImprovedJacobi(Relaxation):
    """Jacobi whose changes are carried on by beta = min(a (l / l_max)^b, 1) in iteration l of l_max.

    omega: part of a correction; a, b: a factor of at least 1 and a power below 1, without unit. Larger a and smaller b
        converge faster and may jitter.
    weights: as of pl.Jacobi.
    """

    omega: float = 0.5
    a: float = 1.0
    b: float = 0.6
    weights: str = "bounded"

    def __post_init__(self) -> None:
        check_real(self.omega, "ImprovedJacobi: omega", 0.0, 2.0)
        check_real(self.a, "ImprovedJacobi: a", 0.0)
        check_real(self.b, "ImprovedJacobi: b", 0.0)
        check_weights(self.weights, "ImprovedJacobi: weights")

    def pace(self, done: int, planned: int) -> Pace:
        return Pace(float(self.omega), float(self.a), float(self.b), done, planned, WEIGHTS.index(self.weights))

    def begin(self, problem: ConstraintProblem) -> None:
        problem.colour()

    def iterate(self, problem: ConstraintProblem, n: int) -> None:
        problem.iterate(n, self.pace(problem.done, problem.planned), is_apart=True)

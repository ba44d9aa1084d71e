"""Projected Jacobi (Equations 26 and 27)."""

from __future__ import annotations

from dataclasses import dataclass

from pliant.constraints.problem import ConstraintProblem
from pliant.constraints.sweeps import Pace
from pliant.relaxations.relaxation import WEIGHTS, Relaxation, check_real, check_weights, register_relaxation


@register_relaxation
@dataclass(frozen=True)
class Jacobi(Relaxation):
    """All constraints at once, each from the velocities of the iteration before.

    omega: part of a correction that is made; it converges below 2 / rho(D^-1 A), about 0.4 in a dense packing.
    weights: what corrections are divided by: "diagonal", the paper's d; "count", the number of constraints at each
        vertex too, which converges with any omega up to 1; "bounded", d but at least a quarter of the latter: the
        paper's where vertices have few constraints, and stable where many lie on one, as grains on light cloth.
    Deviation: the paper divides the velocity changes of each body by its own count, which does not conserve momentum;
    here the masses are split by the count (Tonge et al. 2012), which does.
    """

    omega: float = 0.3
    weights: str = "bounded"

    def __post_init__(self) -> None:
        check_real(self.omega, "Jacobi: omega", 0.0, 2.0)
        check_weights(self.weights, "Jacobi: weights")

    def pace(self, done: int, planned: int) -> Pace:
        return Pace(float(self.omega), 0.0, 1.0, done, planned, WEIGHTS.index(self.weights))

    def begin(self, problem: ConstraintProblem) -> None:
        problem.colour()

    def iterate(self, problem: ConstraintProblem, n: int) -> None:
        problem.iterate(n, self.pace(problem.done, problem.planned), is_apart=True)

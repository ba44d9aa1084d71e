"""Jacobi-preconditioned gradient descent (Wang and Yang 2016)."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from pliant.energies import IncrementalPotential
from pliant.solvers.contract import Momentum, SweepResult, check_count, check_start, register_solver
from pliant.solvers.machinery.guarded_descent import GuardedDescent, GuardedWork, guarded_descent


@register_solver
@dataclass(frozen=True)
class GradientDescent(GuardedDescent):
    """Every vertex moves along its force divided by diag(H), all at once. Wrap it in Chebyshev, as the paper does.

    iterations: per step.  refresh: iterations between measurements of diag(H) (the paper's M).
    start: "previous" (constant position), "inertial" (constant velocity), "extrapolated" (constant acceleration),
    "optimised" (Equation 10) or one of VBD's.
    The step length is adjusted every 8 iterations and carried from step to step (Section 4.2).
    """

    kind = "jacobi"

    iterations: int = 96
    refresh: int = 32
    start: str = "extrapolated"

    def __post_init__(self) -> None:
        check_count(self.iterations, "GradientDescent: iterations")
        check_count(self.refresh, "GradientDescent: refresh")
        check_start(self.start, "GradientDescent: start")

    def sweep(
        self, problem: IncrementalPotential, x: np.ndarray, work: GuardedWork, n: int = 1,
        momentum: Momentum | None = None,
    ) -> SweepResult:  # fmt: skip
        return guarded_descent(work, x, n, work.packed.tables.module.descend_jacobi, self.refresh, momentum)

"""Block Jacobi: vertex block descent with all vertices moved at once (VBD, Section 5.4)."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from pliant.energies import IncrementalPotential
from pliant.solvers.contract import Momentum, SweepResult, check_count, check_start, register_solver
from pliant.solvers.machinery.guarded_descent import GuardedDescent, GuardedWork, guarded_descent

REFRESH = 32  # iterations between measurements of what energies can be trusted to


@register_solver
@dataclass(frozen=True)
class BlockJacobi(GuardedDescent):
    """Every vertex moves towards the minimum of its own local energy, all at once, with the same step length control
    as gradient descent, which it needs to be stable.

    iterations: per step.  start: as of VBD.
    Deviation: a vertex whose block is indefinite moves along its force, so that every direction descends.
    """

    kind = "blocks"

    iterations: int = 50
    start: str = "adaptive"

    def __post_init__(self) -> None:
        check_count(self.iterations, "BlockJacobi: iterations")
        check_start(self.start, "BlockJacobi: start")

    def sweep(
        self, problem: IncrementalPotential, x: np.ndarray, work: GuardedWork, n: int = 1,
        momentum: Momentum | None = None,
    ) -> SweepResult:  # fmt: skip
        return guarded_descent(work, x, n, work.packed.tables.module.descend_blocks, REFRESH, momentum)

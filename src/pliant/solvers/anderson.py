"""Anderson's acceleration of any iteration of positions (Peng et al. 2018)."""

from __future__ import annotations

from dataclasses import dataclass, field
from itertools import pairwise

import numpy as np

from pliant.energies import IncrementalPotential
from pliant.solvers.contract.checks import check_count
from pliant.solvers.contract.loop import Execution
from pliant.solvers.machinery.accelerator import Wrapper, WrapperWork

ROUNDING = 1e-10  # of the largest singular value: differences that say nothing new are left out


@dataclass
class AndersonWork(WrapperWork):
    """The last iterations: where they led (n, 3), and how far they moved."""

    led: list[np.ndarray] = field(default_factory=list)
    moved: list[np.ndarray] = field(default_factory=list)


@dataclass(frozen=True)
class Anderson(Wrapper):
    """Wraps a solver: the next positions are those that would make the last iterations' motions cancel best.

    window: iterations it remembers. Where the energy would rise, the plain iteration is taken and the memory emptied.
    """

    window: int = 5

    def __post_init__(self) -> None:
        super().__post_init__()
        check_count(self.window, "Anderson: window")

    def init(self, problem: IncrementalPotential, execution: Execution) -> AndersonWork:
        return AndersonWork(*self.init_inner(problem, execution))

    def begin_step(self, problem: IncrementalPotential, work: AndersonWork) -> None:
        self.solver.begin_step(problem, work.inner)
        self.forget(work)
        work.packed.noise = 0.0

    def forget(self, work: AndersonWork) -> None:
        work.led, work.moved = [], []

    def sweep(self, problem: IncrementalPotential, x: np.ndarray, work: AndersonWork, n: int = 1) -> None:
        for _ in range(n):
            before = work.energy_at_start(x)
            if work.packed.noise == 0.0:
                work.packed.measure_scales(work.packed.tables.x)
            plain = self.iterate_inner(problem, x, work)
            work.led = [*work.led[-self.window :], plain]
            work.moved = [*work.moved[-self.window :], plain - x]
            mixed = _mix(work)
            if work.energy(mixed) <= before + work.packed.noise:
                x[:] = mixed
            else:
                work.led, work.moved = [], []
                x[:] = plain


def _mix(work: AndersonWork) -> np.ndarray:
    """led_k - sum_j gamma_j (led_(j+1) - led_j), gamma minimising |moved_k - sum_j gamma_j (moved_(j+1) - moved_j)|."""
    led, moved = work.led, work.moved
    if len(led) == 1:
        return led[0]
    changes = np.array([(b - a).ravel() for a, b in pairwise(moved)])
    gamma = np.linalg.lstsq(changes.T, moved[-1].ravel(), rcond=ROUNDING)[0]
    return led[-1] - sum(g * (b - a) for g, (a, b) in zip(gamma, pairwise(led), strict=True))

"""Chebyshev's semi-iterative acceleration of any solver whose sweep takes momentum (VBD 3.8; Wang and Yang 4.3)."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from pliant.arguments import is_finite_number, is_one_of
from pliant.energies import IncrementalPotential
from pliant.errors import SolverError
from pliant.model.tearing import TopologyChange
from pliant.solvers.contract import (
    Capabilities,
    Execution,
    MomentumSolver,
    SweepResult,
    check_count,
    check_solver,
    register_solver,
)
from pliant.solvers.machinery.accelerator import Accelerator, AcceleratorWork
from pliant.solvers.machinery.semi_iteration import Factors, Phases

ESTIMATING = 12  # iterations without acceleration from which "auto" estimates rho
SAFETY = 0.98  # of the estimate: too large a rho diverges, one too small is only slower
LARGEST = 0.9995


@dataclass
class ChebyshevWork(AcceleratorWork):
    factors: Factors
    rho: float | None = None  # what "auto" has estimated
    moved: tuple[float, ...] = ()  # lengths of the iterations it estimates from

    def state_dict(self) -> dict[str, Any]:
        return {"rho": self.rho, "moved": list(self.moved), "inner": self.inner.state_dict()}

    def load_state_dict(self, state: dict[str, Any]) -> None:
        self.rho, self.moved = state["rho"], tuple(state["moved"])
        self.inner.load_state_dict(state["inner"])


@register_solver
@dataclass(frozen=True)
class Chebyshev(Accelerator[ChebyshevWork]):
    """Wraps a solver.

    rho: estimated spectral radius of its iterations, in (0, 1); the stiffer the scene, the nearer to 1.
        Or phases ((iterations, rho), ...), one after another, the last to the end of the step: pl.tune_chebyshev finds
        them for a scene. Or "auto": estimated from the first iterations of the first step, which are not accelerated.
    """

    solver: MomentumSolver[Any]
    rho: float | str | Sequence[Sequence[float]] = 0.95

    capabilities = Capabilities(
        "minimise", contact=True, pressure=True, internal_state=True, rigid_bodies=True, particles=True, device=True
    )

    def __post_init__(self) -> None:
        check_solver(self.solver, "Chebyshev: solver")
        if not (isinstance(self.solver, MomentumSolver) and self.solver.supports.momentum):
            raise SolverError(
                f"Chebyshev cannot wrap {type(self.solver).__name__}: its iterations do not take momentum."
            )
        if isinstance(self.rho, Sequence) and not isinstance(self.rho, str):
            object.__setattr__(self, "rho", _checked_phases(self.rho))
        elif not is_one_of(self.rho, ("auto",)):
            _check_rho(self.rho, "Chebyshev: rho")

    def init(self, problem: IncrementalPotential, execution: Execution) -> ChebyshevWork:
        return ChebyshevWork(self.solver.init(problem, execution), Factors(self._phases(None)))

    def begin_step(self, problem: IncrementalPotential, work: ChebyshevWork) -> None:
        """Restart: every step is a new sequence."""
        work.factors = Factors(self._phases(work.rho))
        self.solver.begin_step(problem, work.inner)

    def update_contacts(self, problem: IncrementalPotential, work: ChebyshevWork) -> None:
        self.solver.update_contacts(problem, work.inner)

    def update_topology(self, problem: IncrementalPotential, work: ChebyshevWork, change: TopologyChange) -> bool:
        return self.solver.update_topology(problem, work.inner, change)

    def sweep(self, problem: IncrementalPotential, x: np.ndarray, work: ChebyshevWork, n: int = 1) -> SweepResult:
        done = 0
        while done < n and self.rho == "auto" and work.rho is None:
            before = x.copy()
            result = self.solver.sweep(problem, x, work.inner, 1)
            done += result.iterations
            if result.ended:
                return result._replace(iterations=done)
            work.moved = (*work.moved, float(np.linalg.norm(x - before)))
            if len(work.moved) == ESTIMATING:
                work.rho = _estimate(work.moved)
                work.factors = Factors(self._phases(work.rho))
        if done == n:
            return SweepResult(n)
        result = self.solver.sweep(problem, x, work.inner, n - done, momentum=work.factors)
        return result._replace(iterations=done + result.iterations)

    def _phases(self, estimate: float | None) -> Phases:
        if isinstance(self.rho, tuple):
            return self.rho
        return ((1, float((estimate or 0.5) if self.rho == "auto" else self.rho)),)  # type: ignore[arg-type]


def _estimate(moved: tuple[float, ...]) -> float:
    """The rate at which iterations became shorter over the second half: Equation 8 of Wang and Yang."""
    half = len(moved) // 2
    if not moved[half] > 0:
        return 0.5
    rate = (moved[-1] / moved[half]) ** (1 / (len(moved) - 1 - half))
    return min(max(SAFETY * rate, 0.1), LARGEST)


def _check_rho(rho: Any, what: str) -> None:
    if not (is_finite_number(rho) and 0 < rho < 1):
        raise SolverError(f"{what} is {rho!r}: it must lie between 0 and 1, both excluded (0.75 soft, 0.95 stiff).")


def _checked_phases(phases: Sequence[Any]) -> Phases:
    """Pairs of iterations and rho, as tuples."""
    checked = []
    for k, phase in enumerate(phases):
        if not isinstance(phase, Sequence) or len(phase) != 2:
            raise SolverError(f"Chebyshev: phase {k} is {phase!r}: give (iterations, rho).")
        check_count(phase[0], f"Chebyshev: iterations of phase {k}")
        _check_rho(phase[1], f"Chebyshev: rho of phase {k}")
        checked.append((int(phase[0]), float(phase[1])))
    if not checked:
        raise SolverError("Chebyshev: there are no phases: give at least one (iterations, rho).")
    return tuple(checked)

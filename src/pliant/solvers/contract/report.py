"""When a solve ends, and what it reports."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import NamedTuple

import numpy as np

from pliant.arguments import is_finite_number
from pliant.contact.response.report import ContactReport
from pliant.errors import SolverError
from pliant.solvers.contract.checks import check_count

RESIDUAL = "mass-weighted root mean square of (dG/dx) / m [m/s^2] (IncrementalPotential.residual)"


class SweepResult(NamedTuple):
    """What one call of `sweep` did."""

    iterations: int  # done: those asked for, or fewer if it ended
    ended: str = ""  # why further iterations would change nothing, as the start of a sentence; empty while they would
    converged: bool = False  # it ended because a tolerance of the solver's own is met


@dataclass(frozen=True)
class Stop:
    """End a solve after so many iterations, below a residual [m/s^2], or after so many seconds of solving, whichever
    comes first.
    """

    iterations: int | None = None
    residual: float | None = None
    seconds: float | None = None

    def __post_init__(self) -> None:
        given = {name: value for name, value in vars(self).items() if value is not None}
        if not given:
            raise SolverError("Stop() never ends: give iterations, residual [m/s^2] or seconds.")
        for name, value in given.items():
            if not (is_finite_number(value) and value > 0):
                raise SolverError(f"Stop: {name} is {value!r}: give a positive number.")
        if self.iterations is not None:
            check_count(self.iterations, "Stop: iterations")

    def is_met(self, residual: float) -> bool:
        """Whether a residual [m/s^2] is as small as asked for."""
        return self.residual is not None and residual <= self.residual

    def is_before(self, iterations: int, seconds: float) -> bool:
        """Whether more iterations may be done."""
        return (self.iterations is None or iterations < self.iterations) and (
            self.seconds is None or seconds < self.seconds
        )

    def reason(self, iterations: int, residual: float, seconds: float) -> str | None:
        """Why to stop now, as a sentence, or None to go on."""
        if not np.isfinite(residual):
            return f"broke down: the residual is {residual} after {iterations} iterations"
        if self.is_met(residual):
            return f"converged: residual {residual:.3g} m/s^2 after {iterations} iterations"
        if self.iterations is not None and iterations >= self.iterations:
            return f"did all {iterations} iterations"
        if self.seconds is not None and seconds >= self.seconds:
            return f"used up {self.seconds:g} s after {iterations} iterations"
        return None


def ended_early(last: SweepResult, done: int) -> str:
    """Why a solve ended after `done` iterations, though it was asked for more."""
    return f"{last.ended or 'no further progress'}, after {done} iterations"


@dataclass
class SolveReport:
    """What a solve did."""

    reason: str  # why it ended, as a sentence
    iterations: int  # done
    seconds: float  # spent in the solver, measuring excluded
    x: np.ndarray | None = None  # (n, 3) where it ended [m]; a simulation has it in its state
    residuals: list[float] = field(default_factory=list)  # at the start and after every measured iteration
    energies: list[float] = field(default_factory=list)  # G at the same moments [J]
    measured_at: list[int] = field(default_factory=list)  # iterations done at those moments
    converged: bool = False  # a tolerance that was asked for is met; without one, the error is at most 5 %
    error: float = float("nan")  # the largest of body_errors; nan if it was not measured
    body_errors: dict[str, float] = field(default_factory=dict)  # by name, compared with the step's forces
    singular_blocks: int = 0  # vertices the last iteration left in place because their Hessian was singular
    contact: ContactReport | None = None  # of a step with contact
    measure: Callable[[], float] | None = field(default=None, repr=False)
    residual_definition: str = field(default=RESIDUAL, repr=False)

    @property
    def residual(self) -> float:
        """At the end, [m/s^2] unless `residual_definition` names another unit. For a step of a simulation it is
        measured when first asked for.
        """
        if not self.residuals:
            if self.measure is None:
                raise SolverError("this solve was not measured; use pl.solve, which records residuals.")
            self.residuals.append(self.measure())
            self.measured_at.append(self.iterations)
        return self.residuals[-1]

"""Pressures that keep prescribed volumes in a motion.

The volume at the end of a step grows with the pressure p by C = dV/dp = g^T (M/h^2 + K)^-1 g, g = dV/dx, which is at
most h^2 sum |g_i|^2 / m_i. A step is solved with the pressure of the last one, and again with p + (V_t - V) / C until
the volume is right; C is a part of its bound that successive solutions tell (secant method) and that the state keeps.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from dataclasses import replace
from typing import Any

import numpy as np

from pliant.energies import IncrementalPotential
from pliant.integration import StepStart
from pliant.model import Model
from pliant.model.volume import volume_gradients, volumes, with_controlled
from pliant.solvers import Solver, SolveReport
from pliant.solvers.contract import Work
from pliant.state import State

MISSED = 1e-5  # of the volume: what may be left
MOST_CORRECTIONS = 6  # of the pressure within a step; what is left then is corrected in the next
LEAST_PART = 1e-3  # of the bound of C that is believed


def first_inflation(count: int) -> np.ndarray:
    """(k, 2) pressures [Pa] and parts of the bound of C of surfaces, before the first step."""
    return np.tile([0.0, 1.0], (count, 1))


class PressureSearch:
    """The pressures of one step."""

    def __init__(self, problem: IncrementalPotential, inflation: np.ndarray, time: float):
        """inflation (k, 2): that of the step before; time [s]: at which volumes are prescribed."""
        self.problem, self.inflation = problem, inflation.copy()
        self.targets = np.array([control.value(time) for control in problem.model.volume_controls])
        self._last: tuple[np.ndarray, np.ndarray] | None = None  # pressures and volumes
        self._done = 0

    def next_pressures(self, x: np.ndarray) -> np.ndarray | None:
        """(k,) [Pa] with which to solve again after positions x (n, 3); None: the volumes are right, or it has tried
        often enough.
        """
        model, pressures = self.problem.model, self.inflation[:, 0].copy()
        found = volumes(model, x)
        missed = self.targets - found
        if (np.abs(missed) <= MISSED * self.targets).all() or self._done == MOST_CORRECTIONS:
            return None
        g = np.stack([self.problem.project(own) for own in volume_gradients(model, x)])
        bound = np.sum(g**2 / self.problem.inertia[:, None], axis=(1, 2), where=(model.mass > 0)[:, None])
        if self._last is not None:
            change = pressures - self._last[0]
            seen = (found - self._last[1]) / np.where(change == 0, np.inf, change) / bound
            self.inflation[:, 1] = np.clip(np.where(change == 0, self.inflation[:, 1], seen), LEAST_PART, 1.0)
        self._last, self._done = (pressures, found), self._done + 1
        self.inflation[:, 0] += missed / (self.inflation[:, 1] * bound)
        return self.inflation[:, 0]


class PrescribedVolumes(ABC):
    """The part of a step that keeps volumes."""

    h: float
    model: Model
    state: State
    solver: Solver[Any]
    _work: Work
    _x_new: np.ndarray
    _start_of_step: StepStart
    _solved: IncrementalPotential | None
    _inflation: np.ndarray  # (k, 2) of the step that is solved

    @abstractmethod
    def _solve(
        self, problem: IncrementalPotential, goes_on: bool = False
    ) -> tuple[SolveReport, IncrementalPotential]: ...

    def _keep_volumes(self, report: SolveReport) -> SolveReport:
        """Solve a step again with other pressures until prescribed volumes are right."""
        if not self.model.volume_controls or self._solved is None:
            return report
        time = (self.state.step + self._start_of_step.theta) * self.h
        search, iterations = PressureSearch(self._solved, self.state.inflation, time), report.iterations
        while (pressures := search.next_pressures(self._x_new)) is not None:
            problem = replace(self._solved, model=with_controlled(self._solved.model, pressures))
            self.solver.begin_step(problem, self._work)
            report, self._solved = self._solve(problem, goes_on=True)
            report.iterations = iterations = iterations + report.iterations
        self._inflation = search.inflation
        return report

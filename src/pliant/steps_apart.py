"""Steps that end without intersections: always where the guarantee is asked for (decision 0030), and where the solver
would have something pass that was apart (decision 0090).
"""

from __future__ import annotations

from abc import ABC, abstractmethod

import numpy as np

from pliant.contact.detector import Detector
from pliant.contact.response.potential import ContactPotential
from pliant.contact.response.step_account import StepEnds
from pliant.contact.safe_motion import MORE_SOLUTIONS, ONE_MORE, UNCUT, SafeMotion
from pliant.energies import IncrementalPotential
from pliant.model.placement import Placements
from pliant.solvers import SolveReport
from pliant.state import State

SHORTER = (0.5, 0.25, 0.0)  # parts of their way that bodies go which gain more energy than velocities can give back


class StepsApart(ABC):
    """The part of a simulation that goes as far to the solution of a step as nothing touches."""

    h: float
    state: State
    _detector: Detector | None
    _placements: Placements
    _safe: SafeMotion | None  # of the guarantee
    _apart: SafeMotion | None  # without it
    _was_held: bool = False  # whether the last step was cut without the guarantee
    _solved: IncrementalPotential | None
    _x_new: np.ndarray
    _poses: np.ndarray

    def _stay_apart(self, report: SolveReport) -> SolveReport:
        """Cut the step that was solved if it must be; if it stays far from the solution, solve again from there, with
        contacts that hold; also if bodies that touch gain more energy than velocities can give back (decision 0040).
        """
        iterations, self._was_held = report.iterations, False
        more = ONE_MORE if self._safe is None else MORE_SOLUTIONS
        for attempt in range(more + 1):
            solution = self._x_new.copy()
            is_near = self._advance()
            if is_near is False and self._safe is None:  # the guarantee solves on with the contacts that held it back
                self._take_contacts_along()
            if is_near is None or attempt == more:
                break
            assert self._detector is not None
            assert self._solved is not None
            if is_near and not self._unpaid(self._detector).any():
                return report
            self._detector.note_overload(solution, None if self._apart is None else self._apart.skipped)
            report, self._solved = self._solve(self._detect_again(self._solved, solution), goes_on=True)
            report.iterations = iterations = iterations + report.iterations
        if self._safe is not None or self._was_held:
            self._shorten(solution)
        return report

    def _shorten(self, solution: np.ndarray) -> None:
        """Let bodies go less far that have gained more energy than can be taken out of their velocities: at rest they
        have gained none (decision 0040). solution (n, 3) [m]: where the solver would have had them.
        """
        assert self._detector is not None
        way, is_shorter = self._x_new - self.state.x, False
        if self._unpaid(self._detector).any():
            self._take_contacts_along()
        for part in SHORTER:
            owes = self._unpaid(self._detector)
            if not owes.any():
                break
            self._x_new[owes] = self.state.x[owes] + part * way[owes]
            self._advance()
            self._take_contacts_along()
            is_shorter = True
        if is_shorter and self._safe is not None:
            self._safe.measure(self._x_new, solution)

    def _take_contacts_along(self) -> None:
        """Contacts are where bodies are, no longer where the solver would have had them: closest points, normals and
        so what they store belong to where the step ends (decision 0184).
        """
        contacts = None if self._solved is None else self._solved.contacts
        if isinstance(contacts, ContactPotential) and not contacts.has_multipliers:
            contacts.refresh(self._x_new)

    def _unpaid(self, detector: Detector) -> np.ndarray:
        """(n,) bool: who has gained more energy than can be taken out of the velocities that lead where the step is."""
        if detector.budget is None:
            return np.zeros(len(self._x_new), bool)
        return detector.budget.unpaid(self._ends(detector, (self._x_new - self.state.x) / self.h))

    def _advance(self) -> bool | None:
        """Go as far as nothing touches; whether that is near the solution, None if all of the way is free."""
        poses = (self.state.poses, self._poses)
        if self._safe is not None:
            return self._safe.advance(self.state.x, self._x_new, self._placements.rows_of_step(), poses)
        if self._apart is None or self._detector is None:
            return None
        skipped = self._detector.passing(self.state.x, self._x_new)
        if skipped is None:
            return None
        self._was_held = True
        return self._apart.keep_apart(self.state.x, self._x_new, poses, skipped, 1.0 if self._is_among_rigid else UNCUT)

    @property
    def _is_among_rigid(self) -> bool:
        """Whether solids are among convex rigid bodies, and nothing is guaranteed (decision 0155)."""
        return self._safe is None and self._detector is not None and self._detector.at_convex is not None

    @abstractmethod
    def _solve(self, problem: IncrementalPotential, goes_on: bool = False) -> tuple[SolveReport, IncrementalPotential]:
        """Iterate; the report, and the problem with the contacts that were detected last."""

    @abstractmethod
    def _detect_again(self, problem: IncrementalPotential, x: np.ndarray) -> IncrementalPotential:
        """The same step with what touches on the way to an iterate x (n, 3)."""

    @abstractmethod
    def _ends(self, detector: Detector, v: np.ndarray) -> StepEnds:
        """Of the step that was solved last, with velocities v (n, 3) [m/s] at its end."""

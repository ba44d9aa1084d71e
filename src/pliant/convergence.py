"""Warnings: that steps end far from their minimum, with what would help, measured in the step at hand; that contact is
too soft.
"""

from __future__ import annotations

import logging
from collections.abc import Iterable
from typing import Any

import numpy as np

from pliant.contact.response.report import ContactReport, words_of_edge, words_of_softness
from pliant.energies import IncrementalPotential
from pliant.kernels.step_error import HIDDEN
from pliant.model import Model
from pliant.solvers import Execution, Solver
from pliant.solvers.contract import StepError
from pliant.solvers.contract.error import CONVERGED
from pliant.trials import Trials, percent

logger = logging.getLogger("pliant")

RECENT, OFTEN = 10, 5  # a body is told of when so many of its last so many steps have not converged
RIGID = 0.7  # part of the last motion from which on a body counts as moving as a whole
MUCH_STIFFER = 4.0
CAUSES = (
    "rounding of its positions outweighs the forces on it",
    "contacts much stiffer than its elements slow it down",
    "it moves too little as a whole, as in sliding or falling",
    "it bends or stretches too little, as if it were stiffer or slower",
)


class SoftnessWatch:
    """How stiff the last warning of a soft contact wanted it to be, and how deep the edge was that was warned of."""

    def __init__(self) -> None:
        self._told = 0.0  # [N/m]
        self._told_edge = 0.0  # [m]

    def watch(self, report: ContactReport, error: float, model: Model, time: float) -> None:
        """Warn that contact is too soft: once, and again when twice the stiffness would be needed; and that an edge is
        inside another body, again when it is twice as deep. error: of the step, not a number if it was not measured.
        """
        edge = report.edge_inside
        if edge is not None and edge.is_too_deep and edge.depth > 2 * self._told_edge:
            self._told_edge = edge.depth
            one, other = (model.describe_vertex(v) for v in edge.vertices)
            words = words_of_edge(edge, (one, other), model.body_names[edge.body])
            logger.warning("t = %g s: %s", time, words, extra={"entry": "contact-too-deep"})
        soft = report.softest
        if soft is not None and soft.needed_stiffness > 2 * self._told:
            self._told = soft.needed_stiffness
            words = words_of_softness(soft, model.describe_vertex(soft.vertex), error)
            logger.warning("t = %g s: %s", time, words, extra={"entry": "contact-too-deep"})


class ConvergenceWatch:
    """Which bodies repeatedly fail to converge, and have not been reported.

    The first are reported at once, later ones together, after pauses that double: a pile of a hundred bodies that meet
    one after another gets a few lines, not a hundred.
    """

    def __init__(self, count: int):
        self._recent = np.zeros((RECENT, count), bool)  # whether a body was off, in turn
        self._steps = 0
        self._told = np.zeros((len(CAUSES), count), bool)  # by cause
        self._due: dict[str, list[int]] = {}  # not reported yet, by cause
        self._trials = Trials()
        self._pause, self._left = RECENT, 0  # steps between two warnings; of them left

    def watch(
        self,
        problem: IncrementalPotential,
        error: StepError | None,
        solver: Solver[Any],
        execution: Execution,
        time: float,
    ) -> None:
        """Warn of a step that was solved at a time [s], where it is due."""
        if error is None or not solver.supports.minimises or not np.isfinite(error.bodies).all():
            return
        due = self.observe(error)
        measured = self._trials.advice(problem, solver, error, execution, time) if due else []
        for cause, bodies in due.items():
            advice = [*given_stiffness(problem.model, bodies, error), *measured]
            words = words_of_error(problem.model.body_names, bodies, cause, error, solver, advice)
            logger.warning("t = %g s: convergence: %s", time, words, extra={"entry": "not-converged"})

    def observe(self, error: StepError) -> dict[str, list[int]]:
        """Bodies to report now, by cause."""
        is_off = error.bodies > CONVERGED
        self._recent[self._steps % RECENT] = is_off
        self._steps += 1
        if not is_off.any():
            self._left -= 1
            return {}
        often = is_off & (self._recent.sum(axis=0) >= OFTEN)
        for body in (body for bodies in self._due.values() for body in bodies):
            often[body] = False
        numbers = causes(error)
        for k in np.flatnonzero(often & ~self._told[numbers, np.arange(len(often))]).tolist():
            self._told[numbers[k], k] = True
            self._due.setdefault(CAUSES[numbers[k]], []).append(k)
        self._left -= 1
        if self._left > 0 or not any(is_off[k] for bodies in self._due.values() for k in bodies):
            return {}
        self._left, self._pause = self._pause, 2 * self._pause
        off = {cause for cause, bodies in self._due.items() if any(is_off[k] for k in bodies)}
        return {cause: self._due.pop(cause) for cause in list(self._due) if cause in off}


def causes(error: StepError) -> np.ndarray:
    """(bodies,) what of each is off, by its place among the CAUSES."""
    is_stiff = error.touching > MUCH_STIFFER * error.ratios
    numbers: np.ndarray = np.select([error.rounding > HIDDEN, is_stiff, error.shifts > RIGID], [0, 1, 2], 3)
    return numbers


def words_of_error(
    names: tuple[str, ...], bodies: list[int], cause: str, error: StepError, solver: Solver[Any], advice: Iterable[str]
) -> str:
    """The warning for bodies with one cause."""
    worst = max(bodies, key=lambda k: error.bodies[k])
    shown = ", ".join(names[k] for k in bodies[:3]) + (f" and {len(bodies) - 3} more" if len(bodies) > 3 else "")
    stiffness = f"h^2 k / m is {error.ratios[worst]:.3g} by its elements, {error.touching[worst]:.3g} by contacts"
    return (
        f"{shown}: steps repeatedly end before they have converged. {type(solver).__name__} leaves about "
        f"{percent(error.bodies[worst])} of this step's forces on {names[worst]} unbalanced: {cause} "
        f"({stiffness}). {' '.join(advice)}"
    )


def has_stiff_contacts(error: StepError, k: int) -> bool:
    """Whether contacts of a body are much stiffer than its elements."""
    return bool(error.touching[k] > MUCH_STIFFER * error.ratios[k])


def given_stiffness(model: Model, bodies: list[int], error: StepError) -> list[str]:
    """A sentence on a contact stiffness that the user gave, where contacts of bodies are much stiffer than these."""
    given = None if model.contact is None else model.contact.settings.stiffness
    if given is None or not any(has_stiff_contacts(error, k) for k in bodies):
        return []
    return [f"stiffness={given:.3g} N/m was given. Leave stiffness out: it is then chosen for each contact."]

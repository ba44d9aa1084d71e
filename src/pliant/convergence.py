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
from pliant.solvers import VBD, Auto, Execution, Multilevel, Newton, Solver, solve
from pliant.solvers.contract import StepError, unsupported_feature
from pliant.solvers.contract.error import CONVERGED
from pliant.solvers.machinery.levels.hierarchy import soft_members

logger = logging.getLogger("pliant")

RECENT, OFTEN = 10, 5  # a body is told of when so many of its last so many steps have not converged
TRIAL_TOLERANCE = 0.02  # that advice reaches in the step it is tried in
TRIAL_ITERATIONS = 400
LARGEST_NEWTON = 5000  # vertices up to which Newton's method is tried
RIGID = 0.7  # part of the last motion from which on a body counts as moving as a whole
MUCH_STIFFER = 4.0
STIFF_CONTACTS = "contacts much stiffer than its elements hold up its motion"


class SoftnessWatch:
    """How stiff the last warning of a soft contact wanted it to be, and how deep the edge was that was warned of."""

    def __init__(self) -> None:
        self._told = 0.0  # [N/m]
        self._told_edge = 0.0  # [m]

    def watch(self, report: ContactReport, model: Model, time: float) -> None:
        """Warn that contact is too soft: once, and again when twice the stiffness would be needed; and that an edge is
        inside another body, again when it is twice as deep.
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
            words = words_of_softness(soft, model.describe_vertex(soft.vertex))
            logger.warning("t = %g s: %s", time, words, extra={"entry": "contact-too-deep"})


class ConvergenceWatch:
    """Which bodies have not converged again and again, and have not been told of.

    The first are told of at once, later ones together, after pauses that double: a pile of a hundred bodies that meet
    one after another gets a few lines, not a hundred.
    """

    def __init__(self, count: int):
        self._recent = np.zeros((RECENT, count), bool)  # whether a body was off, in turn
        self._steps = 0
        self._told: set[tuple[int, str]] = set()
        self._due: dict[str, list[int]] = {}  # not told of yet, by cause
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
        for cause, bodies in self.observe(error).items():
            advice = [*given_stiffness(problem.model, cause), *measured_advice(problem, solver, error, execution)]
            words = words_of_error(problem.model.body_names, bodies, cause, error, solver, advice)
            logger.warning("t = %g s: convergence: %s", time, words, extra={"entry": "not-converged"})

    def observe(self, error: StepError) -> dict[str, list[int]]:
        """Bodies to tell of now, by cause."""
        waiting = {k for bodies in self._due.values() for k in bodies}
        is_off = error.bodies > CONVERGED
        self._recent[self._steps % RECENT] = is_off
        self._steps += 1
        often = is_off & (self._recent.sum(axis=0) >= OFTEN)
        for k in (k for k in np.flatnonzero(often).tolist() if k not in waiting):
            cause = cause_of(error, k)
            if (k, cause) not in self._told:
                self._told.add((k, cause))
                self._due.setdefault(cause, []).append(k)
        self._left -= 1
        if self._left > 0 or not any(is_off[k] for bodies in self._due.values() for k in bodies):
            return {}
        self._left, self._pause = self._pause, 2 * self._pause
        off = {cause for cause, bodies in self._due.items() if any(is_off[k] for k in bodies)}
        return {cause: self._due.pop(cause) for cause in list(self._due) if cause in off}


def cause_of(error: StepError, k: int) -> str:
    """What of a body is off."""
    if error.rounding[k] > HIDDEN:
        return "positions round to more force than acts on it"
    if error.touching[k] > MUCH_STIFFER * error.ratios[k]:
        return STIFF_CONTACTS
    if error.shifts[k] > RIGID:
        return "it moves as a whole, as in sliding or falling, less than its forces ask"
    return "it bends or stretches less than its forces ask, as if it were stiffer or slower"


def words_of_error(
    names: tuple[str, ...], bodies: list[int], cause: str, error: StepError, solver: Solver[Any], advice: Iterable[str]
) -> str:
    """The warning for bodies with one cause."""
    worst = max(bodies, key=lambda k: error.bodies[k])
    shown = ", ".join(names[k] for k in bodies[:3]) + (f" and {len(bodies) - 3} more" if len(bodies) > 3 else "")
    stiffness = f"h^2 k / m is {error.ratios[worst]:.3g} by its elements, {error.touching[worst]:.3g} by contacts"
    return (
        f"{shown}: steps end before they have converged, again and again. {names[worst]} lacks about "
        f"{percent(error.bodies[worst])} of what the forces of this step do ({type(solver).__name__}): {cause} "
        f"({stiffness}). {' '.join(advice)}"
    )


def percent(part: float) -> str:
    return f"{100 * part:.2g} %" if part >= 1e-4 else "less than 0.01 %"


def given_stiffness(model: Model, cause: str) -> list[str]:
    """A sentence on a contact stiffness that the user gave, where contacts are the cause."""
    given = None if model.contact is None else model.contact.settings.stiffness
    if given is None or cause != STIFF_CONTACTS:
        return []
    return [f"stiffness={given:.3g} N/m was given. Leave stiffness out: it is then chosen for each contact."]


def measured_advice(
    problem: IncrementalPotential, solver: Solver[Any], error: StepError, execution: Execution
) -> list[str]:
    """Sentences on what would help, each tried on a copy of the step, the cheapest first."""
    precision = execution.precision
    tries = [tried(problem, candidate, precision, words_of(candidate)) for candidate in candidates(problem, solver)]
    if precision == "single" and error.rounding[error.worst] > HIDDEN:
        tries.insert(0, tried(problem, solver, "double", 'precision="double"'))
    found = [sentence for sentence in tries if sentence is not None]
    needed = solver.iterations + error.iterations_to(TRIAL_TOLERANCE)
    if not isinstance(solver, Auto) and solver.supports.local and needed < 1e6:
        found.append(f"At its rate, {type(solver).__name__} would need {needed:,.0f} iterations or more.")
    if not tries:
        found.append("Smaller steps (substeps) converge faster.")
    elif not any(sentence is not None for sentence in tries):
        found.append("Nothing that was tried converges in this step: use smaller steps (substeps).")
    return found


def candidates(problem: IncrementalPotential, solver: Solver[Any]) -> list[Solver[Any]]:
    """Solvers to try: levels, and Newton's method for small scenes; none in place of one with hard constraints, which
    others would solve as penalties.
    """
    if solver.supports.hard_constraints:
        return []
    levels = Multilevel(VBD(iterations=TRIAL_ITERATIONS, start=solver.start, tolerance=TRIAL_TOLERANCE))
    chosen: list[Solver[Any]] = []
    has_levels = unsupported_feature(levels, problem.model) is None and bool(soft_members(problem.model).any())
    if has_levels and not isinstance(solver, Auto | Multilevel):
        chosen.append(levels)
    if problem.model.n_vertices <= LARGEST_NEWTON and not isinstance(solver, Newton):
        chosen.append(Newton(iterations=40, start=solver.start, tolerance=TRIAL_TOLERANCE))
    return chosen


def tried(problem: IncrementalPotential, solver: Solver[Any], precision: str, words: str) -> str | None:
    """What a solver reaches on a copy of the step, as a sentence; None if it does not get there. words: what to change;
    {n} in them is three times the iterations it took.
    """
    report = solve(problem, solver, precision=precision, threads=1, measure_every=solver.iterations)
    if not report.error <= TRIAL_TOLERANCE or not np.isfinite(report.error):
        return None
    changed = words.format(n=3 * report.iterations)
    return f"{changed} ends this step at {percent(report.error)} after {report.iterations} iterations."


def words_of(solver: Solver[Any]) -> str:
    """How to ask for a candidate."""
    return "solver=pl.Newton()" if isinstance(solver, Newton) else "solver=pl.Multilevel(pl.VBD(iterations={n}))"

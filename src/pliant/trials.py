"""What would help a step that has not converged: other solvers, tried on a copy of it.

A trial costs about as much as ten usual steps at most, or a second or two in small scenes, counted in vertex updates
and not in time, so that a run warns the same wherever it runs. The first that helps is advised; what has failed is not
tried again in a run.
"""

from __future__ import annotations

import logging
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from pliant.energies import IncrementalPotential
from pliant.kernels.step_error import HIDDEN
from pliant.solvers import VBD, Auto, Execution, Multilevel, Newton, Solver, solve
from pliant.solvers.contract import StepError, unsupported_feature
from pliant.solvers.machinery.levels.hierarchy import soft_members

logger = logging.getLogger("pliant")

TOLERANCE = 0.02  # that advice reaches in the step it is tried in
USUAL_STEPS = 10  # that a trial may cost, by its iterations
ALWAYS = 4_000_000  # vertex updates that it may cost in any scene
MOST_OF_LEVELS, MOST_OF_NEWTON = 400, 40  # iterations
FEWEST_OF_LEVELS, FEWEST_OF_NEWTON = 40, 5  # with less there is no trial


@dataclass
class Trials:
    """Those of a run."""

    _failed: dict[str, str] = field(default_factory=dict)  # by words: the sentence on it

    def advice(
        self, problem: IncrementalPotential, solver: Solver[Any], error: StepError, execution: Execution, time: float
    ) -> list[str]:
        """Sentences on what would help in a step at a time [s], with its error."""
        tries = [(candidate, execution.precision, words_of(candidate)) for candidate in candidates(problem, solver)]
        if execution.precision == "single" and error.rounding[error.worst] > HIDDEN:
            tries.insert(0, (solver, "double", 'precision="double"'))
        found = self._first_that_helps(problem, tries, time)
        sentences = [self._failed[words] for _, _, words in tries] if found is None else [found]
        needed = solver.iterations + error.iterations_to(TOLERANCE)
        if not isinstance(solver, Auto) and solver.supports.local and needed < 1e6:
            sentences.append(f"At its rate, {type(solver).__name__} would need {needed:,.0f} iterations or more.")
        if found is None:
            sentences.append("Smaller steps (substeps) converge faster.")
        return sentences

    def _first_that_helps(
        self, problem: IncrementalPotential, tries: list[tuple[Solver[Any], str, str]], time: float
    ) -> str | None:
        """The sentence on it."""
        for candidate, precision, words in tries:
            if words in self._failed:
                continue
            name = words.split("(")[0].removeprefix("solver=")
            logger.info("t = %g s: steps do not converge: trying %s on a copy of this one, once", time, name)
            found = tried(problem, candidate, precision, words)
            if found is not None:
                return found
            most = f"{candidate.iterations} iterations"
            self._failed[words] = f"{name} did not converge in the step at t = {time:g} s within {most}."
        return None


def candidates(problem: IncrementalPotential, solver: Solver[Any]) -> list[Solver[Any]]:
    """Solvers to try, as far as the work of a trial goes: levels, and Newton's method; none in place of one with hard
    constraints, which others would solve as penalties.
    """
    if solver.supports.hard_constraints:
        return []
    n = problem.model.n_vertices
    levels = Multilevel(VBD(iterations=MOST_OF_LEVELS, start=solver.start, tolerance=TOLERANCE))
    newton = Newton(iterations=MOST_OF_NEWTON, start=solver.start, tolerance=TOLERANCE)
    chosen: list[Solver[Any]] = []
    has_levels = unsupported_feature(levels, problem.model) is None and bool(soft_members(problem.model).any())
    if has_levels and not isinstance(solver, Auto | Multilevel):
        chosen += affordable(levels, solver, n, FEWEST_OF_LEVELS)
    if not isinstance(solver, Newton):
        chosen += affordable(newton, solver, n, FEWEST_OF_NEWTON)
    return chosen


def affordable(candidate: Solver[Any], solver: Solver[Any], n: int, fewest: int) -> list[Solver[Any]]:
    """A candidate with as many iterations as a trial in place of a solver may have in a scene of n vertices; none if
    these are too few.
    """
    most = max(USUAL_STEPS * solver.iterations * vertex_updates(solver, n), ALWAYS)
    iterations = min(candidate.iterations, most // vertex_updates(candidate, n))
    return [candidate.with_iterations(iterations)] if iterations >= fewest else []


def vertex_updates(solver: Solver[Any], n: int) -> int:
    """What an iteration costs in a scene of n vertices, in updates of a vertex by vertex block descent; measured for
    blocks of 343 to 4,913 vertices.
    """
    if isinstance(solver, Newton):
        return max(n * n // 4, n)
    return 2 * n if isinstance(solver, Auto | Multilevel) else n


def tried(problem: IncrementalPotential, solver: Solver[Any], precision: str, words: str) -> str | None:
    """What a solver reaches on a copy of the step, as a sentence; None if it does not get there. words: what to change;
    {n} in them is three times the iterations it took.
    """
    report = solve(problem, solver, precision=precision, threads=1, measure_every=solver.iterations)
    if not report.error <= TOLERANCE or not np.isfinite(report.error):
        return None
    changed = words.format(n=3 * report.iterations)
    return f"{changed} ends this step at {percent(report.error)} after {report.iterations} iterations."


def words_of(solver: Solver[Any]) -> str:
    """How to ask for a candidate."""
    return "solver=pl.Newton()" if isinstance(solver, Newton) else "solver=pl.Multilevel(pl.VBD(iterations={n}))"


def percent(part: float) -> str:
    return f"{100 * part:.2g} %" if part >= 1e-4 else "less than 0.01 %"

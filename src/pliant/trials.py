"""What would help a step that has not converged: other solvers, tried on a copy of it.

A trial costs about as much as ten usual steps at most, or a second or two in small scenes, counted in vertex updates
and not in time, so that a run warns the same wherever it runs. The first that helps is advised; what has failed is not
tried again in a run.
"""

from __future__ import annotations

import logging
from dataclasses import dataclass, field
from typing import Any, NamedTuple

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


class Trial(NamedTuple):
    """Something to try."""

    name: str
    change: str  # how to ask for it; {n} is three times the iterations it took
    solver: Solver[Any]
    precision: str


@dataclass
class Trials:
    """Those of a run."""

    _failed: dict[str, str] = field(default_factory=dict)  # by name: the sentence on it

    def advice(
        self, problem: IncrementalPotential, solver: Solver[Any], error: StepError, execution: Execution, time: float
    ) -> list[str]:
        """Sentences on what would help in a step at a time [s], with its error."""
        trials = [trial_of(candidate, execution.precision) for candidate in candidates(problem, solver)]
        if execution.precision == "single" and error.rounding[error.worst] > HIDDEN:
            trials.insert(0, Trial('precision="double"', 'precision="double"', solver, "double"))
        found = self._first_that_helps(problem, trials, time)
        sentences = [self._failed[trial.name] for trial in trials] if found is None else [found]
        needed = solver.iterations + error.iterations_to(TOLERANCE)
        if not isinstance(solver, Auto) and solver.supports.local and needed < 1e6:
            sentences.append(f"At its rate, {type(solver).__name__} would need {needed:,.0f} iterations or more.")
        if found is None:
            sentences.append("Smaller steps (substeps) converge faster.")
        return sentences

    def _first_that_helps(self, problem: IncrementalPotential, trials: list[Trial], time: float) -> str | None:
        """The sentence on it."""
        for trial in trials:
            if trial.name in self._failed:
                continue
            logger.info("t = %g s: steps do not converge: trying %s on a copy of this one, once", time, trial.name)
            found = tried(problem, trial)
            if found is not None:
                return found
            most = f"{trial.solver.iterations} iterations"
            self._failed[trial.name] = f"{trial.name} did not converge in the step at t = {time:g} s within {most}."
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


def tried(problem: IncrementalPotential, trial: Trial) -> str | None:
    """What it reaches on a copy of the step, as a sentence; None if it does not get there."""
    solver = trial.solver
    report = solve(problem, solver, precision=trial.precision, threads=1, measure_every=solver.iterations)
    if not report.error <= TOLERANCE or not np.isfinite(report.error):
        return None
    changed = trial.change.format(n=3 * report.iterations)
    return f"{changed} ends this step at {percent(report.error)} after {report.iterations} iterations."


def trial_of(candidate: Solver[Any], precision: str) -> Trial:
    if isinstance(candidate, Newton):
        return Trial("pl.Newton", "solver=pl.Newton()", candidate, precision)
    return Trial("pl.Multilevel", "solver=pl.Multilevel(pl.VBD(iterations={n}))", candidate, precision)


def percent(part: float) -> str:
    return f"{100 * part:.2g} %" if part >= 1e-4 else "less than 0.01 %"

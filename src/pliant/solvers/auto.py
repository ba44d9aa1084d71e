"""The default: as many iterations as a step needs, of the cheapest solver that reaches the tolerance.

A step begins with vertex block descent. Where its rate says that it would not get there soon, momentum (Chebyshev) is
added if that is cheapest by what the last steps needed (machinery.sweep_costs), or coarse levels go on from
where it is (`Multilevel`), or, in scenes which those do not support, Chebyshev's acceleration. Where these do not get
near it (5 %) either, as beyond the rounding of single precision, Newton's method ends the step of a small scene. What
was needed is kept for the next steps; now and then the cheaper solver before it is tried again, each time after twice
as many steps if in vain. Only measured errors decide, never the time that things take, so a run repeats to the bit.

Multipliers hold joints, attachments and springs of infinite stiffness (decision 0052). Vertex block descent, also
between corrections by levels, and Newton's method update them in each iteration; accelerated iterations do not, and end
with a few that do.
"""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np

from pliant.energies import IncrementalPotential
from pliant.errors import SolverError
from pliant.model import Model
from pliant.model.tearing import TopologyChange
from pliant.solvers.chebyshev import Chebyshev
from pliant.solvers.contract import (
    Capabilities,
    Execution,
    Solver,
    StepError,
    SweepResult,
    Work,
    check_count,
    check_start,
    register_solver,
    unsupported_feature,
)
from pliant.solvers.contract.error import CONVERGED, FEWEST
from pliant.solvers.contract.stiffness_ratio import bodies_of_vertices
from pliant.solvers.machinery import hard_terms  # noqa: F401 - registers the terms of hard rows
from pliant.solvers.machinery.ending_by_newton import is_small, sufficient_residual
from pliant.solvers.machinery.hard_rows import HardRowsOf
from pliant.solvers.machinery.levels.hierarchy import soft_members
from pliant.solvers.machinery.sweep_costs import GROWING, Acceleration
from pliant.solvers.machinery.vbd_bodies import have_elements
from pliant.solvers.machinery.vbd_tables import Tables, build_tables
from pliant.solvers.multilevel import Multilevel
from pliant.solvers.newton import Newton
from pliant.solvers.vbd import VBD

# iterations in a step after which a rate is believed, and those that are done at most unless they are nearly there
LIMITS = {False: (12, 40), True: (80, 120)}  # of vertex block descent; of what goes on from it, before Newton's method
FEW = 8  # iterations of Newton's method, after which it is quick
PATIENCE = 32  # further iterations for which nothing else is tried
FOR_A_BODY, FOR_BODIES = 6, 600  # iterations without levels where rigid bodies touch: for each, and at most
CYCLE = 4  # that are always done
UPDATES = 8  # iterations that update multipliers after those that do not
FIRST_WAITS = (0, 8, 1)  # steps until the stage before a stage is tried again: coarse levels soon after Newton's method
LONGEST_WAIT = 64


@dataclass(frozen=True)
class Prepared(VBD):
    """Vertex block descent with tables that are already there."""

    tables: Tables | None = field(default=None, compare=False, repr=False)

    def init(self, problem: IncrementalPotential, execution: Execution) -> Tables:
        assert self.tables is not None
        return self.tables


@dataclass
class Stage:
    """A solver that may go on with a step."""

    solver: Solver[Any]
    note: str
    work: Any = None  # made when first needed
    kept: dict[str, Any] | None = field(default=None, repr=False)  # of a work object that a checkpoint had

    def begin_step(self, problem: IncrementalPotential, execution: Execution) -> None:
        if self.work is None:
            self.work = self.solver.init(problem, execution)
            if self.kept is not None:
                self.work.load_state_dict(self.kept)
            self.kept = None
        self.solver.begin_step(problem, self.work)

    def state_dict(self) -> dict[str, Any] | None:
        return self.kept if self.work is None else self.work.state_dict()


@dataclass
class AutoWork(Work):
    """The solvers in the order in which they are tried, and which of them the current step has come to."""

    stages: list[Stage]  # the first is vertex block descent
    execution: Execution
    rows: HardRowsOf  # with multipliers; none in most scenes
    others: np.ndarray  # (bodies,) bool: that are not rigid bodies which only contacts join
    acceleration: Acceleration = field(default_factory=Acceleration)  # of vertex block descent
    by_levels: int = 0  # iterations that levels have done in this step
    current: int = 0  # stage of the current step, at which the next ones begin
    since: int = 0  # iterations of the step when it was taken up
    ended: int = 0  # stage in which the last step ended
    by_newton: int = 0  # iterations of Newton's method in the last step that came to it; 0: none has
    waits: list[int] = field(default_factory=lambda: [0, 0, 0])  # of each stage: steps until the one before is tried
    longest: list[int] = field(default_factory=lambda: list(FIRST_WAITS))

    @property
    def gains(self) -> np.ndarray:
        """(bodies,) bool: whom the next stage may help. Rigid bodies on each other, while all that is soft is near its
        end, are as well served by vertex block descent, which takes them one after another.
        """
        return self.others | (self.current > 0)

    @property
    def blind_iterations(self) -> int:
        return GROWING if self.is_accelerated else int(self.stage.work.blind_iterations)

    @property
    def stage(self) -> Stage:
        return self.stages[self.current]

    @property
    def tables(self) -> Tables:
        """Those of vertex block descent."""
        found: Tables = self.stages[0].work
        return found

    @property
    def singular_blocks(self) -> int:
        return int(self.tables.singular_blocks)

    @property
    def note(self) -> str:
        return f"accelerated {self.stage.note}" if self.is_accelerated else self.stage.note

    @property
    def is_accelerated(self) -> bool:
        return self.current == 0 and self.acceleration.factors is not None

    def state_dict(self) -> dict[str, Any]:
        numbers = {
            "current": self.current,
            "ended": self.ended,
            "by_newton": self.by_newton,
            "waits": list(self.waits),
            "longest": list(self.longest),
            "acceleration": self.acceleration.state_dict(),
            "by_levels": self.by_levels,
        }
        rows = {"rows": self.rows.state_dict()} if self.rows.duals else {}
        return {**numbers, **rows, "stages": [stage.state_dict() for stage in self.stages]}

    def load_state_dict(self, state: dict[str, Any]) -> None:
        self.current, self.ended, self.by_newton = state["current"], state["ended"], state.get("by_newton", 0)
        self.waits, self.longest = list(state["waits"]), list(state["longest"])
        if "acceleration" in state:
            self.acceleration.load_state_dict(state["acceleration"])
        self.by_levels = state.get("by_levels", 0)
        self.rows.load_state_dict(state.get("rows", {}))
        self.stages[0].work.load_state_dict(state["stages"][0])
        for stage, kept in zip(self.stages[1:], state["stages"][1:], strict=True):
            stage.kept, stage.work = kept, None

    def end_solve(self, problem: IncrementalPotential, x: np.ndarray) -> int:
        """Update the multipliers that acceleration has left as they were, by iterations without it."""
        if not self.rows.duals or not isinstance(self.stage.solver, Chebyshev):
            return 0
        self.rows.hold(False)
        self.tables.iterate(problem, x, UPDATES, None)
        return UPDATES


@register_solver
@dataclass(frozen=True)
class Auto(Solver[AutoWork]):
    """Vertex block descent, with coarse levels where it needs them, to an error.

    tolerance: part of the step's forces that may be left out in any body (report.error).
    iterations_max: iterations of vertex block descent in a step at most; a step that needs more ends with a larger
        error, of which the simulation warns where that happens again and again.
    start: where iterations begin, as of VBD.
    multipliers: whether joints, attachments and springs of infinite stiffness are hard. False: they are as stiff as
        their masses take in a step.
    """

    tolerance: float | None = field(default=0.005, kw_only=True)
    iterations_max: int = 200
    start: str = "adaptive"
    multipliers: bool = True

    capabilities = Capabilities(
        "minimise", contact=True, pressure=True, internal_state=True, rigid_bodies=True, particles=True
    )

    def __post_init__(self) -> None:
        check_count(self.iterations_max, "Auto: iterations_max")
        check_start(self.start, "Auto: start")
        if self.tolerance is None:
            raise SolverError("Auto: tolerance is None: give a part of the step's forces, such as 0.005.")

    @property
    def iterations(self) -> int:
        return self.iterations_max

    @property
    def _plain(self) -> VBD:
        return VBD(start=self.start)

    def period(self, work: AutoWork) -> int:
        return work.stage.solver.period(work.stage.work)

    def with_iterations(self, n: int) -> Auto:
        return replace(self, iterations_max=n)

    def init(self, problem: IncrementalPotential, execution: Execution) -> AutoWork:
        plain = self._plain
        has_rows = self.holds_infinite(problem.model)
        rows = HardRowsOf(problem, problem.model.blocks if has_rows else (), least=np.inf)
        tables = build_tables(rows.replaced(problem), execution, plain.line_search, plain.psd)
        rows.fill(tables)
        stages = [Stage(plain, "vertex block descent", tables)]
        ready, newton = Prepared(start=self.start, tables=tables), Newton(start=self.start)
        missing = unsupported_feature(Multilevel(ready), problem.model)
        if missing is None and not soft_members(problem.model).any():
            missing = "scenes without soft bodies"
        if missing is None:
            stages.append(Stage(Multilevel(ready), "Multilevel"))
        else:
            stages.append(Stage(Chebyshev(ready), f"Chebyshev, because Multilevel does not support {missing}"))
        if is_small(problem.model):
            stages.append(Stage(newton, "Newton"))
        return AutoWork(stages, execution, rows, ~only_touched(problem.model))

    def begin_step(self, problem: IncrementalPotential, work: AutoWork) -> None:
        work.since, work.ended = 0, work.current
        work.longest[work.current + 1 :] = FIRST_WAITS[work.current + 1 :]  # the last step did without those
        work.waits = [max(wait - 1, 0) for wait in work.waits]
        while work.current and work.waits[work.current] == 0:
            work.current -= 1
        if work.by_levels:
            work.acceleration.took(work.by_levels)
            work.by_levels = 0
        work.acceleration.begin_step(work.current == 0 and may_accelerate(problem, work))
        work.rows.begin_step(problem, work.tables)
        self._take_up(problem, work)

    def _take_up(self, problem: IncrementalPotential, work: AutoWork) -> None:
        """Let the current stage begin, or go on with, the step."""
        assert self.tolerance is not None
        stage = work.stage
        work.rows.hold(isinstance(stage.solver, Chebyshev))
        if isinstance(stage.solver, Newton):
            stage.solver = replace(stage.solver, residual=sufficient_residual(problem.model, self.tolerance))
            problem, work.by_newton = work.rows.current(problem), 0
        stage.begin_step(problem, work.execution)

    def update_contacts(self, problem: IncrementalPotential, work: AutoWork) -> None:
        work.stage.solver.update_contacts(problem, work.stage.work)
        if not may_accelerate(problem, work):
            work.acceleration.factors = None

    def update_topology(self, problem: IncrementalPotential, work: AutoWork, change: TopologyChange) -> bool:
        for stage in work.stages[1:]:
            stage.work = stage.kept = None  # of another mesh
        return not work.rows.duals and work.stages[0].solver.update_topology(problem, work.stages[0].work, change)

    def sweep(self, problem: IncrementalPotential, x: np.ndarray, work: AutoWork, n: int = 1) -> SweepResult:
        stage = work.stage
        if work.rows.duals and isinstance(stage.solver, Multilevel):
            return self._sweep_with_levels(problem, x, work, n)
        if work.is_accelerated:
            return self._plain.sweep(problem, x, work.tables, n, momentum=work.acceleration.factors)
        if not isinstance(stage.solver, Newton):
            result = stage.solver.sweep(problem, x, stage.work, n)
            work.by_levels += result.iterations if isinstance(stage.solver, Multilevel) else 0
            return result
        if not work.rows.duals:
            result = stage.solver.sweep(problem, x, stage.work, n)
            work.by_newton += result.iterations
            return result
        for done in range(n):
            work.by_newton += 1
            result = stage.solver.sweep(work.rows.current(problem), x, stage.work, 1)
            if result.ended:
                return result._replace(iterations=done + result.iterations)
            work.rows.update(problem, x, work.tables)
        return SweepResult(n)

    def _sweep_with_levels(self, problem: IncrementalPotential, x: np.ndarray, work: AutoWork, n: int) -> SweepResult:
        """A cycle at a time: each correction has the multipliers that the iterations before it left, and points of
        earlier cycles belong to others.
        """
        stage, done = work.stage, 0
        while done < n:
            stage.work.passed.forget()
            cycle = min(n - done, stage.solver.period(stage.work))
            result = stage.solver.sweep(work.rows.current(problem), x, stage.work, cycle)
            done += result.iterations
            if result.ended:
                return result._replace(iterations=done)
        return SweepResult(n)

    def holds_infinite(self, model: Model) -> bool:
        return self.multipliers

    def with_multipliers(self, problem: IncrementalPotential, work: AutoWork) -> IncrementalPotential:
        return work.rows.current(problem)

    def measure_residual(self, problem: IncrementalPotential, x: np.ndarray, work: AutoWork) -> float:
        """[m/s^2] of the step with the multipliers that rows have."""
        return self.with_multipliers(problem, work).with_contacts_at(x).residual(x)

    def is_blind_to_rounding(self, work: AutoWork) -> bool:
        return work.stage.solver.is_blind_to_rounding(work.stage.work)

    def moves_bound_error(self, work: AutoWork) -> bool:
        is_plain = not work.rows.duals and not work.is_accelerated
        return is_plain and work.stage.solver.moves_bound_error(work.stage.work)

    def has_residual(self, work: AutoWork) -> bool:
        return work.stage.solver.has_residual(work.stage.work)

    def adapt(self, problem: IncrementalPotential, work: AutoWork, error: StepError, done: int) -> bool:
        """Go on with the next solver where this one would take long."""
        assert self.tolerance is not None
        if isinstance(work.stage.solver, Newton) and work.since == 0 and done >= FEWEST:  # it may take long
            work.current, work.since, work.waits[work.current] = work.current - 1, done, 0
            self._take_up(problem, work)
            return True
        own, needed = done - work.since, error.iterations_to(self.tolerance, work.gains)
        fewest, most = LIMITS[work.current > 0]
        if work.current == 0 and own >= fewest:
            if work.is_accelerated and work.acceleration.is_worth_it(own, needed):
                return False
            if self._accelerate(problem, work, needed, float(error.rates[error.worst])):
                work.since = done
                return True
        longer = more_patience(problem) if work.current == 0 else 0
        is_soon = needed <= PATIENCE and (own < most + longer or needed <= CYCLE)
        is_quick = 0 < work.by_newton <= FEW
        # not worth a slow Newton's method; with multipliers it is, which would stay behind
        is_near = work.current > 0 and error.largest <= CONVERGED and not work.rows.duals and not is_quick
        is_lost = error.lost.max(initial=0.0) > self.tolerance  # beyond the rounding of levels
        if work.current + 1 == len(work.stages) or (not is_lost and (own < fewest + longer or is_soon or is_near)):
            return False
        following = work.current + 1
        if work.waits[following] == 0:
            is_in_vain = work.ended >= following  # to do without it again
            work.longest[following] = min((1 + is_in_vain) * work.longest[following], LONGEST_WAIT)
            work.waits[following] = work.longest[following]
        work.acceleration.end()
        work.current, work.since = following, done
        self._take_up(problem, work)
        return True

    def _accelerate(self, problem: IncrementalPotential, work: AutoWork, needed: float, rate: float) -> bool:
        """Go on with momentum where that is cheapest; whether it is."""
        acceleration = work.acceleration
        is_plain = not work.is_accelerated and may_accelerate(problem, work)
        if not is_plain or not acceleration.is_cheapest(needed, rate):
            return False
        acceleration.try_out(rate)
        return True


def may_accelerate(problem: IncrementalPotential, work: AutoWork) -> bool:
    """Whether a step may do without levels by momentum: elements alone act, and levels would go on."""
    touches = problem.contacts is not None and problem.contacts.count > 0
    has_levels = isinstance(work.stages[1].solver, Multilevel)
    return has_levels and not touches and not work.rows.duals and problem.model.carried is None


def more_patience(problem: IncrementalPotential) -> int:
    """Iterations of vertex block descent that are cheaper than levels where rigid bodies touch: a correction takes as
    long as twenty to forty of them there, and levels do not help bodies that push each other (decision 0104).
    """
    carried, contacts = problem.model.carried, problem.contacts
    if carried is None or contacts is None or not contacts.count:
        return 0
    return min(FOR_A_BODY * carried.count, FOR_BODIES)


def only_touched(model: Model) -> np.ndarray:
    """(bodies,) bool: rigid bodies on which no elements act."""
    found = np.zeros(len(model.body_names), bool)
    if model.carried is not None:
        body, mass = bodies_of_vertices(model), model.mass[model.carried.points]
        owners = body[model.carried.points[mass > 0]].reshape(model.carried.count, -1)[:, 0]
        found[owners[(owners >= 0) & ~have_elements(model, model.carried)]] = True
    return found

"""The default: as many iterations as a step needs, of the cheapest solver that reaches the tolerance.

A step begins with vertex block descent. Where its rate says that it would not get there soon, coarse levels go on from
where it is (`Multilevel`), or, in scenes which those do not support, Chebyshev's acceleration. What was needed is kept
for the next steps; now and then vertex block descent is tried again, each time after twice as many steps if in vain.
Only measured errors decide, never the time that things take, so a run repeats to the bit.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

import numpy as np

from pliant.energies import IncrementalPotential
from pliant.errors import SolverError
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
from pliant.solvers.machinery.vbd_tables import Tables, build_tables
from pliant.solvers.multilevel import Multilevel
from pliant.solvers.vbd import VBD

FEWEST = 12  # iterations of vertex block descent after which its rate is believed
PATIENCE = 32  # further iterations of it for which nothing else is tried
MOST = 40  # of its iterations in a step, unless it is nearly there
FIRST_WAIT, LONGEST_WAIT = 8, 64  # steps until vertex block descent is tried again


@dataclass(frozen=True)
class Prepared(VBD):
    """Vertex block descent with tables that are already there."""

    tables: Tables | None = field(default=None, compare=False, repr=False)

    def init(self, problem: IncrementalPotential, execution: Execution) -> Tables:
        assert self.tables is not None
        return self.tables


@dataclass
class AutoWork(Work):
    """Tables of vertex block descent, what goes on over them, and which of both is needed."""

    tables: Tables
    execution: Execution
    plain: VBD
    helper: Solver[Any]  # around the same tables
    why: str  # why it is no `Multilevel`, if so
    helper_work: Any = None  # made when first needed
    is_helped: bool = False  # the current step, and the next ones
    wait: int = 0  # steps until vertex block descent is tried again
    longest: int = FIRST_WAIT
    kept: dict[str, Any] | None = field(default=None, repr=False)  # of a helper that a checkpoint had

    @property
    def singular_blocks(self) -> int:
        return self.tables.singular_blocks

    @property
    def note(self) -> str:
        if not self.is_helped:
            return "vertex block descent"
        return f"{type(self.helper).__name__}{self.why}"

    def state_dict(self) -> dict[str, Any]:
        helper = self.kept if self.helper_work is None else self.helper_work.state_dict()
        numbers = {"is_helped": self.is_helped, "wait": self.wait, "longest": self.longest}
        return {**numbers, "tables": self.tables.state_dict(), "helper": helper}

    def load_state_dict(self, state: dict[str, Any]) -> None:
        self.is_helped, self.wait, self.longest = state["is_helped"], state["wait"], state["longest"]
        self.tables.load_state_dict(state["tables"])
        self.kept, self.helper_work = state["helper"], None

    def begin_help(self, problem: IncrementalPotential) -> None:
        """Let the helper take up the step."""
        if self.helper_work is None:
            self.helper_work = self.helper.init(problem, self.execution)
            if self.kept is not None:
                self.helper_work.load_state_dict(self.kept)
            self.kept = None
        self.helper.begin_step(problem, self.helper_work)


@register_solver
@dataclass(frozen=True)
class Auto(Solver[AutoWork]):
    """Vertex block descent, with coarse levels where it needs them, to an error.

    tolerance: part of the step's forces that may be left out in any body (report.error).
    iterations_max: iterations of vertex block descent in a step at most; a step that needs more ends with a larger
        error, of which the simulation warns where that happens again and again.
    start: where iterations begin, as of VBD.
    """

    tolerance: float | None = field(default=0.005, kw_only=True)
    iterations_max: int = 200
    start: str = "adaptive"

    capabilities = Capabilities("minimise", contact=True, pressure=True, internal_state=True, rigid_bodies=True)

    def __post_init__(self) -> None:
        check_count(self.iterations_max, "Auto: iterations_max")
        check_start(self.start, "Auto: start")
        if self.tolerance is None:
            raise SolverError("Auto: tolerance is None: give a part of the step's forces, such as 0.005.")

    @property
    def iterations(self) -> int:
        return self.iterations_max

    @property
    def period(self) -> int:
        return Multilevel(VBD()).period

    def with_iterations(self, n: int) -> Auto:
        return Auto(tolerance=self.tolerance, iterations_max=n, start=self.start)

    def init(self, problem: IncrementalPotential, execution: Execution) -> AutoWork:
        plain = VBD(start=self.start)
        tables = build_tables(problem, execution, plain.line_search, plain.psd)
        ready = Prepared(start=self.start, tables=tables)
        missing = unsupported_feature(Multilevel(ready), problem.model)
        helper: Solver[Any] = Multilevel(ready) if missing is None else Chebyshev(ready)
        why = "" if missing is None else f", because Multilevel does not support {missing}"
        return AutoWork(tables, execution, plain, helper, why)

    def begin_step(self, problem: IncrementalPotential, work: AutoWork) -> None:
        if work.is_helped:
            work.wait -= 1
            work.is_helped = work.wait > 0
        if work.is_helped:
            work.begin_help(problem)
        else:
            work.plain.begin_step(problem, work.tables)

    def update_contacts(self, problem: IncrementalPotential, work: AutoWork) -> None:
        if work.is_helped:
            work.helper.update_contacts(problem, work.helper_work)
        else:
            work.plain.update_contacts(problem, work.tables)

    def update_topology(self, problem: IncrementalPotential, work: AutoWork, change: TopologyChange) -> bool:
        work.helper_work = work.kept = None  # of another mesh
        return work.plain.update_topology(problem, work.tables, change)

    def sweep(self, problem: IncrementalPotential, x: np.ndarray, work: AutoWork, n: int = 1) -> SweepResult:
        if work.is_helped:
            return work.helper.sweep(problem, x, work.helper_work, n)
        return work.plain.sweep(problem, x, work.tables, n)

    def is_blind_to_rounding(self, work: AutoWork) -> bool:
        solver = work.helper if work.is_helped else work.plain
        return solver.is_blind_to_rounding(work.helper_work if work.is_helped else work.tables)

    def adapt(self, problem: IncrementalPotential, work: AutoWork, error: StepError, done: int) -> None:
        """Ask for help where vertex block descent would take long."""
        assert self.tolerance is not None
        needed = error.iterations_to(self.tolerance)
        is_soon = needed <= PATIENCE and (done < MOST or needed <= self.period)
        if work.is_helped or done < FEWEST or is_soon:
            return
        work.longest = min(2 * work.longest, LONGEST_WAIT) if work.wait == 0 and work.helper_work else FIRST_WAIT
        work.is_helped, work.wait = True, work.longest
        work.begin_help(problem)

"""Augmented vertex block descent: vertex block descent with multipliers on hard contacts, joints, attachments and
springs (Giles, Diaz and Yuksel 2025; decision 0028).

Multipliers are shifts of the elements' own measures, so that an iteration is that of vertex block descent. After all
colours each multiplier becomes the force that its row was felt with. From step to step they go on by the id of a
contact and the number of a row.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from pliant.energies import IncrementalPotential
from pliant.model import CARRIED, Model
from pliant.model.tearing import TopologyChange
from pliant.solvers.contract import (
    Capabilities,
    Execution,
    Solver,
    SweepResult,
    check_count,
    check_start,
    register_solver,
)
from pliant.solvers.machinery import hard_terms  # noqa: F401 - registers the terms of hard rows
from pliant.solvers.machinery.hard_rows import HardRowsOf
from pliant.solvers.machinery.hard_work import HardWork
from pliant.solvers.machinery.rigid_contact_work import is_rigid_alone, rigid_contact_work
from pliant.solvers.machinery.vbd_bodies import have_elements
from pliant.solvers.machinery.vbd_tables import PackedWork, Tables, build_tables

FEW_DIGITS = 1e4  # of the masses of rigid bodies that rows join: beyond it single precision does not suffice


@dataclass
class AVBDWork(PackedWork, HardWork):
    """Tables of vertex block descent, and the rows with multipliers among them."""

    tables: Tables
    rows: HardRowsOf
    moves_vertices: bool  # whether something moves that no rigid body carries

    @property
    def packed_tables(self) -> Tables:
        return self.tables

    @property
    def is_blind_to_rounding(self) -> bool:
        return self.moves_vertices

    @property
    def singular_blocks(self) -> int:
        return self.tables.singular_blocks

    def begin_step(self, problem: IncrementalPotential) -> None:
        self.rows.begin_step(problem, self.tables)
        self.tables.begin_step(problem)

    def update_contacts(self, problem: IncrementalPotential) -> None:
        self.tables.update_contacts(problem)

    def update_topology(self, problem: IncrementalPotential, change: TopologyChange) -> bool:
        return not self.rows.duals and self.tables.update_topology(problem, change)

    def iterate(self, problem: IncrementalPotential, x: np.ndarray, n: int, tolerance: float | None) -> SweepResult:
        self.tables.iterate(problem, x, n, None)
        return SweepResult(n)

    def with_multipliers(self, problem: IncrementalPotential) -> IncrementalPotential:
        return self.rows.current(problem)

    def state_dict(self) -> dict[str, Any]:
        return {"rows": self.rows.state_dict()} if self.rows.duals else {}

    def load_state_dict(self, state: dict[str, Any]) -> None:
        self.rows.load_state_dict(state.get("rows", {}))


@register_solver
@dataclass(frozen=True)
class AVBD(Solver[HardWork]):
    """Vertex block descent with multipliers: hard contacts, joints, attachments and springs.

    Contacts do not sink in and what sticks does not creep; joints of infinite stiffness, and any row that is far
    stiffer than the masses take in a step, hold exactly once iterations converge, whatever the ratio of masses.
    pl.Contact(stiffness=...) is reproduced exactly too. There is no number to tune: penalties follow from masses and
    the step.

    iterations: sweeps over all vertices and bodies per step; multipliers are updated after each.
    start: as of VBD.
    """

    iterations: int = 20
    start: str = "adaptive"

    capabilities = Capabilities(
        "minimise",
        contact=True,
        pressure=True,
        internal_state=True,
        hard_constraints=True,
        rigid_bodies=True,
        particles=True,
    )

    def __post_init__(self) -> None:
        check_count(self.iterations, "AVBD: iterations")
        check_start(self.start, "AVBD: start")

    def init(self, problem: IncrementalPotential, execution: Execution) -> HardWork:
        """Choose the rows with multipliers; tables as of vertex block descent. Rigid bodies that only contacts join
        have a kernel of their own.
        """
        model = problem.model
        if is_rigid_alone(model):
            return rigid_contact_work(problem, execution)
        rows = HardRowsOf(problem, model.blocks)
        if largest_mass_ratio(model) > FEW_DIGITS:
            execution = replace(execution, precision="double")
        tables = build_tables(rows.replaced(problem), execution, line_search=False, psd=False, hard_contact=True)
        rows.fill(tables)
        return AVBDWork(tables, rows, bool((model.is_free & (model.subspace != CARRIED)).any()))

    def is_blind_to_rounding(self, work: HardWork) -> bool:
        """Not among rigid bodies: poses are in double precision, so that the smallest motions add up."""
        return work.is_blind_to_rounding

    def begin_step(self, problem: IncrementalPotential, work: HardWork) -> None:
        work.begin_step(problem)

    def update_contacts(self, problem: IncrementalPotential, work: HardWork) -> None:
        work.update_contacts(problem)

    def update_topology(self, problem: IncrementalPotential, work: HardWork, change: TopologyChange) -> bool:
        return work.update_topology(problem, change)

    def sweep(self, problem: IncrementalPotential, x: np.ndarray, work: HardWork, n: int = 1) -> SweepResult:
        return work.iterate(problem, x, n, self.tolerance)

    def measure_residual(self, problem: IncrementalPotential, x: np.ndarray, work: HardWork) -> float:
        """[m/s^2] of the step with the multipliers that rows and contacts have."""
        return self.with_multipliers(problem, work).with_contacts_at(x).residual(x)

    def with_multipliers(self, problem: IncrementalPotential, work: HardWork) -> IncrementalPotential:
        return work.with_multipliers(problem)


def largest_mass_ratio(model: Model) -> float:
    """Of two rigid bodies on which elements act.

    A joint has the stiffness of the heaviest body. What points round to, times that, turns a light body about the line
    through its joints, where nothing but its inertia resists.
    """
    carried = model.carried
    if carried is None:
        return 1.0
    masses = np.bincount(carried.body, model.mass[carried.points], carried.count)[have_elements(model, carried)]
    return float(masses.max() / masses.min()) if len(masses) else 1.0

"""A coarse correction around any iteration of positions: what vertex by vertex would take thousands of iterations.

A cycle is one correction and `sweeps` iterations of the wrapped solver. The correction moves aggregates of vertices by
affine motions, 12 unknowns each:

    x <- x + t P v,    (P^T H P) v = -P^T dG/dx

with the Hessian H of inertia, elements and contacts, solved on all levels of aggregates at once
(kernels.coarse_levels). t = 1, halved until the energy falls.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from pliant.energies import IncrementalPotential
from pliant.kernels.transfer import from_rows
from pliant.solvers.contract import Execution, SweepResult, check_count, register_solver
from pliant.solvers.machinery.accelerator import EnergyAccelerator, EnergyWork
from pliant.solvers.machinery.levels.coarse_system import CoarseSystem, build_coarse_system

HALVINGS = 6
SUFFICIENT = 1e-4  # part of the fall that the slope promises
GOOD = (0.5, 2.0)  # fall of the energy over that of the quadratic model: outside, the matrix is stale


@dataclass
class MultilevelWork(EnergyWork):
    """With the levels, and where in a cycle the step is."""

    levels: CoarseSystem
    force: np.ndarray  # (rows, 4) room
    done: int = 0  # iterations of this step
    has_begun: bool = False  # the levels have taken up this step
    length: float = 0.0  # t of the last correction; 0 if none was accepted

    def state_dict(self) -> dict[str, Any]:
        reference = self.levels.reference
        flat = None if reference is None else reference.ravel().tolist()
        return {"reference": flat, "is_stale": self.levels.is_stale, "inner": self.inner.state_dict()}

    def load_state_dict(self, state: dict[str, Any]) -> None:
        self.inner.load_state_dict(state["inner"])
        self.levels.is_stale = state["is_stale"]
        if state["reference"] is not None:
            self.levels.reference = np.array(state["reference"]).reshape(-1, 3)


@register_solver
@dataclass(frozen=True)
class Multilevel(EnergyAccelerator[MultilevelWork]):
    """Wraps a solver, best VBD: corrections on coarse levels between its iterations, none of which raises the energy.

    sweeps: iterations of the wrapped solver after each correction. A step counts those; a correction takes as long as
        about five of them.
    aggregate: vertices of an aggregate of the finest level.
    """

    sweeps: int = 4
    aggregate: int = 32

    def __post_init__(self) -> None:
        super().__post_init__()
        check_count(self.sweeps, "Multilevel: sweeps")
        check_count(self.aggregate, "Multilevel: aggregate")

    @property
    def period(self) -> int:
        return self.sweeps

    def init(self, problem: IncrementalPotential, execution: Execution) -> MultilevelWork:
        inner, packed, is_own = self.init_inner(problem, execution)
        levels = build_coarse_system(problem, execution, self.aggregate)
        return MultilevelWork(inner, packed, is_own, levels, packed.rows())

    def forget(self, work: MultilevelWork) -> None:
        work.has_begun = False

    def begin_step(self, problem: IncrementalPotential, work: MultilevelWork) -> None:
        super().begin_step(problem, work)
        work.done = 0

    def sweep(self, problem: IncrementalPotential, x: np.ndarray, work: MultilevelWork, n: int = 1) -> SweepResult:
        done = 0
        while done < n:
            if work.done % self.sweeps == 0:
                correct(problem, x, work)
            result = self.solver.sweep(problem, x, work.inner, min(n - done, self.sweeps - work.done % self.sweeps))
            done, work.done = done + result.iterations, work.done + result.iterations
            if result.ended or not result.iterations:
                return result._replace(iterations=done)
        return SweepResult(n)


def correct(problem: IncrementalPotential, x: np.ndarray, work: MultilevelWork) -> None:
    """Move x (n, 3) by a correction, if one lowers the energy."""
    work.length = 0.0
    before = work.energy_at_start(x)
    force = measured_force(work, x)
    direction = proposed(problem, x, work, force)
    slope = float(np.sum(force * direction))
    if not slope > 0:
        return
    length = 1.0
    for _ in range(HALVINGS):
        after = work.energy(x + length * direction)
        if np.isfinite(after) and has_fallen(work, x, direction, slope, length, before - after):
            x += length * direction
            work.length = length
            break
        length *= 0.5
    agreement = (before - after) / (0.5 * slope) if work.length == 1.0 else 0.0
    if slope > work.packed.noise and not GOOD[0] < agreement < GOOD[1]:
        work.levels.is_stale = True


def proposed(problem: IncrementalPotential, x: np.ndarray, work: MultilevelWork, force: np.ndarray) -> np.ndarray:
    """The motion (n, 3) of the levels, whose matrix is assembled again where it is stale."""
    levels = work.levels
    if not work.has_begun:
        if levels.is_stale or levels.reference is None or problem.model.pressure_schedules:
            levels.assemble(problem, x)
        elif not levels.is_assembled:
            levels.assemble(problem, levels.reference)
        levels.begin(problem, x)
        work.has_begun = True
    direction = levels.direction(problem, x, force)
    if direction is None:
        levels.assemble(problem, x, psd=True)
        levels.begin(problem, x)
        direction = levels.direction(problem, x, force)
    return np.zeros_like(x) if direction is None else direction


def measured_force(work: MultilevelWork, x: np.ndarray) -> np.ndarray:
    """-dG/dx (n, 3) [N] at the positions that the tables hold, as of x."""
    tables, out = work.packed.tables, np.zeros_like(x)
    work.packed.force(tables.x, work.force)
    from_rows(work.force, tables.packs.row_of_vertex, out)
    return out


def has_fallen(
    work: MultilevelWork, x: np.ndarray, direction: np.ndarray, slope: float, length: float, drop: float
) -> bool:
    """Whether the energy has fallen as the slope promises; below its rounding, forces at both ends decide."""
    if abs(drop) > work.packed.noise:
        return drop >= SUFFICIENT * length * slope
    after = float(np.sum(measured_force(work, x) * direction))
    return slope + after >= 0

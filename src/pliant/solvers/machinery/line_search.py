"""Search along a direction, for solvers that choose directions from all vertices together."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from pliant.energies import IncrementalPotential
from pliant.solvers.contract import SweepResult
from pliant.solvers.machinery.packed import PackedPotential
from pliant.solvers.machinery.vbd_tables import PackedWork, Tables

SUFFICIENT = 1e-4  # part of the fall that the slope promises (Wolfe's first condition)
HALVINGS = 40
NOTHING_FALLS = "no further progress: no step along the force lowers the energy"


@dataclass
class SearchWork(PackedWork):
    """Where a search is: x in the tables, its energy and force, the direction, and a place to try."""

    packed: PackedPotential
    force: np.ndarray  # (rows, 4) at x
    direction: np.ndarray
    trial: np.ndarray
    trial_force: np.ndarray
    energy: float = 0.0
    length: float = 0.0  # of the last accepted step
    exhausted: bool = False  # no step falls any more
    is_measured: bool = False  # energy and force are those of x

    @property
    def x(self) -> np.ndarray:
        return self.packed.tables.x

    @property
    def packed_tables(self) -> Tables:
        return self.packed.tables

    def result(self, done: int) -> SweepResult:
        """The result of a sweep of so many iterations."""
        return SweepResult(done, NOTHING_FALLS if self.exhausted else "")


def search_vectors(packed: PackedPotential) -> tuple[np.ndarray, np.ndarray, np.ndarray, np.ndarray]:
    """Vectors of a SearchWork."""
    return packed.rows(), packed.rows(), packed.rows(), packed.rows()


def begin_search(problem: IncrementalPotential, work: SearchWork) -> None:
    work.packed.begin_step(problem)
    work.length, work.exhausted = 0.0, False


def enter(work: SearchWork, x: np.ndarray) -> None:
    """Take positions (n, 3)."""
    work.packed.tables.read(x)
    work.trial[:] = work.x  # steps do not write the rows of fixed vertices
    work.is_measured = False


def measure(work: SearchWork) -> None:
    """Energy and force at x, unless the last iteration has left them: contacts make each iteration's potential another
    one.
    """
    if work.packed.refresh(work.x) or not work.is_measured:
        work.energy = work.packed.energy(work.x)
        work.packed.force(work.x, work.force)
        work.is_measured = True


def backtrack(work: SearchWork, slope: float, length: float) -> bool:
    """Halve the step along `direction` until the energy falls enough; leaves the new place in trial, trial_force.

    slope: force . direction, positive.
    """
    packed = work.packed
    for _ in range(HALVINGS):
        _try(work, length)
        after = packed.energy(work.trial)
        if np.isfinite(after) and after <= work.energy + packed.noise:
            packed.force(work.trial, work.trial_force)
            mean = 0.5 * (slope + packed.dot(work.trial_force, work.direction))
            if packed.has_fallen(work.energy, after, length * mean, SUFFICIENT * length * slope):
                work.energy, work.length = after, length
                return True
        length *= 0.5
    return False


def secant_length(work: SearchWork, slope: float, length: float) -> float:
    """The length at which the slope would vanish if it were linear, from the force at a trial length."""
    _try(work, length)
    work.packed.force(work.trial, work.trial_force)
    bend = slope - work.packed.dot(work.trial_force, work.direction)
    if not np.isfinite(bend):
        return 0.5 * length
    return length * slope / bend if bend > 0.1 * slope else 10 * length


def accept(work: SearchWork) -> None:
    """Go where the search has ended. The old place and force are left in trial, trial_force."""
    tables = work.packed.tables
    tables.x, work.trial = work.trial, tables.x
    work.force, work.trial_force = work.trial_force, work.force


def _try(work: SearchWork, length: float) -> None:
    work.packed.add(work.x, length, work.direction, work.trial)

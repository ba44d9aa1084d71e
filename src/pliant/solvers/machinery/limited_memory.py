"""L-BFGS on rows: directions from the last steps and changes of force (Nocedal and Wright, Section 7.2)."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import TypeVar

import numpy as np

from pliant.energies import IncrementalPotential
from pliant.kernels.row_vectors import add_memory, remove_memory
from pliant.lanes.compiled import cached
from pliant.solvers.contract import Capabilities, Solver, SweepResult
from pliant.solvers.machinery import line_search
from pliant.solvers.machinery.line_search import SearchWork
from pliant.solvers.machinery.packed import PackedPotential

InitialInverse = Callable[[np.ndarray, "MemoryWork"], None]  # multiplies a vector in place


def _none() -> np.ndarray:
    return np.zeros(0)


@dataclass
class MemoryWork(SearchWork):
    """Pairs (s, y) of the last steps and what they changed the force by, newest last in `order`."""

    steps: np.ndarray = field(default_factory=_none)  # (pairs, rows, 4)
    changes: np.ndarray = field(default_factory=_none)  # (pairs, rows, 4)
    inverse: np.ndarray = field(default_factory=_none)  # (pairs,) 1 / s.y
    sums: np.ndarray = field(default_factory=_none)  # (pairs, sums) partial sums of products
    order: list[int] = field(default_factory=list)
    since_refresh: int = 0


M = TypeVar("M", bound=MemoryWork)


def memory_work(packed: PackedPotential, pairs: int) -> MemoryWork:
    work = MemoryWork(packed, *line_search.search_vectors(packed))
    work.steps, work.changes = (np.zeros((pairs, *work.x.shape), work.x.dtype) for _ in range(2))
    work.inverse, work.sums = np.zeros(pairs), np.zeros((pairs, packed.sum_count))
    return work


def remember(work: MemoryWork) -> None:
    """Keep the step from trial to x, if the force has fallen along it: then the approximation stays positive."""
    packed = work.packed
    unused = set(range(len(work.steps))) - set(work.order)
    k = min(unused) if unused else work.order.pop(0)
    packed.add(work.x, -1.0, work.trial, work.steps[k])
    packed.add(work.trial_force, -1.0, work.force, work.changes[k])
    product = packed.dot(work.steps[k], work.changes[k])
    if product > 0 and np.isfinite(1 / product):
        work.inverse[k] = 1 / product
        work.order.append(k)


def point_downhill(work: MemoryWork, initial_inverse: InitialInverse) -> float:
    """Write the direction; its slope."""
    packed, t = work.packed, work.packed.tables
    work.direction[:] = work.force
    if work.order:
        order = np.array(work.order)
        factors = np.zeros(len(work.steps))
        memory = (work.steps, work.changes, order, work.inverse, work.direction, factors)
        layout = (t.packs.is_wide, t.packs.width, t.packs.moving_count, work.sums)
        t.team.run(cached(remove_memory), *memory, *layout, amount=len(order))
        initial_inverse(work.direction, work)
        t.team.run(cached(add_memory), *memory, *layout, amount=len(order))
    else:
        initial_inverse(work.direction, work)
    return packed.dot(work.force, work.direction)


def descend(work: MemoryWork, initial_inverse: InitialInverse, first_length: float | None) -> None:
    """One iteration. first_length: where the first search of a step begins, if the initial inverse is no estimate."""
    slope = point_downhill(work, initial_inverse)
    if not slope > 0 and work.order:
        work.order.clear()
        slope = point_downhill(work, initial_inverse)
    if not slope > 0:
        work.exhausted = True
        return
    length = 1.0
    if not work.order and first_length is not None:
        length = line_search.secant_length(work, slope, first_length)
    if line_search.backtrack(work, slope, length):
        line_search.accept(work)
        remember(work)
    else:
        work.exhausted = not work.order  # along the steepest descent: nothing falls any more
        work.order.clear()


class MemoryDescent(Solver[M]):
    """What solvers have in common that keep the last steps; every step of a simulation begins with none."""

    capabilities = Capabilities("minimise", contact=True, pressure=True)

    @property
    @abstractmethod
    def refresh(self) -> int:
        """Iterations between measurements of diag(H), and so of what energies can be trusted to."""

    @abstractmethod
    def descend(self, work: M) -> None:
        """One iteration."""

    def begin_step(self, problem: IncrementalPotential, work: M) -> None:
        line_search.begin_search(problem, work)
        work.order.clear()
        work.since_refresh = 0

    def update_contacts(self, problem: IncrementalPotential, work: M) -> None:
        work.packed.update_contacts(problem)
        work.order.clear()
        work.exhausted = False

    def sweep(self, problem: IncrementalPotential, x: np.ndarray, work: M, n: int = 1) -> SweepResult:
        line_search.enter(work, x)
        done = 0
        while done < n and not work.exhausted:
            line_search.measure(work)
            if work.since_refresh == 0:
                work.packed.measure_scales(work.x)
            work.since_refresh = (work.since_refresh + 1) % self.refresh
            self.descend(work)
            done += 1
        work.packed.tables.write(x)
        return work.result(done)

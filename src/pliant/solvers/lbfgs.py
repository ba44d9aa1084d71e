"""L-BFGS, plain and with diag(H) as its first estimate (Wang and Yang 2016, Section 4.1)."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from pliant.energies import IncrementalPotential
from pliant.solvers import limited_memory, line_search
from pliant.solvers.iterate import Execution
from pliant.solvers.limited_memory import MemoryWork
from pliant.solvers.options import check_count, check_start
from pliant.solvers.packed import pack


@dataclass(frozen=True)
class LBFGS:
    """L-BFGS with a backtracking search.

    pairs: steps it remembers.  preconditioned: begin with 1 / diag(H), measured every `refresh` iterations, else with
    a multiple of the identity. Every step of a simulation begins with an empty memory.
    """

    iterations: int = 50
    pairs: int = 5
    preconditioned: bool = True
    refresh: int = 32
    start: str = "adaptive"

    minimises = True
    carries = ("contact", "pressure")

    def __post_init__(self) -> None:
        check_count(self.iterations, "LBFGS: iterations")
        check_count(self.pairs, "LBFGS: pairs")
        check_count(self.refresh, "LBFGS: refresh")
        check_start(self.start, "LBFGS: start")

    def init(self, problem: IncrementalPotential, execution: Execution) -> MemoryWork:
        return limited_memory.memory_work(pack(problem, execution), self.pairs)

    def begin(self, problem: IncrementalPotential, work: MemoryWork) -> None:
        line_search.begin_search(problem, work)
        work.order.clear()
        work.since_refresh = 0

    def take_contacts(self, problem: IncrementalPotential, work: MemoryWork) -> None:
        work.packed.take_contacts(problem)
        work.order.clear()
        work.exhausted = False

    def sweep(self, problem: IncrementalPotential, x: np.ndarray, work: MemoryWork, n: int = 1) -> None:
        line_search.enter(work, x)
        for _ in range(n):
            if work.exhausted:
                break
            line_search.measure(work)
            if work.since_refresh == 0:
                work.packed.measure_scales(work.x)
            work.since_refresh = (work.since_refresh + 1) % self.refresh
            if self.preconditioned:
                limited_memory.descend(work, _by_diagonal, 1.0)
            else:
                limited_memory.descend(work, _by_last_pair, float(work.packed.scales[:, :3].min()))
        work.packed.tables.write(x)


def _by_diagonal(q: np.ndarray, work: MemoryWork) -> None:
    work.packed.precondition(q, q)


def _by_last_pair(q: np.ndarray, work: MemoryWork) -> None:
    """s.y / y.y of the newest pair, the usual size of the inverse Hessian."""
    if work.order:
        k = work.order[-1]
        q *= q.dtype.type(1 / (work.inverse[k] * work.packed.dot(work.changes[k], work.changes[k])))

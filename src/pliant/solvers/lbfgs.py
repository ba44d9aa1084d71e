"""L-BFGS, plain and with diag(H) as its first estimate (Wang and Yang 2016, Section 4.1)."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from pliant.energies import IncrementalPotential
from pliant.solvers.contract import Execution, check_count, check_start, register_solver
from pliant.solvers.machinery import limited_memory
from pliant.solvers.machinery.limited_memory import MemoryDescent, MemoryWork
from pliant.solvers.machinery.packed import pack


@register_solver
@dataclass(frozen=True)
class LBFGS(MemoryDescent[MemoryWork]):
    """L-BFGS with a backtracking search.

    pairs: steps it keeps.  preconditioned: begin with 1 / diag(H), measured every `refresh` iterations, else with
    a multiple of the identity. Every step of a simulation begins with an empty memory.
    """

    iterations: int = 50
    pairs: int = 5
    preconditioned: bool = True
    refresh: int = 32
    start: str = "adaptive"

    def __post_init__(self) -> None:
        check_count(self.iterations, "LBFGS: iterations")
        check_count(self.pairs, "LBFGS: pairs")
        check_count(self.refresh, "LBFGS: refresh")
        check_start(self.start, "LBFGS: start")

    def init(self, problem: IncrementalPotential, execution: Execution) -> MemoryWork:
        return limited_memory.memory_work(pack(problem, execution), self.pairs)

    def descend(self, work: MemoryWork) -> None:
        if self.preconditioned:
            limited_memory.descend(work, _by_diagonal, 1.0)
        else:
            limited_memory.descend(work, _by_last_pair, float(work.packed.scales[:, :3].min()))


def _by_diagonal(q: np.ndarray, work: MemoryWork) -> None:
    work.packed.precondition(q, q)


def _by_last_pair(q: np.ndarray, work: MemoryWork) -> None:
    """s.y / y.y of the newest pair, the usual size of the inverse Hessian."""
    if work.order:
        k = work.order[-1]
        q *= q.dtype.type(1 / (work.inverse[k] * work.packed.dot(work.changes[k], work.changes[k])))

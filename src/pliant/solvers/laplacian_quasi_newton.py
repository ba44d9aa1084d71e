"""L-BFGS that begins with a constant Laplacian (Liu, Bouaziz, Kavan 2017), as VBD compares with."""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np

from pliant.energies import IncrementalPotential
from pliant.energies.constant_stiffness import stiffness_laplacian
from pliant.solvers import limited_memory, line_search
from pliant.solvers.constant_matrix import ConstantMatrix, factorise_step
from pliant.solvers.iterate import Execution
from pliant.solvers.limited_memory import MemoryWork
from pliant.solvers.options import check_count, check_start
from pliant.solvers.packed import pack

REFRESH = 32  # iterations between measurements of what energies can be trusted to


@dataclass
class LaplacianWork(MemoryWork):
    matrix: ConstantMatrix = field(default=None)  # type: ignore[assignment]


@dataclass(frozen=True)
class LaplacianQuasiNewton:
    """L-BFGS whose first estimate is inertia plus a graph Laplacian as stiff as the bodies at rest, factorised once.

    pairs: steps it remembers (the paper finds 5 best).
    Deviation: VBD's comparison solves with conjugate gradients on the GPU; here the matrix is factorised, as its
    authors do. The stiffness is that of linear elasticity, averaged over directions, for any law.
    """

    iterations: int = 20
    pairs: int = 5
    start: str = "adaptive"

    minimises = True
    carries = ("contact", "pressure")

    def __post_init__(self) -> None:
        check_count(self.iterations, "LaplacianQuasiNewton: iterations")
        check_count(self.pairs, "LaplacianQuasiNewton: pairs")
        check_start(self.start, "LaplacianQuasiNewton: start")

    def init(self, problem: IncrementalPotential, execution: Execution) -> LaplacianWork:
        matrix = factorise_step(problem, stiffness_laplacian(problem))
        plain = limited_memory.memory_work(pack(problem, execution), self.pairs)
        return LaplacianWork(**vars(plain), matrix=matrix)

    def begin(self, problem: IncrementalPotential, work: LaplacianWork) -> None:
        line_search.begin_search(problem, work)
        work.order.clear()
        work.since_refresh = 0

    def take_contacts(self, problem: IncrementalPotential, work: LaplacianWork) -> None:
        work.packed.take_contacts(problem)
        work.order.clear()
        work.exhausted = False

    def sweep(self, problem: IncrementalPotential, x: np.ndarray, work: LaplacianWork, n: int = 1) -> None:
        line_search.enter(work, x)
        for _ in range(n):
            if work.exhausted:
                break
            line_search.measure(work)
            if work.since_refresh == 0:
                work.packed.measure_scales(work.x)
            work.since_refresh = (work.since_refresh + 1) % REFRESH
            limited_memory.descend(work, _by_laplacian, None)
        work.packed.tables.write(x)


def _by_laplacian(q: np.ndarray, work: MemoryWork) -> None:
    assert isinstance(work, LaplacianWork)
    work.matrix.solve_rows(q, work.packed.tables.packs)

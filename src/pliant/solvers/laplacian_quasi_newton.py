"""L-BFGS that begins with a constant Laplacian (Liu, Bouaziz, Kavan 2017), as VBD compares with."""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np

from pliant.energies import IncrementalPotential
from pliant.energies.constant_stiffness import stiffness_laplacian
from pliant.solvers.contract import Capabilities, Execution, check_count, check_start, register_solver
from pliant.solvers.machinery import limited_memory
from pliant.solvers.machinery.constant_matrix import ConstantMatrix, factorise_step
from pliant.solvers.machinery.limited_memory import MemoryDescent, MemoryWork
from pliant.solvers.machinery.packed import pack


@dataclass
class LaplacianWork(MemoryWork):
    matrix: ConstantMatrix = field(default=None)  # type: ignore[assignment]


@register_solver
@dataclass(frozen=True)
class LaplacianQuasiNewton(MemoryDescent[LaplacianWork]):
    """L-BFGS whose first estimate is inertia plus a graph Laplacian as stiff as the bodies at rest, factorised once.

    pairs: steps it keeps (the paper finds 5 best).
    Deviation: VBD's comparison solves with conjugate gradients on the GPU; here the matrix is factorised, as its
    authors do. The stiffness is that of linear elasticity, averaged over directions, for any law.
    """

    iterations: int = 20
    pairs: int = 5
    start: str = "adaptive"

    refresh = 32

    capabilities = Capabilities("minimise", contact=True, pressure=True, local=False)

    def __post_init__(self) -> None:
        check_count(self.iterations, "LaplacianQuasiNewton: iterations")
        check_count(self.pairs, "LaplacianQuasiNewton: pairs")
        check_start(self.start, "LaplacianQuasiNewton: start")

    def init(self, problem: IncrementalPotential, execution: Execution) -> LaplacianWork:
        matrix = factorise_step(problem, stiffness_laplacian(problem))
        plain = limited_memory.memory_work(pack(problem, execution), self.pairs)
        return LaplacianWork(**vars(plain), matrix=matrix)

    def descend(self, work: LaplacianWork) -> None:
        limited_memory.descend(work, _by_laplacian, None)


def _by_laplacian(q: np.ndarray, work: MemoryWork) -> None:
    assert isinstance(work, LaplacianWork)
    work.matrix.solve_rows(q, work.packed.tables.packs)

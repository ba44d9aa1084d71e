"""Chebyshev's semi-iterative acceleration of any solver whose sweep takes momentum (VBD 3.8)."""

from __future__ import annotations

import numbers
from dataclasses import dataclass
from typing import Any

import numpy as np

from pliant.energies import IncrementalPotential
from pliant.errors import SolverError
from pliant.solvers.iterate import Execution
from pliant.solvers.options import check_solver


@dataclass
class ChebyshevWork:
    inner: Any
    iteration: int = 0  # done since the step began
    omega: float = 1.0

    @property
    def singular_blocks(self) -> int:
        return getattr(self.inner, "singular_blocks", 0)

    @property
    def nbytes(self) -> int:
        return self.inner.nbytes


@dataclass(frozen=True)
class Chebyshev:
    """Wraps a solver. rho: estimated spectral radius of its iterations, in (0, 1); the stiffer the scene, the nearer
    to 1.
    """

    solver: Any
    rho: float = 0.95

    def __post_init__(self) -> None:
        check_solver(self.solver, "Chebyshev: solver")
        if not isinstance(self.rho, numbers.Real) or not 0 < self.rho < 1:
            raise SolverError(
                f"Chebyshev: rho is {self.rho!r}: it must lie between 0 and 1, both excluded (0.75 soft, 0.95 stiff)."
            )
        if not getattr(self.solver, "accepts_momentum", False):
            raise SolverError(
                f"Chebyshev cannot wrap {type(self.solver).__name__}: its iterations do not take momentum."
            )

    @property
    def iterations(self) -> int:
        return self.solver.iterations

    @property
    def start(self) -> str:
        return self.solver.start

    def init(self, problem: IncrementalPotential, execution: Execution) -> ChebyshevWork:
        return ChebyshevWork(self.solver.init(problem, execution))

    def begin(self, problem: IncrementalPotential, work: ChebyshevWork) -> None:
        """Restart: every step is a new sequence."""
        work.iteration, work.omega = 0, 1.0
        self.solver.begin(problem, work.inner)

    def take_contacts(self, problem: IncrementalPotential, work: ChebyshevWork) -> None:
        self.solver.take_contacts(problem, work.inner)

    def sweep(self, problem: IncrementalPotential, x: np.ndarray, work: ChebyshevWork, n: int = 1) -> None:
        self.solver.sweep(problem, x, work.inner, n, omegas=self._next_factors(work, n))

    def _next_factors(self, work: ChebyshevWork, n: int) -> np.ndarray:
        """omega of the next n iterations (Equation 19)."""
        omegas = np.empty(n)
        for k in range(n):
            work.iteration += 1
            if work.iteration == 1:
                work.omega = 1.0
            elif work.iteration == 2:
                work.omega = 2 / (2 - self.rho**2)
            else:
                work.omega = 4 / (4 - self.rho**2 * work.omega)
            omegas[k] = work.omega
        return omegas

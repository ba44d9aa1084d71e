"""Newton's method on the whole step: the reference that converges to rounding."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import scipy.sparse as sp

from pliant.energies import IncrementalPotential
from pliant.errors import SolverError
from pliant.solvers.contract import (
    Capabilities,
    Execution,
    Solver,
    SweepResult,
    check_count,
    check_start,
    register_solver,
)
from pliant.solvers.machinery.assembly import AssembledPotential, build_assembly
from pliant.solvers.machinery.conjugate_gradients import conjugate_gradients
from pliant.solvers.machinery.factorisation import NotPositiveDefinite, factorise

ROUNDING = 1e-9  # of the largest entry of a projected Hessian: what is added, so that rounding leaves it definite

LINEAR = ("direct", "cg")


@register_solver
@dataclass(frozen=True)
class Newton(Solver[AssembledPotential]):
    """Newton's method with a backtracking line search, in double precision.

    An iteration uses the true Hessian where it is positive definite, else the one with every element's part made
    positive semidefinite, so that it converges quadratically near a minimum, and to a minimum only.

    linear: how the system of an iteration is solved. "direct" by Cholesky's factors (cholespy if it is installed, else
    SciPy), "cg" by conjugate gradients with the diagonal's blocks, only as exactly as the iteration deserves.
    residual: iterations of a step end below it [m/s^2].
    """

    iterations: int = 50
    start: str = "adaptive"
    linear: str = "direct"
    residual: float = 0.0

    capabilities = Capabilities("minimise", contact=True, pressure=True, internal_state=True)

    def __post_init__(self) -> None:
        check_count(self.iterations, "Newton: iterations")
        check_start(self.start, "Newton: start")
        if self.linear not in LINEAR:
            raise SolverError(f"Newton: linear is {self.linear!r}: choose one of {', '.join(LINEAR)}.")
        if not self.residual >= 0:
            raise SolverError(f"Newton: residual is {self.residual!r}: give a positive number [m/s^2], or 0 for none.")

    def init(self, problem: IncrementalPotential, execution: Execution) -> AssembledPotential:
        """The pattern of the Hessian and what fills it."""
        return build_assembly(problem, execution)

    def sweep(self, problem: IncrementalPotential, x: np.ndarray, work: AssembledPotential, n: int = 1) -> SweepResult:
        for done in range(n):
            problem.update_internal_state(x)
            residual = problem.residual(x) if self.residual else np.inf
            if residual <= self.residual:
                met = f"converged: residual {residual:.3g} m/s^2 is at most {self.residual:g} m/s^2"
                return SweepResult(done, met, converged=True)
            g = work.gradient(problem, x)[work.vertices]
            step = newton_direction(problem, x, work, g, self.linear)
            if step is None:
                return SweepResult(done, "converged: the gradient is zero", converged=True)
            whole = np.zeros_like(x)
            whole[work.vertices] = step
            whole = problem.project(whole)  # rounding would leave lines and planes
            moved = backtrack(problem, x, work, whole, float(np.sum(g * step)))
            # internal states may still change the potential where positions do not move
            if np.array_equal(moved, x) and not problem.model.internal_state.size:
                return SweepResult(done + 1, "no further progress: no part of Newton's step lowers the energy")
            x[:] = moved
        return SweepResult(n)


def newton_direction(
    problem: IncrementalPotential, x: np.ndarray, work: AssembledPotential, g: np.ndarray, linear: str = "direct"
) -> np.ndarray | None:
    """A descent direction (rows, 3) of the vertices that may move, or None where the gradient (rows, 3) vanishes."""
    if not g.any():
        return None
    for psd in (False, True):
        H = work.hessian(problem, x, psd)
        if psd:
            H = H + (ROUNDING * H.diagonal().max() * sp.identity(g.size)).tobsr((3, 3))
        try:
            step = factorise(H)(-g.ravel()) if linear == "direct" else conjugate_gradients(H, -g.ravel(), work.team)
            return step.reshape(g.shape)
        except NotPositiveDefinite:
            continue
    raise SolverError("Newton: the projected Hessian gives no descent direction; is a parameter of a law extreme?")


def backtrack(
    problem: IncrementalPotential, x: np.ndarray, work: AssembledPotential, step: np.ndarray, slope: float
) -> np.ndarray:
    """Halve the step until the energy falls as its slope promises; stay if it never does.

    Near the minimum the fall is lost in rounding, because elastic energies are small differences of large terms. A step
    is good there if it halves the residual without a visible rise of the energy.
    """
    before, alpha = work.energy(problem, x), 1.0
    while alpha > 1e-12:
        trial = x + alpha * step
        after = work.energy(problem, trial)
        if after <= before + 1e-4 * alpha * slope:
            return trial
        if after <= before + 1e-8 * abs(before) and problem.residual(trial) <= 0.5 * problem.residual(x):
            return trial
        alpha /= 2
    return x

"""Newton's method on the whole step: the reference that converges to rounding."""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import partial

import numpy as np

from pliant.arguments import is_finite_number, is_one_of
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
from pliant.solvers.machinery.factorisation import NotPositiveDefinite, Solve, factorise
from pliant.solvers.machinery.preconditioner import precondition
from pliant.solvers.machinery.step_space import StepSpace, step_space
from pliant.sparse import sp

ROUNDING = 1e-9  # of the largest entry of a projected Hessian: what is added, so that rounding leaves it definite

LAST_PLACES = 2  # of a number, that a step may still change at the minimum

LINEAR = ("direct", "cg")


@register_solver
@dataclass(frozen=True)
class Newton(Solver[AssembledPotential]):
    """Newton's method with a backtracking line search, in double precision.

    An iteration uses the true Hessian where it is positive definite, else the one with every element's part made
    positive semidefinite, so that it converges quadratically near a minimum, and to a minimum only.

    linear: how the system of an iteration is solved. "direct" by Cholesky's factors, "cg" by conjugate gradients,
    preconditioned on two levels, only as exactly as the iteration deserves.
    residual: iterations of a step end below it [m/s^2].
    """

    iterations: int = 50
    start: str = "adaptive"
    linear: str = "direct"
    residual: float = 0.0

    capabilities = Capabilities(
        "minimise", contact=True, pressure=True, internal_state=True, rigid_bodies=True, particles=True, local=False
    )

    def __post_init__(self) -> None:
        check_count(self.iterations, "Newton: iterations")
        check_start(self.start, "Newton: start")
        if not is_one_of(self.linear, LINEAR):
            raise SolverError(f"Newton: linear is {self.linear!r}: choose one of {', '.join(LINEAR)}.")
        if not (is_finite_number(self.residual) and self.residual >= 0):
            raise SolverError(f"Newton: residual is {self.residual!r}: give a positive number [m/s^2], or 0 for none.")

    def init(self, problem: IncrementalPotential, execution: Execution) -> AssembledPotential:
        """The pattern of the Hessian and what fills it."""
        if self.linear == "cg" and problem.model.carried is not None:
            raise SolverError("Newton: linear='cg' does not support rigid bodies: use linear='direct'.")
        return build_assembly(problem, execution)

    def has_residual(self, work: AssembledPotential) -> bool:
        """Steps that the line search cuts look short wherever they are."""
        return True

    def begin_step(self, problem: IncrementalPotential, work: AssembledPotential) -> None:
        """Take up the contacts."""
        work.forget()

    def update_contacts(self, problem: IncrementalPotential, work: AssembledPotential) -> None:
        """Take up contacts that were detected within a step."""
        work.forget()

    def sweep(self, problem: IncrementalPotential, x: np.ndarray, work: AssembledPotential, n: int = 1) -> SweepResult:
        for done in range(n):
            problem.update_internal_state(x)
            residual, is_current = work.refresh_if_due(problem, x, self.residual)
            if self.residual and is_current and residual <= self.residual:
                met = f"converged: residual {residual:.3g} m/s^2 is at most {self.residual:g} m/s^2"
                return SweepResult(done, met, converged=True)
            space = step_space(problem, x, work)
            g = space.gradient()
            step = newton_direction(space, g, self.linear)
            if step is None:
                return SweepResult(done, "converged: the gradient is zero", converged=True)
            if work.has_settled(problem, x, residual):
                if is_current:
                    return SweepResult(done, "no further progress: forces have fallen to their rounding")
                work.refresh_below = np.inf
            length = backtrack(space, step, float(g @ step))
            moved, poses = space.moved(length * step)
            if length == 0.0 or (is_rounding(moved, x) and is_rounding(poses, problem.poses)):
                work.refresh_below = np.inf
                # internal states and contacts may still change the potential where positions do not move
                if is_current and not problem.model.internal_state.size:
                    return SweepResult(done + 1, "no further progress: no part of Newton's step lowers the energy")
            x[:], problem.poses[:] = moved, poses
        return SweepResult(n)


def is_rounding(moved: np.ndarray, x: np.ndarray) -> bool:
    """Whether no number has changed by more than it rounds to."""
    return bool((np.abs(moved - x) <= LAST_PLACES * np.spacing(np.abs(x))).all())


def newton_direction(space: StepSpace, g: np.ndarray, linear: str = "direct", modify: bool = True) -> np.ndarray | None:
    """A descent direction (N,) of the unknowns, or None where the gradient g (N,) vanishes.

    Where the true Hessian is not positive definite, the projected one is taken; without `modify`, that is an error.
    """
    return hessian_solve(space, linear, modify, -g)[1] if g.any() else None


def hessian_solve(space: StepSpace, linear: str, modify: bool, b: np.ndarray) -> tuple[Solve, np.ndarray]:
    """A function that solves H x = b, by factors or by conjugate gradients, and its solution (N,) for b (N,).

    Where the true Hessian is not positive definite, H is the projected one; without `modify`, that is an error.
    """
    try:
        return _solved(space, space.hessian(False), linear, b)
    except NotPositiveDefinite:
        if not modify:
            raise
    return projected_solve(space, linear, b)


def projected_solve(space: StepSpace, linear: str, b: np.ndarray) -> tuple[Solve, np.ndarray]:
    """The same with the projected Hessian."""
    H = space.hessian(True)
    H = H + (ROUNDING * H.diagonal().max() * sp.identity(b.size)).asformat(H.format)
    try:
        return _solved(space, H, linear, b)
    except NotPositiveDefinite:
        message = "Newton: the projected Hessian gives no descent direction; is a parameter of a law extreme?"
        raise SolverError(message) from None


def _solved(space: StepSpace, H: sp.spmatrix, linear: str, b: np.ndarray) -> tuple[Solve, np.ndarray]:
    if linear == "direct":
        solve = factorise(H)
    else:
        work, x = space.work, space.x[space.work.vertices]
        before = precondition(H, work.grouped(x), x)
        solve = partial(conjugate_gradients, H, before=before, team=work.team)
    return solve, solve(b)


def backtrack(space: StepSpace, step: np.ndarray, slope: float) -> float:
    """Halve the step until the energy falls as its slope promises; how much of it to take, 0 if it never does.

    Near the minimum the fall is lost in rounding, because elastic energies are small differences of large terms. A step
    is good there if it halves the residual without a visible rise of the energy.
    """
    problem, work = space.problem, space.work
    before, alpha = work.energy(problem, space.x), 1.0
    noise = max(1e-8 * abs(before), work.noise)
    while alpha > 1e-12:
        trial, poses = space.moved(alpha * step)
        after = work.energy(problem, trial)
        if after <= before + 1e-4 * alpha * slope:
            return alpha
        if after <= before + noise:
            there = replace(problem, poses=poses)
            if there.residual(trial) <= 0.5 * problem.residual(space.x):
                return alpha
        alpha /= 2
    return 0.0

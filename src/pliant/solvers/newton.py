"""Newton's method on the whole step: the reference that converges to rounding."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import scipy.sparse as sp

from pliant.energies import IncrementalPotential
from pliant.errors import SolverError
from pliant.solvers.conjugate_gradients import conjugate_gradients
from pliant.solvers.factorisation import NotPositiveDefinite, factorise
from pliant.solvers.iterate import Execution
from pliant.solvers.options import check_count, check_start

ROUNDING = 1e-9  # of the largest entry of a Hessian: what is added where rounding alone makes it indefinite


LINEAR = ("direct", "cg")


@dataclass(frozen=True)
class Newton:
    """Newton's method with a backtracking line search, in double precision.

    An iteration uses the true Hessian where it is positive definite, else the one with every element's part made
    positive semidefinite, so that it converges quadratically near a minimum, and to a minimum only.

    linear: how the system of an iteration is solved. "direct" by Cholesky's factors (cholespy if it is installed, else
    SciPy), "cg" by conjugate gradients with diag(H), only as exactly as the iteration deserves.
    residual: iterations of a step end below it [m/s^2].
    """

    iterations: int = 50
    start: str = "adaptive"
    linear: str = "direct"
    residual: float = 0.0

    carries = ("contact", "pressure", "pl.Invertible materials")
    minimises = True

    def __post_init__(self) -> None:
        check_count(self.iterations, "Newton: iterations")
        check_start(self.start, "Newton: start")
        if self.linear not in LINEAR:
            raise SolverError(f"Newton: linear is {self.linear!r}: choose one of {', '.join(LINEAR)}.")
        if not self.residual >= 0:
            raise SolverError(f"Newton: residual is {self.residual!r}: give a positive number [m/s^2], or 0 for none.")

    def init(self, problem: IncrementalPotential, execution: Execution) -> sp.csr_matrix:
        """A basis of the motions that are free: x = x_fixed + basis s."""
        return free_basis(problem)

    def begin(self, problem: IncrementalPotential, work: sp.csr_matrix) -> None:
        """Nothing is kept from step to step."""

    def take_contacts(self, problem: IncrementalPotential, work: sp.csr_matrix) -> None:
        """Nothing is kept of contacts either."""

    def sweep(self, problem: IncrementalPotential, x: np.ndarray, work: sp.csr_matrix, n: int = 1) -> None:
        for _ in range(n):
            problem.remember(x)
            if self.residual and problem.residual(x) <= self.residual:
                return
            g = work.T @ problem.gradient(x).ravel()
            step = newton_direction(problem, x, work, g, self.linear)
            if step is None:
                return
            x[:] = backtrack(problem, x, (work @ step).reshape(x.shape), float(g @ step))


def free_basis(problem: IncrementalPotential) -> sp.csr_matrix:
    """Columns span the free motions of all vertices: three for a free one, two in a plane, one on a line."""
    model = problem.model
    columns = []
    for i in np.flatnonzero(model.is_free):
        d = model.directions[i]
        directions = {1: d[None], 2: np.linalg.svd(d[None])[2][1:] if d.any() else None, 3: np.eye(3)}[
            int(model.subspace[i])
        ]
        columns += [(i, row) for row in directions]
    rows = np.concatenate([3 * i + np.arange(3) for i, _ in columns])
    values = np.concatenate([row for _, row in columns])
    return sp.csr_matrix(
        (values, (rows, np.repeat(np.arange(len(columns)), 3))), shape=(3 * model.n_vertices, len(columns))
    )


def newton_direction(
    problem: IncrementalPotential, x: np.ndarray, basis: sp.csr_matrix, g: np.ndarray, linear: str = "direct"
) -> np.ndarray | None:
    """A descent direction in the free motions, or None where the gradient vanishes."""
    if not g.any():
        return None
    solve = _solve_directly if linear == "direct" else conjugate_gradients
    H = (basis.T @ problem.hessian(x) @ basis).tocsc()
    shift = ROUNDING * H.diagonal().max() * sp.identity(len(g), format="csc")
    for trial in (
        lambda: H,
        lambda: H + shift,
        lambda: (basis.T @ problem.hessian(x, psd=True) @ basis).tocsc() + shift,
    ):
        try:
            return solve(trial(), -g)
        except NotPositiveDefinite:
            continue
    raise SolverError("Newton: the projected Hessian gives no descent direction; is a parameter of a law extreme?")


def _solve_directly(H: sp.csc_matrix, b: np.ndarray) -> np.ndarray:
    return factorise(H)(b)


def backtrack(problem: IncrementalPotential, x: np.ndarray, step: np.ndarray, slope: float) -> np.ndarray:
    """Halve the step until the energy falls as its slope promises; stay if it never does.

    Near the minimum the fall is lost in rounding, because elastic energies are small differences of large terms. A step
    is good there if it halves the residual without a visible rise of the energy.
    """
    before, alpha = problem.energy(x), 1.0
    while alpha > 1e-12:
        trial = x + alpha * step
        after = problem.energy(trial)
        if after <= before + 1e-4 * alpha * slope:
            return trial
        if after <= before + 1e-8 * abs(before) and problem.residual(trial) <= 0.5 * problem.residual(x):
            return trial
        alpha /= 2
    return x

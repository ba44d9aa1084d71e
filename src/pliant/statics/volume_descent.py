"""Newton's method for static shapes whose volumes are prescribed: the pressures are unknowns beside the positions.

A step d and the change q of the pressures solve (Nocedal and Wright 2006, Equation 18.9)

    A d - G^T q = -g,    G d = V_t - V,        A = d2E/dx2 + s M, G = dV/dx, g = dE/dx with E = W - p V

A may have negative eigenvalues, as of a balloon beyond the greatest pressure that it can hold. The energy has a minimum
among shapes of the same volume exactly when A has as many of them as G A^-1 G^T. The line search lowers
W + nu |V - V_t|, nu > |p|, which has its minimum where W has one under the constraint.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from pliant.energies import IncrementalPotential
from pliant.model.volume import volume_gradients, volumes
from pliant.solvers.machinery.factorisation import NotPositiveDefinite, Solve, factorise_symmetric
from pliant.solvers.machinery.step_space import StepSpace
from pliant.sparse import sp
from pliant.statics.descent import LevenbergDescent

ROUNDING = 1e-9  # of the largest entry of a projected Hessian: what is added
STEEP = 2.0  # nu over the largest |p|


@dataclass
class VolumeDescent(LevenbergDescent):
    """One iteration of Newton's method for positions and pressures per step."""

    targets: np.ndarray  # (k,) V_t [m^3]
    pressures: np.ndarray  # (k,) p [Pa], changed in place

    def advance(self, problem: IncrementalPotential, x: np.ndarray, poses: np.ndarray) -> None:
        problem.refresh_contacts(x)
        missed = self.targets - volumes(problem.model, x)
        while True:
            space = self.space(problem, x)
            g = space.gradient()
            G = np.stack([space.along(own) for own in volume_gradients(problem.model, x)])
            step, change = self._direction(space, g, G, missed)
            if not self.is_too_long(space, step):
                break
        part = self.held_back(space, step, self._backtrack(space, step, float(g @ step), missed, change))
        x[:], poses[:] = space.moved(part * step)
        self.pressures += part * change
        self.learn(part)

    def _direction(
        self, space: StepSpace, g: np.ndarray, G: np.ndarray, missed: np.ndarray
    ) -> tuple[np.ndarray, np.ndarray]:
        """d (N,) and q (k,), with the true Hessian, if need be with a larger s, else with a positive one."""
        for candidate in self.spaces(space):
            try:
                solve = constrained_solve(candidate.hessian(psd=False), G)
            except NotPositiveDefinite:
                continue
            return _step(solve, g, G, missed)
        H = space.hessian(psd=True)
        H = H + (ROUNDING * H.diagonal().max() * sp.identity(g.size)).asformat(H.format)
        return _step(constrained_solve(H, G), g, G, missed)

    def _backtrack(
        self, space: StepSpace, step: np.ndarray, slope: float, missed: np.ndarray, change: np.ndarray
    ) -> float:
        """Halve the step until the merit falls as its slope promises; how much of it to take, 0 if it never does."""
        problem, work, p = space.problem, space.work, self.pressures
        nu = STEEP * np.maximum(np.abs(p), np.abs(p + change))

        def merit(x: np.ndarray) -> float:
            beyond = volumes(problem.model, x) - self.targets
            return work.energy(problem, x) + float(p @ beyond + nu @ np.abs(beyond))

        before, alpha = merit(space.x), 1.0
        slope += float(p @ missed - nu @ np.abs(missed))
        noise = max(1e-8 * abs(before), work.noise)
        while alpha > 1e-12:
            after = merit(space.moved(alpha * step)[0])
            if after <= before + 1e-4 * alpha * slope or (alpha == 1.0 and abs(slope) <= noise >= after - before):
                return alpha
            alpha /= 2
        return 0.0


def constrained_solve(A: sp.spmatrix, G: np.ndarray) -> Solve:
    """A function that solves A x = b; refused unless A is positive definite among d with G d = 0, G (k, N)."""
    solve, negative = factorise_symmetric(A)
    schur = G @ solve(np.ascontiguousarray(G.T))
    if negative != int((np.linalg.eigvalsh(0.5 * (schur + schur.T)) < 0).sum()):
        raise NotPositiveDefinite
    return solve


def _step(solve: Solve, g: np.ndarray, G: np.ndarray, missed: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    down, out = solve(-g), solve(np.ascontiguousarray(G.T))
    change = np.linalg.solve(G @ out, missed - G @ down)
    return down + out @ change, change

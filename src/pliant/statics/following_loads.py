"""Newton's steps under loads that follow the body, as moments and forces that depend on positions.

Loads f(x) have a stiffness too. With f held at the last positions, an error e of these becomes H^-1 df/dx e, which
grows where loads are as stiff as the softest modes: a strip that a moment bends to a circle swings sideways by ever
more. So a step d solves

    (H - df/dx) d = -g        g with the loads at the last positions

by GMRES (Saad and Schultz 1986) with factors of H, or of what stands in for it, as its preconditioner. df/dx d is a
difference of loads, so that any function will do. The matrix is not symmetric: such loads need have no energy.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

import numpy as np

from pliant.solvers.machinery.factorisation import Solve
from pliant.solvers.machinery.step_space import StepSpace

Loads = Callable[[np.ndarray], np.ndarray]  # (n, 3) [N] at positions (n, 3) [m]

DIFFERENCE = 1e-6  # of the extent: how far vertices are moved to see how loads change
EXACT = 1e-6  # of the right-hand side: what GMRES leaves
MOST = 40  # its iterations
HALF = 0.5  # of the forces out of balance: a whole step that leaves no more is good


def following_step(space: StepSpace, g: np.ndarray, step: np.ndarray, solve: Solve, loads: Loads) -> np.ndarray | None:
    """d (N,), or None where loads do not follow, or it is not downhill under the loads as they are, or not found; step
    (N,) is that with loads held, `solve` what it was found by, g (N,) the gradient.
    """
    from scipy.sparse.linalg import LinearOperator, gmres  # takes a tenth of a second to import

    if not _load_change(space, step, loads).any():
        return None
    H = space.hessian(psd=False)
    matrix = LinearOperator((g.size, g.size), matvec=lambda d: solve(H @ d - _load_change(space, d, loads)))
    d, is_left = gmres(matrix, solve(-g), rtol=EXACT, restart=MOST, maxiter=1)
    return None if is_left or not float(g @ d) < 0 else d


def is_nearer(space: StepSpace, step: np.ndarray, loads: Loads) -> bool:
    """Whether a step (N,) leaves at most half of the forces out of balance, with the loads there."""
    x, poses = space.moved(step)
    there = replace(space.problem, poses=poses)
    g = there.project(there.gradient(x) - (loads(x) - loads(space.x)))
    return there.residual_of(g) <= HALF * space.problem.residual(space.x)


def _load_change(space: StepSpace, step: np.ndarray, loads: Loads) -> np.ndarray:
    """df/dx d (N,) along the unknowns, for d = step (N,)."""
    x = space.x
    way = float(np.abs(space.moved(step)[0] - x).max())
    if way == 0.0:
        return np.zeros_like(step)
    part = DIFFERENCE * float(np.ptp(x, axis=0).max()) / way
    ahead, behind = loads(space.moved(part * step)[0]), loads(space.moved(-part * step)[0])
    return space.along((ahead - behind) / (2 * part))

"""Whether an equilibrium is a minimum of the energy, among shapes of the same volume where that is prescribed.

A straight column beyond its buckling load is none.
"""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from pliant.energies import IncrementalPotential
from pliant.model.volume import volume_gradients
from pliant.solvers import Execution
from pliant.solvers.machinery.assembly import build_assembly
from pliant.solvers.machinery.factorisation import NotPositiveDefinite, factorise
from pliant.solvers.machinery.step_space import step_space
from pliant.sparse import sp
from pliant.statics.volume_descent import constrained_solve

ROUNDING = 1e-8  # of the largest stiffness: what is more negative than that is no rounding


def is_stable(problem: IncrementalPotential) -> bool:
    """Whether the Hessian at the problem's positions has no negative eigenvalue, but for rounding."""
    x = problem.x_prev
    still = replace(problem.with_contacts_at(x), h=1e6)  # held directions have their inertia alone
    space = step_space(still, x, build_assembly(still, Execution("double", 0)))
    H = space.hessian(psd=False)
    H = H + (ROUNDING * float(np.abs(H.diagonal()).max()) * sp.identity(H.shape[0])).asformat(H.format)
    try:
        if problem.model.volume_controls:
            constrained_solve(H, np.stack([space.along(own) for own in volume_gradients(problem.model, x)]))
        else:
            factorise(H)
    except NotPositiveDefinite:
        return False
    return True

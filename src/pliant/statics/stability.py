"""Whether an equilibrium is a minimum of the energy. A straight column beyond its buckling load is none."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import scipy.sparse as sp

from pliant.energies import IncrementalPotential
from pliant.solvers import Execution
from pliant.solvers.machinery.assembly import build_assembly
from pliant.solvers.machinery.factorisation import NotPositiveDefinite, factorise
from pliant.solvers.machinery.step_space import step_space

ROUNDING = 1e-8  # of the largest stiffness: what is more negative than that is no rounding


def is_stable(problem: IncrementalPotential) -> bool:
    """Whether the Hessian at the problem's positions has no negative eigenvalue, but for rounding."""
    x = problem.x_prev
    still = replace(problem.with_contacts_at(x), h=1e6)  # held directions have their inertia alone
    H = step_space(still, x, build_assembly(still, Execution("double", 0))).hessian(psd=False)
    shift = ROUNDING * float(np.abs(H.diagonal()).max())
    try:
        factorise(H + (shift * sp.identity(H.shape[0])).asformat(H.format))
    except NotPositiveDefinite:
        return False
    return True

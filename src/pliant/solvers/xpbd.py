"""Extended position-based dynamics (Macklin, Mueller and Chentanez 2016) for stable neo-Hookean solids.

It does not minimise the step's potential.  Its iterations end where C + a lambda = 0 for every constraint C with
compliance a and multiplier lambda, and  x = y + h^2 M^-1 sum lambda grad C  with the gradients of the iterations in
which lambda grew.  They differ from those at the end by O(h^2), so a converged step differs from implicit Euler's by
O(h^4).
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from pliant.energies import IncrementalPotential
from pliant.errors import SolverError
from pliant.kernels.element_packs import spread_over_packs
from pliant.kernels.projection_source import ConstraintSource
from pliant.kernels.two_constraints import constraint_numbers, constraint_source
from pliant.materials import StableNeoHookean
from pliant.model import Solids
from pliant.solvers.iterate import Execution
from pliant.solvers.options import check_count
from pliant.solvers.projection_options import check_projection
from pliant.solvers.projection_tables import (
    Constraints,
    Layout,
    ProjectionTables,
    build_projection,
    lay_out,
    movable,
    relaxations,
)


@dataclass(frozen=True)
class XPBD:
    """Extended position-based dynamics: elements corrected one after another, each with two multipliers.

    iterations: over all elements a step. One iteration in many small steps often serves better (Macklin et al. 2019):
        raise the simulation's substeps.
    mode: "gauss-seidel", by colours of elements, or "jacobi", all at once.
    relaxation: part of a correction that is made, in (0, 2); Jacobi divides it by the number of elements at a vertex.

    It takes stable neo-Hookean solids, whose energy is that of two constraints with compliance (kernels.
    two_constraints); the multipliers start each step at zero, the positions at the inertial target, whatever x0 is.
    Damping is XPBD's own (its Equation 26) with beta = k_d / compliance: it acts on the two constraints.
    Deviation: for other solvers k_d scales the vertex blocks of the elastic Hessian, so the same k_d damps otherwise.
    """

    iterations: int = 20
    mode: str = "gauss-seidel"
    relaxation: float = 1.0

    start = "accelerated"  # the inertial target
    minimises_potential = False

    def __post_init__(self) -> None:
        check_count(self.iterations, "XPBD: iterations")
        check_projection("XPBD", self.mode, self.relaxation)

    def init(self, problem: IncrementalPotential, execution: Execution) -> ProjectionTables:
        """Colour and pack the elements; compile the kernel or find it compiled."""
        model = problem.model
        for solids in model.solids:
            if solids.law is not StableNeoHookean:
                raise SolverError(
                    f"XPBD needs a law in the form of constraints with compliance, and {solids.law.__name__} has none: "
                    "use StableNeoHookean, or pl.GPBD, which takes any law."
                )
        layout = lay_out(problem, execution)
        jacobi, damped = self.mode == "jacobi", bool(model.damping.any())
        source = constraint_source(damped, constrained=bool(((model.subspace > 0) & (model.subspace < 3)).any()))
        constraints = tuple(self._constraints(layout, solids, source, damped) for solids in model.solids)
        return build_projection(layout, execution, "XPBD", constraints, jacobi, needs_start=damped)

    def begin(self, problem: IncrementalPotential, work: ProjectionTables) -> None:
        """Multipliers start at zero."""
        work.begin(problem)

    def sweep(self, problem: IncrementalPotential, x: np.ndarray, work: ProjectionTables, n: int = 1) -> None:
        """n iterations; the first of a step begin at the inertial target, wherever x is."""
        work.sweep(problem, x, n)

    def _constraints(self, layout: Layout, solids: Solids, source: ConstraintSource, damped: bool) -> Constraints:
        moving = movable(layout, solids.tets)
        tets = solids.tets[moving]
        mu, lam = solids.parameters[moving].T
        packs, corners = layout.pack(tets)
        share = relaxations(layout, solids.tets, self.relaxation, self.mode == "jacobi")[moving]
        numbers = constraint_numbers(solids.gradients[moving], solids.volumes[moving], mu, lam + mu, share)
        if damped:
            numbers = np.column_stack([numbers, layout.model.damping[tets[:, 0]] / layout.h])
        memory = np.zeros(2 * packs.element.size, layout.dtype)
        return Constraints(source, packs, corners, spread_over_packs(packs, numbers, layout.dtype), memory)

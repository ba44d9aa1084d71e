"""Extended position-based dynamics (Macklin, Mueller and Chentanez 2016) for springs, bending and solids.

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
from pliant.kernels.sheet_constraints import sheet_numbers, sheet_source
from pliant.kernels.two_constraints import constraint_numbers, constraint_source
from pliant.materials import StableNeoHookean, StVenantKirchhoff
from pliant.model import Block, Sheets, Solids
from pliant.solvers.contract import Capabilities, Execution, Solver, SweepResult, check_count, register_solver
from pliant.solvers.machinery.projection_options import check_projection
from pliant.solvers.machinery.projection_tables import (
    Constraints,
    Layout,
    ProjectionTables,
    build_projection,
    lay_out,
    movable,
)
from pliant.solvers.machinery.scalar_blocks import scalar_constraints


@register_solver
@dataclass(frozen=True)
class XPBD(Solver[ProjectionTables]):
    """Extended position-based dynamics: elements corrected one after another.

    iterations: over all elements per step. One iteration in many small steps often serves better (Macklin et al. 2019):
        raise the simulation's substeps.
    mode: "gauss-seidel", by colours of elements, or "jacobi", all at once.
    relaxation: part of a correction that is made, in (0, 2); Jacobi divides it by the number of elements at a vertex.

    It takes springs, hinges, rod bends, yarns, walls, stable neo-Hookean solids, whose energy is that of two
    constraints with compliance (kernels.two_constraints), St. Venant-Kirchhoff sheets (kernels.sheet_constraints), and
    contact with friction (kernels.contact_projection). The multipliers start each step at zero, the positions at the
    inertial target, whatever x0 is.
    Damping is XPBD's own (its Equation 26) with beta = k_d / compliance: it acts on the rates of the constraints,
    linearised, so that a turn is damped a little, by its square.
    Deviation: friction holds what sticks; other solvers let it creep below friction_speed.
    Deviation: for other solvers k_d scales the vertex blocks of the elastic Hessian, so the same k_d damps otherwise.
    """

    iterations: int = 20
    mode: str = "gauss-seidel"
    relaxation: float = 1.0

    start = "accelerated"  # the inertial target
    capabilities = Capabilities(
        "satisfy", contact=True, particles=True, vertex_block_damping=False, quadratic_bending=False
    )

    def __post_init__(self) -> None:
        check_count(self.iterations, "XPBD: iterations")
        check_projection("XPBD", self.mode, self.relaxation)

    def init(self, problem: IncrementalPotential, execution: Execution) -> ProjectionTables:
        """Colour and pack the elements; compile the kernel or find it compiled."""
        layout = lay_out(problem, execution)
        constraints = tuple(self._constraints(layout, block) for block in layout.blocks)
        return build_projection(layout, execution, "XPBD", constraints, self.mode == "jacobi")

    def begin_step(self, problem: IncrementalPotential, work: ProjectionTables) -> None:
        """Multipliers start at zero."""
        work.begin_step(problem)

    def update_contacts(self, problem: IncrementalPotential, work: ProjectionTables) -> None:
        """Load what was detected within a step."""
        work.update_contacts(problem)

    def sweep(self, problem: IncrementalPotential, x: np.ndarray, work: ProjectionTables, n: int = 1) -> SweepResult:
        """n iterations; the first of a step begin at the inertial target, wherever x is."""
        work.sweep(problem, x, n)
        return SweepResult(n)

    def _constraints(self, layout: Layout, block: Block) -> Constraints:
        jacobi = self.mode == "jacobi"
        if not isinstance(block, Solids | Sheets):
            return scalar_constraints(layout, block, "XPBD", self.relaxation, jacobi)
        needed = StableNeoHookean if isinstance(block, Solids) else StVenantKirchhoff
        if block.law is not needed:
            kind = "solids" if isinstance(block, Solids) else "sheets"
            raise SolverError(
                f"XPBD needs a law in the form of constraints with compliance, and {block.law.__name__} of {kind} has "
                f"none: use {needed.__name__}, or pl.GPBD, which takes any law."
            )
        moving = movable(layout, block.elements)
        elements = block.elements[moving]
        placed = layout.place(elements, self.relaxation, jacobi, are_tets=isinstance(block, Solids))
        gradients = placed.of_corners(block.gradients[moving])
        mu, lam = placed.of_elements(block.parameters[moving]).T
        flags = (layout.is_damped, layout.is_constrained)
        if isinstance(block, Solids):
            volumes = placed.of_elements(block.volumes[moving])
            numbers = constraint_numbers(gradients, volumes, mu, lam + mu, placed.share)
            source, multipliers = constraint_source(*flags), 2
        else:
            numbers = sheet_numbers(gradients, placed.of_elements(block.areas[moving]), mu, lam, placed.share)
            source, multipliers = sheet_source(*flags), 3
        if layout.is_damped:
            rates = layout.model.damping[elements[:, 0]] / layout.h
            numbers = np.column_stack([numbers, placed.of_elements(rates)])
        memory = np.zeros(multipliers * placed.packs.element.size, layout.dtype)
        spread = spread_over_packs(placed.packs, numbers, layout.dtype)
        return Constraints(source, placed.packs, placed.corners, spread, memory)

"""Generalised position-based dynamics (Chaudhary, Pokhariya and Narain): any law, one element after another.

Every element i keeps the displacement d_i its force has caused, so that x = y + sum_i d_i, and solves (Equation 19)

    min over delta lambda of  1/2 |d_i + W S_i^T delta lambda|^2_(W^-1) + U_i(x + W S_i^T delta lambda),   W = h^2 M^-1,

for Green's strain s_i with S_i = ds_i/dx.  It does not minimise the step's potential.  Its iterations end where
S_i (d_i + W grad U_i(x)) = 0 for every element, while d_i itself was collected along directions S_i of earlier
iterations: like XPBD's, a converged step differs from implicit Euler's by O(h^4).
"""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np

from pliant.energies import IncrementalPotential
from pliant.errors import DeviceError, SolverError
from pliant.kernels.element_packs import spread_over_packs
from pliant.kernels.sheet_strain import sheet_frame_numbers
from pliant.kernels.strain_frame import frame_numbers
from pliant.kernels.strain_source import StrainOptions
from pliant.kernels.yarn_strain import yarn_numbers
from pliant.materials.calculus import law_code
from pliant.model import Block, Model, Sheets, Solids, YarnTriangles
from pliant.solvers.contract import Capabilities, Execution, Solver, SweepResult, check_count, register_solver
from pliant.solvers.machinery.projection_options import check_projection
from pliant.solvers.machinery.projection_tables import (
    Constraints,
    Layout,
    ProjectionWork,
    build_projection,
    lay_out,
    movable,
)
from pliant.solvers.machinery.scalar_blocks import scalar_constraints


@register_solver
@dataclass(frozen=True)
class GPBD(Solver[ProjectionWork]):
    """Generalised position-based dynamics.

    iterations: over all elements per step (the paper's i_G).
    mode: "gauss-seidel", by colours of elements, or "jacobi", all at once, as the paper does, and as on an
        OpenCL device (docs/device.md).
    relaxation: part of a correction that is made, in (0, 2); Jacobi divides it by the number of elements at a vertex.
        Nearly incompressible bodies (Poisson's ratio above 0.49) in large steps want Jacobi, or half of a correction:
        whole corrections one after another overshoot, and the body shakes or collapses.
    newton_iterations: at most so many for each element (i_N); it stops earlier when its strain changes no more.
    line_search: halve an element's step until its energy does not rise. A law with a barrier needs it.

    An inverted element of a law with a barrier is first turned right side out (Section 4.1), so any start will do.
    Positions begin each step at the inertial target, whatever x0 is.  It takes solids and sheets of any law and yarn
    cloth, whose strains are six (Section 4.2; kernels.yarn_strain); springs, hinges, rod bends, yarns, walls and
    contact, also of particles, whose energies are quadratic in a constraint, are projected as in XPBD (Section 3.2),
    friction as there.  It has neither damping nor vertices held to a line or a plane.
    """

    iterations: int = 20
    mode: str = "gauss-seidel"
    relaxation: float = 1.0
    newton_iterations: int = 1
    line_search: bool = True

    start = "accelerated"  # the inertial target
    capabilities = Capabilities(
        "satisfy",
        contact=True,
        particles=True,
        any_guess=True,
        strain_rate_damping=False,
        vertex_block_damping=False,
        quadratic_bending=False,
        device=True,
    )

    def __post_init__(self) -> None:
        check_count(self.iterations, "GPBD: iterations")
        check_count(self.newton_iterations, "GPBD: newton_iterations")
        check_projection("GPBD", self.mode, self.relaxation)

    @property
    def supports(self) -> Capabilities:
        """On a device, Jacobi alone."""
        return replace(self.capabilities, device=self.mode == "jacobi")

    def init(self, problem: IncrementalPotential, execution: Execution) -> ProjectionWork:
        """Colour and pack the elements; compile the kernel or find it compiled."""
        self._check(problem.model)
        if execution.device is not None:
            return self._init_on_device(problem, execution)
        layout = lay_out(problem, execution)
        constraints = tuple(self._constraints(layout, block) for block in layout.blocks)
        return build_projection(layout, execution, "GPBD", constraints, self.mode == "jacobi")

    def _init_on_device(self, problem: IncrementalPotential, execution: Execution) -> ProjectionWork:
        from pliant.solvers.machinery.device_projection import build_device_projection

        self._check_device()
        return build_device_projection(problem, execution, self._constraints)

    def _check_device(self) -> None:
        if self.mode != "jacobi":
            raise DeviceError(
                f'GPBD: mode="{self.mode}" does not run on an OpenCL device, where all elements are corrected at once: '
                'use mode="jacobi", or device="cpu".'
            )

    def device_source(self, problem: IncrementalPotential, precision: str = "single", language: str = "opencl") -> str:
        from pliant.solvers.machinery.device_projection import projection_text

        self._check_device()
        return projection_text(problem, precision, language, self._constraints)

    def begin_step(self, problem: IncrementalPotential, work: ProjectionWork) -> None:
        """No element has moved anything yet."""
        work.begin_step(problem)

    def update_contacts(self, problem: IncrementalPotential, work: ProjectionWork) -> None:
        """Load what was detected within a step."""
        work.update_contacts(problem)

    def sweep(self, problem: IncrementalPotential, x: np.ndarray, work: ProjectionWork, n: int = 1) -> SweepResult:
        """n iterations; the first of a step begin at the inertial target, wherever x is."""
        work.sweep(problem, x, n)
        return SweepResult(n)

    def _check(self, model: Model) -> None:
        constrained = np.flatnonzero((model.subspace > 0) & (model.subspace < 3))
        if len(constrained):
            raise SolverError(
                f"GPBD cannot hold vertices to a line or a plane, as {model.describe_vertex(int(constrained[0]))} is: "
                "pin them, or use pl.XPBD or pl.VBD."
            )
        for solids in model.solids:
            if law_code(solids.law).has_barrier and not self.line_search:
                raise SolverError(
                    f"GPBD without line_search may step across the barrier of {solids.law.__name__}: set "
                    "line_search=True, or use StableNeoHookean."
                )

    def _constraints(self, layout: Layout, block: Block) -> Constraints:
        jacobi = self.mode == "jacobi"
        if isinstance(block, YarnTriangles):
            return self._yarn_constraints(layout, block, jacobi)
        if not isinstance(block, Solids | Sheets):
            return scalar_constraints(layout, block, "GPBD", self.relaxation, jacobi)
        code = law_code(block.law)
        moving = movable(layout, block.elements)
        elements = block.elements[moving]
        placed = layout.place(elements, self.relaxation, jacobi, are_tets=isinstance(block, Solids))
        parameters, gradients = placed.of_elements(block.parameters[moving]), placed.of_corners(block.gradients[moving])
        inverse_mass = layout.inverse_mass[placed.of_corners(elements)]
        tolerance = float(np.sqrt(np.finfo(layout.dtype).eps))  # the next step would be at rounding
        options = StrainOptions(self.newton_iterations, self.line_search, tolerance)
        if isinstance(block, Solids):
            source = layout.sources.tets(code, parameters.shape[1], options)
            volumes = placed.of_elements(block.volumes[moving])
            numbers = frame_numbers(gradients, inverse_mass, volumes, placed.share)
        else:
            source = layout.sources.triangles(code, parameters.shape[1], options)
            areas = placed.of_elements(block.areas[moving])
            numbers = sheet_frame_numbers(gradients, inverse_mass, areas, placed.share)
        numbers = spread_over_packs(placed.packs, np.column_stack([numbers, parameters]), layout.dtype)
        memory = np.zeros(3 * gradients.shape[2] * placed.packs.element.size, layout.dtype)  # D
        return Constraints(source, placed.packs, placed.corners, numbers, memory)

    def _yarn_constraints(self, layout: Layout, block: YarnTriangles, jacobi: bool) -> Constraints:
        """Triangles of yarn cloth with their neighbours."""
        moving = np.flatnonzero(movable(layout, block.elements))
        placed = layout.place(block.elements[moving], self.relaxation, jacobi)
        numbers = yarn_numbers(block, placed.of_elements(moving), placed.share)
        source = layout.sources.yarn_triangles(self.newton_iterations, self.line_search, jacobi)
        memory = np.zeros(18 * placed.packs.element.size, layout.dtype)  # d
        numbers = spread_over_packs(placed.packs, numbers, layout.dtype)
        shared = {"table": block.material.table(layout.dtype)}
        return Constraints(source, placed.packs, placed.corners, numbers, memory, shared)

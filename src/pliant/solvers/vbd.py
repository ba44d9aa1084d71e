"""Vertex block descent (Chen et al. 2024): Gauss-Seidel over vertices, each moved to the minimum of its own local
energy.

This is Algorithm 1; contacts are detected by the simulation and loaded here.  The loop over iterations, colours and
vertices is compiled (kernels.sweep_source); `vbd_reference` is the same in plain NumPy.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from pliant.energies import IncrementalPotential
from pliant.errors import DeviceError, SolverError
from pliant.model.tearing import TopologyChange
from pliant.solvers.contract import (
    Capabilities,
    Execution,
    Momentum,
    MomentumSolver,
    SweepResult,
    check_count,
    check_start,
    register_solver,
)
from pliant.solvers.machinery.descent_work import DescentWork
from pliant.solvers.machinery.vbd_tables import build_tables


@register_solver
@dataclass(frozen=True)
class VBD(MomentumSolver[DescentWork]):
    """Vertex block descent.

    iterations: sweeps over all vertices per step.
    start: where the iterations begin (Section 3.7): the "previous" position, "inertial" motion, "accelerated" by
        external forces too, or "adaptive", which takes as much of that acceleration as the last step followed; also
        "extrapolated" and "optimised", as of GradientDescent.
    line_search: halve a vertex's step until its local energy, and so G, does not rise. Costs about as much again.
    psd: make every vertex block positive definite before it is solved.
    """

    iterations: int = 20
    start: str = "adaptive"
    line_search: bool = False
    psd: bool = False

    capabilities = Capabilities(
        "minimise",
        contact=True,
        pressure=True,
        internal_state=True,
        rigid_bodies=True,
        particles=True,
        momentum=True,
        fixed_point=True,
        device=True,
    )

    def __post_init__(self) -> None:
        check_count(self.iterations, "VBD: iterations")
        check_start(self.start, "VBD: start")

    def init(self, problem: IncrementalPotential, execution: Execution) -> DescentWork:
        """Colour, sort and pack the vertices; compile the kernel or find it compiled."""
        if self.line_search and problem.model.carried is not None:
            raise SolverError("VBD: line_search does not support rigid bodies: leave it out, or use Newton.")
        if execution.device is not None:
            if self.line_search:
                raise DeviceError(
                    'VBD: line_search does not run on an OpenCL device yet: leave it out, or use device="cpu".'
                )
            from pliant.solvers.machinery.device_work import build_device_work

            return build_device_work(problem, execution, self.psd)
        return build_tables(problem, execution, self.line_search, self.psd)

    def device_source(self, problem: IncrementalPotential, precision: str = "single", language: str = "opencl") -> str:
        from pliant.solvers.machinery.device_work import scene_source

        return scene_source(problem, precision, language, psd=self.psd)

    def begin_step(self, problem: IncrementalPotential, work: DescentWork) -> None:
        """Load the step's inertial target and other numbers, and measure its damping."""
        work.begin_step(problem)

    def update_contacts(self, problem: IncrementalPotential, work: DescentWork) -> None:
        """Load what was detected last, within a step."""
        work.update_contacts(problem)

    def moves_bound_error(self, work: DescentWork) -> bool:
        return not self.line_search  # which cuts motions short

    def update_topology(self, problem: IncrementalPotential, work: DescentWork, change: TopologyChange) -> bool:
        """Take up a torn scene without building all tables again; whether there was room for it."""
        return work.update_topology(problem, change)

    def sweep(
        self,
        problem: IncrementalPotential,
        x: np.ndarray,
        work: DescentWork,
        n: int = 1,
        momentum: Momentum | None = None,
    ) -> SweepResult:
        """n iterations; with momentum each is carried on by Equation 18."""
        work.iterate(problem, x, n, momentum)
        return SweepResult(n)

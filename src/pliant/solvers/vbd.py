"""Vertex block descent (Chen et al. 2024): Gauss-Seidel over vertices, each moved to the minimum of its own local
energy.

This is Algorithm 1 without contact.  The loop over iterations, colours and vertices is compiled
(kernels.sweep_source); `vbd_reference` is the same in plain NumPy.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from pliant.energies import IncrementalPotential
from pliant.kernels.transfer import from_rows, to_lanes, to_rows
from pliant.solvers.iterate import Execution
from pliant.solvers.options import check_count, check_start
from pliant.solvers.vbd_tables import Tables, build_tables


@dataclass(frozen=True)
class VBD:
    """Vertex block descent.

    iterations: sweeps over all vertices a step.
    start: where the iterations begin (Section 3.7): "previous" position, "inertial" motion, "accelerated" by gravity
    too, or "adaptive",
        which takes as much of gravity as the last step followed.
    line_search: halve a vertex's step until its local energy, and so G, does not rise. Costs about as much again.
    psd: make every vertex block positive definite before it is solved.
    """

    iterations: int = 20
    start: str = "adaptive"
    line_search: bool = False
    psd: bool = False

    accepts_momentum = True  # sweep takes Chebyshev's factors

    def __post_init__(self) -> None:
        check_count(self.iterations, "VBD: iterations")
        check_start(self.start, "VBD: start")

    def init(self, problem: IncrementalPotential, execution: Execution) -> Tables:
        """Colour, sort and pack the vertices; compile the kernel or find it compiled."""
        return build_tables(problem, execution, self.line_search, self.psd)

    def begin(self, problem: IncrementalPotential, work: Tables) -> None:
        """Load the step's inertial target and other numbers, and measure its damping."""
        packs, target = work.packs, problem.y
        if problem.viscous_pull is not None:  # a constant force moves the minimum of the inertia
            target = target + problem.viscous_pull / problem.inertia[:, None]
        for k, refresh in work.refreshes:
            refresh(problem.blocks[k])
        to_lanes(target, packs.vertex_of_row, packs.is_wide, packs.width, work.vertices.target)
        work.momentum_is_fresh = True
        if work.contacts is not None:
            work.contacts.begin(problem.x_start)
            self.take_contacts(problem, work)
        if work.is_damped:
            work.load_memory(problem.model)
            to_lanes(problem.x_start, packs.vertex_of_row, packs.is_wide, packs.width, work.vertices.start)
            to_rows(problem.x_start, packs.vertex_of_row, packs.is_wide, packs.width, work.x)
            work.team.run(work.module.measure_damping, work.x, work.vertices, *work.tables)

    def take_contacts(self, problem: IncrementalPotential, work: Tables) -> None:
        """Take up what was detected last, in the middle of a step."""
        if work.contacts is not None:
            work.contacts.load(problem.contacts)

    def sweep(
        self, problem: IncrementalPotential, x: np.ndarray, work: Tables, n: int = 1, omegas: np.ndarray | None = None
    ) -> None:
        """n iterations; with omegas (n,) each is carried on by Equation 18."""
        packs = work.packs
        to_rows(x, packs.vertex_of_row, packs.is_wide, packs.width, work.x)
        work.load_memory(problem.model)
        if omegas is None:
            omegas, memory = np.ones(n), (work.no_rows, work.no_rows)
        else:
            memory = work.momentum()
        arrays = (work.singular, work.x, work.vertices, *work.tables)
        work.team.run(work.module.sweep, work.shares, omegas, *memory, *arrays)
        from_rows(work.x, packs.row_of_vertex, x)
        work.save_memory(problem.model)

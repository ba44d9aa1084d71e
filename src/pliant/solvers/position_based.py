"""Position based dynamics with hard constraints (Francu and Moldoveanu, Equations 18 to 25)."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from pliant.constraints.one_row import Scheme
from pliant.constraints.problem import RESIDUAL
from pliant.constraints.rows import NO_FRICTION
from pliant.energies import IncrementalPotential
from pliant.relaxations import ImprovedJacobi, Relaxation
from pliant.solvers.contract import Execution, Solver, SweepResult, register_solver
from pliant.solvers.machinery.constraint_options import FRICTIONS, HARD_CONSTRAINTS, check_options
from pliant.solvers.machinery.constraint_work import ConstraintWork, Options
from pliant.solvers.machinery.device_rows import rows_source


@register_solver
@dataclass(frozen=True)
class PositionBased(Solver[ConstraintWork]):
    """Positions that satisfy the constraints, whose directions follow the iterations. For grains, rigid bodies, springs
    and cloth.

    relaxation: how impulses are found: pl.ImprovedJacobi(), pl.Jacobi(), pl.GaussSeidel(), pl.ImprovedGaussSeidel(),
        pl.MinimumResidual(), pl.ConjugateResiduals(), or the name of one.
    iterations: per step.
    friction: "cone", or "pyramid" of four sides; it acts in one pass at the end of a step (Section 5), and is weak.
    margin: gap below which spheres are in contact, as a part of the smallest radius.
    sleep_speed: [m/s] particles that have been slower for a quarter of a second, and touch nothing but others of the
        kind and obstacles at rest, are left out until something touches or disturbs them; 0: none (grains.sleeping).
    shear, bend: stiffness of cloth from 0 to 1, as a part of the error that a step removes (Section 8.2).

    Contacts are hard: Contact.stiffness and friction_speed are not used, nor are the laws of cloth, which keeps its
    lengths. Springs keep their stiffness.
    """

    relaxation: Relaxation = ImprovedJacobi()  # noqa: RUF009
    iterations: int = 15
    friction: str = "cone"
    margin: float = 0.1
    sleep_speed: float = 0.0
    shear: float = 0.9
    bend: float = 0.1

    start = "accelerated"
    residual_definition = RESIDUAL
    capabilities = HARD_CONSTRAINTS

    def __post_init__(self) -> None:
        check_options(self, "margin", "shear", "bend")

    def init(self, problem: IncrementalPotential, execution: Execution) -> ConstraintWork:
        """Distances of springs and cloth, cells for spheres."""
        about = (self.iterations, self.margin, self.shear, self.bend, self.relaxation, self.sleep_speed)
        return ConstraintWork("PositionBased", problem, execution, Options(*about))

    def begin_step(self, problem: IncrementalPotential, work: ConstraintWork) -> None:
        """Detect contacts, and pose the step."""
        scheme = self._scheme(problem.h, bool(work.turns.any()))._replace(friction=NO_FRICTION)
        work.begin_step(problem, scheme, self.iterations, 1.0, 0.0, self.relaxation)

    def device_source(self, problem: IncrementalPotential, precision: str = "single", language: str = "opencl") -> str:
        scheme = self._scheme(problem.h, False)._replace(friction=NO_FRICTION)
        return rows_source("PositionBased", problem.model, self.relaxation, scheme, precision, language)

    def sweep(self, problem: IncrementalPotential, x: np.ndarray, work: ConstraintWork, n: int = 1) -> SweepResult:
        """n iterations; x is what the velocities lead to, wherever it was."""
        work.iterate(self.relaxation, n)
        work.finish(problem, x, self._scheme(problem.h, bool(work.turns.any())))
        return SweepResult(n)

    def measure_residual(self, problem: IncrementalPotential, x: np.ndarray, work: ConstraintWork) -> float:
        """See residual_definition [m/s]."""
        return work.solved.residual()

    def _scheme(self, h: float, has_spin: bool) -> Scheme:
        """With the friction that acts at the end."""
        return Scheme(h, True, 0.0, 1.0, FRICTIONS[self.friction], False, has_spin)

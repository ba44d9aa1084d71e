"""Sequential Positions (Francu and Moldoveanu, Algorithm 1)."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from pliant.constraints.one_row import Scheme
from pliant.constraints.problem import RESIDUAL
from pliant.energies import IncrementalPotential
from pliant.errors import SolverError
from pliant.relaxations import ImprovedJacobi, Relaxation
from pliant.solvers.contract import Execution, Solver, SweepResult, check_count, register_solver
from pliant.solvers.machinery.constraint_options import FRICTIONS, HARD_CONSTRAINTS, check_options
from pliant.solvers.machinery.constraint_work import ConstraintWork, Ending, Options
from pliant.solvers.machinery.device_rows import rows_source


@register_solver
@dataclass(frozen=True)
class SequentialPositions(Solver[ConstraintWork]):
    """Positions and velocities together: between position based dynamics and velocity time stepping.

    relaxation: how impulses are found: pl.ImprovedJacobi(), pl.Jacobi(), pl.GaussSeidel(), pl.ImprovedGaussSeidel(),
        pl.MinimumResidual(), pl.ConjugateResiduals(), or the name of one.
    iterations: per step.
    k_v, k_c: parts of the velocity error and of the position error in a residual; 0 and 1 are position based dynamics.
    velocity_iterations: of the iterations, how many come before positions change (end of Section 6).
    friction: "cone", or "pyramid" of four sides. relaxed_cone: with the term of Equation 40, which makes the problem
        convex and lifts what slides.
    warm_start: part of the impulses of the step before to begin with.
    rounds: iterations are done again, up to so many times in all, in a step in which an overlap still grows by more
        than a hundredth of the distance to be kept, as at impacts. 1: never.
    settling: iterations after positions are found, in which velocities lose what only pushed overlaps apart; 0: none,
        as in the paper, and overlaps become speed.
    margin: gap below which spheres are in contact, as a part of the smallest radius.
    sleep_speed: [m/s] particles that have been slower for a quarter of a second, and touch nothing but others of the
        kind and obstacles at rest, are left out until something touches or disturbs them; 0: none (grains.sleeping).
    shear, bend: stiffness of cloth from 0 to 1, as a part of the error that a step removes (Section 8.2).

    Deviation: friction rows have the whole tangential velocity as residual; k_v of it would hardly hold anything.
    Contacts are hard: Contact.stiffness and friction_speed are not used, nor are the laws of cloth, which keeps its
    lengths. Springs keep their stiffness.
    """

    relaxation: Relaxation = ImprovedJacobi()  # noqa: RUF009
    iterations: int = 15
    k_v: float = 0.1
    k_c: float = 1.0
    velocity_iterations: int = 0
    friction: str = "cone"
    relaxed_cone: bool = False
    warm_start: float = 0.5
    rounds: int = 4
    settling: int = 5
    margin: float = 0.1
    sleep_speed: float = 0.0
    shear: float = 0.9
    bend: float = 0.1

    start = "accelerated"
    residual_definition = RESIDUAL
    capabilities = HARD_CONSTRAINTS

    def __post_init__(self) -> None:
        check_options(self, "k_v", "k_c", "warm_start", "margin", "shear", "bend")
        if self.k_v + self.k_c == 0:
            raise SolverError("SequentialPositions: k_v and k_c are both 0: give one of them a value up to 1.")
        check_count(self.rounds, "SequentialPositions: rounds")
        check_count(self.settling, "SequentialPositions: settling", least=0)
        check_count(self.velocity_iterations, "SequentialPositions: velocity_iterations", least=0)

    def init(self, problem: IncrementalPotential, execution: Execution) -> ConstraintWork:
        """Distances of springs and cloth, cells for spheres."""
        about = (self.iterations, self.margin, self.shear, self.bend, self.relaxation, self.sleep_speed)
        return ConstraintWork("SequentialPositions", problem, execution, Options(*about))

    def begin_step(self, problem: IncrementalPotential, work: ConstraintWork) -> None:
        """Detect contacts, and pose the step."""
        scheme = self._scheme(problem.h, bool(work.turns.any()))
        ending = Ending(self.relaxation, self.rounds, self.settling)
        work.begin_step(problem, scheme, self.iterations, self.k_c, self.warm_start, self.relaxation, ending)

    def _scheme(self, h: float, has_spin: bool) -> Scheme:
        parts = (float(self.k_v), float(self.k_c))
        return Scheme(h, True, *parts, FRICTIONS[self.friction], self.relaxed_cone, has_spin)

    def device_source(self, problem: IncrementalPotential, precision: str = "single", language: str = "opencl") -> str:
        return rows_source(
            "SequentialPositions", problem.model, self.relaxation, self._scheme(problem.h, False), precision, language
        )

    def sweep(self, problem: IncrementalPotential, x: np.ndarray, work: ConstraintWork, n: int = 1) -> SweepResult:
        """n iterations; x is what the velocities lead to, wherever it was."""
        before = min(n, max(0, self.velocity_iterations - work.posed.done))
        if before:
            moving = work.posed.scheme
            work.posed.scheme = moving._replace(is_moving=False)
            work.iterate(self.relaxation, before)
            work.posed.scheme = moving
        if n > before:
            work.iterate(self.relaxation, n - before)
        work.finish(problem, x, None)
        return SweepResult(n)

    def measure_residual(self, problem: IncrementalPotential, x: np.ndarray, work: ConstraintWork) -> float:
        """See residual_definition [m/s]."""
        return work.solved.residual()

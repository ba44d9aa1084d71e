"""`Simulation.diagnose`: a page on time scales, stiffness, meshes and convergence of a scene as it is now."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from pliant.convergence import CAUSES, causes
from pliant.energies import IncrementalPotential
from pliant.geometry.quality import dihedral_angles, radius_ratios
from pliant.materials import LameLaw
from pliant.model import Body, Solid
from pliant.solvers import Execution, Solver
from pliant.solvers.contract import StepError
from pliant.solvers.contract.error import CONVERGED, ErrorMeter
from pliant.trials import Trials, percent

POOR = 5.0  # degrees: a smaller dihedral angle makes a tet much stiffer than its neighbours


@dataclass(frozen=True)
class BodyDiagnosis:
    """One body in the next step."""

    name: str
    vertices: int
    error: float  # compared with the step's forces
    rate: float  # part of the error that an iteration leaves
    stiffness_ratio: float  # h^2 k / m of its elements
    contact_ratio: float  # of its contacts
    cause: str  # what of it is off, if it has not converged
    step_number: float | None = None  # h^2 mu / (density dx^2), of solids with a shear modulus
    transit: float | None = None  # [s] of a pressure wave through an edge
    smallest_angle: float | None = None  # [degrees] between two faces of a tet
    worst_shape: float | None = None  # of a tet, 1 if regular

    def lines(self, h: float) -> list[str]:
        """In words."""
        state = "converged" if self.error <= CONVERGED else f"not converged: {self.cause}"
        said = [
            f"{self.name}: {self.vertices:,} vertices, {state}",
            f"  error {percent(self.error)} of the step's forces; an iteration leaves {self.rate:.3f} of it",
            f"  stiffness against inertia, h^2 k / m: {self.stiffness_ratio:.3g} by elements, {self.contact_ratio:.3g} "
            "by contacts",
        ]
        if self.transit is not None:
            said.append(
                f"  a pressure wave passes an edge in {self.transit:.2g} s, {h / self.transit:.2g} edges per step; "
                f"h^2 mu / (density dx^2) = {self.step_number:.3g}"
            )
        if self.smallest_angle is not None:
            poor = " (slivers: they slow iterations)" if self.smallest_angle < POOR else ""
            said.append(
                f"  mesh: smallest dihedral angle {self.smallest_angle:.1f} degrees, worst shape "
                f"{self.worst_shape:.2f} of 1{poor}"
            )
        return said


@dataclass(frozen=True)
class Diagnosis:
    """What `Simulation.diagnose` found; print it."""

    h: float  # [s]
    solver: str
    iterations: int  # that the step took
    reason: str
    converged: bool
    error: float  # the largest of the bodies'
    bodies: tuple[BodyDiagnosis, ...]
    advice: tuple[str, ...]

    def __str__(self) -> str:
        worst = sorted(self.bodies, key=lambda body: -body.error)
        head = f"The next step, h = {self.h:.4g} s, {self.solver}: {self.reason}. Largest error {percent(self.error)}."
        lines = [head, *(line for body in worst[:8] for line in body.lines(self.h))]
        if len(worst) > 8:
            lines.append(f"and {len(worst) - 8} more bodies with smaller errors")
        return "\n".join([*lines, *self.advice])


def diagnosed(
    problem: IncrementalPotential,
    bodies: list[Body],
    solver: Solver[Any],
    execution: Execution,
    solver_state: dict[str, Any],
) -> Diagnosis:
    """Solve a copy of a step and look at it."""
    copy, x = problem.with_own_internal_state(), problem.x_guess.copy()
    work = solver.init(copy, execution)
    if solver_state:
        work.load_state_dict(solver_state)
    meter = ErrorMeter(solver, copy, execution.precision)
    solver.begin_step(copy, work)
    meter.begin_step(copy, x, solver.iterations, work)
    result = meter.sweep(copy, x, work, solver.iterations)
    if meter.error is None or (result.ended and not result.converged):
        meter.error = meter.bound(copy, x)
    error = meter.error
    about = tuple(_of_body(problem, body, k, error) for k, body in enumerate(bodies))
    tolerance = solver.asked_tolerance
    converged = result.converged or error.largest <= (CONVERGED if tolerance is None else tolerance)
    advice = () if converged else tuple(Trials().advice(problem, solver, error, execution, problem.time))
    reason = result.ended or f"did all {result.iterations} iterations"
    name = type(solver).__name__
    return Diagnosis(problem.h, name, result.iterations, reason, converged, error.largest, about, advice)


def _of_body(problem: IncrementalPotential, body: Body, k: int, error: StepError) -> BodyDiagnosis:
    numbers: dict[str, float] = {}
    if isinstance(body, Solid):
        points, tets = body.mesh.points, body.mesh.tets
        numbers["smallest_angle"] = float(dihedral_angles(points, tets).min())
        numbers["worst_shape"] = float(radius_ratios(points, tets).min())
        if isinstance(body.material, LameLaw):
            edge = float(np.linalg.norm(points[tets[:, 1]] - points[tets[:, 0]], axis=1).mean())
            mu, lam = float(np.mean(body.material.mu)), float(np.mean(body.material.lam))
            numbers["step_number"] = problem.h**2 * mu / (body.density * edge**2)
            numbers["transit"] = edge / float(np.sqrt((lam + 2 * mu) / body.density))
    count = len(problem.model.vertices_of(k))
    own = (float(error.bodies[k]), float(error.rates[k]), float(error.ratios[k]), float(error.touching[k]))
    return BodyDiagnosis(body.name, count, *own, CAUSES[causes(error)[k]], **numbers)

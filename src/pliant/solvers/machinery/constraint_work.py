"""What the schemes with hard constraints share: a step posed as a ConstraintProblem, its contacts, its impulses."""

from __future__ import annotations

from dataclasses import replace
from typing import Any, NamedTuple

import numpy as np

from pliant.constraints.distances import (
    BEND,
    SHEAR,
    Distances,
    begin_distances,
    cloth_distances,
    fill_distances,
    spring_distances,
)
from pliant.constraints.one_row import Scheme
from pliant.constraints.problem import ConstraintProblem
from pliant.constraints.rows import SPHERE_SPIN, Bodies, empty_rows
from pliant.constraints.sweeps import apply_impulses, deepening, end_corrections, end_passages, friction_at_end
from pliant.constraints.warm_start import Kept, keep_impulses, nothing_kept, restore_impulses
from pliant.contact.response.step_contacts import StepContacts
from pliant.energies import IncrementalPotential
from pliant.errors import SolverError
from pliant.grains.detection import GrainDetector, surface_triangles, vertices_with_thickness
from pliant.grains.overlaps import report_overlaps
from pliant.grains.record import Motion
from pliant.model import FREE, Fibres, FlatFolds, FoldPairs, Hinges, Model, Pairs, Sheets, Springs
from pliant.relaxations import GaussSeidel, Relaxation
from pliant.solvers.contract import Execution, Work
from pliant.solvers.machinery.grain_contacts import grain_step_contacts

FIXED = 0  # dimension of the space in which a held vertex moves
PASSES = 4  # over contacts that are half way through at the end
SETTLER = GaussSeidel()  # momentum would overshoot in so few iterations
DEEPENING = 0.01  # of the sum of two radii: growth of an overlap within a step after which iterations go on


class Ending(NamedTuple):
    """How the iterations of a step end."""

    relaxation: Relaxation
    rounds: int  # of the planned iterations, at most
    settling: int  # iterations in which velocities lose what corrected positions


class ConstraintWork(Work):
    """Rows, bodies and lists of a scene, and what one step hands on to the next."""

    def __init__(
        self, name: str, problem: IncrementalPotential, execution: Execution, iterations: int, tolerance: float,
        stiffness: tuple[float, float],
    ):  # fmt: skip
        model = problem.model
        _check_scene(name, model)
        self.model = model
        self.team = execution.team()
        self.dtype = np.dtype(np.float32 if execution.precision == "single" else np.float64)
        self.distances = _distances(model)
        shear, bend = (1 - (1 - k) ** (1 / iterations) for k in stiffness)
        role = self.distances.role
        factors = np.where(role == SHEAR, shear, np.where(role == BEND, bend, 1.0))
        n, m = model.n_vertices, len(role)
        self.rows = empty_rows(m + 64, self.dtype)
        fill_distances(self.rows, self.distances, factors)
        touches = model.particles is not None or len(vertices_with_thickness(model)) > 0
        has_contacts = touches and model.contact is not None
        self.detector = None
        if has_contacts:
            own = (vertices_with_thickness(model), surface_triangles(model))
            self.detector = GrainDetector(model, tolerance, self.team, *own)
        self.radius = np.ones(n)
        self.turns = np.zeros(n, bool)
        if model.particles is not None:
            self.radius[model.particles.vertices] = model.particles.radius
            self.turns[model.particles.vertices] = model.particles.spins
        spins = n if self.turns.any() else 0
        self.bodies = Bodies(
            np.zeros((n, 3), self.dtype), np.zeros((spins, 3), self.dtype), np.zeros(n, self.dtype),
            np.zeros(n, self.dtype), np.zeros(n, self.dtype), np.zeros(n + 1, np.int32),
            np.zeros(4 * (m + 64), np.int32),
        )  # fmt: skip
        self.kept = nothing_kept()
        self.problem: ConstraintProblem | None = None
        self._scratch = np.zeros(n + 1, np.int64)
        self._h = problem.h
        self._ending: Ending | None = None
        self._before: ConstraintProblem | None = None  # the step as its positions were found

    @property
    def posed(self) -> ConstraintProblem:
        """The step."""
        assert self.problem is not None
        return self.problem

    def begin_step(
        self, problem: IncrementalPotential, scheme: Scheme, planned: int, gamma: float, warm_start: float,
        relaxation: Relaxation, ending: Ending | None = None,
    ) -> None:  # fmt: skip
        """Pose a step: velocities without constraints (Equation 21), contacts, rows, impulses to begin with."""
        self._ending, self._before = ending, None
        self._keep()
        model, h, base = problem.model, problem.h, len(self.distances.pairs)
        self._h = h
        bodies = self.bodies
        is_free = (model.subspace == FREE) & (model.mass > 0)
        if model.particles is not None:
            is_free[model.particles.waiting(problem.time)] = False
        w = np.where(is_free, 1 / np.where(is_free, problem.inertia * h**2, 1.0), 0.0)
        bodies.velocity[:] = (problem.y - problem.x_prev) / h
        bodies.inverse_mass[:] = w
        bodies.inverse_inertia[:] = np.where(self.turns, SPHERE_SPIN * w, 0.0)
        if len(bodies.spin):
            bodies.spin[:] = problem.spins * self.radius[:, None]
        begin_distances(self.rows, self.distances, problem.x_prev, h)
        count = base
        if self.detector is not None:
            motion = Motion(problem.x_prev, problem.y, w, h)
            self.rows, count = self.detector.detect(motion, problem.time, self.rows, base)
        if self.problem is None:
            self.problem = ConstraintProblem(self.rows, count, bodies, scheme, planned, self.team)
            self._report_overlaps(problem, base, count)
        posed = self.problem
        posed.rows, posed.count, posed.scheme, posed.planned = self.rows, count, scheme, planned
        if warm_start > 0:
            order = np.zeros(len(self.kept.first), np.int64)
            restore_impulses(self.rows, base, count, self.kept, float(warm_start), self._scratch, order)
        self.kept = nothing_kept()  # millions of contacts need the room
        posed.prepare(gamma)
        self.bodies = posed.bodies
        if warm_start > 0:
            self.team.run_for(40.0 * count, apply_impulses, self.rows, count, self.bodies, scheme)
        if count:
            relaxation.begin(posed)

    def _report_overlaps(self, problem: IncrementalPotential, base: int, count: int) -> None:
        """Warn of spheres that start in each other."""
        rows, particles = self.rows, problem.model.particles
        if particles is None or problem.time > 0:
            return
        distance = np.einsum("ma,ma->m", rows.normal[base:count], rows.separation[base:count])
        first, second = rows.vertices[base:count, 0], rows.vertices[base:count, 1]
        radii = np.zeros(problem.model.n_vertices)
        radii[particles.vertices] = particles.radius
        reach = radii[first] + np.where(second >= 0, radii[second], 0.0)
        report_overlaps(problem.model, first, reach - distance)

    def iterate(self, relaxation: Relaxation, n: int) -> None:
        """n iterations, if there is anything to do."""
        if self.posed.count:
            relaxation.iterate(self.posed, n)
        else:
            self.posed.done += n

    def finish(self, problem: IncrementalPotential, x: np.ndarray, friction: Scheme | None) -> None:
        """Positions x (n, 3) [m] and spins that the velocities lead to; once all iterations are done, `friction`, if
        given, acts in one pass.
        """
        posed = self.posed
        if posed.done == posed.planned and posed.count and friction is not None:
            self.team.run_for(60.0 * posed.count, friction_at_end, self.rows, posed.count, self.bodies, friction)
        self._write(problem, x)

    def _write(self, problem: IncrementalPotential, x: np.ndarray) -> None:
        moving = self.bodies.inverse_mass > 0
        x[moving] = problem.x_prev[moving] + problem.h * self.bodies.velocity[moving]
        x[~moving] = problem.y[~moving]
        if len(self.bodies.spin):
            problem.spins[:] = self.bodies.spin / self.radius[:, None]

    def end_solve(self, problem: IncrementalPotential, x: np.ndarray) -> int:
        """Go on with iterations, up to `ending.rounds` times the planned ones in all, while an overlap grows by too
        much; then push out what is half way through.
        """
        posed, ending, more = self.posed, self._ending, 0
        if not posed.count:
            return 0
        about = (self.rows, posed.count, self.bodies, posed.scheme)
        while ending is not None and more < (ending.rounds - 1) * posed.planned and deepening(*about) > DEEPENING:
            posed.done = 0
            self.rows.change[: posed.count] = 0.0
            ending.relaxation.iterate(posed, posed.planned)
            more += posed.planned
        end_passages(*about, PASSES)
        self._write(problem, x)
        return more

    def end_step(self, v: np.ndarray, spins: np.ndarray) -> None:
        """Let velocities settle: iterations that correct no positions, so that no overlap becomes speed."""
        posed, bodies, ending = self.posed, self.bodies, self._ending
        if ending is None or not ending.settling or not posed.count:
            return
        solved = bodies._replace(velocity=bodies.velocity.copy(), spin=bodies.spin.copy())
        rows = self.rows._replace(impulse=self.rows.impulse.copy(), bias=self.rows.bias.copy())
        self._before = replace(posed, rows=rows, bodies=solved)
        moving = posed.scheme
        posed.scheme, posed.done, posed.planned = moving._replace(is_moving=False), 0, ending.settling
        end_corrections(self.rows, posed.count)
        SETTLER.begin(posed)
        SETTLER.iterate(posed, ending.settling)
        posed.scheme = moving
        free = bodies.inverse_mass > 0
        v[free] = bodies.velocity[free]
        if len(bodies.spin):
            spins[:] = bodies.spin / self.radius[:, None]

    @property
    def solved(self) -> ConstraintProblem:
        """The step as its positions were found, before velocities settled."""
        return self.posed if self._before is None else self._before

    def step_contacts(self, model: Model, x: np.ndarray, time: float) -> StepContacts | None:
        if self.problem is None:
            return None
        gaps = self.solved.constraint_values()
        return grain_step_contacts(self.problem, gaps, len(self.distances.pairs), model, x, time, self._h)

    def _keep(self) -> None:
        """Keep the impulses of the step before."""
        if self.problem is None:
            return
        base, count = len(self.distances.pairs), self.problem.count
        k = count - base
        self.kept = Kept(np.zeros(k, np.int32), np.zeros(k, np.int32), np.zeros(k), np.zeros((k, 3)), np.zeros(base))
        keep_impulses(self.rows, base, count, self.kept)

    def state_dict(self) -> dict[str, Any]:
        self._keep()
        return {name: array.tolist() for name, array in self.kept._asdict().items()}

    def load_state_dict(self, state: dict[str, Any]) -> None:
        like = nothing_kept()._asdict()
        arrays = {name: np.array(state[name], like[name].dtype).reshape(-1, *like[name].shape[1:]) for name in like}
        self.kept, self.problem, self._before = Kept(**arrays), None, None


def _check_scene(name: str, model: Model) -> None:
    """Refuse what has no form as rows."""
    known = (Springs, Sheets, Hinges, FoldPairs, FlatFolds, Pairs, Fibres)
    for block in model.blocks:
        if not isinstance(block, known):
            raise SolverError(
                f"{name} has no constraints for {type(block).__name__}: it takes particles, springs and cloth. Use "
                "VBD, or build the scene without them."
            )
    held = np.flatnonzero((model.subspace != FREE) & (model.subspace != FIXED))
    if len(held):
        raise SolverError(
            f"{name}: {model.describe_vertex(int(held[0]))} moves on a line or in a plane, which it does not support: "
            "pin it, move it or let it free."
        )
    if model.contact is not None and model.contact.settings.detect_every is not None:
        raise SolverError(f"{name} detects contacts once per step: leave Contact.detect_every at None.")


def _distances(model: Model) -> Distances:
    """Of all springs and sheets, without those whose two ends are held."""
    parts = [spring_distances(block) for block in model.blocks if isinstance(block, Springs)]
    bends = any(isinstance(block, Hinges | FlatFolds | Pairs) for block in model.blocks)
    for block in model.blocks:
        if isinstance(block, Sheets):
            parts.append(cloth_distances(block, model.n_vertices, bends))
    if not parts:
        nothing = np.zeros(0)
        return Distances(np.zeros((0, 2), np.int64), nothing, nothing, nothing.astype(bool), nothing.astype(int))
    whole = Distances(*(np.concatenate(arrays) for arrays in zip(*parts, strict=True)))
    moves = (model.subspace[whole.pairs] == FREE).any(axis=1)
    return Distances(*(array[moves] for array in whole))

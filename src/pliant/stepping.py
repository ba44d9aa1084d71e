"""The time loop. One step, the same for every solver:

1. predict   the inertial target y and where the iterations start
2. detect    contacts: what penetrates, and what would hit on the way to the start
3. pose      the step as a minimisation problem
4. solve     it, and restore the momenta of bodies that nothing holds or touches
5. finish    velocities, make the new state the current one, and tear what is stretched too far
6. observe   recorders and viewers get the state and the report
"""

from __future__ import annotations

import logging
import time
from collections.abc import Callable
from dataclasses import replace
from functools import partial
from typing import Any

import numpy as np

from pliant.contact.detector import Detector
from pliant.contact.response.potential import ContactPotential
from pliant.contact.response.report import ContactReport, words_of_softness
from pliant.contact.response.scale import elastic_stiffness, scale_of
from pliant.contact.response.step_contacts import StepContacts, measure_contacts, no_step_contacts
from pliant.contact.safe_motion import safe_motion
from pliant.convergence import ConvergenceWatch
from pliant.divergence import Watch, diagnose_divergence, diagnose_explosion
from pliant.energies import IncrementalPotential
from pliant.errors import SceneError, SimulationError
from pliant.kernels.predict import STARTS, predict, velocities
from pliant.model import Model, Scene, build_model, checks
from pliant.model.contact import untested_contact
from pliant.model.particles import Particles
from pliant.model.placement import Placements
from pliant.model.rigid import initial_poses, show_poses
from pliant.model.tearing import TopologyChange, tear
from pliant.momentum_correction import FreeComponents, free_spins, twists_after
from pliant.solvers import Auto, Execution, Solver, SolveReport, VelocityTimeStepping
from pliant.solvers.contract import Work, check_solver, check_supports
from pliant.solvers.contract.error import ErrorMeter
from pliant.solvers.contract.report import SweepResult, ended_early
from pliant.solvers.machinery.feasible import keep_volumes_positive
from pliant.solvers.machinery.optimised_start import optimised_reach
from pliant.state import State

Observer = Callable[[State, SolveReport], None]

MOST_THREADS = 1024

logger = logging.getLogger("pliant")


def default_solver(scene: Scene) -> Solver[Any]:
    """The solver of a simulation that names none."""
    has_particles = any(isinstance(body, Particles) for body in scene.bodies)
    return VelocityTimeStepping() if has_particles else Auto()


class Stepping:
    """The step, and all it needs."""

    def __init__(
        self,
        scene: Scene,
        solver: Solver[Any] | None = None,
        frame_rate: float = 60,
        substeps: int = 5,
        precision: str = "single",
        threads: int | None = None,
    ):
        self.frame_rate = checks.number(frame_rate, "Simulation: frame_rate", "1/s", positive=True)
        self.substeps = checks.count(substeps, "Simulation: substeps")
        if threads is not None and checks.count(threads, "Simulation: threads") > MOST_THREADS:
            raise SceneError(
                f"Simulation: threads is {threads}: give at most {MOST_THREADS}; more than cores are slower."
            )
        checks.instance(scene, Scene, "Simulation: the scene", "a pl.Scene with bodies in it")
        self.scene = scene
        self.solver: Solver[Any] = default_solver(scene) if solver is None else solver
        check_solver(self.solver, "Simulation: solver")
        self.execution = Execution(precision, threads or 0)
        self._team = self.execution.team()  # that detects contacts
        self.h = checks.step_length(self.frame_rate, self.substeps)
        self.model = build_model(scene)
        untested = "" if scene.contact is None else untested_contact(scene.bodies, scene.shapes)
        if untested:
            logger.info(untested, extra={"entry": "untested-contact"})
        self.observers: list[Observer] = []
        self.notes: dict[str, Any] = {}  # plain words and numbers that checkpoints keep for whoever resumes
        start = (self.model.positions.copy(), self.model.velocities.copy(), self.model.velocities.copy())
        self.state = State(*start, internal_state=self.model.internal_state, **initial_poses(self.model, scene.bodies))
        if self.model.particles is not None and self.model.particles.has_spin:
            self.state.spins = np.zeros_like(self.state.x)
        self._place_obstacles()
        self._solved: IncrementalPotential | None = None  # the last step, as it was posed
        self._measured: tuple[IncrementalPotential, StepContacts] | None = None  # contacts of a step that was solved
        self._work = Work()
        self._convergence = ConvergenceWatch(len(self.model.body_names))
        self._stiffness_told = 0.0  # [N/m] that the last warning asked for
        self._watch = Watch(self.model, self.state.x.copy(), self.state.v.copy())
        self._allocate()
        self._prepare()
        for k, body in enumerate(scene.bodies):
            body._simulated = lambda k=k: self.state.x[self.model.vertices_of(k)]
            body._elements = lambda k=k: self.model.elements_of(k)
            body._contact_load = lambda k=k: (self.contacts.body_forces[k], self.contacts.body_torques[k])
        show_poses(scene.bodies, lambda: self.state, lambda k: self.model.vertices_of(k))
        for k, placement in self._placements.meshes.items():
            scene.bodies[k]._placement = placement  # type: ignore[attr-defined]
        for k, shape in enumerate(scene.shapes):
            shape.watch(partial(self._obstacle_load, k), self._placements.shapes[k])

    def _place_obstacles(self) -> None:
        """Keep where obstacles are; contact reads it in place of their functions."""
        positions = lambda k: self.state.x[self.model.vertices_of(k)]  # noqa: E731
        own = (self.scene.bodies, self.h, lambda: self.state.step, positions)
        self._placements = Placements(self.scene.shapes, *own)
        self.model = self._with_placements(self.model)

    def _with_placements(self, model: Model) -> Model:
        """A model that was just built, whose contact asks this simulation where obstacles are."""
        shapes: Any = tuple(self._placements.shapes)
        return model if model.contact is None else replace(model, contact=replace(model.contact, shapes=shapes))

    def _allocate(self, elastic: np.ndarray | None = None) -> None:
        """Make what depends on the number of vertices; elastic (n,): their stiffness [N/m], if it is known."""
        # all arrays a step needs beside the state's
        self._y, self._x_guess = np.array(self.state.x), np.array(self.state.x)
        self._x_new, self._v_new = np.empty_like(self.state.x), np.empty_like(self.state.x)
        self._internal_state_new = np.empty_like(self.state.internal_state)
        self._poses = self.state.poses.copy()
        self._spins = self.state.spins.copy()
        contact = None if self.solver.supports.own_contacts else self.model.contact
        self._detector = None
        if contact is not None:
            scale = scale_of(self.model, self.h, elastic_stiffness(self.model) if elastic is None else elastic)
            self._detector = Detector(contact, self.h, self._team, scale, self.solver.supports.hard_constraints)
        self._detect_every = None if contact is None else contact.settings.detect_every
        self._safe = None if self._detector is None else safe_motion(self._detector, lambda: self.model)

    def _prepare(self) -> None:
        """Make ready for a model that is new, or of which vertices were let go or elements deleted."""
        self._has_constraints = bool(((self.model.subspace > 0) & (self.model.subspace < 3)).any())
        contacts = None if self._detector is None else self._detector.detect(self.state.x, self.state.x, self.time)
        check_supports(self.solver, self.model)
        self._free = FreeComponents.of(self.model)
        solver_state = self._work.state_dict()
        problem = self._problem_for_step(self._y, self._x_guess, contacts)
        self._work = self.solver.init(problem, self.execution)
        if solver_state:
            self._work.load_state_dict(solver_state)
        self._meter = ErrorMeter(self.solver, problem, self.execution.precision)

    # --- one step ---------------------------------------------------------------------------------------------------

    def step(self) -> SolveReport:
        """Advance by one substep of h seconds."""
        if self._safe is not None:
            self._safe.require_apart(self.state.x, [shape.row(self.time) for shape in self._placements.shapes])
        elif self.state.step == 0 and self._detector is not None:
            said = self._detector.intersections(self.state.x)
            if said:
                logger.warning(said, extra={"entry": "starts-in-intersection"})
        self._release_due()
        self._predict(self.model, self._y, self._x_guess, self._poses)
        contacts = self._detect(self.model, self._x_guess)
        problem = self._problem_for_step(self._y, self._x_guess, contacts)
        report, self._solved = self._solve(problem)
        if self.solver.supports.minimises:
            self._free.restore_momenta(self._solved, self._x_new)
        if self._safe is not None:
            self._safe.advance(self.state.x, self._x_new, self._placements.rows_of_step())
        self._finish(report)
        self._tear()
        if self.observers:
            seen = self._seen()
            for observe in self.observers:
                observe(seen, report)
        return report

    def _seen(self) -> State:
        """The state as observers see it."""
        return self.state.read_only(self.model.drawn_points)

    def _predict(self, model: Model, y: np.ndarray, x_guess: np.ndarray, poses: np.ndarray) -> None:
        """Fill in the inertial target, the initial guess and its poses; held vertices are where they are to be."""
        state, fixed = self.state, ~model.is_free
        policy = STARTS.index(self.solver.start)
        acceleration = self._acceleration = model.acceleration(state.x, state.v, self.time)
        drag = model.air_damping
        predict(state.x, state.v, state.v_previous, acceleration, drag, self.h, policy, y, x_guess)
        if self.solver.start == "optimised":
            x_guess += optimised_reach(self._problem_of(model, y, x_guess, poses, None), state.v) * state.v
        if self._has_constraints:
            x_guess[:] = state.x + model.project(x_guess - state.x)
        x_guess[fixed] = model.positions[fixed]
        for kinematic in model.kinematic:
            x_guess[kinematic.vertices] = kinematic.positions((state.step + 1) * self.h)
        for k, placement in self._placements.meshes.items():
            commanded = placement.positions((state.step + 1) * self.h)
            if commanded is not None:
                x_guess[model.vertices_of(k)] = commanded
        y[fixed] = x_guess[fixed]
        if model.carried is not None:
            carried, spins = model.carried, free_spins(model, state, acceleration, self.h)
            y[carried.points] = carried.targets(state.poses, spins, y, model.mass, self.h)
            turns = np.zeros_like(spins) if policy == 0 else self.h * spins
            poses[:] = carried.predicted(state.poses, turns, x_guess, model.mass)
            x_guess[carried.points] = carried.places(poses)
        if not self.solver.supports.any_guess:
            keep_volumes_positive(model, state.x, x_guess)

    def _released(self) -> Model:
        """The model of the next step: vertices whose time has come, to the nearest step, are free."""
        return self.model.released(self.time + 0.5 * self.h)

    def _release_due(self) -> None:
        """Free the vertices whose time has come."""
        released = self._released()
        if released is not self.model:
            self.model = released
            if self._detector is not None:
                self._detector.scale = scale_of(released, self.h, self._detector.scale.elastic)
            self._prepare()

    def _detect(self, model: Model, x_guess: np.ndarray) -> ContactPotential | None:
        """What touches at the beginning of the step, or on the way to `x_guess`; sliding points of round bodies move
        there.
        """
        if self._detector is None:
            return None
        self._placements.begin_step()
        self._detector.begin_step(self.state.x)
        self._detector.slide_points(self.state.x, x_guess, self.time, model.carried)
        return self._detector.detect(self.state.x, x_guess, self.time)

    def _problem_for_step(
        self, y: np.ndarray, x_guess: np.ndarray, contacts: ContactPotential | None
    ) -> IncrementalPotential:
        """The step that is solved; its internal states and poses become the next state's."""
        self._internal_state_new[:] = self.state.internal_state
        self._spins[:] = self.state.spins
        problem = self._pose(self.model, self._internal_state_new, self.state.x, y, x_guess, self._poses, contacts)
        return replace(problem, spins=self._spins)

    def _problem_of(
        self, model: Model, y: np.ndarray, x_guess: np.ndarray, poses: np.ndarray, contacts: ContactPotential | None
    ) -> IncrementalPotential:
        """The next step as a problem to look at, with positions and internal states of its own."""
        own = (self.state.internal_state.copy(), self.state.x.copy())
        contacts = None if contacts is None else replace(contacts, x_prev=own[1])
        return self._pose(model, *own, y, x_guess, poses, contacts)

    def _pose(
        self, model: Model, internal_state: np.ndarray, x_prev: np.ndarray, y: np.ndarray, x_guess: np.ndarray,
        poses: np.ndarray, contacts: ContactPotential | None,
    ) -> IncrementalPotential:  # fmt: skip
        at_end = model.at((self.state.step + 1) * self.h)
        step = (at_end, internal_state, self.h, x_prev, y, x_guess, contacts, poses)
        return replace(IncrementalPotential.for_step(*step), spins=self.state.spins.copy(), time=self.time)

    def _detect_again(self, problem: IncrementalPotential) -> IncrementalPotential:
        """The same step with what touches on the way to the current iterate (Algorithm 1, lines 5 and 6)."""
        if self._detector is None:
            return problem
        contacts = self._detector.detect(self.state.x, self._x_new, self.time)
        problem = replace(problem, contacts=contacts)
        self.solver.update_contacts(problem, self._work)
        return problem

    def _solve(self, problem: IncrementalPotential) -> tuple[SolveReport, IncrementalPotential]:
        """Iterate; the report, and the problem with the contacts that were detected last."""
        began = time.perf_counter()
        n, tried, done, result = self.solver.iterations, 0, 0, SweepResult(0)
        self._x_new[:] = self._x_guess
        self.solver.begin_step(problem, self._work)
        self._meter.begin_step(self._x_new, n, self._work)
        while tried < n:
            part = min(self._detect_every or n, n - tried)
            result = self._meter.sweep(problem, self._x_new, self._work, part)
            tried, done = tried + part, done + result.iterations
            if tried < n:  # other contacts may give a solver that has ended something to do again
                problem = self._detect_again(problem)
        report = SolveReport(f"did all {n} iterations", done, time.perf_counter() - began)
        if done < n or result.ended:
            report.reason, report.converged = ended_early(result, done), result.converged
        self._meter.write(problem, self._x_new, result, report)
        report.converged |= self._meter.is_converged(report)
        report.reason += f" ({self._work.note})" if self._work.note else ""
        self._convergence.watch(problem, self._meter.error, self.solver, self.execution, self.time)
        report.singular_blocks = self._work.singular_blocks
        step = self.state.step + 1
        report.measure = lambda: self._residual_of(step, problem)
        report.residual_definition = self.solver.residual_definition
        return report, problem

    def _finish(self, report: SolveReport) -> None:
        state = self.state
        if not velocities(self._x_new, state.x, self.h, self._v_new):
            self._solved = None
            raise SimulationError(diagnose_divergence(self.model, self._x_new, self._v_new, self.time))
        ends = (self._x_new, self._poses, self._v_new)
        twists = twists_after(self.model, state, self._solved, self._acceleration, *ends, self.h)
        self._stop_explosion()
        if self._detector is not None:
            report.contact = self._detector.end(state.x, self._x_new)
            if self._safe is not None:
                report.contact = replace(report.contact, **self._safe.held._asdict())
            self._warn_of_soft_contact(report.contact)
        new = State(self._x_new, self._v_new, state.v, state.step + 1, self._internal_state_new)
        if self.model.carried is not None:
            new.poses, new.twists = self._poses.copy(), twists
        new.spins = self._spins.copy()
        # the old arrays are the next step's
        self.state, self._x_new, self._v_new, self._internal_state_new = (
            new,
            state.x,
            state.v_previous,
            state.internal_state,
        )

    def _stop_explosion(self) -> None:
        """End a run whose step has led beyond all physical scales; the state before it stays."""
        state = self.state
        if not self._watch.goes_on_from(self.model, state.x, state.v):
            self._watch = Watch(self.model, state.x.copy(), state.v.copy())
        ends = (state.x, state.v), (self._x_new, self._v_new)
        model = self.model.with_internal_state(self._internal_state_new)
        beyond = self._watch.after_step(model, *ends, self._y, self.h, self._placements.move_in_step())
        if beyond is not None:
            contacts, settings = None if self._solved is None else self._solved.contacts, self.scene.contact
            stiffness = None if settings is None else settings.stiffness
            self._solved = None
            raise SimulationError(diagnose_explosion(self.model, *beyond, self.time, contacts, stiffness))

    def _tear(self) -> None:
        """Split and break what is stretched too far (VBD 3.9)."""
        change = tear(self.model.with_internal_state(self.state.internal_state), self.state.x, self.state.v)
        if change is None:
            return
        self._take(change)
        problem = self._problem_for_step(self._y, self._x_guess, None)
        if self.solver.update_topology(problem, self._work, change):
            self._meter = self._meter.torn(problem)
        else:
            self._prepare()

    def _take(self, change: TopologyChange) -> None:
        """Go on with a model that tearing or deleting has changed."""
        old, detector = self.state, self._detector
        grown = np.concatenate([np.arange(len(old.x)), change.parents])
        self.model = change.model
        self._free = FreeComponents.of(self.model)
        arrays = (old.x[grown], old.v[grown], old.v_previous[grown])
        self.state = State(*arrays, old.step, change.model.internal_state, old.poses, old.twists, old.spins)
        self._allocate(None if detector is None else detector.scale.elastic[grown])
        if self._detector is not None and detector is not None:
            self._detector.inherit(detector, grown, self.state.x)

    @property
    def time(self) -> float:
        """Simulated time [s]."""
        return self.state.step * self.h

    @property
    def contacts(self) -> StepContacts:
        """Contacts of the last step, measured when they are first asked for; none before the first step, after resuming
        and after deleting elements.
        """
        solved = self._solved
        if solved is not None and self.solver.supports.own_contacts:
            own = self._work.step_contacts(self.model, self.state.x, self.time)
            return no_step_contacts(self.model) if own is None else own
        if solved is None or not isinstance(solved.contacts, ContactPotential):
            return no_step_contacts(self.model)
        if self._measured is None or self._measured[0] is not solved:
            x = self.state.x[: solved.model.n_vertices]  # without what has torn since
            self._measured = (solved, measure_contacts(solved.contacts, solved.model, x, self.time))
        return self._measured[1]

    def _obstacle_load(self, k: int) -> tuple[np.ndarray, np.ndarray]:
        """Net contact force (3,) [N] and torque (3,) [N m] on an obstacle."""
        return self.contacts.obstacle_forces[k], self.contacts.obstacle_torques[k]

    def _residual_of(self, step: int, problem: IncrementalPotential) -> float:
        if self.state.step != step:
            raise SimulationError(
                f"the residual of step {step} can no longer be measured: ask for it before the next step."
            )
        x = self.state.x[: problem.model.n_vertices]  # without what has torn since
        return self.solver.measure_residual(problem, x, self._work)

    def _warn_of_soft_contact(self, report: ContactReport) -> None:
        """Warn that contact is too soft: once, and again when twice the stiffness would be needed."""
        soft = report.softest
        if soft is not None and soft.needed_stiffness > 2 * self._stiffness_told:
            self._stiffness_told = soft.needed_stiffness
            words = words_of_softness(soft, self.model.describe_vertex(soft.vertex))
            logger.warning("t = %g s: %s", self.time, words, extra={"entry": "contact-too-deep"})

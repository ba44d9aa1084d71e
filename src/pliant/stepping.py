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
from typing import Any

import numpy as np

from pliant.contact.detector import Detector
from pliant.contact.intersections import words_of_start
from pliant.contact.response.energy_budget import energy_budget
from pliant.contact.response.potential import ContactPotential
from pliant.contact.response.scale import elastic_stiffness, scale_of
from pliant.contact.response.step_account import StepEnds
from pliant.contact.safe_motion import keeping_apart, safe_motion
from pliant.convergence import ConvergenceWatch, SoftnessWatch
from pliant.default_precision import with_default_precision
from pliant.default_solver import default_solver
from pliant.device.opencl import OpenCL
from pliant.device_choice import device_for, is_faster_on_device
from pliant.divergence import Watch, diagnose_divergence, diagnose_explosion
from pliant.end_of_step import EndOfStep
from pliant.energies import IncrementalPotential
from pliant.errors import SimulationError
from pliant.grains.sphere_contacts import sphere_contacts
from pliant.integration import StepStart, check_integrator, integrator_named
from pliant.kernels.predict import velocities
from pliant.lanes import ahead
from pliant.model import Model, Scene, build_model, checks
from pliant.model.placement import Placements
from pliant.model.rigid import initial_poses
from pliant.model.scene_changes import SceneWatch
from pliant.model.seams import check_closing
from pliant.model.tearing import TopologyChange, tear
from pliant.model.volume import with_controlled
from pliant.momentum_correction import FreeComponents
from pliant.prediction import Prediction
from pliant.shown import Announcing
from pliant.solvers import Execution, Solver, SolveReport
from pliant.solvers.contract import Work, check_solver, check_supports
from pliant.solvers.contract.error import ErrorMeter
from pliant.solvers.contract.report import SweepResult, ended_early
from pliant.state import State
from pliant.steps_apart import StepsApart
from pliant.volume_control import PrescribedVolumes, first_inflation

Observer = Callable[[State, SolveReport], None]

logger = logging.getLogger("pliant")


class Stepping(Announcing, PrescribedVolumes, StepsApart):
    """The step, and all it needs."""

    def __init__(
        self,
        scene: Scene,
        solver: Solver[Any] | None = None,
        frame_rate: float = 60,
        substeps: int = 5,
        precision: str | None = None,
        threads: int | None = None,
        integrator: str = "euler",
        device: str | OpenCL = "cpu",
    ):
        ahead.HELPER.begin()
        self.frame_rate = checks.number(frame_rate, "Simulation: frame_rate", "1/s", positive=True)
        self.substeps = checks.count(substeps, "Simulation: substeps")
        checks.thread_count(threads, "Simulation: threads")
        checks.instance(scene, Scene, "Simulation: the scene", "a pl.Scene with bodies in it")
        self.scene = scene
        self.solver: Solver[Any] = default_solver(scene, device, integrator) if solver is None else solver
        check_solver(self.solver, "Simulation: solver")
        first = "single" if precision is None else precision
        self.execution = Execution(first, threads or 0, device_for(device, self.solver))
        self._team = self.execution.team()  # that detects contacts
        self.h = checks.step_length(self.frame_rate, self.substeps)
        self._integrator = integrator_named(integrator)
        if scene.contact is not None:
            check_closing(scene.seams, self.h)
        self.model = build_model(scene, self.solver.supports.quadratic_bending)
        check_integrator(self._integrator, self.model, self.solver)
        self.observers: list[Observer] = []
        self.notes: dict[str, Any] = {}  # plain words and numbers that checkpoints keep for whoever resumes
        start = (self.model.positions.copy(), self.model.velocities.copy(), self.model.velocities.copy())
        self.state = State(*start, internal_state=self.model.internal_state, **initial_poses(self.model, scene.bodies))
        if self.model.particles is not None and self.model.particles.has_spin:
            self.state.spins = np.zeros_like(self.state.x)
        self.state.inflation = first_inflation(len(self.model.volume_controls))
        self._place_obstacles()
        self._solved, self._solution, self._measured = None, None, None
        self._work = Work()
        self._chooses_precision = precision is None
        self._convergence = ConvergenceWatch(len(self.model.body_names))
        self._softness = SoftnessWatch()
        self._watch = Watch(self.model, self.state.x.copy(), self.state.v.copy())
        self._allocate()
        self._prepare()
        if device == "auto":
            self._choose_device(default_solver(scene, "opencl", integrator) if solver is None else self.solver)
        self._announce()
        self._scene_watch = SceneWatch(scene)

    def _choose_device(self, on_device: Solver[Any]) -> None:
        """Go on on an OpenCL device, with the solver for it, if that is faster."""
        self._start_of_step = self._predict(self.model, self._y, self._x_guess, self._poses)
        contacts = self._detect(self.model, self._x_guess, self._y)
        problem = self._problem_for_step(self._y, self._x_guess, contacts)
        if is_faster_on_device(problem, self.solver, self.execution, self._work, on_device):
            self.solver, self.execution = on_device, replace(self.execution, device=OpenCL())
            self._work = Work()
            self._allocate()
            self._prepare()

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
            scale = scale_of(self.model, self._s, elastic_stiffness(self.model) if elastic is None else elastic)
            supports = self.solver.supports
            is_watched = supports.minimises and not supports.hard_constraints and self._integrator.is_first_order
            budget = energy_budget(self.model) if is_watched else None
            own = (supports.hard_constraints, sphere_contacts(self.model, self._team), budget)
            self._detector = Detector(contact, self.h, self._team, scale, *own)
        self._detect_every = None if contact is None else contact.settings.detect_every
        self._safe = None if self._detector is None else safe_motion(self._detector, lambda: self.model)
        self._apart = None if self._detector is None else keeping_apart(self._detector, lambda: self.model)

    def _prepare(self) -> None:
        """Make ready for a model that is new, or has changed."""
        contacts = None if self._detector is None else self._detector.detect(self.state.x, self.state.x, self.time)
        check_supports(self.solver, self.model)
        self._free = FreeComponents.of(self.model)
        solver_state = self._work.state_dict()
        self._start_of_step = self._integrator.start(self.state, self.model.carried, self.h)
        problem = self._problem_for_step(self._y, self._x_guess, contacts)
        self._meter = ErrorMeter(self.solver, problem, self.execution.precision)
        if self._chooses_precision:
            self.execution, self._meter = with_default_precision(self.execution, problem, self._meter)
            self._chooses_precision = False
        self._work = self.solver.init(problem, self.execution)
        if solver_state:
            self._work.load_state_dict(solver_state)

    # --- one step ---------------------------------------------------------------------------------------------------

    def step(self) -> SolveReport:
        """Advance by one substep of h seconds."""
        self._scene_watch.warn()
        if self._safe is not None:
            self._safe.require_apart(self.state.x, [shape.row(self.time) for shape in self._placements.shapes])
        elif self.state.step == 0 and self._detector is not None and (found := self.intersections()).is_reported:
            logger.warning(words_of_start(found), extra={"entry": "starts-in-intersection"})
        self._release_due()
        self._placements.begin(self.model, self.state.x, 1)
        if self._detector is not None and self._detector.has_new_neighbours(self.state.x, self.time):
            self._prepare()  # spheres have met others, and vertices other colours
        if self.state.step and not self._watch.goes_on_from(self.model, self.state.x, self.state.v):
            self.state.forget_history()
        if self.model.particles is not None:
            self.model.particles.let_come(self.model.positions, self.model.velocities, self.state, self.time, self.h)
        self._start_of_step = self._predict(self.model, self._y, self._x_guess, self._poses)
        self._work.load_early(lambda: self._problem_for_step(self._y, self._x_guess, None))
        contacts = self._detect(self.model, self._x_guess, self._y)
        problem = self._problem_for_step(self._y, self._x_guess, contacts)
        report, self._solved = self._solve(problem)
        report = self._keep_volumes(report)
        report = self._stay_apart(report)
        if self._solved is not None:
            self._convergence.watch(self._solved, self._meter.error, self.solver, self.execution, self.time)
        self._finish(report)
        self._tear()
        self._break_joints()
        if self.observers:
            seen = self._seen()
            for observe in self.observers:
                observe(seen, report)
        return report

    def _seen(self) -> State:
        """The state as observers see it."""
        return self.state.read_only(self.model.drawn_points)

    def _predict(self, model: Model, y: np.ndarray, x_guess: np.ndarray, poses: np.ndarray) -> StepStart:
        """Fill in the inertial target, the initial guess and its poses; where the step of implicit Euler begins."""
        prediction = Prediction(self._integrator, self.solver, self._placements, self.h, self.state)
        arrays = (y, x_guess, poses)
        problem_at = lambda start: self._problem_of(model, start, *arrays, None)  # noqa: E731
        start, self._acceleration = prediction.fill(model, *arrays, problem_at)
        return start

    def _released(self) -> Model:
        """The model of the next step: vertices whose time has come, to the nearest step, are free."""
        return self.model.released(self.time + 0.5 * self.h)

    def _release_due(self) -> None:
        """Free the vertices whose time has come."""
        released = self._released()
        if released is not self.model:
            self.model = released
            if self._detector is not None:
                self._detector.scale = scale_of(released, self._s, self._detector.scale.elastic)
            self._prepare()

    def _detect(self, model: Model, x_guess: np.ndarray, y: np.ndarray) -> ContactPotential | None:
        """What touches at first, or on the way to `x_guess`; sliding points of round bodies go there, also in y."""
        if self._detector is None:
            return None
        self._placements.begin_step()
        self._detector.begin_step(self.state.x)
        self._detector.slide_points(self.state.x, x_guess, y, self.time, model.carried)
        return self._detector.detect(self.state.x, x_guess, self.time)

    def _problem_for_step(
        self, y: np.ndarray, x_guess: np.ndarray, contacts: ContactPotential | None
    ) -> IncrementalPotential:
        """The step that is solved; its internal states and poses become the next state's."""
        self._internal_state_new[:] = self.state.internal_state
        self._inflation = self.state.inflation
        self._spins[:] = self.state.spins
        start, own = self._start_of_step, (self._internal_state_new, self._start_of_step.x)
        return self._pose(self.model, start, *own, y, x_guess, self._poses, self._spins, contacts)

    def _problem_of(
        self, model: Model, start: StepStart, y: np.ndarray, x_guess: np.ndarray, poses: np.ndarray,
        contacts: ContactPotential | None,
    ) -> IncrementalPotential:  # fmt: skip
        """The next step as a problem to look at, with positions and internal states of its own."""
        own = (self.state.internal_state.copy(), start.x.copy())
        contacts = None if contacts is None else replace(contacts, x_prev=self.state.x.copy())
        return self._pose(model, start, *own, y, x_guess, poses, self.state.spins.copy(), contacts)

    def _pose(
        self, model: Model, start: StepStart, internal_state: np.ndarray, x_prev: np.ndarray, y: np.ndarray,
        x_guess: np.ndarray, poses: np.ndarray, spins: np.ndarray, contacts: ContactPotential | None,
    ) -> IncrementalPotential:  # fmt: skip
        at_end = with_controlled(model.at((self.state.step + start.theta) * self.h), self.state.inflation[:, 0])
        step = (at_end, internal_state, start.s, x_prev, y, x_guess, contacts, poses, spins, self.time)
        problem = IncrementalPotential.for_step(*step)
        return problem if start.x is self.state.x else replace(problem, x_contact=self.state.x.copy())

    def _detect_again(self, problem: IncrementalPotential, x: np.ndarray) -> IncrementalPotential:
        """The same step with what touches on the way to an iterate x (n, 3) (Algorithm 1, lines 5 and 6)."""
        if self._detector is None:
            return problem
        contacts = self._detector.detect(self.state.x, x, self.time)
        problem = replace(problem, contacts=contacts)
        self.solver.update_contacts(problem, self._work)
        return problem

    def _solve(self, problem: IncrementalPotential, goes_on: bool = False) -> tuple[SolveReport, IncrementalPotential]:
        """Iterate, and restore momenta; the report, and the problem with the contacts that were detected last."""
        began = time.perf_counter()
        n, tried, done, result = self.solver.iterations, 0, 0, SweepResult(0)
        if not goes_on:
            self._x_new[:] = self._x_guess
            self.solver.begin_step(problem, self._work)
        self._meter.begin_step(problem, self._x_new, n, self._work)
        while tried < n:
            part = min(self._detect_every or n, n - tried)
            result = self._meter.sweep(problem, self._x_new, self._work, part)
            tried, done = tried + part, done + result.iterations
            if tried < n:  # other contacts may give a solver that has ended something to do again
                problem = self._detect_again(problem, self._x_new)
        done += self._work.end_solve(problem, self._x_new)
        report = SolveReport(f"did all {max(n, done)} iterations", done, time.perf_counter() - began)
        if done < n or result.ended:
            report.reason, report.converged = ended_early(result, done), result.converged
        self._meter.write(problem, self._x_new, result, report)
        report.converged |= self._meter.is_converged(report)
        report.reason += f" ({self._work.note})" if self._work.note else ""
        report.singular_blocks = self._work.singular_blocks
        if self.solver.supports.minimises:
            self._free.restore_momenta(problem, self._x_new)
        if self._detector is not None:
            self._detector.stop_passages(self.state.x, self._x_new, self.time)
        step = self.state.step + 1
        report.measure = lambda: self._residual_of(step, problem)
        report.residual_definition = self.solver.residual_definition
        return report, problem

    def _finish(self, report: SolveReport) -> None:
        state, start = self.state, self._start_of_step
        if not velocities(self._x_new, start.x, self.model.follows, start.s, self._v_new):
            self._solved = None
            raise SimulationError(diagnose_divergence(self.model, self._x_new, self._v_new, self.time))
        self._solution = self._x_new.copy() if start.theta < 1 else None
        ending = EndOfStep(self._integrator, self.model, self._solved, state, start, self.h, self._x_new, self._v_new)
        poses, twists = ending.finish(self._poses)
        self._work.end_step(self._v_new, self._spins, twists)
        self._settle(report)
        self._stop_explosion()
        if self._detector is not None:
            report.contact = self._detector.end(state.x, self._x_new)
            if self._safe is not None:
                report.contact = replace(report.contact, **self._safe.held._asdict())
            self._softness.watch(report.contact, report.error, self.model, self.time)
        new = State(self._x_new, self._v_new, state.v, state.step + 1, self._internal_state_new, poses, twists)
        new.spins, new.inflation = self._spins.copy(), self._inflation
        ending.keep_history(new)
        # the old arrays are the next step's, but for those that the new state keeps
        self.state, self._internal_state_new = new, state.internal_state
        self._x_new, self._v_new = state.x, state.v_previous
        if self._integrator.keeps_history:
            self._x_new = state.x_previous if len(state.x_previous) else np.empty_like(state.x)

    def _settle(self, report: SolveReport) -> None:
        """Take energy that contact has added out of velocities, if the step has converged or is guaranteed to have no
        intersections (decision 0040); a step that ended early is told of by its error.
        """
        if self._detector is not None and self._detector.budget is not None and self._solved is not None:
            is_enforced = report.converged or self._safe is not None or self._was_held
            self._detector.settle(self._ends(self._detector, self._v_new), is_enforced)

    def _ends(self, detector: Detector, v: np.ndarray) -> StepEnds:
        """Of the step that was solved last, with velocities v (n, 3) [m/s] at its end."""
        assert self._solved is not None
        start, end = (self.state.x, self.state.v), (self._x_new, v)
        return detector.ends_of(self._solved.model, self._acceleration, start, end)

    def _stop_explosion(self) -> None:
        """End a run whose step has led beyond all physical scales; the state before it stays."""
        state = self.state
        if not self._watch.goes_on_from(self.model, state.x, state.v):
            self._watch = Watch(self.model, state.x.copy(), state.v.copy())
        ends = (state.x, state.v), (self._x_new, self._v_new)
        model = self.model.with_internal_state(self._internal_state_new)
        beyond = self._watch.after_step(model, *ends, self._acceleration, self._placements.move_in_step())
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
        meter = self._meter.torn(problem)
        if not self.solver.update_topology(problem, self._work, change):
            self._prepare()
        self._meter = meter

    def _take(self, change: TopologyChange) -> None:
        """Go on with a model that tearing or deleting has changed."""
        old, detector = self.state, self._detector
        grown = np.concatenate([np.arange(len(old.x)), change.parents])
        self.model = change.model
        self._free = FreeComponents.of(self.model)
        arrays = (old.x[grown], old.v[grown], old.v_previous[grown])
        kept = (change.model.internal_state, old.poses, old.twists, old.spins)
        self.state = State(*arrays, old.step, *kept, old.inflation, *old.grown_history(grown))
        self._start_of_step = self._integrator.start(self.state, self.model.carried, self.h)
        self._allocate(None if detector is None else detector.scale.elastic[grown])
        if self._detector is not None and detector is not None:
            self._detector.inherit(detector, grown, self.state.x)

    @property
    def _s(self) -> float:
        """Length of the step of implicit Euler that solvers see [s]."""
        return self._integrator.part * self.h

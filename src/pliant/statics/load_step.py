"""One load step: from the equilibrium of a load factor to that of the next, by proximal steps (statics.descent)."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from functools import partial
from threading import Event
from typing import Any

import numpy as np

from pliant.contact.detector import Detector
from pliant.contact.response.potential import ContactPotential
from pliant.contact.tracking.pressing import press_at_obstacles
from pliant.energies import IncrementalPotential
from pliant.energies.elements import energy_of
from pliant.energies.reactions import reactions
from pliant.model import CARRIED, DeadLoads, Model, Pressures
from pliant.model.volume import volumes
from pliant.solvers import Execution, Newton, Solver
from pliant.solvers.machinery.assembly import AssembledPotential
from pliant.statics.descent import OF_OTHERS, SOFTEST, Descent, Detect, NewtonDescent, SolverDescent, vertex_stiffness
from pliant.statics.following_loads import Loads
from pliant.statics.held_friction import HeldFriction, friction_of, hold_friction, no_friction
from pliant.statics.loads import LoadCase
from pliant.statics.volume_descent import VolumeDescent

STALLED = 15  # iterations in a row that lower neither the least residual nor the energy: rounding
ROUNDING = 1e-10  # of the energy: what falls by less does not fall
FALLING = 0.9  # of the least residual: what counts as lower
NEARLY = 1e-5  # a residual at which what no longer falls is rounding
TINY = 1e-8  # of the extent: what is moved so far needs the least force that counts, where no others act
MOVING = 1e-6  # of the extent: under loads that follow, whose energies of two iterations cannot be compared, what moves
# farther in an iteration is still on its way
STOPPED = "stopped"
FAR = 1e3  # extents from the start: it runs away


@dataclass(frozen=True)
class Outcome:
    """How a load step ended."""

    converged: bool
    at_rounding: bool  # not converged, but as near to equilibrium as rounding allows
    reason: str
    iterations: int
    residual: float  # force out of balance over the forces that act
    problem: IncrementalPotential  # the total potential energy at the end, whose positions are x_prev
    is_doubtful: bool = False  # it may be no minimum of the energy


class Stopped(Exception):
    """Ctrl-C, and where the solve had got."""

    def __init__(self, outcome: Outcome):
        super().__init__()
        self.outcome = outcome


@dataclass(frozen=True)
class Watch:
    """Who looks on: a flag that stops the solve, and a function that shows what it does."""

    flag: Event
    tell: Callable[[str], None]

    @property
    def is_stopped(self) -> bool:
        return self.flag.is_set()


@dataclass
class LoadStep:
    """What load steps have in common; `tolerance` is of the residual, iterations are those of a step."""

    case: LoadCase
    solver: Solver[Any]
    execution: Execution
    detector: Detector | None
    tolerance: float
    iterations: int
    watch: Watch
    work: AssembledPotential | None = None  # of Newton's method
    friction: HeldFriction = field(default_factory=no_friction)

    def run(
        self, x: np.ndarray, poses: np.ndarray, pressures: np.ndarray, before: float, factor: float
    ) -> Outcome:  # fmt: skip
        """Bring x (n, 3), poses and pressures (k,) of prescribed volumes, in place, from equilibrium at the load factor
        before to that at another one.
        """
        start = x.copy()
        self.case.place(x, factor)
        if self.detector is not None:
            self.detector.begin_step(start)
            self.detector.way = (factor - before) * self.case.time
        targets = self.case.volume_targets(factor)
        problem = self._potential(x, start, poses, pressures, factor)
        extent, stiffness = max(float(np.ptp(start, axis=0).max()), 1e-300), vertex_stiffness(problem)
        loads_follow = bool(self.case.model.forces)
        loads = partial(self.case.loads, factor=factor) if loads_follow else None
        detect = None if self.detector is None else partial(self._contacts, self.detector, start, factor)
        descent = self._descent(problem, stiffness, detect, loads, targets, pressures)
        least_force = TINY * stiffness * extent * float(np.linalg.norm(self.case.model.mass))
        least, lowest, stalled = np.inf, float(np.finfo(float).max), 0
        moved = 0.0
        for iteration in range(self.iterations + 1):
            residual = out_of_balance(problem, least_force)
            if len(targets):
                residual = max(residual, float(np.abs(volumes(problem.model, x) / targets - 1).max()))
            if residual <= self.tolerance:
                return Outcome(True, False, "converged", iteration, residual, problem, descent.is_doubtful)
            if self.watch.is_stopped:
                raise Stopped(Outcome(False, False, STOPPED, iteration, residual, problem))
            self.watch.tell(f"equilibrium: {factor:.3g} of the load, iteration {iteration}, residual {residual:.1e}")
            if not np.isfinite(residual) or np.abs(x - start).max() > FAR * extent:
                return Outcome(False, False, "it runs away", iteration, residual, problem)
            falls = residual < FALLING * least or moved > MOVING * extent
            if not falls:
                energy = problem.energy(x)
                falls, lowest = energy < lowest - ROUNDING * abs(lowest), min(energy, lowest)
            least, stalled = min(least, residual), 0 if falls else stalled + 1
            if descent.is_stuck or stalled > STALLED:
                at_rounding = residual <= NEARLY
                return Outcome(False, at_rounding, "the residual no longer falls", iteration, residual, problem)
            if iteration < self.iterations:
                last = x.copy()
                descent.advance(problem, x, poses)
                moved = float(np.abs(x - last).max()) if loads_follow else 0.0
                problem = self._potential(x, start, poses, pressures, factor)
        reason = f"did all {self.iterations} iterations"
        return Outcome(False, False, reason, self.iterations, residual, problem)

    def accept(self, x_prev: np.ndarray, end: Outcome) -> None:
        """Go on from the end of the load step from x_prev (n, 3)."""
        x, contacts = end.problem.x_prev, end.problem.contacts
        if self.detector is not None:
            self.detector.end(x_prev, x)
        if isinstance(contacts, ContactPotential):
            self.friction = friction_of(contacts, x)

    def at(self, x: np.ndarray, poses: np.ndarray, factor: float) -> Outcome:
        """A shape that is no equilibrium: the start, or one that a motion leads through."""
        if self.detector is not None:
            self.detector.begin_step(x)
            self.detector.way = 0.0
        none = np.zeros(len(self.case.model.volume_controls))
        return Outcome(False, False, STOPPED, 0, np.inf, self._potential(x, x, poses, none, factor))

    def _descent(
        self,
        problem: IncrementalPotential,
        stiffness: float,
        detect: Detect | None,
        loads: Loads | None,
        targets: np.ndarray,
        pressures: np.ndarray,
    ) -> Descent:
        if not isinstance(self.solver, Newton):
            return SolverDescent(self.solver, self.execution, (OF_OTHERS * stiffness) ** -0.5)
        if self.work is None:  # loads alone change from load step to load step
            self.work = self.solver.init(problem, self.execution)
        self.work.forget()
        softest = SOFTEST * stiffness
        if len(targets):
            return VolumeDescent(self.work, stiffness, softest, detect, targets, pressures)
        return NewtonDescent(self.work, stiffness, softest, detect, self.solver, loads)

    def _contacts(self, detector: Detector, start: np.ndarray, factor: float, x: np.ndarray) -> ContactPotential:
        """What touches on the way from the start to x (n, 3) [m], as obstacles move to where they are at the load
        factor. What they are in as a step begins presses all the same.
        """
        found = detector.detect(start, x, self._time_before(detector, factor))
        press_at_obstacles(found.contacts)
        hold_friction(found.contacts, self.friction)
        return found

    def _time_before(self, detector: Detector, factor: float) -> float:
        """[s] at which a step to the load factor begins."""
        return factor * self.case.time - (detector.way or 0.0)

    def _potential(
        self, x: np.ndarray, start: np.ndarray, poses: np.ndarray, pressures: np.ndarray, factor: float
    ) -> IncrementalPotential:
        """The total potential energy with what touches on the way from the start to x; no inertia at x."""
        model: Model = self.case.model_under(self.case.loads(x, factor), factor, pressures)
        contacts = None
        if self.detector is not None:
            self.detector.slide_points(start, x, x, self._time_before(self.detector, factor), model.carried)
            contacts = self._contacts(self.detector, start, factor, x)
        here, state = x.copy(), model.internal_state
        return IncrementalPotential.for_step(model, state, 1.0, here, here, here, contacts, poses)


def out_of_balance(problem: IncrementalPotential, least_force: float) -> float:
    """|forces out of balance| / (|loads| + |reactions| + |obstacles| + |pressures| + least_force) at the problem's
    positions, norms over all vertices, and contacts with obstacles [N].
    """
    x = problem.x_prev
    here = problem.with_contacts_at(x)
    g, model = here.gradient(x), here.model
    total = float(np.sum(here.project(g)[model.subspace != CARRIED] ** 2))
    if model.carried is not None:
        total += float(np.sum(model.carried.gathered(g, here.poses)[:, :3] ** 2))
    pushes = [energy_of(b).gradient(b, x) for b in model.blocks if isinstance(b, Pressures | DeadLoads)]
    if isinstance(here.contacts, ContactPotential):
        pushes.append(here.contacts.forces(x)[here.contacts.contacts.obstacle >= 0])
    acting = least_force + sum(float(np.linalg.norm(forces)) for forces in (reactions(here, x, g), *pushes))
    return float(np.sqrt(total)) / acting

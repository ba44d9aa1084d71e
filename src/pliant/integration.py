"""Time integrators: each turns a step of h seconds into a step of implicit Euler, the minimisation all solvers know.

The step of implicit Euler has a length s, and begins at positions x- and velocities v-:

    x = argmin 1/(2 s^2) |x - y|_M^2 + E(x) + ...,   y = x- + s v- + s^2 a_ext,   v = (x - x-) / s

    euler     s = h      x- = x_n                      v- = v_n
    bdf2      s = 2/3 h  x- = (4 x_n - x_{n-1}) / 3     v- = (4 v_n - v_{n-1}) / 3     (Curtiss and Hirschfelder 1952)
    midpoint  s = h/2    x- = x_n                      v- = v_n,  then x and v are carried on by as much again

What the minimum is at is the end of the step, or a part theta of the way to it: 1/2 for midpoint. The end is then
x_n + (x - x_n) / theta, and so for velocities. BDF2 has no history in its first step: it takes theta = 2/3 there, with
the same s, so that no solver has to prepare another matrix.

Rigid bodies do the same with rotations: their orientations are carried on about one axis, and in place of the
angular velocity its momentum is, which is what a free body keeps.

s and theta never change in a run but for theta in that first step: what solvers prepare for s stays.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any, ClassVar

import numpy as np

from pliant.arguments import is_one_of
from pliant.errors import SceneError
from pliant.geometry import rotations
from pliant.model import CarriedPoints, Model
from pliant.solvers import Solver
from pliant.state import State


@dataclass(frozen=True)
class StepStart:
    """The step of implicit Euler that stands for a step of a simulation."""

    s: float  # its length [s]
    theta: float  # the part of the way to the end of the simulation's step that its end is at
    x: np.ndarray  # (n, 3) x- [m]
    v: np.ndarray  # (n, 3) v- [m/s]
    v_previous: np.ndarray  # (n, 3) v- less s times the last step's acceleration, for the initial guess [m/s]
    poses: np.ndarray  # (b, 7) of rigid bodies
    twists: np.ndarray  # (b, 6)
    spins: np.ndarray = field(init=False)  # (b, 3) [rad/s] at its end without forces, filled in by the prediction

    def __post_init__(self) -> None:
        object.__setattr__(self, "spins", np.zeros((len(self.poses), 3)))


@dataclass(frozen=True)
class Euler:
    """Implicit Euler: first order, and the most damping."""

    name: ClassVar[str] = "euler"
    part: ClassVar[float] = 1.0  # s / h
    keeps_history: ClassVar[bool] = False  # positions before those of the last step
    is_first_order: ClassVar[bool] = True

    def start(self, state: State, carried: CarriedPoints | None, h: float) -> StepStart:
        """Of the step of h [s] from a state."""
        return StepStart(h, 1.0, state.x, state.v, state.v_previous, state.poses, state.twists)

    def looks_ahead(self, state: State, h: float) -> tuple[np.ndarray, np.ndarray, float]:
        """Positions and velocities (n, 3) that external forces are evaluated at, and how much later [s]."""
        return state.x, state.v, 0.0


@dataclass(frozen=True)
class Midpoint(Euler):
    """Implicit midpoint rule: second order, without numerical damping of linear systems."""

    name: ClassVar[str] = "midpoint"
    part: ClassVar[float] = 0.5
    is_first_order: ClassVar[bool] = False

    def start(self, state: State, carried: CarriedPoints | None, h: float) -> StepStart:
        return _one_step(state, h, self.part)

    def looks_ahead(self, state: State, h: float) -> tuple[np.ndarray, np.ndarray, float]:
        return _extrapolated(state, 0.5 * h, h)


@dataclass(frozen=True)
class BDF2(Euler):
    """Backward differences of second order: damps fast vibrations as implicit Euler does, slow ones far less."""

    name: ClassVar[str] = "bdf2"
    part: ClassVar[float] = 2 / 3
    keeps_history: ClassVar[bool] = True
    is_first_order: ClassVar[bool] = False

    def start(self, state: State, carried: CarriedPoints | None, h: float) -> StepStart:
        if not len(state.x_previous):
            return _one_step(state, h, self.part)
        x, v = (4 * state.x - state.x_previous) / 3, (4 * state.v - state.v_previous) / 3
        guess = v - self.part * (state.v - state.v_previous)
        poses, twists = state.poses, state.twists
        if carried is not None:
            poses, twists = _rigid_start(state, carried)
        return StepStart(self.part * h, 1.0, x, v, guess, poses, twists)

    def looks_ahead(self, state: State, h: float) -> tuple[np.ndarray, np.ndarray, float]:
        return _extrapolated(state, h, h)


INTEGRATORS = {kind.name: kind for kind in (Euler, BDF2, Midpoint)}


def integrator_named(name: str) -> Euler:
    """By its name, or one error."""
    if not is_one_of(name, INTEGRATORS):
        raise SceneError(f"Simulation: integrator is {name!r}: choose one of {', '.join(INTEGRATORS)}.")
    return INTEGRATORS[name]()


def check_integrator(integrator: Euler, model: Model, solver: Solver[Any]) -> None:
    """Refuse what a scene or its solver has and an integrator cannot do."""
    name = integrator.name
    if integrator.is_first_order:
        return
    if solver.supports.own_contacts:
        raise SceneError(
            f"Simulation: integrator {name!r} does not work with {type(solver).__name__}, which steps velocities by "
            "itself: use 'euler', or a solver that minimises, as VBD."
        )
    if model.contact is not None and model.contact.settings.guarantee:
        raise SceneError(
            f"Simulation: integrator {name!r} goes beyond the motion that Contact(guarantee=True) has tested: use "
            "'euler', or leave the guarantee out."
        )
    if name == "midpoint" and model.contact is not None:
        raise SceneError(
            "Simulation: integrator 'midpoint' has no damping, which contact needs: use 'bdf2' or 'euler', or leave "
            "contact and obstacles out of the scene."
        )


def carry_on(start: StepStart, state: State, model: Model, x: np.ndarray, v: np.ndarray, h: float) -> None:
    """Carry positions and velocities (n, 3) at theta of the way on to the end, in place.

    Vertices whose motion is prescribed, or which are held, get the mean velocity of the step.
    """
    x -= state.x
    x /= start.theta
    x += state.x
    v -= state.v
    v /= start.theta
    v += state.v
    held = ~model.is_free
    v[held] = (x[held] - state.x[held]) / h


def carry_bodies_on(
    start: StepStart, state: State, carried: CarriedPoints, poses: np.ndarray, twists: np.ndarray
) -> tuple[np.ndarray, np.ndarray]:
    """Poses (b, 7) and twists (b, 6) of rigid bodies, from theta of the way to the end."""
    turn = rotations.to_vectors(rotations.products(poses[:, 3:], rotations.inverses(state.poses[:, 3:])))
    motion = np.concatenate([poses[:, :3] - state.poses[:, :3], turn], axis=1) / start.theta
    ends = carried.moved(state.poses, motion)
    before, after = carried.momenta(state.poses, state.twists), carried.momenta(poses, twists)
    velocity = state.twists[:, :3] + (twists[:, :3] - state.twists[:, :3]) / start.theta
    return ends, np.concatenate([velocity, carried.spins_of(ends, before + (after - before) / start.theta)], axis=1)


def _one_step(state: State, h: float, part: float) -> StepStart:
    guess = state.v - part * (state.v - state.v_previous)
    return StepStart(part * h, part, state.x, state.v, guess, state.poses, state.twists)


def _extrapolated(state: State, ahead: float, h: float) -> tuple[np.ndarray, np.ndarray, float]:
    """Where the last step's velocity and acceleration lead in `ahead` [s]."""
    change = (ahead / h) * (state.v - state.v_previous)
    return state.x + ahead * (state.v + 0.5 * change), state.v + change, ahead


def _rigid_start(state: State, carried: CarriedPoints) -> tuple[np.ndarray, np.ndarray]:
    """Poses and twists from which BDF2 goes on: turned on by a third of the last step's turn, with the momentum
    (4 L_n - L_{n-1}) / 3.
    """
    turn = rotations.to_vectors(rotations.products(state.poses[:, 3:], rotations.inverses(state.poses_previous[:, 3:])))
    motion = np.concatenate([state.poses[:, :3] - state.poses_previous[:, :3], turn], axis=1) / 3
    poses = carried.moved(state.poses, motion)
    now, before = (
        carried.momenta(state.poses, state.twists),
        carried.momenta(state.poses_previous, state.twists_previous),
    )
    velocity = (4 * state.twists[:, :3] - state.twists_previous[:, :3]) / 3
    return poses, np.concatenate([velocity, carried.spins_of(poses, (4 * now - before) / 3)], axis=1)

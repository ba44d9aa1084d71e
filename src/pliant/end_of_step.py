"""The end of a step: from where the solver's minimum is to the new positions, velocities, poses and history."""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np

from pliant.contact.response.potential import ContactPotential
from pliant.contact.response.rebound import stop_rebound
from pliant.contact.response.restitution import restitution_impulses
from pliant.energies import IncrementalPotential
from pliant.geometry import rotations
from pliant.integration import Euler, StepStart, carry_bodies_on, carry_on
from pliant.kernels.rigid_motion import place_points, spread_twists
from pliant.model import CarriedPoints, Model
from pliant.momentum_correction import twists_after
from pliant.state import State


@dataclass
class EndOfStep:
    """x and v (n, 3) are those of the solver's minimum, and are changed in place to those at the end of the step."""

    integrator: Euler
    model: Model
    solved: IncrementalPotential | None  # the step as it was posed, None if it broke down
    state: State  # at the start
    start: StepStart
    h: float  # [s]
    x: np.ndarray
    v: np.ndarray
    _impulses: np.ndarray = field(default_factory=lambda: np.zeros((0, 3)))  # (n, 3) changes of velocity by contacts
    _body_impulses: np.ndarray = field(default_factory=lambda: np.zeros((0, 6)))  # (b, 6) of twists

    def finish(self, poses: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """New poses (b, 7) and twists (b, 6) of rigid bodies; poses are those of the minimum."""
        carried, start = self.model.carried, self.start
        twists = self.state.twists
        if carried is not None:
            twists = twists_after(self.model, start, poses, self.integrator)
        if start.theta < 1:
            carry_on(start, self.state, self.model, self.x, self.v, self.h)
            if carried is not None:
                poses, twists = carry_bodies_on(start, self.state, carried, poses, twists)
                place_points(carried.rows, poses, self.x)
        if carried is not None:
            poses = poses.copy()
            twists = self._with_restitution(poses, twists)
            spread_twists(carried.rows, poses, twists, self.v)
        self._stop_rebound()
        return poses, twists

    def keep_history(self, new: State) -> None:
        """Give a new state what the integrator needs of the one before.

        Along impulses of contacts the motion goes on as if it had always been so: the velocity of approach is
        forgotten, what friction does across them is not.
        """
        if not self.integrator.keeps_history:
            return
        old = self.state
        new.x_previous, new.poses_previous, new.twists_previous = old.x, old.poses, old.twists
        if self._impulses.any():
            back = new.x - self.h * new.v
            new.x_previous = old.x + _along(self._impulses, back - old.x)
            new.v_previous = old.v + _along(self._impulses, new.v - old.v)
        if self._body_impulses.any() and self.model.carried is not None:
            self._forget_approach(new, self.model.carried)

    def _forget_approach(self, new: State, carried: CarriedPoints) -> None:
        """The same for rigid bodies, of velocities and angular velocities."""
        old, h = self.state, self.h
        turn = rotations.to_vectors(rotations.products(new.poses[:, 3:], rotations.inverses(old.poses[:, 3:])))
        motion = np.concatenate([new.poses[:, :3] - old.poses[:, :3], turn], axis=1)
        twists = old.twists.copy()
        for part in (slice(0, 3), slice(3, 6)):
            impulses = self._body_impulses[:, part]
            motion[:, part] += _along(impulses, h * new.twists[:, part] - motion[:, part])
            twists[:, part] += _along(impulses, new.twists[:, part] - old.twists[:, part])
        new.poses_previous, new.twists_previous = carried.moved(new.poses, -motion), twists

    def _with_restitution(self, poses: np.ndarray, twists: np.ndarray) -> np.ndarray:
        if self.solved is None:
            return twists
        change = restitution_impulses(self.solved, self.x, poses, self.state.twists, twists, self.h)
        self._body_impulses = change
        if len(change):
            twists += change
        return twists

    def _stop_rebound(self) -> None:
        contacts = None if self.solved is None else self.solved.contacts
        if self.integrator.keeps_history and isinstance(contacts, ContactPotential):
            self._impulses = stop_rebound(contacts, self.model, self.x, self.v, self.h)


def _along(directions: np.ndarray, vectors: np.ndarray) -> np.ndarray:
    """The parts of vectors (n, 3) along directions (n, 3) of any length; zero where that is zero."""
    squares = np.einsum("na,na->n", directions, directions)
    parts = np.einsum("na,na->n", directions, vectors) / np.where(squares > 0, squares, 1.0)
    return parts[:, None] * directions

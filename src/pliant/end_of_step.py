"""The end of a step: from where the solver's minimum is to the new positions, velocities, poses and history."""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np

from pliant.contact.response.potential import ContactPotential
from pliant.contact.response.rebound import stop_rebound
from pliant.contact.response.restitution import restitution_impulses
from pliant.energies import IncrementalPotential
from pliant.integration import Euler, StepStart, carry_bodies_on, carry_on
from pliant.model import Model
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
    _restarts: np.ndarray = field(default_factory=lambda: np.zeros(0, bool))  # (n,) vertices that lose their history
    _bodies_restart: np.ndarray = field(default_factory=lambda: np.zeros(0, bool))  # (b,)

    def finish(self, poses: np.ndarray, acceleration: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """New poses (b, 7) and twists (b, 6) of rigid bodies; poses are those of the minimum."""
        carried, start = self.model.carried, self.start
        twists = self.state.twists
        if carried is not None:
            twists = twists_after(self.model, start, acceleration, poses, self.integrator)
        if start.theta < 1:
            carry_on(start, self.state, self.model, self.x, self.v, self.h)
            if carried is not None:
                poses, twists = carry_bodies_on(start, self.state, carried, poses, twists)
                self.x[carried.points] = carried.places(poses)
        if carried is not None:
            poses = poses.copy()
            twists = self._with_restitution(poses, twists)
            self.v[carried.points] = carried.spread(twists, poses)
        self._stop_rebound()
        return poses, twists

    def keep_history(self, new: State) -> None:
        """Give a new state what the integrator needs of the one before."""
        if not self.integrator.keeps_history:
            return
        old, changed = self.state, self._restarts
        new.x_previous, new.poses_previous, new.twists_previous = old.x, old.poses, old.twists
        if changed.any():
            new.x_previous, new.v_previous = old.x.copy(), old.v.copy()
            new.x_previous[changed] = new.x[changed] - self.h * new.v[changed]
            new.v_previous[changed] = new.v[changed]
        if self._bodies_restart.any() and self.model.carried is not None:
            back = self.model.carried.moved(new.poses, -self.h * new.twists)
            own = self._bodies_restart[:, None]
            new.poses_previous, new.twists_previous = (
                np.where(own, back, old.poses),
                np.where(own, new.twists, old.twists),
            )

    def _with_restitution(self, poses: np.ndarray, twists: np.ndarray) -> np.ndarray:
        if self.solved is None:
            return twists
        change = restitution_impulses(self.solved, self.x, poses, self.state.twists, twists, self.h)
        self._bodies_restart = np.any(change != 0, axis=1)
        twists += change
        return twists

    def _stop_rebound(self) -> None:
        contacts = None if self.solved is None else self.solved.contacts
        if self.integrator.keeps_history and isinstance(contacts, ContactPotential):
            self._restarts = stop_rebound(contacts, self.model, self.x, self.v, self.h)

"""Detection for a simulation: which contacts a step has, from where it starts and where it seems to go."""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np

from pliant.contact.broad_phase import Rules
from pliant.contact.colliders import Colliders, make_colliders
from pliant.contact.contacts import Contacts, joined, no_contacts, without
from pliant.contact.detection import continuous_contacts, discrete_contacts, remember
from pliant.contact.memory import Memory, no_memory
from pliant.contact.near_shapes import touches_of_shapes
from pliant.contact.potential import ContactPotential
from pliant.contact.solid import thinnest
from pliant.contact.touches import Touches, joined_touches, touches_of_pairs
from pliant.kernels.threads import Team
from pliant.model import ContactModel


@dataclass
class Detector:
    """Keeps trees, the sides of what is near, and the contacts of the step.

    begin (the start of a step), detect (as often as one likes), end (the step is done), and so on.  A contact that was
    detected once stays until the end of the step.
    """

    model: ContactModel
    h: float
    team: Team
    colliders: Colliders = field(init=False)
    memory: Memory = field(default_factory=no_memory)
    seen: np.ndarray | None = None  # (n, 3) positions that the memory is of [m]
    _discrete: Contacts = field(default_factory=no_contacts)
    _found: Contacts = field(default_factory=no_contacts)
    _thinnest: float | None = None  # [m] of all tets

    def __post_init__(self) -> None:
        m = self.model
        rules = Rules(m.body.astype(np.int32), m.allowed, m.excluded)
        self.colliders = make_colliders(m.triangles, m.tets, rules, m.radius)

    def begin(self, x_start: np.ndarray) -> None:
        """What penetrates at the start of a step (VBD 3.5)."""
        if not self._has_pairs:
            return
        if self.seen is None or not np.array_equal(self.seen, x_start):  # put there by hand: there was no way to it
            self.memory = remember(self.team, self.colliders, no_memory(), x_start, x_start)
            self.seen = x_start.copy()
        self._discrete = discrete_contacts(self.team, self.colliders, x_start, self.memory)
        self._found = no_contacts()

    def detect(self, x_start: np.ndarray, x: np.ndarray, time: float) -> ContactPotential:
        """All contacts of the step from `time` [s] on, of which x is the current iterate."""
        lists: list[Touches] = []
        pairs = no_contacts()
        if self._has_pairs:
            hits = continuous_contacts(self.team, self.colliders, x_start, x, self.memory)
            self._found = joined(self._found, without(hits, self._found))
            pairs = joined(self._discrete, self._found)
        lists.append(touches_of_pairs(pairs, self.model))
        if self.model.shapes:
            reach = 2.0 * float(np.abs(x - x_start).max(initial=0.0))
            lists.append(touches_of_shapes(self.model, x_start, x, time, self.h, reach))
        settings = self.model.settings
        slip, damping = settings.friction_speed * self.h, settings.damping / self.h
        return ContactPotential(joined_touches(*lists), settings.stiffness, slip, damping, x_start)

    def end(self, x_start: np.ndarray, x: np.ndarray) -> None:
        """Take note of all that came near or crossed in the step from x_start to x, whether it was detected or not."""
        if not self._has_pairs:
            return
        is_fast = self._may_pass_solids(x_start, x)
        if is_fast or len(self.model.triangles):
            self.memory = remember(self.team, self.colliders, self.memory, x_start, x, is_fast)
        self.seen = x.copy()

    def _may_pass_solids(self, x_start: np.ndarray, x: np.ndarray) -> bool:
        """Whether anything moves further in a step, against anything else, than the thinnest tet is thick."""
        if self._thinnest is None:
            self._thinnest = thinnest(self.model.tets, x_start)
        return float(np.linalg.norm(np.ptp(x - x_start, axis=0))) > self._thinnest

    @property
    def _has_pairs(self) -> bool:
        return len(self.colliders.surface.triangles) > 0 and bool(self.model.allowed.any())

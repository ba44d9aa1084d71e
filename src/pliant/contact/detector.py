"""Detection for a simulation: which contacts a step has, from where it starts and where it seems to go."""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np

from pliant.contact.broad_phase import Rules
from pliant.contact.colliders import Colliders, make_colliders
from pliant.contact.contacts import Contacts, joined, no_contacts
from pliant.contact.detection import continuous_contacts, discrete_contacts
from pliant.contact.near_shapes import touches_of_shapes
from pliant.contact.potential import ContactPotential
from pliant.contact.touches import Touches, joined_touches, touches_of_pairs
from pliant.kernels.threads import Team
from pliant.model import ContactModel


@dataclass
class Detector:
    """Keeps trees and the contacts of the last step."""

    model: ContactModel
    h: float
    team: Team
    colliders: Colliders = field(init=False)
    _discrete: Contacts = field(default_factory=no_contacts)

    def __post_init__(self) -> None:
        m = self.model
        rules = Rules(m.body.astype(np.int32), m.allowed, m.excluded)
        self.colliders = make_colliders(m.triangles, m.tets, rules, m.radius)

    def begin(self, x_start: np.ndarray) -> None:
        """What penetrates at the start of a step (VBD 3.5)."""
        if self._has_pairs:
            self._discrete = discrete_contacts(self.team, self.colliders, x_start, self._discrete)

    def detect(self, x_start: np.ndarray, x: np.ndarray, time: float) -> ContactPotential:
        """All contacts of the step from `time` [s] on, of which x is the current iterate."""
        lists: list[Touches] = []
        pairs = no_contacts()
        if self._has_pairs:
            pairs = joined(self._discrete, continuous_contacts(self.team, self.colliders, x_start, x))
        lists.append(touches_of_pairs(pairs, self.model))
        if self.model.shapes:
            reach = 2.0 * float(np.abs(x - x_start).max(initial=0.0))
            lists.append(touches_of_shapes(self.model, x_start, x, time, self.h, reach))
        settings = self.model.settings
        slip, damping = settings.friction_speed * self.h, settings.damping / self.h
        return ContactPotential(joined_touches(*lists), settings.stiffness, slip, damping, x_start)

    @property
    def _has_pairs(self) -> bool:
        return len(self.colliders.surface.triangles) > 0 and bool(self.model.allowed.any())

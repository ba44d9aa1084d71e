"""What the detector asks of those who find contacts of particles (grains.sphere_contacts)."""

from __future__ import annotations

from typing import Protocol

import numpy as np

from pliant.contact.contact_set import ContactSet
from pliant.contact.response.scale import ContactScale


class SphereSearch(Protocol):
    """Finds contacts of particles (grains.sphere_contacts)."""

    neighbours: np.ndarray  # (k, 2) int32 vertices that colours keep apart

    def finds_new_neighbours(self, x: np.ndarray, time: float) -> bool:
        """Whether many touch who were not neighbours; then those at x (n, 3) [m] and `time` [s] are."""

    def find(
        self, x0: np.ndarray, x1: np.ndarray, time: float, h: float, scale: ContactScale, is_hard: bool
    ) -> ContactSet:
        """On the way from x0 to x1 (n, 3) [m] in h [s] from `time` [s] on, with the least stiffnesses they need.

        is_hard: multipliers stop what comes in.
        """

    def stop_passages(self, x0: np.ndarray, x1: np.ndarray, time: float, h: float, contacts: ContactSet) -> int:
        """Change x1 (n, 3) [m], the end of a step of h [s] with these contacts, so that no sphere passes a sheet."""

"""How much nearer than they should be contacts may stay, since they started so (decision 0134), kept by id."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from pliant.contact.contact_set import ContactSet
from pliant.contact.tracking.identity import ID, contact_ids, places_among


class Shortfalls(NamedTuple):
    """Of contacts that have any."""

    ids: np.ndarray  # (m, 5) int32
    values: np.ndarray  # (m,) [m]

    def known_of(self, contacts: ContactSet, others: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """(k,) [m] of some contacts, and (k,) bool which are known; others (k,) [m]: for those that are not."""
        if not len(self.ids):
            return others, np.zeros(contacts.size, bool)
        places = places_among(contact_ids(contacts), self.ids)
        return np.where(places >= 0, self.values[places], others), places >= 0


def no_shortfalls() -> Shortfalls:
    """All keep the distance that they should."""
    return Shortfalls(np.zeros((0, ID), np.int32), np.zeros(0))


def shortfalls_of(contacts: ContactSet, values: np.ndarray) -> Shortfalls:
    """Those of a set of contacts, values (k,) [m]."""
    has_any = values > 0
    if not has_any.any():
        return no_shortfalls()
    return Shortfalls(contact_ids(contacts)[has_any], values[has_any])

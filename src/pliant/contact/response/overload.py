"""Contacts that a step has pressed through, although its vertices are to be held back: stiffer in its next solution.

The stiffness that is chosen (decision 0024) takes the inertia of the vertices that meet. In a hard impact whole bodies
are behind them, and the minimum of the step lies beyond its contacts. The guarantee then stops the vertices there and
nothing carries the load on. So the step is solved again with contacts that hold it within half their thickness,
between the bodies that were pressed through each other.
"""

from __future__ import annotations

import numpy as np

from pliant.contact.contact_set import ContactSet, penetrations
from pliant.contact.tracking.passing import Skipped

FLOOR = 0.05  # of the thickness: pairs are kept that far apart at least
MOST = 100.0  # times stiffer from one solution of a step to the next


class Overload:
    """How much stiffer contacts are in the rest of a step, by those who meet."""

    def __init__(self, body: np.ndarray, bodies: int, obstacles: int):
        self._body, self._bodies = body, bodies
        self._factors: np.ndarray | None = None  # (bodies, bodies and obstacles)
        self._shape = (bodies, bodies + obstacles)

    def forget(self) -> None:
        """A new step begins."""
        self._factors = None

    def note(self, contacts: ContactSet, x: np.ndarray, skipped: Skipped | None) -> None:
        """Take note of what is pressed so deep that no more of its thickness is left than pairs keep at least, where a
        solver would have vertices, x (n, 3) [m]; skipped: who is not held back, None if all are.
        """
        is_held = np.ones(contacts.size, bool) if skipped is None else ~skipped.contacts(contacts)
        kept, deep = contacts.thickness + contacts.offset, penetrations(contacts, x)
        is_through = is_held & (kept > 0) & (deep > (1.0 - FLOOR) * kept)
        times = np.where(is_through, 2.0 * deep / np.maximum(kept, 1e-300), 1.0)
        if not (times > 1).any():
            return
        if self._factors is None:
            self._factors = np.ones(self._shape)
        most = np.ones(self._shape)
        one, other = self._parties(contacts)
        np.maximum.at(most, (one, other), np.minimum(times, MOST))
        own = most[:, : self._bodies]
        most[:, : self._bodies] = np.maximum(own, own.T)
        self._factors *= most

    def factors(self, contacts: ContactSet) -> np.ndarray | float:
        """(k,) by which contacts are stiffer than chosen."""
        return 1.0 if self._factors is None else self._factors[self._parties(contacts)]

    def _parties(self, contacts: ContactSet) -> tuple[np.ndarray, np.ndarray]:
        v = contacts.vertices
        one, other = self._body[v[:, 0]], self._body[np.maximum(v[:, 2], 0)]
        return one, np.where(contacts.obstacle >= 0, self._bodies + contacts.obstacle, other)

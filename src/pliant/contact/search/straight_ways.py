"""How far steps go on in straight lines: what one search may foresee of the next step (decision 0182)."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING

import numpy as np

from pliant.lanes.compiled import cached, compiled

if TYPE_CHECKING:
    from pliant.contact.search.surface_pairs import Search

SAFETY = 1.5  # times what was seen in the step before
MOST = 0.03  # of an edge: a wider search takes longer than two


@dataclass
class StraightWays:
    """What each step sees of the next one's way, were no forces to act. What is found does not depend on it."""

    edge: float  # [m] mean of the surface
    guess: np.ndarray = field(default_factory=lambda: np.zeros((0, 3)))  # [m] where the step would lead without contact
    _end: np.ndarray | None = None  # (n, 3) [m] where the step before led to, going on as far again
    _start: np.ndarray | None = None  # (n, 3) [m] from where
    _off: float = np.inf  # [m] that the last step's way ended from there, at most

    @property
    def reach(self) -> float | None:
        """[m] that the next way may end from the straight line; None if it is not worth to look ahead."""
        return SAFETY * self._off if SAFETY * self._off <= MOST * self.edge else None

    @staticmethod
    def keep(searches: list[Search], x: np.ndarray) -> None:
        """Forget searches but for one that has looked ahead from x (n, 3) [m], where a step begins: a run that goes on
        from a checkpoint has no others.
        """
        searches[:] = [search for search in searches if search.goes_on_from(x)]

    def meet(self, x0: np.ndarray, x1: np.ndarray) -> None:
        """A step looks at its way from x0 to x1 (n, 3) [m] for the first time."""
        self.guess = x1.copy()
        if self._end is not None and self._start is not None and np.array_equal(self._start, x0):
            self._off = float(cached(largest_distance)(self._end, x1))

    def go_on(self, x0: np.ndarray, x1: np.ndarray) -> None:
        """A step has gone from x0 to x1 (n, 3) [m]."""
        self._start, self._end = x1.copy(), 2.0 * x1 - x0


@compiled
def largest_distance(one, other):
    """Between the places of a vertex, (n, 3) each."""
    largest = 0.0
    for i in range(len(one)):
        total = 0.0
        for k in range(3):
            total += (one[i, k] - other[i, k]) ** 2
        largest = max(largest, total)
    return np.sqrt(largest)

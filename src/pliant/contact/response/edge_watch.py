"""How deep edges lie inside other bodies, measured now and then: it takes as long as detection."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from pliant.contact.response.report import EdgeInside, edge_inside
from pliant.contact.search.colliders import Colliders
from pliant.contact.search.edge_depths import deepest_edge
from pliant.kernels.threads import Team

EDGE_STEPS = 4  # from one measurement to the next


@dataclass
class EdgeWatch:
    """The edge that lies deepest inside another body."""

    team: Team
    colliders: Colliders
    edge: float  # [m] mean of the surface
    _depth: float | None = None  # [m] as measured last; None: it is not known
    _found: EdgeInside | None = None  # then
    _age: int = 0  # steps since then

    def forget(self) -> None:
        """Bodies were put elsewhere."""
        self._depth, self._age = None, 0

    def after_step(self, x: np.ndarray) -> EdgeInside | None:
        """At positions x (n, 3) [m], or where it was measured last."""
        if self._age == 0:
            found, before = deepest_edge(self.team, self.colliders, x), self._depth
            self._depth = 0.0 if found is None else found.depth
            self._found = None if found is None else edge_inside(found, self.edge, before)
        self._age = (self._age + 1) % EDGE_STEPS
        return self._found

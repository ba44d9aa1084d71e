"""Forces that a function gives: evaluated once at the start of a step, on all vertices of a body at once."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Protocol

import numpy as np
from numpy.typing import ArrayLike

from pliant.model import checks

Force = Callable[[np.ndarray, np.ndarray, float], ArrayLike]  # positions, velocities, time -> forces [N]


class OutsideForce(Protocol):
    """What acts on vertices from outside."""

    def add_to(self, forces: np.ndarray, x: np.ndarray, v: np.ndarray, time: float) -> None:
        """Add its forces (n, 3) [N] on all vertices of the scene at positions x and velocities v."""


@dataclass(frozen=True)
class ForceField:
    """A function's force on the vertices of a body."""

    body: str
    vertices: np.ndarray  # (k,)
    function: Force

    def add_to(self, forces: np.ndarray, x: np.ndarray, v: np.ndarray, time: float) -> None:
        """Add its forces (n, 3) [N] at positions x and velocities v; what the function returns is checked."""
        given = self.function(x[self.vertices], v[self.vertices], time)
        what = f"{self.body}: force at t = {time:g} s"
        forces[self.vertices] += checks.vectors(given, len(self.vertices), what, "N")

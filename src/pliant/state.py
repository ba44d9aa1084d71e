"""What changes from step to step."""

from __future__ import annotations

from dataclasses import dataclass, field, fields, replace
from typing import Any

import numpy as np


@dataclass
class State:
    """Positions and velocities in the scene's vertex order, in double precision whatever the solver computes in.

    A pose is a position [m] and an orientation, a unit quaternion (w, x, y, z); a twist a velocity [m/s] and an angular
    velocity [rad/s], in world axes.
    """

    x: np.ndarray  # (n, 3) [m] of all points, those that rigid bodies carry too
    v: np.ndarray  # (n, 3) [m/s]
    v_previous: np.ndarray  # (n, 3) velocities one step earlier, for the adaptive start [m/s]
    step: int = 0  # steps done
    internal_state: np.ndarray = field(default_factory=lambda: np.zeros(0))  # (k,) of elements
    poses: np.ndarray = field(default_factory=lambda: np.zeros((0, 7)))  # (b, 7) of rigid bodies
    twists: np.ndarray = field(default_factory=lambda: np.zeros((0, 6)))  # (b, 6) of rigid bodies
    spins: np.ndarray = field(default_factory=lambda: np.zeros((0, 3)))  # (n, 3) [rad/s] of particles, if any spins
    drawn: np.ndarray | None = None  # for observers of a scene that tears: vertices that pictures show (Topology.drawn)

    def read_only(self, drawn: np.ndarray | None = None) -> State:
        """The same arrays, for those who may look but not write."""
        seen = replace(self, **{name: array.view() for name, array in self._arrays().items()}, drawn=drawn)
        for array in seen._arrays().values():
            array.flags.writeable = False
        return seen

    def copy(self) -> State:
        """The same with arrays of its own."""
        return replace(self, **{name: array.copy() for name, array in self._arrays().items()}, drawn=None)

    def _arrays(self) -> dict[str, Any]:
        own = {part.name: getattr(self, part.name) for part in fields(self)}
        return {name: value for name, value in own.items() if isinstance(value, np.ndarray) and name != "drawn"}

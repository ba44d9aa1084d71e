"""What changes from step to step."""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np


@dataclass
class State:
    """Positions and velocities in the scene's vertex order, in double precision whatever the solver computes in."""

    x: np.ndarray  # (n, 3) [m]
    v: np.ndarray  # (n, 3) [m/s]
    v_previous: np.ndarray  # (n, 3) velocities one step earlier, for the adaptive start [m/s]
    step: int = 0  # steps done
    internal_state: np.ndarray = field(
        default_factory=lambda: np.zeros(0)
    )  # (k,) what elements remember, block after block
    drawn: np.ndarray | None = None  # for observers of a scene that tears: vertices that pictures show (Topology.drawn)

    def read_only(self, drawn: np.ndarray | None = None) -> State:
        """The same arrays, for those who may look but not write."""
        seen = State(self.x.view(), self.v.view(), self.v_previous.view(), self.step, self.internal_state.view(), drawn)
        for array in (seen.x, seen.v, seen.v_previous, seen.internal_state):
            array.flags.writeable = False
        return seen

    def copy(self) -> State:
        return State(self.x.copy(), self.v.copy(), self.v_previous.copy(), self.step, self.internal_state.copy())

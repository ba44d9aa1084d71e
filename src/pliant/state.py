"""What changes from step to step."""

from __future__ import annotations

from dataclasses import dataclass, field, fields, replace
from typing import Any

import numpy as np

#: Arrays of a state that are of one step earlier, empty unless the integrator keeps them.
HISTORY = ("x_previous", "poses_previous", "twists_previous")


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
    inflation: np.ndarray = field(default_factory=lambda: np.zeros((0, 2)))  # (k, 2) of prescribed volumes: pressures
    # [Pa] and what is known of their effect (pliant.volume_control)
    # one step earlier, if the integrator keeps it: BDF2 after its first step
    x_previous: np.ndarray = field(default_factory=lambda: np.zeros((0, 3)))  # (n, 3) [m]
    poses_previous: np.ndarray = field(default_factory=lambda: np.zeros((0, 7)))  # (b, 7) [m], quaternions
    twists_previous: np.ndarray = field(default_factory=lambda: np.zeros((0, 6)))  # (b, 6) [m/s], [rad/s]
    drawn: np.ndarray | None = None  # for observers of a scene that tears: vertices that pictures show (Topology.drawn)

    def forget_history(self) -> None:
        """Go on as from a first step: positions or velocities were changed by hand."""
        self.x_previous, self.poses_previous, self.twists_previous = (
            np.zeros((0, 3)),
            np.zeros((0, 7)),
            np.zeros((0, 6)),
        )
        self.v_previous = self.v.copy()

    def grown_history(self, parents: np.ndarray) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """The last three arrays, in [m] and [m/s], for vertices (m,) of which each was one of these."""
        x = self.x_previous[parents] if len(self.x_previous) else self.x_previous
        return x, self.poses_previous, self.twists_previous

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

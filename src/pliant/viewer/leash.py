"""A hand that drags vertices: they follow it no faster than a limit, however it jumps."""

from __future__ import annotations

import numpy as np


class Leash:
    """Leads vertices rigidly from where they were grabbed to where the hand is.

    points (k, 3) [m]: where they are at `time` [s]; speed: the limit [m/s].
    """

    def __init__(self, points: np.ndarray, time: float, speed: float):
        self._points, self._time, self._speed = np.array(points), time, speed
        self._offset = np.zeros(3)
        self.target = np.zeros(3)  # (3,) [m] from where they were grabbed

    def __call__(self, time: float) -> np.ndarray:
        """Positions (k, 3) [m]; asked for again at the same time, the same."""
        way = self.target - self._offset
        length = float(np.linalg.norm(way))
        step = self._speed * max(time - self._time, 0.0)
        self._offset = self._offset + way * min(1.0, step / length if length > 0 else 0.0)
        self._time = max(time, self._time)
        return self._points + self._offset

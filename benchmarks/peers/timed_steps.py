"""Steps of a simulator of rigid bodies, timed one by one."""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

LAST = 50  # steps at the end that count


@dataclass(frozen=True)
class Outcome:
    """What a run ends with."""

    name: str
    positions: np.ndarray  # (n, 3) [m] of the bodies' centres
    turns: np.ndarray  # (n, 4)
    milliseconds: float  # of a step, median of the last ones
    cpu: float  # [ms] of a step on all threads, mean of the last ones
    drift: float  # [m] that a body moved in the last steps, at most
    note: str = ""


def timed(name: str, step: Callable[[], object], poses: Callable[[], tuple], steps: int, note: str = "") -> Outcome:
    """Do steps; poses() gives positions and turns of all bodies."""
    wall, cpu, before = [], 0.0, None
    for k in range(steps):
        if k == steps - LAST:
            before, cpu = poses()[0], time.process_time()
        began = time.perf_counter()
        step()
        wall.append(time.perf_counter() - began)
    cpu = 1e3 * (time.process_time() - cpu) / LAST
    positions, turns = poses()
    drift = float(np.linalg.norm(positions - before, axis=1).max())
    return Outcome(name, positions, turns, 1e3 * float(np.median(wall[-LAST:])), cpu, drift, note)

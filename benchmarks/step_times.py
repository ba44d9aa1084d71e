"""Times of the last steps of a run: wall time, and CPU time of all threads, which a busy computer disturbs less."""

from __future__ import annotations

import time
from collections.abc import Callable

import numpy as np

LAST = 50  # steps that count


def median_times(step: Callable[[], object], steps: int) -> tuple[float, float]:
    """Of one of the last steps [s]."""
    times = []
    for _ in range(steps):
        wall, cpu = time.perf_counter(), time.process_time()
        step()
        times.append((time.perf_counter() - wall, time.process_time() - cpu))
    wall, cpu = np.median(times[-LAST:], axis=0)
    return float(wall), float(cpu)

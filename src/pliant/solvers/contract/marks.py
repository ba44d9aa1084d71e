"""When the iterations of a step are looked at (contract.error)."""

from __future__ import annotations

from functools import cache

FEWEST = 8  # iterations by which what is seen of them meets a tolerance at the earliest; before, only what is owed
LEFT_OUT = 4  # first iterations of local solvers, which move far whatever the rate of those that follow


@cache
def marks(n: int, period: int, is_watched: bool) -> tuple[int, ...]:
    """Iterations after which positions are kept: the last windows, or, where a tolerance may end a step, all along."""
    if not is_watched:
        window = max(period, n // 4 // period * period)
        return tuple(mark for mark in (n - 2 * window, n - window, n) if mark > 0)
    window = period * -(-4 // period)
    found = [0, LEFT_OUT, 6, FEWEST] if period == 1 else [0]
    while found[-1] < n:
        found.append(found[-1] + max(window, found[-1] // 4 // window * window))
    return (*(mark for mark in found[1:] if mark < n), n)

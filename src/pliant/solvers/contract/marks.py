"""When the iterations of a step are looked at (contract.error)."""

from __future__ import annotations

import math
from collections.abc import Iterable
from functools import cache

from pliant.solvers.contract.step_error import StepError

FEWEST = 8  # iterations by which what is seen of them meets a tolerance at the earliest; before, only what is owed
LEFT_OUT = 4  # first iterations of local solvers, which move far whatever the rate of those that follow

FAST = 0.25  # rate of the first iterations, in which errors fall fastest
FAR = 10.0  # iterations that a step has before it where it is not looked at again before FEWEST


class Looks:
    """At which iterations steps are looked at where each look says when the next one is.

    Steps are much as those before them: the first look is where the easier one of the last two ended, or sooner where
    that would have done, but not after FEWEST iterations.
    """

    def __init__(self) -> None:
        self.needed = [2, 2]  # iterations of the last step and of the one before it
        self.is_far = False  # no end was seen
        self._is_new = True  # this step was not looked at

    def begin(self, left: int, is_new: bool) -> Iterable[int]:
        """Marks up to the first look, of at most so many iterations of a step, or of a solver that goes on with it."""
        first, self._is_new = min(min(self.needed) if is_new else 2, left), is_new
        self.is_far = first == FEWEST
        return (2, 5, FEWEST) if self.is_far else range(max(first - 1, 1), first + 1)

    def note(self, done: int, error: StepError, tolerance: float) -> None:
        """What a look found after so many iterations."""
        needed = min(done, FEWEST)
        if error.largest > tolerance:
            needed = FEWEST
        elif self._is_new:
            needed = max(needed - error.iterations_within(tolerance, FAST), 2)
        self.needed = [needed, self.needed[0] if self._is_new else self.needed[1]]
        self._is_new = False

    def next_window(self, own: int, error: StepError | None, tolerance: float | None) -> int:
        """Iterations to the next mark: odd, so that to and fro is seen, and few where the end is near."""
        longest = 3 if own < FEWEST else max(5, (own // 4 - 1) | 1)
        if error is None or tolerance is None or (self.is_far and own < FEWEST):
            return longest
        needed = error.iterations_to(tolerance)
        self.is_far = needed > FAR
        return min(math.ceil(min(needed, longest)) | 1, longest)


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

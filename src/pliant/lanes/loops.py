"""Loops of numbers that end when they have converged: on floats, lanes, NumPy arrays and traced numbers."""

from __future__ import annotations

from pliant.lanes.inner import overload
from pliant.lanes.math import count
from pliant.lanes.traced import traced


def repeat(step, most, start, *constants):
    """A number from `start` on: step(number, *constants) gives the next one and where it is not yet good enough; at
    most so many steps.
    """
    one = traced(start, *constants)
    if one is not None:
        return one.repeat(step, most, start, constants)
    result = start
    for _ in range(most):
        result, goes_on = step(result, *constants)
        if count(goes_on) == 0:
            break
    return result


@overload(repeat)
def _repeat(step, most, start, *constants):
    def loop(step, most, start, *constants):
        result = start
        for _ in range(most):
            result, goes_on = step(result, *constants)
            if count(goes_on) == 0:
                break
        return result

    return loop

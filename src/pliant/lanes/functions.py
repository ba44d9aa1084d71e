"""Physics functions: one text that compiled code calls as compiled code, and Python calls as Python.

Numba asks a global object for `_numba_type_`; here it is the type of the compiled function, so that a compiled function
which names the object calls that.  Python calls the plain text, and with it all plain texts below it.  So one text runs
on floats, NumPy arrays, SIMD lanes, and on numbers that write down or differentiate what is done to them
(lanes.traced).
"""

from __future__ import annotations

import functools
from collections.abc import Callable
from typing import Any

import numpy as np
from numba import types

from pliant.lanes.inner import inner


class LaneFunction:
    """A function of numbers (floats, lanes, arrays, traced) and tuples of them, without `if` on their values."""

    __name__: str
    __module__: str

    def __init__(self, function: Callable, **options: Any):
        functools.update_wrapper(self, function)
        self.python = function
        self.compiled = inner(**options)(function)

    @property
    def _numba_type_(self) -> types.Type:
        return self.compiled._numba_type_

    def __call__(self, *arguments: Any) -> Any:
        """Run as Python; infinities and NaN pass without a warning, as in compiled code."""
        with np.errstate(all="ignore"):
            return self.python(*arguments)

    def __repr__(self) -> str:
        return f"<lane function {self.__module__}.{self.__name__}>"


def physics(function: Callable) -> LaneFunction:
    """A function that is inlined into the loops that call it; a division by zero gives infinity, as in NumPy.

    It neither makes nor returns arrays: without _nrt=False each array taken out of a tuple is counted as a reference,
    and threads wait for each other at the count.
    """
    return LaneFunction(function, forceinline=True, error_model="numpy", _nrt=False)


def lane_function(function: Callable) -> LaneFunction:
    """A larger function of numbers, which stays a call in compiled code."""
    return LaneFunction(function, error_model="numpy")

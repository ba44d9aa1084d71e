"""Functions of contact and of shapes, which compiled code calls, and Python too (`cached`)."""

from __future__ import annotations

from functools import cache

import numpy as np

from pliant.lanes.entry import EntryFunction, entry
from pliant.lanes.inner import InnerFunction, inner

# Compiled, free of the interpreter lock; a division by zero gives infinity, as in NumPy.  Without _nrt=False each array
# taken out of a tuple or handed to a function is counted as a reference, and threads wait for each other at the count.
compiled = inner(nogil=True, error_model="numpy", _nrt=False)
# The same for small functions inside loops.
inlined = inner(nogil=True, error_model="numpy", forceinline=True, _nrt=False)
# The same for functions that make or return arrays, which have to be counted.
allocating = inner(nogil=True, error_model="numpy", _nrt=True)


@inlined
def at(array, place):
    """array[place], for a place that is not negative: Numba would look whether it counts from the end."""
    return array[np.uint64(place)]


@inlined
def put(array, place, value):
    """array[place] = value, for a place that is not negative."""
    array[np.uint64(place)] = value


@compiled
def lower_bound(values, value):
    """First place in sorted values whose value is not less: np.searchsorted, which takes Numba half a second."""
    first, last = 0, len(values)
    while first < last:
        middle = (first + last) // 2
        if values[middle] < value:
            first = middle + 1
        else:
            last = middle
    return first


@cache
def cached(function: InnerFunction) -> EntryFunction:
    """The same function as Python calls it: compiled once and found again by every later process."""
    return entry(**{name: value for name, value in function.options.items() if name != "forceinline"})(function.py_func)

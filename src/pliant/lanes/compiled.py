"""Compiled functions of this room that Python calls, kept on disk between processes.

Functions here call functions of other files, which Numba's own cache does not watch.  So Python calls each of them
through a small generated module whose folder is named after the sources of all rooms (lanes.cache).
"""

from __future__ import annotations

import inspect
from collections.abc import Callable
from functools import cache
from typing import Any

import numpy as np

from pliant.lanes.cache import load_module
from pliant.lanes.inner import inner

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
def cached(function: Any) -> Callable:
    """The same function, compiled once and found again by every later process."""
    name, module = function.py_func.__name__, function.py_func.__module__
    arguments = ", ".join(inspect.signature(function.py_func).parameters)
    counted = function.targetoptions["_nrt"]
    text = _WRAPPER.format(name=name, module=module, arguments=arguments, counted=counted)
    return getattr(load_module(f"contact_{name}", text, f"contact: {name}"), name)


_WRAPPER = '''"""{module}.{name}. Written by pliant.lanes.compiled: change that, not this."""
from pliant.lanes.entry import entry

from {module} import {name} as function


@entry(nogil=True, error_model="numpy", _nrt={counted})
def {name}({arguments}):
    return function({arguments})
'''

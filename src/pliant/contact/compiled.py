"""Compiled functions of this room that Python calls, kept on disk between processes.

Functions here call functions of other files, which Numba's own cache does not watch.  So Python calls each of them
through a small generated module whose folder is named after the sources of all rooms (lanes.cache).
"""

from __future__ import annotations

import inspect
from collections.abc import Callable
from functools import cache
from typing import Any

from numba import njit

from pliant.lanes.cache import load_module

# Compiled, free of the interpreter lock; a division by zero gives infinity, as in NumPy.
compiled = njit(nogil=True, error_model="numpy")
# The same for small functions inside loops: arrays handed to a function that is not inlined are counted as references,
# and threads would wait for each other at the count.
inlined = njit(nogil=True, error_model="numpy", forceinline=True)
# The same without any counting, for functions that neither make nor return arrays; and not inlined.
uncounted = njit(nogil=True, error_model="numpy", forceinline=True, _nrt=False)
uncounted_loop = njit(nogil=True, error_model="numpy", _nrt=False)


@cache
def cached(function: Any) -> Callable:
    """The same function, compiled once and found again by every later process."""
    name, module = function.py_func.__name__, function.py_func.__module__
    arguments = ", ".join(inspect.signature(function.py_func).parameters)
    text = _WRAPPER.format(name=name, module=module, arguments=arguments)
    return getattr(load_module(f"contact_{name}", text, f"contact: {name}"), name)


_WRAPPER = '''"""{module}.{name}. Written by pliant.contact.compiled: change that, not this."""
from numba import njit

from {module} import {name} as function


@njit(cache=True, nogil=True, error_model="numpy")
def {name}({arguments}):
    return function({arguments})
'''

"""Compiled functions as Python: the same text, for numbers that write down what is done to them."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from types import FunctionType
from typing import Any

from numba.core.dispatcher import Dispatcher

from pliant.lanes.inner import InnerFunction


def plain_python(function: Dispatcher | InnerFunction, replaced: Mapping[str, Any]) -> Callable:
    """The text of a compiled function, and of all compiled functions that it calls, with some names replaced: memory is
    not the same on a device.
    """
    text = function.py_func
    names = dict(text.__globals__)
    for name in text.__code__.co_names:
        if isinstance(names.get(name), Dispatcher | InnerFunction):
            names[name] = plain_python(names[name], replaced)
    names.update(replaced)
    return FunctionType(text.__code__, names, text.__name__, text.__defaults__)

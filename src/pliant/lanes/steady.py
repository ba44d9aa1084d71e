"""Calls of entries whose arguments have the same types every time.

Before each call Numba asks for the type of every array in every named tuple: 4 microseconds for constraints and bodies,
where the call itself takes 0.4.  Who makes all its tuples itself, once and for all, needs that in the first call alone.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from pliant.lanes.entry import EntryFunction


class SteadyCalls:
    """Entries of one caller: each of them gets tuples whose parts have the same types in every call. Arrays that are no
    part of a tuple may come from anywhere and are looked at.
    """

    def __init__(self) -> None:
        self._known: dict[EntryFunction, tuple[Callable, list[tuple[int, np.dtype, int]]]] = {}

    def point_of(self, function: EntryFunction, arguments: tuple) -> Callable:
        """What to call in place of a function with these arguments."""
        known = self._known.get(function)
        if known is None:
            kinds = tuple(map(function.typeof_pyval, arguments))
            point = function.overloads[kinds].entry_point if kinds in function.overloads else function.compile(kinds)
            arrays = [(k, a.dtype, a.ndim) for k, a in enumerate(arguments) if isinstance(a, np.ndarray)]
            known = self._known[function] = point, arrays
        for place, dtype, ndim in known[1]:
            array = arguments[place]
            if array.dtype is not dtype or array.ndim != ndim or not array.flags.c_contiguous:
                return function
        return known[0]

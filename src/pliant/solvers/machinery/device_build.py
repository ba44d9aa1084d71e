"""What blocks of elements become on a device: lists by vertex, and the arguments of the C functions they call."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np

from pliant.device.c_text import Helpers
from pliant.device.functions import FORCE_AND_BLOCK, Argument, c_function
from pliant.device.lists import DeviceList
from pliant.kernels.lists import Incidences
from pliant.model import Block


@dataclass
class DeviceTerm:
    """A block on a device."""

    block: Block
    lists: list[DeviceList]
    diagonal: np.ndarray  # (n,) constant part of its Hessian [N/m]
    refresh: Callable[[Any, np.ndarray], list[tuple[str, np.ndarray]] | None] | None = None
    # of a step's block and the origin [m]: ("constants" or "parameters", array) for each list, None if nothing changes
    state: Callable[[Any], np.ndarray] | None = None  # of a block: the numbers of its elements that iterations change


@dataclass(frozen=True)
class DeviceBuild:
    """What terms are built for."""

    precision: str
    row_of_vertex: np.ndarray  # (n,)
    helpers: Helpers

    def function(self, name: str, call: Callable, arguments: list[Argument], function: str = "add_K") -> str:
        """The text of a function that a list calls, or that its own calls."""
        declared = ", ".join(["real *f", "real *H", *(argument.declared for argument in arguments)])
        head = f"inline void {function}({declared})"
        return c_function(head, call, arguments, FORCE_AND_BLOCK, name, self.precision, self.helpers)

    def listed(self, incidences: Incidences, name: str, function: str, arguments: list[str],
               parameters: np.ndarray | None = None, has_barrier: bool = False) -> DeviceList:  # fmt: skip
        """Incidences of vertices as a list of rows; parameters (n, p) of the vertices."""
        row, n = self.row_of_vertex, len(self.row_of_vertex)
        by_row = np.zeros((n, 0 if parameters is None else parameters.shape[1]))
        if parameters is not None:
            by_row[row] = parameters
        others = row[incidences.others]
        return DeviceList(
            name, function, tuple(arguments), row[incidences.owner], others, incidences.constants, by_row, has_barrier
        )


class Numbers:
    """Arguments of a function after the positions: numbers of entries, one after another."""

    def __init__(self) -> None:
        self.arguments: list[Argument] = []
        self.texts: list[str] = []
        self._shapes: list[int] = []
        self._place = 0

    def add(self, name: str, size: int) -> None:
        """A number (size 0) or a tuple of them."""
        self._shapes.append(size)
        if size == 3:
            self.arguments.append(Argument(name, 3))
            self.texts.append(f"vector {self._place}")
        else:
            names = [name] if size == 0 else [f"{name}_{k}" for k in range(size)]
            self.arguments += [Argument(one) for one in names]
            self.texts += [f"number {self._place + k}" for k in range(len(names))]
        self._place += max(size, 1)

    @property
    def count(self) -> int:
        """How many numbers an entry has."""
        return self._place

    def grouped(self, values: tuple[Any, ...]) -> list[Any]:
        """Values of the arguments as a lane function takes them."""
        result, waiting = [], list(values)
        for size in self._shapes:
            if size in (0, 3):
                result.append(waiting.pop(0))
            else:
                result.append(tuple(waiting.pop(0) for _ in range(size)))
        return result


class LawArguments:
    """Arguments of a law: numbers of the vertex, or of the entry where they vary."""

    def __init__(self, names: tuple[str, ...], texts: list[str]):
        self.arguments = [Argument(f"law_{name}") for name in names]
        self.texts = texts


def law_arguments(names: tuple[str, ...], numbers: Numbers, varies: bool) -> LawArguments:
    """Those of a law's parameters, which follow the numbers of an entry where they vary."""
    first = numbers.count
    return LawArguments(names, [f"number {first + k}" if varies else f"parameter {k}" for k in range(len(names))])

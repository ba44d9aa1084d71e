"""Numbers that are not computed at once: objects that a lane function can be called with in place of floats.

A subclass says what each operation, and a loop of them, does: write it down (a tracer, from which code for a device is
made), or apply the chain rule (elements.differentials).
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable
from typing import Any

import numpy as np

#: Every operation that lane functions are made of, with the number of its operands.
OPERATIONS = {
    "add": 2,
    "sub": 2,
    "mul": 2,
    "truediv": 2,
    "neg": 1,
    "lt": 2,
    "le": 2,
    "gt": 2,
    "ge": 2,
    "eq": 2,
    "ne": 2,
    "and_": 2,
    "or_": 2,
    "invert": 1,
    "select": 3,
    "sqrt": 1,
    "absolute": 1,
    "log": 1,
    "exp": 1,
    "atan2": 2,
    "inverse_cube_root": 1,
    "reciprocal": 1,
    "widen": 1,
    "narrow": 1,
}


class Traced(ABC):
    """A number, or a truth value, with every operation of OPERATIONS."""

    __array_ufunc__ = None  # NumPy arrays leave operations with it to it
    __hash__ = object.__hash__

    @abstractmethod
    def apply(self, operation: str, *operands: Any) -> Any:
        """The result of an operation; at least one of the operands is Traced."""

    @abstractmethod
    def repeat(self, step: Callable, most: int, start: Any, constants: tuple[Any, ...]) -> Any:
        """The result of lanes.repeat, where at least one of start and constants is Traced."""

    @property
    def rounding(self) -> float:
        """Machine epsilon of the precision it stands for."""
        return float(np.finfo(np.float64).eps)

    def __add__(self, other: Any) -> Any:
        return self.apply("add", self, other)

    def __radd__(self, other: Any) -> Any:
        return self.apply("add", other, self)

    def __sub__(self, other: Any) -> Any:
        return self.apply("sub", self, other)

    def __rsub__(self, other: Any) -> Any:
        return self.apply("sub", other, self)

    def __mul__(self, other: Any) -> Any:
        return self.apply("mul", self, other)

    def __rmul__(self, other: Any) -> Any:
        return self.apply("mul", other, self)

    def __truediv__(self, other: Any) -> Any:
        return self.apply("truediv", self, other)

    def __rtruediv__(self, other: Any) -> Any:
        return self.apply("truediv", other, self)

    def __neg__(self) -> Any:
        return self.apply("neg", self)

    def __lt__(self, other: Any) -> Any:
        return self.apply("lt", self, other)

    def __le__(self, other: Any) -> Any:
        return self.apply("le", self, other)

    def __gt__(self, other: Any) -> Any:
        return self.apply("gt", self, other)

    def __ge__(self, other: Any) -> Any:
        return self.apply("ge", self, other)

    def __eq__(self, other: object) -> Any:
        return self.apply("eq", self, other)

    def __ne__(self, other: object) -> Any:
        return self.apply("ne", self, other)

    def __and__(self, other: Any) -> Any:
        return self.apply("and_", self, other)

    def __rand__(self, other: Any) -> Any:
        return self.apply("and_", other, self)

    def __or__(self, other: Any) -> Any:
        return self.apply("or_", self, other)

    def __ror__(self, other: Any) -> Any:
        return self.apply("or_", other, self)

    def __invert__(self) -> Any:
        return self.apply("invert", self)


class TracedTable(ABC):
    """A table that lane functions look rows up in (lanes.lookup), where places are Traced."""

    @abstractmethod
    def row_at(self, place: Any) -> tuple[Any, Any, Any, Any]:
        """The four numbers of row `place`."""


def traced(*operands: Any) -> Traced | None:
    """The first operand that is Traced, None without any."""
    return next((operand for operand in operands if isinstance(operand, Traced)), None)

"""Writing down what a lane function does: called with Nodes in place of numbers, it leaves a graph of operations.

The same operation on the same operands is one Node, constants are folded where that is exact, and Nodes take the names
of the local variables that held them, so that the C text made of them (c_text) reads like the function.
"""

from __future__ import annotations

import math
import sys
from collections.abc import Callable
from functools import cache
from pathlib import PurePath
from typing import Any

import numpy as np

from pliant.lanes.traced import Traced, TracedTable

MASKS = ("lt", "le", "gt", "ge", "eq", "ne", "and_", "or_", "invert")
COMMUTATIVE = ("add", "mul", "eq", "ne", "and_", "or_")

Operand = Any  # a Node, or a plain number


class Node(Traced):
    """A number or a truth value of a trace."""

    def __init__(self, trace: Trace, operation: str, operands: tuple[Operand, ...], text: str = ""):
        self.trace, self.operation, self.operands, self.text = trace, operation, operands, text
        self.index = len(trace.nodes)
        self.function = trace.current  # in which it was made
        self.name = ""  # of the variable that held it
        self.step: Callable | None = None  # of a loop
        #: whether it is in double precision whatever the trace is in
        self.is_wide: bool = operation == "widen" or (
            operation not in ("narrow", "symbol", "loop", *MASKS)
            and any(isinstance(operand, Node) and operand.is_wide for operand in operands)
        )
        trace.nodes.append(self)

    @property
    def is_mask(self) -> bool:
        """Whether it is a truth value."""
        return self.operation in MASKS

    @property
    def rounding(self) -> float:
        return self.trace.rounding

    def apply(self, operation: str, *operands: Any) -> Any:
        return self.trace.make(operation, operands)

    def repeat(self, step: Callable, most: int, start: Any, constants: tuple[Any, ...]) -> Node:
        loop = self.trace.interned("loop", (start, *constants), text=str(most))
        loop.step = step
        return loop


class Table(TracedTable):
    """A table (rows, 4) that the text names in C."""

    def __init__(self, trace: Trace, text: str):
        self.trace, self.text = trace, text

    def row_at(self, place: Any) -> tuple[Any, Any, Any, Any]:
        a, b, c, d = (self.trace.interned("entry", (place,), f"{self.text} {k}") for k in range(4))
        return a, b, c, d


class Trace:
    """The operations of one call. precision: "single" or "double"."""

    def __init__(self, precision: str = "single"):
        self.precision = precision
        self.rounding = float(np.finfo(np.float32 if precision == "single" else np.float64).eps)
        self.nodes: list[Node] = []
        self.current: tuple[str, str] | None = None  # name and meaning of the function that is running
        self._known: dict[tuple, Node] = {}
        self._stack: list[tuple[str, str] | None] = []

    def symbol(self, text: str) -> Node:
        """A number that the text names in C."""
        return Node(self, "symbol", (), text)

    def run(self, function: Callable, *arguments: Any) -> Any:
        """Call a lane function with symbols, and watch the names of its variables."""
        before = sys.getprofile()
        sys.setprofile(self._watch)
        try:
            return function(*arguments)
        finally:
            sys.setprofile(before)

    def make(self, operation: str, operands: tuple[Operand, ...]) -> Any:
        """The result of an operation: a number where it is known, an earlier Node where it is the same."""
        plain = tuple(_plain(operand) for operand in operands)
        folded = _folded(operation, plain)
        if folded is None:
            return self.interned(operation, plain)
        result, form = folded
        return self.make(form, (result,)) if form else result

    def interned(self, operation: str, operands: tuple[Operand, ...], text: str = "") -> Node:
        """The Node of an operation, made once."""
        keys = [operand.index if isinstance(operand, Node) else repr(operand) for operand in operands]
        if operation in COMMUTATIVE:
            keys.sort(key=str)
        key = (operation, text, *keys)
        if key not in self._known:
            self._known[key] = Node(self, operation, operands, text)
        return self._known[key]

    # --- names ------------------------------------------------------------------------------------------------------

    def _watch(self, frame: Any, event: str, _: Any) -> None:
        """Keep the function that runs, and on its end the names of its variables; called by Python."""
        if event == "call":
            self._stack.append(self.current)
            meaning = _meaning(frame.f_code)
            if meaning:
                self.current = frame.f_code.co_name, meaning
        elif event == "return" and self._stack:
            if not frame.f_code.co_name.startswith("<") and _has_names(frame.f_code):
                for name, value in frame.f_locals.items():
                    self._name(value, name)
            self.current = self._stack.pop()

    def _name(self, value: Any, name: str) -> None:
        if isinstance(value, Node) and value.trace is self:
            value.name = name.strip("_")
        elif isinstance(value, tuple):
            for k, part in enumerate(value):
                if not (isinstance(part, Node) and part.name):
                    self._name(part, f"{name}_{'xyz'[k] if len(value) == 3 else k}")


@cache
def _has_names(code: Any) -> bool:
    """Whether a function's own variables tell something: not those of Python, of this room and of arithmetic."""
    path = PurePath(code.co_filename)
    if path.parent.name == "lanes":
        return path.name == "vectors.py"
    return code.co_filename == "<string>" or (path.suffix == ".py" and path.parent.name not in ("device", "_core"))


@cache
def _meaning(code: Any) -> str:
    """The first sentence of a lane function's docstring; nothing for the small arithmetic of vectors."""
    path = PurePath(code.co_filename)
    is_physics = path.suffix == ".py" and _has_names(code) and path.parent.name != "lanes"
    text = code.co_consts[0] if is_physics and code.co_consts else None
    return " ".join(text.split("\n\n")[0].split()) if isinstance(text, str) else ""


def _plain(operand: Operand) -> Operand:
    """A constant as a Python number or truth value."""
    if isinstance(operand, Node):
        return operand
    return bool(operand) if isinstance(operand, bool | np.bool_) else float(operand)


_ARITHMETIC: dict[str, Callable] = {
    "add": lambda a, b: a + b,
    "sub": lambda a, b: a - b,
    "mul": lambda a, b: a * b,
    "truediv": lambda a, b: float(np.divide(a, b)),
    "neg": lambda a: -a,
    "lt": lambda a, b: a < b,
    "le": lambda a, b: a <= b,
    "gt": lambda a, b: a > b,
    "ge": lambda a, b: a >= b,
    "eq": lambda a, b: a == b,
    "ne": lambda a, b: a != b,
    "sqrt": math.sqrt,
    "absolute": abs,
}


def _folded(operation: str, operands: tuple[Operand, ...]) -> tuple[Any, str] | None:
    """The result where it is known without computing, and an operation that is left to do with it; else None.

    Only what is exact for every number, but for the sign of zero.  0 * a is not: a may be infinite.
    """
    if not any(isinstance(operand, Node) for operand in operands):
        return (_ARITHMETIC[operation](*operands), "") if operation in _ARITHMETIC else None
    first, last = operands[0], operands[-1]
    if operation == "select" and isinstance(first, bool):
        return operands[1] if first else last, ""
    if operation == "select" and operands[1] is last:
        return last, ""
    if operation == "neg" and first.operation == "neg":
        return first.operands[0], ""
    if len(operands) != 2:
        return None
    known_first, known_last = (None if isinstance(operand, Node) else operand for operand in operands)
    return _folded_pair(operation, first, last, known_first, known_last)


def _folded_pair(
    operation: str, a: Operand, b: Operand, known_a: float | bool | None, known_b: float | bool | None
) -> tuple[Any, str] | None:
    """The same for two operands, of which one may be known."""
    if operation == "add":
        if known_a == 0.0:
            return b, ""
        return (a, "") if known_b == 0.0 else None
    if operation == "sub":
        if known_a == 0.0:
            return b, "neg"
        return (a, "") if known_b == 0.0 else None
    if operation == "mul":
        for known, other in ((known_a, b), (known_b, a)):
            if known in (1.0, -1.0):
                return other, "" if known == 1.0 else "neg"
    if operation == "truediv" and known_b in (1.0, -1.0):
        return a, "" if known_b == 1.0 else "neg"
    if operation in ("and_", "or_"):
        for known, other in ((known_a, b), (known_b, a)):
            if known is not None:
                return (other if bool(known) == (operation == "and_") else bool(known)), ""
    return None

"""A trace as C text: one function, readable, for OpenCL C and by a page of macros for CUDA C.

Every Node that is used more than once, or that had a name in the lane function and is no plain copy, becomes a
constant; all others are written where they are used.
"""

from __future__ import annotations

import math
import re
from collections.abc import Callable, Sequence
from typing import Any

from pliant.device.trace import Node, Trace
from pliant.errors import DeviceError

WIDEST = 96  # characters of an expression that is written where it is used
INFIX = {
    "add": "+", "sub": "-", "mul": "*", "truediv": "/", "lt": "<", "le": "<=", "gt": ">", "ge": ">=", "eq": "==",
    "ne": "!=", "and_": "&", "or_": "|",
}  # fmt: skip
BINDING = {"add": 2, "sub": 2, "mul": 3, "truediv": 3}  # how strongly; all others 1
CALLS = {"sqrt": "sqrt", "absolute": "fabs", "log": "log", "exp": "exp", "atan2": "atan2"}
RESERVED = {
    "double", "float", "real", "int", "long", "half", "constant", "global", "local", "private", "kernel", "step", "x",
    "sign", "length", "distance", "normalize", "cross", "dot", "select", "mix", "clamp", "any", "all", "image", "event",
    "short", "char", "near", "far", "signed", "unsigned", "const", "volatile", "register", "auto", "static", "inline",
    "if", "else", "for", "while", "do", "switch", "case", "default", "return", "goto", "break", "continue", "sizeof",
    "struct", "union", "enum", "typedef", "extern", "void", "bool", "true", "false", "log", "exp", "sqrt", "min", "max",
}  # fmt: skip


def literal(value: float, wide: bool, precision: str) -> str:
    """A number as C writes it."""
    if math.isinf(value) or math.isnan(value):
        return ("-" if value < 0 else "") + ("INFINITY" if math.isinf(value) else "NAN")
    text = repr(float(value))
    if "." not in text and "e" not in text:
        text += ".0"
    return text + ("f" if precision == "single" and not wide else "")


def safe_name(name: str) -> str:
    """A name that C has no other meaning for."""
    return f"{name}_" if name in RESERVED else name


class Writer:
    """Lines of C that compute some results of a trace."""

    def __init__(self, trace: Trace, helpers: Helpers):
        self.trace, self.helpers = trace, helpers
        self.lines: list[str] = []
        self._texts: dict[int, tuple[str, int]] = {}  # of a Node: its text, and how strongly it binds
        self._names: set[str] = set()
        self._uses: dict[int, int] = {}
        self._said: tuple[str, str] | None = None

    def write(self, results: Sequence[tuple[str, Any]], taken: Sequence[str] = ()) -> list[str]:
        """Lines that end with a statement for each result, `target` with the expression in place of {}."""
        self._names = set(taken)
        needed = self._needed([node for _, node in results if isinstance(node, Node)])
        for node in sorted(needed, key=lambda node: node.index):
            self._texts[node.index] = self._text_of(node)
        for target, node in results:
            self.lines.append(target.format(self._operand(node, 0, False)))
        return self.lines

    def _needed(self, results: list[Node]) -> list[Node]:
        found: dict[int, Node] = {}
        waiting = list(results)
        for node in results:
            self._uses[node.index] = self._uses.get(node.index, 0) + 1
        while waiting:
            node = waiting.pop()
            if node.index in found:
                continue
            found[node.index] = node
            for operand in node.operands:
                if isinstance(operand, Node):
                    self._uses[operand.index] = self._uses.get(operand.index, 0) + 1
                    waiting.append(operand)
        return list(found.values())

    def _text_of(self, node: Node) -> tuple[str, int]:
        if node.operation == "symbol":
            return node.text, 9
        if node.operation == "loop":
            return self._loop(node), 9
        text, binding = self._expression(node)
        is_trivial = node.operation == "neg" and len(text) < 24
        if is_trivial or (self._uses[node.index] < 2 and len(text) < WIDEST and not node.name):
            return text, binding
        return self._keep(node, text), 9

    def _keep(self, node: Node, text: str) -> str:
        """Write a constant; its name."""
        if node.function is not None and node.function != self._said:
            self._said = node.function
            self.lines += wrapped(f"{node.function[0]}: {node.function[1]}")
        name = self._free_name(node.name)
        kind = "int" if node.is_mask else ("double" if node.is_wide else "real")
        self.lines.append(f"const {kind} {name} = {text};")
        return name

    def _free_name(self, wished: str) -> str:
        base = safe_name(re.sub(r"\W", "_", wished) or "t")
        name, k = base, 1
        while name in self._names:
            k += 1
            name = f"{base}{'' if base[-1].isalpha() else '_'}{k}"
        self._names.add(name)
        return name

    def _loop(self, node: Node) -> str:
        """A loop that ends when it has converged: a call of its step, traced on its own; the name of the result."""
        assert node.step is not None
        step = self.helpers.step(node.step, len(node.operands), self.trace.precision)
        name = self._free_name(node.name or "root")
        start, *constants = (self._operand(operand, 0, node.is_wide) for operand in node.operands)
        counter = self._free_name("n")
        self.lines.append(f"real {name} = {start};")
        goes_on = f"{step}({', '.join(['&' + name, *constants])})"
        self.lines.append(f"for (int {counter} = 0; {counter} < {node.text} && {goes_on}; {counter}++) {{ }}")
        return name

    def _expression(self, node: Node) -> tuple[str, int]:
        operation, wide = (
            node.operation,
            node.is_wide or any(isinstance(operand, Node) and operand.is_wide for operand in node.operands),
        )
        binding = BINDING.get(operation, 1)
        if operation in INFIX:
            a, b = node.operands
            left = self._operand(a, max(binding, 2), wide)
            return f"{left} {INFIX[operation]} {self._operand(b, max(binding + 1, 2), wide)}", binding
        texts = [self._operand(operand, 0, wide) for operand in node.operands]
        if operation == "neg":
            return f"-{self._operand(node.operands[0], 8, wide)}", 2
        if operation == "invert":
            return f"!{self._operand(node.operands[0], 8, wide)}", 8
        if operation == "select":
            mask, a, b = node.operands
            choices = self._operand(mask, 2, wide), self._operand(a, 2, wide), self._operand(b, 2, wide)
            return "{} ? {} : {}".format(*choices), 0
        if operation == "reciprocal":
            return f"{literal(1.0, wide, self.trace.precision)} / {self._operand(node.operands[0], 4, wide)}", 3
        if operation == "entry":
            table, _, column = node.text.partition(" ")
            return f"{table}[4 * (int){self._operand(node.operands[0], 8, wide)} + {column}]", 9
        if operation == "inverse_cube_root":
            return f"inverse_cube_root({texts[0]})", 9
        if operation in ("widen", "narrow"):
            return f"({'double' if operation == 'widen' else 'real'}){self._operand(node.operands[0], 8, wide)}", 7
        return f"{CALLS[operation]}({', '.join(texts)})", 9

    def _operand(self, operand: Any, binding: int, wide: bool) -> str:
        if isinstance(operand, Node):
            text, own = self._texts[operand.index]
            return text if (own >= binding and own > 0) or binding == 0 else f"({text})"
        if isinstance(operand, bool):
            return str(int(operand))
        text = literal(operand, wide, self.trace.precision)
        return f"({text})" if text.startswith("-") and binding else text


class Helpers:
    """Functions that others call: steps of loops, each written once."""

    def __init__(self) -> None:
        self._known: dict[tuple, str] = {}
        self.texts: list[str] = []

    def step(self, function: Callable, arguments: int, precision: str) -> str:
        """The name of a loop's step: it moves a number on and returns whether it is not yet good enough."""
        key = (function, precision)
        if key not in self._known:
            name = function.__name__.strip("_")
            self._known[key] = name
            names = _argument_names(function)
            if len(names) != arguments:
                raise DeviceError(f"{name} takes {len(names)} numbers, and a loop gives it {arguments}.")
            trace = Trace(precision)
            values = [trace.symbol("*result"), *(trace.symbol(argument) for argument in names[1:])]
            result, goes_on = trace.run(function, *values)
            lines = Writer(trace, self).write(
                [("const real next = {};", result), ("const int goes_on = {};", goes_on)], [*names, "next", "goes_on"]
            )
            lines += ["*result = next;", "return goes_on;"]
            parameters = ", ".join(["real *result", *(f"const real {argument}" for argument in names[1:])])
            self.texts.append(function_text(f"inline int {name}({parameters})", lines, meaning_of(function)))
        return self._known[key]


def _argument_names(function: Callable) -> list[str]:
    code = function.python.__code__  # type: ignore[attr-defined]
    return [safe_name(name) for name in code.co_varnames[: code.co_argcount]]


def meaning_of(function: Callable) -> str:
    """What a function does, and where its text is."""
    text = (function.__doc__ or "").split("\n\n")[0]
    return f"{function.__module__}.{function.__name__}: {' '.join(text.split())}"


def function_text(head: str, lines: list[str], comment: str) -> str:
    """A C function."""
    return "\n".join([*wrapped(comment), head, "{", *("    " + line for line in lines), "}"])


def wrapped(comment: str, width: int = 110) -> list[str]:
    """A comment in lines."""
    lines: list[str] = []
    for word in comment.split():
        if lines and len(lines[-1]) + len(word) < width:
            lines[-1] += f" {word}"
        else:
            lines.append(f"// {word}")
    return lines

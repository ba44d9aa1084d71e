"""Lane functions as C functions: their arguments by name, what they add to or return, and one text for each."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

from pliant.device.c_text import Helpers, Writer, function_text
from pliant.device.trace import Node, Table, Trace

#: Force and block of a vertex: where results of functions that add to both go, h00 h01 h02 h11 h12 h22.
FORCE_AND_BLOCK = tuple([f"f[{k}] += {{}};" for k in range(3)] + [f"H[{k}] += {{}};" for k in range(6)])


class Argument(NamedTuple):
    """What a C function takes."""

    name: str
    size: int = 0  # 0: a number; 3: a vector; any other: an array of so many
    is_array: bool = False  # three numbers in an array, too
    is_global: bool = False  # an array in the device's memory; of size 0, a table (rows, 4) to look up

    @property
    def declared(self) -> str:
        if self.is_global:
            return f"GLOBAL const real *{self.name}"
        if self.size == 0:
            return f"const real {self.name}"
        return f"const real3 {self.name}" if self._is_vector else f"const real *{self.name}"

    @property
    def _is_vector(self) -> bool:
        return self.size == 3 and not self.is_array

    def symbols(self, trace: Trace) -> Any:
        """The argument as a lane function takes it."""
        if self.size == 0:
            return Table(trace, self.name) if self.is_global else trace.symbol(self.name)
        parts = [f"{self.name}.{axis}" for axis in "xyz"] if self._is_vector else self._places()
        return tuple(trace.symbol(part) for part in parts)

    def _places(self) -> list[str]:
        return [f"{self.name}[{k}]" for k in range(self.size)]


def flat(result: Any) -> list[Any]:
    """Numbers of nested tuples, one after another."""
    return [number for part in result for number in flat(part)] if isinstance(result, tuple) else [result]


def c_function(
    head: str,
    call: Callable,
    arguments: Sequence[Argument],
    targets: Sequence[str],
    comment: str,
    precision: str,
    helpers: Helpers,
) -> str:
    """The text of `head(arguments)`, which does what `call` does with them; targets: statements with {} for each of its
    results, "" for one that is not wanted.
    """
    trace = Trace(precision)
    results = flat(trace.run(call, *(argument.symbols(trace) for argument in arguments)))
    wanted = [
        (target, node)
        for target, node in zip(targets, results, strict=True)
        if target and not ("+=" in target and _is_nothing(node))
    ]
    taken = [*(argument.name for argument in arguments), *(target.partition("[")[0] for target in targets)]
    arrays = {argument.name for argument in arguments if argument.size}
    replaced = [target for target, _ in wanted if target.partition("[")[0] in arrays and "+=" not in target]
    # what replaces an argument is written when all of it is known, and what is returned too
    kept = {target: f"result_{k}" for k, target in enumerate(replaced)}
    if replaced:
        kept |= {target: "returned" for target, _ in wanted if target.startswith("return")}
    statements = [
        (f"const {_kind(node)} {kept[target]} = {{}};" if target in kept else target, node) for target, node in wanted
    ]
    lines = Writer(trace, helpers).write(statements, [*taken, *kept.values()])
    return function_text(head, [*lines, *(target.format(name) for target, name in kept.items())], comment)


def _kind(node: Any) -> str:
    return "int" if isinstance(node, bool) or (isinstance(node, Node) and node.is_mask) else "real"


def _is_nothing(node: Any) -> bool:
    """Whether nothing is added."""
    return not isinstance(node, Node) and node == 0.0


#: Zero force and block, for functions that add to both.
NOTHING = ((0.0, 0.0, 0.0), (0.0, 0.0, 0.0, 0.0, 0.0, 0.0))

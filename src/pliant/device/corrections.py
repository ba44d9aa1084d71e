"""Elements that correct the positions of their corners, as a device sees them: C that corrects one of them."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Any

from pliant.device.c_text import Helpers, meaning_of
from pliant.device.functions import Argument, c_function


@dataclass(frozen=True)
class CorrectionSource:
    """One kind of element; `_K` stands for its number in the program.

    `lines` see r (rows of the corners: position and h^2 / m), n (the element's numbers) and D (its memory within a
    step).  They set d, three numbers for each corner, and D, and may add to `left`, the number of elements that could
    not be corrected.
    """

    name: str
    corners: int
    numbers: int
    memory: int
    shared: tuple[str, ...]  # functions that several kinds may bring along: written once
    functions: str  # of its own
    lines: str


@dataclass(frozen=True)
class Tracing:
    """For what lane functions are written down."""

    precision: str
    helpers: Helpers = field(default_factory=Helpers)

    def function(
        self, name: str, meaning: Any, call: Callable, arguments: Sequence[Argument], results: Sequence[str]
    ) -> str:
        """The C function that does what `call` does.

        results: "name size", an array that is written, among the arguments or after them; "return" for a truth value
        that is returned, "return real" for a number.  meaning: the lane function whose docstring explains it.
        """
        written = [result.split() for result in results if not result.startswith("return")]
        given = next((result for result in results if result.startswith("return")), "")
        kind = {"": "void", "return": "int", "return real": "real"}[given]
        changed = {array for array, _ in written}
        declared = [
            f"real *{argument.name}" if argument.name in changed else argument.declared for argument in arguments
        ]
        known = {argument.name for argument in arguments}
        declared += [f"real *{array}" for array, _ in written if array not in known]
        targets = [f"{array}[{k}] = {{}};" for array, size in written for k in range(int(size))]
        targets += ["return {};"] if given else []
        head = f"inline {kind} {name}({', '.join(declared)})"
        return c_function(head, call, arguments, targets, meaning_of(meaning), self.precision, self.helpers)

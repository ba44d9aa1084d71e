"""How one kind of element enters a generated kernel."""

from __future__ import annotations

import hashlib
import inspect
import re
from dataclasses import dataclass
from typing import Any


@dataclass(frozen=True)
class TermSource:
    """Lines of source; `_K` stands for the number of the term in the kernel.

    They see p (the pack), x (positions by row), xi (positions of the pack's vertices), z (zero) and the term's own
    tables.  Every vertex of an element adds its energy: lines of energy multiply what k vertices share by SHARE_OF_k,
    which is 1 in the energy of one vertex and 1 / k where all vertices are summed.
    """

    name: str  # for messages
    imports: str  # import lines of the functions it calls: see import_lines
    tables: tuple[str, ...]  # names of its arguments
    force: tuple[str, ...]  # lines that add to the force f and the Hessian H
    energy: tuple[str, ...]  # lines that add to `energy`, were the vertices at xi
    bound: tuple[str, ...] = ()  # lines that lower `step`, the part of dx that is taken
    definitions: str = ""  # functions of its own
    iteration: tuple[str, ...] = ()  # lines at the start of every iteration, which see thread and threads, not p and xi
    swept: tuple[str, ...] = ()  # lines in place of `force` within sweeps over colours; none: `force` itself
    dual: tuple[str, ...] = ()  # lines at its end, after all colours, which see the same

    def numbered(self, what: str, k: int) -> list[str]:
        """Lines of one kind, as the term number k."""
        lines = getattr(self, what)
        return [line.replace("_K", f"_{k}") for line in ((lines,) if isinstance(lines, str) else lines)]

    def arguments(self, tables: dict[str, Any]) -> tuple[Any, ...]:
        """Tables by name, without `_K`, in the order in which a kernel takes them."""
        return in_order(self.name, self.tables, tables)


def in_order(what: str, names: tuple[str, ...], tables: dict[str, Any]) -> tuple[Any, ...]:
    """Tables by name, without `_K`, in the order of names with it; both must be the same."""
    wanted = [name.removesuffix("_K") for name in names]
    if set(wanted) != set(tables):
        raise KeyError(f"{what}: the kernel takes {sorted(wanted)}, and the tables are {sorted(tables)}")
    return tuple(tables[name] for name in wanted)


def import_lines(*functions: Any, suffix: str = "") -> str:
    """Import lines of functions, under their names and a suffix.

    Generated code is kept under a fingerprint of Pliant's own sources.  A function from elsewhere brings along the
    fingerprint of its file, so that compiled code never outlives an edit of it.
    """
    lines = []
    for function in functions:
        module, name = function.__module__, function.__name__
        lines.append(f"from {module} import {name}" + (f" as {name}{suffix}" if suffix else ""))
        if not module.startswith("pliant."):
            text = inspect.getsource(inspect.getmodule(function.python))
            lines[-1] += f"  # {hashlib.sha256(text.encode()).hexdigest()[:16]}"
    return "\n".join(dict.fromkeys(lines))


def law_functions(text: str) -> str:
    """A law's functions as physics functions with numbered names."""
    return re.sub(r"^def (\w+)\(", r"@physics\ndef \1_K(", text, flags=re.MULTILINE)


def load_parameters(count: int) -> str:
    """The line that loads a law's parameters at the vertices of the pack."""
    loads = [f"load(parameters_K, (p * {count} + {i}) * WIDTH, xi[0])" for i in range(count)]
    return f"law_K = ({', '.join(loads)},)"


def law_of_entries(count: int, varies: bool) -> tuple[str, str]:
    """The line that sets law_K, and the function law_at_K(law_K, k, like) that gives the parameters of entry k of a
    list: those of the vertex, or, where they vary, the entry's own.
    """
    if not varies:
        return load_parameters(count), "@physics\ndef law_at_K(law, k, like):\n    return law\n"
    loads = ", ".join(f"load(law, (k * {count} + {i}) * WIDTH, like)" for i in range(count))
    return "law_K = parameters_K", f"@physics\ndef law_at_K(law, k, like):\n    return ({loads},)\n"

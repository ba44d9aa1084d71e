"""How one kind of element enters a generated kernel."""

from __future__ import annotations

import re
from dataclasses import dataclass


@dataclass(frozen=True)
class TermSource:
    """Lines of source; `_K` stands for the number of the term in the kernel.

    They see p (the pack), x (positions by row), xi (positions of the pack's vertices) and the term's own tables.
    Every vertex of an element adds its energy: lines of energy multiply what k vertices share by SHARE_OF_k, which is
    1 in the energy of one vertex and 1 / k where all vertices are summed.
    """

    name: str  # for messages
    imports: str  # import lines of the functions it calls
    tables: tuple[str, ...]  # names of its arguments
    force: tuple[str, ...]  # lines that add to the force f and the Hessian H
    energy: tuple[str, ...]  # lines that add to `energy`, were the vertices at xi
    bound: tuple[str, ...] = ()  # lines that lower `step`, the part of dx that is taken
    definitions: str = ""  # functions of its own
    iteration: tuple[str, ...] = ()  # lines at the start of every iteration, which see thread and threads, not p and xi

    def numbered(self, what: str, k: int) -> list[str]:
        """Lines of one kind, as the term number k."""
        lines = getattr(self, what)
        return [line.replace("_K", f"_{k}") for line in ((lines,) if isinstance(lines, str) else lines)]


def law_functions(text: str) -> str:
    """A law's functions as physics functions with numbered names."""
    return re.sub(r"^def (\w+)\(", r"@physics\ndef \1_K(", text, flags=re.MULTILINE)


def load_parameters(count: int) -> str:
    """The line that loads a law's parameters at the vertices of the pack."""
    loads = [f"load(parameters_K, (p * {count} + {i}) * WIDTH, xi[0])" for i in range(count)]
    return f"law_K = ({', '.join(loads)},)"

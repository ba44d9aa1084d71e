"""A second process that compiles what nearly every scene needs, while the first one compiles the rest.

Which functions and for which types is in first_kernels.txt, in the order in which a scene needs them; the second
process begins at the end (tools/list_first_kernels.py writes it). What a list lacks, or has too much, costs time alone.
PLIANT_COMPILE_PROCESSES=1 keeps to one process.
"""

from __future__ import annotations

import importlib
import os
import re
import subprocess
import sys
import threading
from functools import cache
from pathlib import Path
from types import ModuleType
from typing import TYPE_CHECKING, Any, NamedTuple

from pliant.lanes import cache as folders
from pliant.lanes import shipped
from pliant.lanes.host import core_count
from pliant.lanes.reach import file_of, reach_digest

if TYPE_CHECKING:
    from pliant.lanes.entry import EntryFunction

LIST = Path(__file__).with_name("first_kernels.txt")
WORTH_IT = 4  # functions to compile for which a process is started
VARIABLE = "PLIANT_COMPILE_PROCESSES"
PROGRAM = """
import sys
from pliant.lanes.ahead import compile_group
compile_group(sys.argv[1])
"""
NUMBERS = ("float32", "float64", "boolean", *(f"{sign}int{bits}" for sign in ("", "u") for bits in (8, 16, 32, 64)))
_MODULE = re.compile(r"pliant[\w.]*(?=\.\w+\()")


class Row(NamedTuple):
    """A compiled function that scenes need."""

    group: str  # "all", or "contact"
    module: str
    name: str
    types: tuple[str, ...]  # of arguments (`as_text`)

    @property
    def file(self) -> str:
        """Of machine code, as lanes.entry names it."""
        place = file_of(self.module)
        assert place is not None
        kinds = (str(numba_type(text)) for text in self.types)
        return f"{self.module}.{self.name}-{folders.digest(reach_digest(place), *kinds)}.nbc"


@cache
def rows() -> tuple[Row, ...]:
    """All of the list, in the order of need."""
    lines = (line.split(" | ") for line in LIST.read_text().splitlines() if line and not line.startswith("#"))
    return tuple(
        Row(group, *place.split(":"), tuple(types.split("; ")) if types else ()) for group, place, types in lines
    )


@cache
def start(group: str) -> None:
    """Let another process compile a group, if several of its functions are missing; once per process."""
    if os.environ.get(VARIABLE) == "1" or core_count() < 2 or len(missing(group)) < WORTH_IT:
        return
    environment = os.environ | {VARIABLE: "1"}
    command = [sys.executable, "-c", PROGRAM, group]
    pipes = {"stdin": subprocess.PIPE, "stdout": subprocess.DEVNULL, "stderr": subprocess.DEVNULL}
    subprocess.Popen(command, env=environment, **pipes)


def group_of(module: str) -> str:
    """Which group a function belongs to that had to be compiled, by its module."""
    return "contact" if module.startswith(("pliant.contact", "pliant.kernels.contacts")) else "all"


def missing(group: str) -> list[Row]:
    """Functions of a group for which there is no machine code yet."""
    return [row for row in rows() if row.group == group and not _is_there(row.file)]


def _is_there(file: str) -> bool:
    shipping = shipped.folder()
    places = [folders.generation_folder(), *([shipping] if shipping else [])]
    return any((place / file).exists() for place in places) or folders.find_earlier(file) is not None


def compile_group(group: str) -> None:
    """The last first; until all are there, or the process that asked for it has ended."""
    ended = threading.Event()
    threading.Thread(target=lambda: (sys.stdin.read(), ended.set()), daemon=True).start()
    for row in reversed([row for row in rows() if row.group == group]):
        if ended.is_set():
            return
        entry_of(importlib.import_module(row.module), row.name).compile(tuple(map(numba_type, row.types)))


def entry_of(module: ModuleType, name: str) -> EntryFunction:
    """The function of a module as Python calls it."""
    from pliant.lanes.compiled import cached
    from pliant.lanes.inner import InnerFunction

    function = getattr(module, name)
    return cached(function) if isinstance(function, InnerFunction) else function


def numba_type(text: str) -> Any:
    """The type that `as_text` writes so: array(float64, 2, C), int64, pliant.contact.search.bvh.Tree(...) ..."""
    from numba import types

    for module in set(_MODULE.findall(text)):
        importlib.import_module(module)
    scope: dict[str, Any] = {name: getattr(types, name) for name in NUMBERS} | {"pliant": sys.modules["pliant"]}
    scope["array"] = lambda kind, dimensions, layout: types.Array(kind, dimensions, layout)
    scope["constant"] = lambda kind, dimensions, layout: types.Array(kind, dimensions, layout, readonly=True)
    scope |= {layout: layout for layout in "CFA"}
    return _gathered(eval(text, {"__builtins__": {}}, scope))


def _gathered(kinds: Any) -> Any:
    """Tuples of types as a type."""
    from numba import types

    if not isinstance(kinds, tuple):
        return kinds
    named = type(kinds) if type(kinds) is not tuple else None
    return types.BaseTuple.from_types(tuple(_gathered(kind) for kind in kinds), named)


def as_text(kind: Any) -> str:
    """A type as text; of tuples with the place of their class."""
    from numba import types

    if isinstance(kind, types.Array):
        return f"{'array' if kind.mutable else 'constant'}({as_text(kind.dtype)}, {kind.ndim}, {kind.layout})"
    if isinstance(kind, types.BaseTuple):
        inner = "".join(f"{as_text(part)}, " for part in kind.types)
        named = kind.instance_class if isinstance(kind, types.BaseNamedTuple) else None
        return f"({inner})" if named is None else f"{named.__module__}.{named.__qualname__}({inner})"
    return str(kind) if not isinstance(kind, types.Boolean) else "boolean"

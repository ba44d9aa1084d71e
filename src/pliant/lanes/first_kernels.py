"""What the gallery's scenes compile first, read from first_kernels.txt (tools/list_first_kernels.py writes it).

A scene that nobody has seen before needs what scenes like it need: those that asked for the same functions so far.
"""

from __future__ import annotations

import importlib
import re
import sys
from collections import Counter
from collections.abc import Collection, Iterable
from functools import cache
from pathlib import Path
from typing import Any, NamedTuple

from pliant.lanes.cache import digest

LIST = Path(__file__).with_name("first_kernels.txt")
SCENE = "scene "  # begins the line of a scene, with the numbers of its functions in order of need
NUMBERS = ("float32", "float64", "boolean", *(f"{sign}int{bits}" for sign in ("", "u") for bits in (8, 16, 32, 64)))
_MODULE = re.compile(r"pliant[\w.]*(?=\.\w+\()")


class Kernel(NamedTuple):
    """A compiled function that scenes need."""

    module: str  # or the label of a generated one: "vbd#0"
    name: str
    types: tuple[str, ...]  # of arguments (`as_text`)
    place: str  # `place_of` these

    def can_be_imported(self, generated: Collection[str]) -> bool:
        """Whether its module is written; generated: labels of the generated ones that are."""
        return "#" not in self.module or self.module in generated


def place_of(module: str, name: str, types: Iterable[str]) -> str:
    """What a function is asked for by; that of a generated module with its types, which tell what the scene is like."""
    place = f"{module}.{name}"
    return f"{place}|{digest(*types)}" if "#" in module else place


class Kernels(NamedTuple):
    """The list."""

    kernels: tuple[Kernel, ...]
    scenes: dict[str, tuple[int, ...]]  # numbers of kernels in order of need

    def needed_after(self, asked: Collection[str], share: float = 0.5) -> list[int]:
        """Numbers of kernels that this share of the scenes needs which asked for all of these places, or for most.

        The surest first, and of those the first in order of need.
        """
        lacking = {
            scene: len(set(asked) - {self.kernels[number].place for number in numbers})
            for scene, numbers in self.scenes.items()
        }
        alike = [self.scenes[scene] for scene, count in lacking.items() if count == min(lacking.values())]
        counts = Counter(number for numbers in alike for number in numbers)
        order = {number: rank / len(numbers) for numbers in alike for rank, number in enumerate(numbers)}
        likely = [number for number, count in counts.items() if count >= share * len(alike)]
        return sorted(likely, key=lambda number: (-counts[number], order[number]))


@cache
def first_kernels() -> Kernels:
    lines = [line for line in LIST.read_text().splitlines() if line and not line.startswith("#")]
    kernels = [line.split(" | ") for line in lines if not line.startswith(SCENE)]
    scenes = [line.removeprefix(SCENE).split(": ") for line in lines if line.startswith(SCENE)]
    return Kernels(
        tuple(_kernel(*where.split(":"), tuple(types.split("; ")) if types else ()) for where, types in kernels),
        {name: tuple(map(int, numbers.split())) for name, numbers in scenes},
    )


def _kernel(module: str, name: str, types: tuple[str, ...]) -> Kernel:
    return Kernel(module, name, types, place_of(module, name, types))


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

"""Which parameters are quantities, and whether what is said of each names its unit."""

from __future__ import annotations

import inspect
import re
from functools import cached_property
from typing import Any

from manual.shared import SHARED
from manual.texts import described

NUMERIC = re.compile(r"^(?!dict|.*Callable).*(\bfloat\b|ArrayLike|_array_like|ndarray)")
UNIT = re.compile(
    r"\[[^\]]*(\b(m|s|kg|N|Pa|J|W|rad)\b|1/s|degrees|pixels|%)[^\]]*\]"
    r"|\d (m|s|kg|N|Pa|J|rad)\b"
    r"|\b(metres?|seconds?|pascal|newtons?|kilograms?|radians|degrees|pixels|per second|diameters)\b"
)
#: What a number is that has no unit.
PURE = re.compile(
    r"\b(without (a )?unit|factors?|ratios?|(?<!A )parts? of|that part|fractions?|coefficients?|relative|indices|masks?"
    r"|weights|directions?"
    r"|normal|rotations?|strains?|stretch(es)?|tangent|times as|numbers? of|vertex of"
    r"|quaternions?|between 0 and 1|0 to 1)\b"
    r"|in \(0, 1\)|%"
)
ELSEWHERE = re.compile(r"\bas of `?[\w.]+")  # another entry, which is checked itself
NEXT = re.compile(r"(?:\n\s*|[;.] )[a-z_]\w*(?:, [a-z_]\w*)*: |\n\n")
WINDOW = 220  # characters after a name that are taken to be about it


def quantities(value: Any) -> list[str]:
    """Parameters of a function or class that are numbers or arrays of them."""
    if isinstance(value, property) or (inspect.isclass(value) and issubclass(value, BaseException)):
        return []
    try:
        parameters = inspect.signature(value).parameters.values()
    except (TypeError, ValueError):
        return []
    named = [p for p in parameters if p.kind not in (p.VAR_POSITIONAL, p.VAR_KEYWORD) and not p.name.startswith("_")]
    return [p.name for p in named if p.name not in ("self", "cls") and NUMERIC.search(str(p.annotation))]


def returns_without_unit(value: Any) -> bool:
    """Whether a property or function returns a number or an array of which its text gives no unit."""
    function = value.func if isinstance(value, cached_property) else value
    function = function.fget if isinstance(function, property) else function
    if inspect.isclass(function):
        return False
    returned = str(getattr(function, "__annotations__", {}).get("return", ""))
    return bool(NUMERIC.search(returned)) and not _has_unit(inspect.getdoc(value) or "")


def without_own_unit(value: Any) -> list[str]:
    """Quantities of which its own text neither gives a unit nor says that they have none."""
    return [name for name in quantities(value) if not _has_unit(about(value, name))]


def without_unit(value: Any) -> list[str]:
    """The same, where what a parameter means everywhere gives none either."""
    return [name for name in without_own_unit(value) if not _has_unit(SHARED.get(name, ""))]


def _has_unit(text: str) -> bool:
    return any(kind.search(text) for kind in (UNIT, PURE, ELSEWHERE))


def about(value: Any, name: str) -> str:
    """What follows a parameter's name in a text, up to the next parameter."""
    text = described(value)
    found = [text[match.start() : match.start() + WINDOW] for match in re.finditer(rf"\b{name}\b", text)]
    return "\n".join(NEXT.split(part, maxsplit=1)[0] for part in found)

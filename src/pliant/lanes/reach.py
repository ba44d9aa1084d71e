"""Which sources the compiled code of a module may depend on: its own, and all that it imports, directly or not.

Compiled code freezes functions and constants of other files.  They come by import statements, wherever in a file these
stand, so that following them finds every file whose edit may change the code (and some more).  The package `lanes` is
always included, because it teaches Numba new operations, which no import statement names.
"""

from __future__ import annotations

import hashlib
import importlib.util
import re
import sys
from functools import cache
from pathlib import Path

PACKAGE = Path(__file__).parent.parent
_IMPORT = re.compile(r"^[ \t]*(?:from[ \t]+([\w.]+)[ \t]+import[ \t]+(\([^)]*\)|[^\n]*)|import[ \t]+([^\n]+))", re.M)
_NAME = re.compile(r"\w[\w.]*")
_INSTALLED = {"site-packages", "dist-packages"}


def imported(text: str) -> set[str]:
    """Names of modules, and of what may be modules, in the import statements of a source text."""
    names: set[str] = set()
    for module, members, modules in _IMPORT.findall(text):
        if module:
            names |= {module, *(f"{module}.{member}" for member in _NAME.findall(members))}
        else:
            names |= set(_NAME.findall(modules))
    return names


@cache
def file_of(name: str) -> Path | None:
    """The source file of a module of Pliant or of a user; None for installed packages and what is not a module."""
    root, _, inner = name.partition(".")
    if root in sys.stdlib_module_names or (inner and root != PACKAGE.name and file_of(root) is None):
        return None
    if root == PACKAGE.name:
        if not inner:
            return None  # what it offers stands in other files, which are imported by their own names
        place = PACKAGE.joinpath(*inner.split("."))
        return next((path for path in (place.with_suffix(".py"), place / "__init__.py") if path.exists()), None)
    try:
        spec = importlib.util.find_spec(name)
    except (ImportError, ValueError, AttributeError):
        return None
    if spec is None or spec.origin is None or not spec.origin.endswith(".py"):
        return None
    path = Path(spec.origin)
    return path if _INSTALLED.isdisjoint(path.parts) else None


@cache
def _read(path: Path) -> tuple[bytes, tuple[Path, ...]]:
    """Digest of a file, and the files it imports."""
    text = path.read_text()
    found = {file_of(name) for name in imported(text)} - {None}
    return hashlib.sha256(text.encode()).digest(), tuple(sorted(found))


@cache
def _lanes() -> tuple[Path, ...]:
    return tuple(sorted(Path(__file__).parent.glob("*.py")))


@cache
def reachable(path: Path) -> tuple[Path, ...]:
    """The file itself, all that it imports, directly or not, and the package `lanes`; sorted."""
    seen: set[Path] = set()
    queue = [path, *_lanes()]
    while queue:
        file = queue.pop()
        if file not in seen:
            seen.add(file)
            queue += _read(file)[1]
    return tuple(sorted(seen))


@cache
def reach_digest(path: Path) -> str:
    """Changes with every edit that may change compiled code of the functions in a file."""
    digests = sorted(_read(file)[0] for file in reachable(path))
    return hashlib.sha256(b"".join(digests)).hexdigest()[:16]

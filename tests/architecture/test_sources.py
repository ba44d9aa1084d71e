"""Rules of the architecture that a reader of the sources can check."""

import ast
from pathlib import Path

import pytest

import pliant

PACKAGE = Path(pliant.__file__).parent
SOURCES = sorted(PACKAGE.rglob("*.py"))
every_source = pytest.mark.parametrize("path", SOURCES, ids=lambda p: str(p.relative_to(PACKAGE)))


def is_cached_njit(node: ast.expr, aliases: set[str]) -> bool:
    """njit(..., cache=True), or a name that stands for it."""
    if isinstance(node, ast.Name):
        return node.id in aliases
    return isinstance(node, ast.Call) and any(
        word.arg == "cache" and not (isinstance(word.value, ast.Constant) and word.value.value is False)
        for word in node.keywords
    )


def stale_names(text: str) -> dict[str, set[str]]:
    """For each function that Numba caches: what it reaches, in this file, that is imported from another of Pliant's."""
    tree = ast.parse(text)
    foreign, functions, aliases = set(), {}, set()
    for node in ast.walk(tree):
        if isinstance(node, ast.ImportFrom) and (node.level or (node.module or "").split(".")[0] == "pliant"):
            foreign |= {alias.asname or alias.name for alias in node.names}
        elif isinstance(node, ast.Import):
            ours = [alias for alias in node.names if alias.name.split(".")[0] == "pliant"]
            foreign |= {alias.asname or "pliant" for alias in ours}
        elif isinstance(node, ast.FunctionDef):
            functions[node.name] = node
        elif isinstance(node, ast.Assign) and is_cached_njit(node.value, aliases):
            aliases |= {target.id for target in node.targets if isinstance(target, ast.Name)}

    def reached(name: str, seen: set[str]) -> set[str]:
        seen.add(name)
        names = [node for node in ast.walk(ast.Module(functions[name].body, [])) if isinstance(node, ast.Name)]
        own = {node.id for node in names if isinstance(node.ctx, ast.Store)}
        own |= {argument.arg for argument in functions[name].args.args}
        read = {node.id for node in names} - own
        found = read & foreign
        for other in (read & set(functions)) - seen:
            found |= reached(other, seen)
        return found

    cached = [f.name for f in functions.values() if any(is_cached_njit(d, aliases) for d in f.decorator_list)]
    return {name: found for name in cached if (found := reached(name, set()))}


@every_source
def test_cached_functions_depend_on_their_own_file_only(path: Path) -> None:
    """Numba finds a cached function again as long as its own file is unchanged: what it takes from another goes stale.

    Kernels that need other files are generated modules (lanes.cache).
    """
    assert not stale_names(path.read_text())


def test_the_check_itself_finds_offenders() -> None:
    """Direct, through a function of the same file, through a module, through an alias, and a constant."""
    text = """
from numba import njit
import numpy as np
from pliant.lanes.vectors import dot
from pliant.lanes import math
from pliant.kernels.packs import WIDE_FACTOR
fast = njit(cache=True, nogil=True)
@njit(cache=True)
def direct(a): return dot(a, a)
@njit
def inner(a): return dot(a, a)
@njit(cache=True)
def through(a): return inner(a)
@fast
def module(a): return math.sqrt(a)
@njit(cache=True)
def constant(a): return a * WIDE_FACTOR
@njit(cache=True)
def good(a):
    dot = np.sqrt(a)
    return dot
@njit
def uncached(a): return dot(a, a)
"""
    expected = {"direct": {"dot"}, "through": {"dot"}, "module": {"math"}, "constant": {"WIDE_FACTOR"}}
    assert stale_names(text) == expected


@every_source
def test_files_stay_small_and_have_names_that_say_something(path: Path) -> None:
    """At most 400 lines; nothing is called utils, helpers or common."""
    assert len(path.read_text().splitlines()) <= 400
    assert not {"utils", "util", "helpers", "helper", "common", "misc"} & {path.stem, *path.relative_to(PACKAGE).parts}


@every_source
def test_modules_say_what_they_are(path: Path) -> None:
    """Every module that has code has a docstring."""
    text = path.read_text()
    assert not text.strip() or ast.get_docstring(ast.parse(text))

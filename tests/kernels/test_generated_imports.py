"""Functions that generated code names in its text exist: a rename is found by a test, not by a user's first step."""

import ast
import importlib
import re
from pathlib import Path

import pytest

import pliant

SOURCES = sorted(Path(pliant.__file__).parent.glob("**/*.py"))


def imports_in_strings(path: Path) -> list[tuple[str, str]]:
    """Module and name of every import that stands in a string constant of a file, outside of docstrings."""
    tree = ast.parse(path.read_text())
    texts = [node.value for node in ast.walk(tree) if isinstance(node, ast.Constant) and isinstance(node.value, str)]
    found = []
    for text in texts:
        lines, k = text.split("\n"), 0
        while k < len(lines):
            line = re.sub(r"^\{\w+\}", "", lines[k].strip())
            if line.startswith("from pliant") and " import " in line and "{" not in line:
                while "(" in line and ")" not in line:
                    k += 1
                    line += " " + lines[k].strip()
                statement = ast.parse(line).body[0]
                assert isinstance(statement, ast.ImportFrom)
                assert statement.module is not None
                found += [(statement.module, alias.name) for alias in statement.names]
            k += 1
    return found


NAMED = {str(path): imports_in_strings(path) for path in SOURCES}
NAMED = {path: found for path, found in NAMED.items() if found}


def test_there_are_some() -> None:
    assert len(NAMED) >= 3
    assert ("pliant.kernels.local_solve", "solve_free") in [one for found in NAMED.values() for one in found]


@pytest.mark.parametrize("path", NAMED)
def test_they_exist(path: str) -> None:
    missing = [f"{module}.{name}" for module, name in NAMED[path] if not exists(module, name)]
    assert not missing


def exists(module: str, name: str) -> bool:
    """Whether a module has a name, of its own or of a module in it."""
    if hasattr(importlib.import_module(module), name):
        return True
    try:
        importlib.import_module(f"{module}.{name}")
    except ModuleNotFoundError:
        return False
    return True


def put_together(text: str) -> list[str]:
    """Strings of a source in which the module or the name of an import is put together."""
    pieces = [ast.unparse(node) for node in ast.walk(ast.parse(text)) if isinstance(node, ast.JoinedStr)]
    return [piece for piece in pieces if re.search(r"from pliant[\w.]*(\{| import [^\n\\]*\{)", piece)]


def test_names_in_generated_imports_are_written_out() -> None:
    """One that is put together cannot be looked up here: such lines are made of functions (import_lines)."""
    assert not {path.name: found for path in SOURCES if (found := put_together(path.read_text()))}
    for text in ('f"from pliant.kernels.{m} import a"', 'f"{x}\\nfrom pliant.kernels.bodies import {name}"'):
        assert put_together(text)


def test_what_does_not_exist_is_found() -> None:
    assert exists("pliant.kernels", "coarse_solve")
    assert not exists("pliant.kernels", "no_such_module")
    assert not exists("pliant.kernels.local_solve", "no_such_function")

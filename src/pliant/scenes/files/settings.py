"""Changes to a scene file from the command line: `--set bodies.0.density=500`."""

from __future__ import annotations

import tomllib
from dataclasses import fields
from typing import Any

from pliant.errors import SceneError
from pliant.scenes.files.fields import nearest
from pliant.scenes.files.lines import Key
from pliant.scenes.files.source import Source
from pliant.solvers import SOLVERS, VBD, Auto


def set_solver(source: Source, name: str) -> None:
    """Solve with this solver, with its usual options; upper and lower case do not matter."""
    source.data["solver"] = {"name": solver_name(name)}
    source.changed[("solver",)] = f"--solver {name}"


def solver_name(name: str) -> str:
    """The name of a solver as the package spells it."""
    names = {known.casefold(): known for known in SOLVERS}
    if name.casefold() not in names:
        raise SceneError(
            f"--solver {name}: there is no such solver.{nearest(name, SOLVERS)} Known: {', '.join(SOLVERS)}."
        )
    return names[name.casefold()]


def apply_setting(source: Source, setting: str) -> None:
    """Change one key: KEY=VALUE, parts of the key joined by dots, the value as TOML or else as a word."""
    dotted, equals, text = setting.partition("=")
    parts = [part.strip() for part in dotted.split(".")]
    if not equals or not all(parts):
        raise SceneError(f"--set {setting}: give KEY=VALUE, such as solver.iterations=50 or bodies.0.density=500.")
    *parents, last = parts
    if parents[:1] == ["solver"] and "solver" not in source.data and last != "name":
        source.data["solver"] = {"name": _solver_with(last)}
    table: Any = source.data
    path: tuple[Key, ...] = ()
    for part in parents:
        key = _key(table, part, setting)
        path = (*path, key)
        table = table.setdefault(key, {}) if isinstance(table, dict) else table[key]
    key = _key(table, last, setting)
    table[key] = _value(text)
    source.changed[(*path, key)] = f"--set {setting}"


def _solver_with(option: str) -> str:
    """The usual solver if it has this option; else vertex block descent, to which iterations and the like belong."""
    return Auto.__name__ if option in (field.name for field in fields(Auto)) else VBD.__name__


def _key(table: Any, part: str, setting: str) -> Key:
    """A key of a table, or the number of a list's entry."""
    if isinstance(table, dict):
        return part
    if not isinstance(table, list):
        raise SceneError(f"--set {setting}: there is nothing called {part!r} inside {table!r}.")
    if not (part.isascii() and part.isdigit() and int(part) < len(table)):
        raise SceneError(f"--set {setting}: {part!r} is not an entry of this list of {len(table)}, numbered from 0.")
    return int(part)


def _value(text: str) -> Any:
    """A TOML value; what is none is a word, so that --set solver.start=inertial needs no quotes."""
    try:
        return tomllib.loads(f"value = {text}")["value"]
    except tomllib.TOMLDecodeError:
        return text.strip()

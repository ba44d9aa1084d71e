"""Where a key stands in a TOML text: tomllib does not say."""

from __future__ import annotations

import re
import tomllib
from collections.abc import Sequence
from typing import Any

Key = str | int
_HEADER = re.compile(r"^\s*(\[\[?)(.+?)\]\]?\s*(#.*)?$")


def line_of(text: str, path: Sequence[Key]) -> int | None:
    """The line, from 1, of a key or of the table it is in; None if neither is there.

    path: keys and numbers in lists, as ("bodies", 0, "density"). What is inside a value has the line of the value.
    """
    lines = _lines_of_keys(text)
    for length in range(len(path), 0, -1):
        if tuple(path[:length]) in lines:
            return lines[tuple(path[:length])]
    return None


def _lines_of_keys(text: str) -> dict[tuple[Key, ...], int]:
    """Of a text that tomllib reads: every key at the start of a line, and every table."""
    rows = text.splitlines()
    found: dict[tuple[Key, ...], int] = {}
    counts: dict[tuple[Key, ...], int] = {}
    table: tuple[Key, ...] = ()
    row = 0
    while row < len(rows):
        header = _HEADER.match(rows[row])
        if header:
            table = _table(header, counts)
            found.setdefault(table, row + 1)
            row += 1
            continue
        end, entry = _entry(rows, row)
        for path in _paths(entry):
            found.setdefault((*table, *path), row + 1)
        row = end
    return found


def _table(header: re.Match[str], counts: dict[tuple[Key, ...], int]) -> tuple[Key, ...]:
    """The path of a [table] or [[table]]; its parents that are lists get the number of their last entry."""
    path: tuple[Key, ...] = ()
    keys = _keys(header[2])
    for k, key in enumerate(keys):
        path = (*path, key)
        if header[1] == "[[" and k == len(keys) - 1:
            counts[path] = counts.get(path, -1) + 1
        if path in counts:
            path = (*path, counts[path])
    return path


def _keys(dotted: str) -> list[str]:
    """The parts of a dotted key; tomllib knows how quotes work."""
    value: Any = tomllib.loads(f"{dotted} = 0")
    keys = []
    while isinstance(value, dict):
        (key, value), *_ = value.items()
        keys.append(key)
    return keys


def _entry(rows: list[str], row: int) -> tuple[int, dict[str, Any]]:
    """Where the entry that begins in a row ends, and what it says; a value may fill many rows."""
    for end in range(row + 1, len(rows) + 1):
        try:
            return end, tomllib.loads("\n".join(rows[row:end]))
        except tomllib.TOMLDecodeError:
            continue
    return row + 1, {}


def _paths(entry: dict[str, Any]) -> list[tuple[str, ...]]:
    """The key of an entry and, if it is dotted, its parents."""
    paths: list[tuple[str, ...]] = []
    path: tuple[str, ...] = ()
    value: Any = entry
    while isinstance(value, dict) and len(value) == 1:
        (key, value), *_ = value.items()
        path = (*path, key)
        paths.append(path)
    return paths

"""TOML written from plain tables; Python's library only reads it."""

from __future__ import annotations

import json
from typing import Any

Tables = dict[str, Any]


def toml_text(table: Tables) -> str:
    """The text of a table of strings, numbers, booleans, lists and tables; None stands for a key left out.

    Tables, and lists of them, that hold further tables become sections; others are written in one line. Numbers come
    back with the same bits.
    """
    return "\n".join(_section(table, ())).strip() + "\n"


def _section(table: Tables, path: tuple[str, ...]) -> list[str]:
    given = {key: value for key, value in table.items() if value is not None}
    sections = {key: value for key, value in given.items() if _is_section(value, bool(path))}
    lines = [f"{_key(key)} = {_value(value)}" for key, value in given.items() if key not in sections]
    for key, value in sections.items():
        here = (*path, key)
        name = ".".join(map(_key, here))
        for entry in value if isinstance(value, list) else [value]:
            lines += ["", f"[[{name}]]" if isinstance(value, list) else f"[{name}]", *_section(entry, here)]
    return lines


def _is_section(value: Any, is_inside: bool) -> bool:
    """Tables of the file itself, and lists of tables within them; tables within tables are short."""
    if isinstance(value, list):
        return bool(value) and all(isinstance(entry, dict) for entry in value)
    return isinstance(value, dict) and not is_inside


def _key(key: str) -> str:
    return key if key and all(c.isascii() and (c.isalnum() or c in "_-") for c in key) else _string(key)


def _string(text: str) -> str:
    """JSON's strings are TOML's, but for pairs of surrogates and the character 127."""
    return json.dumps(text, ensure_ascii=False).replace("\x7f", "\\u007f")


def _value(value: Any) -> str:
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, str):
        return _string(value)
    if isinstance(value, dict):
        inside = ", ".join(f"{_key(k)} = {_value(v)}" for k, v in value.items() if v is not None)
        return f"{{ {inside} }}" if inside else "{}"
    if isinstance(value, list | tuple):
        return f"[{', '.join(map(_value, value))}]"
    return repr(value)  # of a float: the shortest text with the same bits

"""The reference of scene files, made from the JSON schema that `pliant schema` prints."""

from __future__ import annotations

from typing import Any

from pliant.scenes.files import json_schema

HEAD = """# Scene-file reference

Every table and key that a scene file may have, made from the schema that `pliant schema` prints. The guide with
examples is [Scene files](../scene-files.md). A key without a default must be given.
"""


def page() -> str:
    """The whole reference as Markdown."""
    schema = json_schema()
    tables = dict(sorted(schema.get("$defs", {}).items()))
    parts = [HEAD, _table("The file", schema, tables)]
    parts += [_table(name, table, tables) for name, table in tables.items() if "properties" in table]
    return "\n".join(parts)


def _title(name: str) -> str:
    return name.removesuffix("Table") or name


def _table(name: str, table: dict[str, Any], tables: dict[str, Any]) -> str:
    title, mark = _title(name), f" {{ #{name} }}" if name in tables else ""
    needed = table.get("required", [])
    rows = [
        f"| `{key}` | {_kind(value, tables)} | {_default(key, value, needed)} |"
        for key, value in table.get("properties", {}).items()
    ]
    about = table.get("description", "").replace("\n", " ").replace("<", "&lt;")
    return f"## {title}{mark}\n\n{about}\n\n| key | value | default |\n|---|---|---|\n" + "\n".join(rows) + "\n"


def _default(key: str, value: dict[str, Any], needed: list[str]) -> str:
    if key in needed or "const" in value:
        return "*required*"
    default = value.get("default")
    return "" if default in (None, "") or isinstance(default, dict) else f"`{default}`"


def _kind(value: dict[str, Any], tables: dict[str, Any]) -> str:
    """What a value may be, in a few words."""
    if "$ref" in value:
        return _reference(value["$ref"], tables)
    if "const" in value:
        return f'`"{value["const"]}"`'
    if "enum" in value:
        return ", ".join(f'`"{word}"`' for word in value["enum"])
    for several in ("anyOf", "oneOf"):
        if several in value:
            kinds = [_kind(one, tables) for one in value[several] if one.get("type") != "null"]
            return ", ".join(dict.fromkeys(kinds)) if len(kinds) > 3 else " or ".join(dict.fromkeys(kinds))
    if value.get("type") == "array":
        count = value.get("minItems") if value.get("minItems") == value.get("maxItems") else None
        items = _kind(value.get("items", {}), tables)
        return f"{count or 'list of'} x {items}".replace("list of x", "list of") + _unit(value)
    words = {"number": "number", "integer": "whole number", "string": "text", "boolean": "true or false"}
    return words.get(value.get("type", ""), "table") + _bounds(value) + _unit(value)


def _reference(reference: str, tables: dict[str, Any]) -> str:
    name = reference.rpartition("/")[2]
    target = tables.get(name, {})
    if "properties" not in target and target:
        return _kind(target, tables)
    return f"[{_title(name)}](#{name})"


def _bounds(value: dict[str, Any]) -> str:
    words = {"exclusiveMinimum": "above", "minimum": "at least", "exclusiveMaximum": "below", "maximum": "at most"}
    found = [f"{word} {value[key]:g}" for key, word in words.items() if key in value]
    return f", {' and '.join(found)}" if found else ""


def _unit(value: dict[str, Any]) -> str:
    about = value.get("description", "")
    return f" {about}" if about.startswith("[") else ""

"""The text of a scene file, and errors that point into it."""

from __future__ import annotations

import re
import tomllib
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from pydantic import ValidationError

from pliant.errors import DeviceError, FileError, PliantError, SceneError
from pliant.io.paths import as_path
from pliant.scenes.files.fields import nearest
from pliant.scenes.files.lines import Key, line_of

MOST_ERRORS = 20  # of a file that are told at once
LONGEST = 60  # characters of a value that an error shows


class SceneFileError(SceneError):
    """An error whose place in a scene file is told."""


@dataclass
class Source:
    """A scene file as it was read, changed by settings of the command line."""

    path: Path
    text: str
    data: dict[str, Any]
    changed: dict[tuple[Key, ...], str] = field(default_factory=dict)  # paths that settings changed, and the settings

    @property
    def folder(self) -> Path:
        """Where the file is: paths of meshes begin there."""
        return self.path.parent

    @contextmanager
    def at(self, *path: Key) -> Iterator[None]:
        """Errors raised within are told with this place in the file."""
        try:
            yield
        except (SceneFileError, DeviceError):  # a device that is missing is no matter of the file
            raise
        except PliantError as error:
            raise self.error((*path, *self._key_named_in(str(error), path)), str(error)) from None

    def _key_named_in(self, message: str, path: Sequence[Key]) -> list[Key]:
        """The key of the table at a path that a message is about, as "VBD: iterations is 0", if there is one."""
        value: Any = self.data
        for key in path:
            value = value[key] if isinstance(key, int) else (value or {}).get(key)
        keys = value if isinstance(value, dict) else {}
        return [key for key in keys if re.search(rf"(: |^|got ){re.escape(key)}( is |: |\[|=)", message)][:1]

    def error(self, path: Sequence[Key], message: str) -> SceneFileError:
        """One sentence: the file, the line, the key and what is wrong."""
        return SceneFileError(self._sentence(path, message))

    def _sentence(self, path: Sequence[Key], message: str) -> str:
        return f"{self._place(path)}: {'.'.join(map(str, path)) or 'the scene'}: {message}"

    def _place(self, path: Sequence[Key]) -> str:
        for length in range(len(path), 0, -1):
            if tuple(path[:length]) in self.changed:
                return f"{self.path}, changed by {self.changed[tuple(path[:length])]}"
        line = line_of(self.text, path)
        return f"{self.path}, line {line}" if line else str(self.path)

    def explain(self, invalid: ValidationError) -> SceneFileError:
        """All its errors, in the order of the lines, one per line of the message, in plain words."""
        found: dict[tuple[Key, ...], list[Any]] = {}
        for error in invalid.errors(include_url=False):
            path = self._path_in_data(error["loc"], error["type"] == "missing")
            found.setdefault((*path, *_key_of(error)), []).append(error)
        # of a value with alternatives, what is wrong inside says more than what it could have been instead
        exact = {path: e for path, e in found.items() if not any(p[: len(path)] == path != p for p in found)}
        paths = sorted(exact, key=lambda path: line_of(self.text, path) or 0)
        sentences = [self._sentence(path, _sentence(exact[path])) for path in paths[:MOST_ERRORS]]
        if len(paths) > MOST_ERRORS:
            sentences.append(f"And {len(paths) - MOST_ERRORS} more errors.")
        return SceneFileError("\n".join(sentences))

    def _path_in_data(self, location: Sequence[Key], is_missing: bool) -> tuple[Key, ...]:
        """pydantic's location without the names of alternatives, which are not in the file."""
        path: tuple[Key, ...] = ()
        value: Any = self.data
        for key in location:
            inside = key in value if isinstance(value, dict) else isinstance(value, list) and isinstance(key, int)
            if inside:
                path, value = (*path, key), value[key]  # type: ignore[index]
        return (*path, location[-1]) if is_missing else path


def read_source(path: str | Path) -> Source:
    """Read a scene file; say where its TOML is wrong."""
    path = as_path(path, "load_scene")
    try:
        text = path.read_text(encoding="utf-8-sig")  # editors of Windows begin with a byte-order mark
    except FileNotFoundError:
        beside = [other.name for other in path.parent.glob("*.toml")] if path.parent.is_dir() else []
        raise FileError(f"{path}: there is no such file.{nearest(path.name, beside)}") from None
    except (OSError, UnicodeDecodeError) as error:
        raise FileError(f"{path}: it cannot be read ({getattr(error, 'strerror', None) or error}).") from None
    try:
        return Source(path, text, tomllib.loads(text))
    except tomllib.TOMLDecodeError as error:
        raise SceneError(
            f"{path}: this is not valid TOML: {error}. docs/scene-files.md shows what a scene looks like."
        ) from None
    except RecursionError:
        raise SceneError(f"{path}: it is nested too deeply to be a scene.") from None


def shown(value: Any) -> str:
    """A value as an error shows it, with its kind, cut if it is long."""
    if isinstance(value, dict):
        return f"a table with the keys {', '.join(map(str, value)) or '(none)'}"[: LONGEST + 20]
    kinds = {bool: "a boolean", int: "a whole number", float: "a number", str: "a string", list: "a list"}
    text = repr(value)
    text = text if len(text) <= LONGEST else f"{text[:LONGEST]}..."
    return f"{text} ({kinds.get(type(value), type(value).__name__)})"


def _key_of(error: Any) -> tuple[Key, ...]:
    """The key inside a table that an error is about, if pydantic does not count it as part of the place."""
    context = error.get("ctx", {})
    if error["type"] == "unknown_key":
        return (context["key"],)
    return (context["discriminator"].strip("'"),) if error["type"] == "union_tag_invalid" else ()


#: What pydantic's own errors allow, in the words of a scene file.
_ALLOWED = {
    "int_type": "a whole number",
    "int_from_float": "a whole number",
    "float_type": "a number",
    "finite_number": "a finite number",
    "bool_type": "true or false",
    "string_type": "a string",
    "string_too_short": "a string that is not empty",
    "tuple_type": "a list",
    "list_type": "a list",
    "sequence_str": "a list",
    "is_instance_of": "a list",
    "model_type": "a table",
    "model_attributes_type": "a table",
    "dict_type": "a table",
}


def _sentence(errors: Sequence[Any]) -> str:
    """What was found and what is allowed; several errors at one place are of alternatives."""
    kind, context, found = errors[0]["type"], errors[0].get("ctx", {}), errors[0]["input"]
    if kind == "unknown_key":
        return f"this key is not known.{context['hint']} Known here: {context['known']}."
    if kind == "missing":
        return f"this key is missing; found here: {', '.join(map(str, found)) or 'nothing'}."
    if kind == "missing_tag":
        return f"the key {context['tag']!r} is missing.{context['hint']} Allowed: {context['allowed']}."
    if kind == "union_tag_invalid":
        known = context["expected_tags"].replace("'", "").split(", ")
        value = found[context["discriminator"].strip("'")]
        return f"found {shown(value)}.{nearest(value, known)} Allowed: {', '.join(known)}."
    if kind == "literal_error":
        known = context["expected"].replace("'", "").replace(" or ", ", ").split(", ")
        return f"found {shown(found)}.{nearest(found, known)} Allowed: {', '.join(known)}."
    if kind == "list_type" and isinstance(found, dict):
        return f"found {shown(found)}; give a list: each of its entries begins with [[...]], this name in two brackets."
    allowed = " or ".join(dict.fromkeys(_allowed(error) for error in errors))
    return f"found {shown(found)}; {allowed}{'' if allowed[-1] == '?' else '.'}"


def _allowed(error: Any) -> str:
    if error["type"] in _ALLOWED:
        return f"give {_ALLOWED[error['type']]}"
    if error["type"] in ("too_short", "too_long"):
        context = error["ctx"]
        length = context.get("min_length", context.get("max_length"))
        return f"give a list of {'at least' if 'min_length' in context else 'at most'} {length}"
    return f"{error['msg'][0].lower()}{error['msg'][1:]}"

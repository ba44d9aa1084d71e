"""The text of a scene file, and errors that point into it."""

from __future__ import annotations

import tomllib
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from pydantic import ValidationError

from pliant.errors import FileError, PliantError, SceneError
from pliant.scenes.files.fields import nearest
from pliant.scenes.files.lines import Key, line_of

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
        except SceneFileError:
            raise
        except PliantError as error:
            raise self.error(path, str(error)) from None

    def error(self, path: Sequence[Key], message: str, more: int = 0) -> SceneFileError:
        """One sentence: the file, the line, the key, what is wrong, and how many other errors there are."""
        rest = f" ({more} more error{'s' if more > 1 else ''} after this one.)" if more else ""
        return SceneFileError(f"{self._place(path)}: {'.'.join(map(str, path)) or 'the scene'}: {message}{rest}")

    def _place(self, path: Sequence[Key]) -> str:
        for length in range(len(path), 0, -1):
            if tuple(path[:length]) in self.changed:
                return f"{self.path}, changed by {self.changed[tuple(path[:length])]}"
        line = line_of(self.text, path)
        return f"{self.path}, line {line}" if line else str(self.path)

    def explain(self, invalid: ValidationError) -> SceneFileError:
        """Its first error, in the order of the lines, in plain words."""
        found = []
        for k, error in enumerate(invalid.errors(include_url=False)):
            path = self._path_in_data(error["loc"], error["type"] == "missing")
            if error["type"] == "unknown_key":
                path = (*path, error["ctx"]["key"])
            found.append((line_of(self.text, path) or 0, k, path, _sentence(error)))
        _, _, path, sentence = min(found)
        return self.error(path, sentence, len({entry[2] for entry in found}) - 1)

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
    path = Path(path)
    try:
        text = path.read_text(encoding="utf-8")
    except FileNotFoundError:
        beside = [other.name for other in path.parent.glob("*.toml")] if path.parent.is_dir() else []
        raise FileError(f"{path}: there is no such file.{nearest(path.name, beside)}") from None
    except (OSError, UnicodeDecodeError) as error:
        raise FileError(f"{path}: it cannot be read ({getattr(error, 'strerror', None) or error}).") from None
    try:
        return Source(path, text, tomllib.loads(text))
    except tomllib.TOMLDecodeError as error:
        raise SceneError(
            f"{path}: this is no TOML: {error}. docs/scene-files.md shows what a scene looks like."
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


def _sentence(error: Any) -> str:
    """What was found and what is allowed."""
    kind, context, found = error["type"], error.get("ctx", {}), error["input"]
    if kind == "unknown_key":
        return f"this key is not known.{context['hint']} Known here: {context['known']}."
    if kind == "missing":
        return "this key is missing."
    if kind == "missing_tag":
        return f"the key {context['tag']!r} is missing.{context['hint']} Allowed: {context['allowed']}."
    if kind == "union_tag_invalid":
        known = context["expected_tags"].replace("'", "").split(", ")
        key = context["discriminator"]
        return f"{key} is {context['tag']!r}.{nearest(context['tag'], known)} Allowed: {', '.join(known)}."
    if kind == "literal_error":
        known = context["expected"].replace("'", "").replace(" or ", ", ").split(", ")
        return f"found {shown(found)}.{nearest(found, known)} Allowed: {', '.join(known)}."
    allowed = error["msg"]
    return f"found {shown(found)}; {allowed[0].lower()}{allowed[1:]}{'' if allowed[-1] == '?' else '.'}"

"""Names of files that a user gives, checked before the system sees them."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any

from pliant.errors import FileError

LONGEST_NAME = 240  # bytes of one part: systems allow 255, and files beside a result have longer names


def as_path(value: Any, what: str) -> Path:
    """A path of a file, or one sentence on why it can be none."""
    if isinstance(value, bytes) or not isinstance(value, str | os.PathLike):
        raise FileError(f"{what}: the file is {_shown(value)}; give its name as a string or a pathlib.Path.")
    path = Path(value)
    if not str(value) or not path.name:
        raise FileError(f"{what}: the file is {_shown(value)}; give the name of a file.")
    if "\0" in str(path):
        raise FileError(f"{what}: the name {_shown(str(path))} has a NUL character in it; choose another.")
    try:
        longest = max(path.parts, key=lambda part: len(os.fsencode(part)))
    except UnicodeEncodeError:
        raise FileError(f"{what}: the name {_shown(str(path))} cannot be written on this system.") from None
    if len(os.fsencode(longest)) > LONGEST_NAME:
        size = len(os.fsencode(longest))
        raise FileError(f"{what}: the name {_shown(longest)} is {size} bytes long; give at most {LONGEST_NAME}.")
    return path


def _shown(value: Any) -> str:
    text = repr(value)
    return text if len(text) <= 60 else f"{text[:57]}..."

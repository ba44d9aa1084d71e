"""Folders that commands write into."""

from __future__ import annotations

import tempfile
from pathlib import Path

from pliant.errors import FileError


def writable_folder(folder: Path) -> Path:
    """The folder, made if need be; an error before a long job rather than after it."""
    try:
        folder.mkdir(parents=True, exist_ok=True)
        with tempfile.TemporaryFile(dir=folder):
            pass
    except OSError as error:
        raise FileError(
            f"{folder}: cannot write into this folder ({error.strerror}). Choose another with --out."
        ) from None
    return folder

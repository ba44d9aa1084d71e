"""Where commands write, and how much they say."""

from __future__ import annotations

import json
import logging
import math
import sys
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import IO, Any

import typer

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


@contextmanager
def only_warnings(quiet: bool) -> Iterator[None]:
    """Let Pliant say what is wrong, but not that it compiles."""
    logger = logging.getLogger("pliant")
    level = logger.level
    if quiet:
        logger.setLevel(logging.WARNING)
    try:
        yield
    finally:
        logger.setLevel(level)


@contextmanager
def log_above_bar() -> Iterator[None]:
    """Let Pliant's warnings pass through sys.stderr as it is now: while a bar is shown, rich puts them above it."""
    handlers = [handler for handler in logging.getLogger("pliant").handlers if type(handler) is logging.StreamHandler]
    streams = [(handler, handler.stream) for handler in handlers]
    for handler in handlers:
        handler.setStream(sys.stderr)
    try:
        yield
    finally:
        for handler, stream in streams:
            handler.setStream(stream)


def print_json(about: Any, file: IO[str] | None = None) -> None:
    """One value as JSON on standard output; a number that is not finite, which JSON has no word for, as null."""
    typer.echo(json.dumps(_finite(about), indent=2, allow_nan=False), file)


def _finite(about: Any) -> Any:
    if isinstance(about, dict):
        return {name: _finite(value) for name, value in about.items()}
    if isinstance(about, list | tuple):
        return [_finite(value) for value in about]
    return None if isinstance(about, float) and not math.isfinite(about) else about

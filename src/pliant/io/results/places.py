"""Where results go: found out before any work is done, and replaced only as a whole."""

from __future__ import annotations

import glob
import os
import tempfile
from collections.abc import Iterable, Iterator
from contextlib import contextmanager, suppress
from io import RawIOBase
from pathlib import Path

from pliant.errors import FileError

NUMBERED = (".ply", ".obj")  # a file per frame


def check_place(path: Path) -> None:
    """Refuse a path that cannot be written: no such folder, a folder in the way, no permission, no space."""
    folder = path.parent
    if not folder.exists():
        raise FileError(f"{path}: there is no folder {folder}; make it first, or choose another place.")
    if not folder.is_dir():
        raise FileError(f"{path}: {folder} is a file, not a folder; choose another place.")
    if path.is_dir():
        raise FileError(f"{path}: there is a folder of this name; choose another name.")
    try:
        with tempfile.NamedTemporaryFile(dir=folder, prefix=".pliant-") as file:
            file.write(b"can this be written?")
            file.flush()
    except OSError as error:
        raise cannot_write(path, error) from None


def existing(path: Path) -> Path | None:
    """A file that writing a result to `path` would replace: of this name, a numbered one, or one that finishes it."""
    if path.exists() or path.is_symlink():
        return path
    ending = path.suffix.lower()
    numbered = path.parent.glob(f"{glob.escape(path.stem)}_*{glob.escape(path.suffix)}") if ending in NUMBERED else []
    beside = path.with_name(f"{path.name}.frames.npz")
    return next(iter(sorted(numbered)), beside if beside.exists() else None)


def cannot_write(path: Path, error: OSError) -> FileError:
    """The one sentence for a file that the system refuses to write."""
    return FileError(
        f"{path}: cannot be written ({error.strerror or error}). Choose another folder, or free some disk."
    )


@contextmanager
def replacing(path: Path) -> Iterator[Path]:
    """A path beside `path`, with the same ending, to write to; moved to its place at the end: whole or not at all."""
    beside = path.with_name(f".{path.stem}.{os.getpid()}{path.suffix}")
    try:
        yield beside
        os.replace(beside, path)
    except BaseException:
        with suppress(OSError):
            beside.unlink()
        raise


def write_all(file: RawIOBase, chunks: Iterable[bytes | memoryview]) -> None:
    """Write chunks of bytes to an unbuffered file, which may take less than it is given at a time."""
    for chunk in chunks:
        rest = memoryview(chunk)
        while rest:
            rest = rest[file.write(rest) :]

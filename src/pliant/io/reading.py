"""Files that may be damaged: whatever other packages do with them, the outcome is what they hold or one error."""

from __future__ import annotations

import io
from collections.abc import Iterator
from contextlib import contextmanager, redirect_stderr
from pathlib import Path
from typing import Any

from pliant.errors import FileError, PliantError

MOST_READS = 1000  # behind the end of a file
HANGING = (".msh", ".ply", ".off")  # formats whose readers do not end on files that are cut off


@contextmanager
def reading(path: Path) -> Iterator[None]:
    """What goes wrong within, for which every package has errors of its own, is one error that names the file."""
    try:
        yield
    except PliantError:
        raise
    except Exception as error:
        words = " ".join(str(error).split())
        raise FileError(f"{path}: it is damaged and cannot be read ({type(error).__name__}: {words}).") from None


class UntilEnd(io.BufferedReader):
    """A file whose end is an error to those who read on and on behind it, as some of meshio's readers do."""

    _behind = 0

    def read(self, size: int | None = -1, /) -> bytes:
        return self._counted(super().read(size))

    def readline(self, size: int | None = -1, /) -> bytes:
        return self._counted(super().readline(size))

    def read1(self, size: int = -1, /) -> bytes:
        return self._counted(super().read1(size))

    def _counted(self, data: bytes) -> bytes:
        self._behind += not data
        if self._behind > MOST_READS:
            raise EOFError("it is cut off")
        return data


def read_by_meshio(path: Path) -> Any:
    """A meshio.Mesh."""
    import meshio

    printed = io.StringIO()
    try:
        with redirect_stderr(printed):
            if path.suffix.lower() not in HANGING:
                return meshio.read(path)
            with UntilEnd(io.FileIO(path)) as file:
                kind = path.suffix.lower().removeprefix(".")
                if kind == "off":
                    return meshio.read(io.TextIOWrapper(file), file_format=kind)
                if kind == "msh":
                    kind = "gmsh" if file.peek(1)[:1] == b"$" else "ansys"
                return meshio.read(file, file_format=kind)
    except SystemExit:  # after it has printed why
        raise FileError(f"{path}: meshio cannot read it ({' '.join(printed.getvalue().split())}).") from None
    except Exception as error:  # of many kinds
        raise FileError(f"{path}: meshio cannot read it ({type(error).__name__}: {error}).") from None

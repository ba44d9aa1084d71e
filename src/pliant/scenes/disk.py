"""Room on the disk: what a run needs at least, and a reserve for its last checkpoint."""

from __future__ import annotations

from contextlib import suppress
from pathlib import Path
from types import TracebackType
from typing import Self

from pliant.errors import FileError
from pliant.io.results.formats import EXPORTS

MARGIN = 1.1  # a checkpoint may be larger than an earlier one
#: Bytes of a recorded frame at least: a point, a cell, and a corner of a cell.
_SIZES = {".npz": (36, 8, 0), ".pvd": (36, 14, 4), ".ply": (27, 1, 4), ".obj": (12, 2, 2)}
_JOURNAL = 24  # a point, of formats that are finished from a stream
_FINISHED = {".usdc": 24, ".usd": 24, ".usda": 24, ".glb": 24}  # a point, while the stream is still there


def bytes_a_frame(path: Path, points: int, cells: int, corners: int) -> int:
    """Of a result with so many points and cells of so many corners: a lower bound."""
    ending = path.suffix.lower()
    if ending in EXPORTS:
        return points * (_JOURNAL + _FINISHED.get(ending, 0))
    a_point, a_cell, a_corner = _SIZES[ending]
    return points * a_point + cells * (a_cell + corners * a_corner)


class Reserve:
    """A file as large as a checkpoint, beside it: given back when the disk is full, so that the checkpoint has room.

    Use it as a context manager; it is gone at the end.
    """

    def __init__(self, checkpoint: Path):
        self._path = checkpoint.with_name(f".{checkpoint.name}.reserve")
        size = int(MARGIN * checkpoint.stat().st_size)
        try:
            self._path.write_bytes(bytes(size))
        except OSError as error:
            self.release()
            raise FileError(
                f"{self._path}: there is no room for a second checkpoint, {size / 1e6:.1f} MB ({error.strerror}). "
                "Free some disk, or choose another folder with --out."
            ) from None

    def release(self) -> None:
        """Give the room back."""
        with suppress(OSError):
            self._path.unlink(missing_ok=True)

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.release()

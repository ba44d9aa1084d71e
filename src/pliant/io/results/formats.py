"""All formats of results, by the ending of the file.

Each is named by its home, `module:name`, and loaded when it is asked for: its packages are imported by nobody else, and
pictures and movies are drawn by a room above this one.
"""

from __future__ import annotations

from collections.abc import Callable
from difflib import get_close_matches
from importlib import import_module
from pathlib import Path
from typing import Any

from pliant.errors import FileError
from pliant.io.paths import as_path
from pliant.io.reading import reading
from pliant.io.results.result import FrameWriter, Layout, Result
from pliant.io.results.spheres import WriterOfSurfaces

_HERE = "pliant.io.results"

#: Written frame by frame: a FrameWriter, made with (path, layout).
STREAMS = {
    ".npz": f"{_HERE}.archive:ArchiveWriter",
    ".pvd": f"{_HERE}.paraview:ParaViewWriter",
    ".ply": f"{_HERE}.sequences:PlyWriter",
    ".obj": f"{_HERE}.sequences:ObjWriter",
}
#: Finished from a whole result: a function of (result, path).
EXPORTS = {
    ".usdc": f"{_HERE}.usd:export",
    ".usda": f"{_HERE}.usd_text:export",
    ".usd": f"{_HERE}.usd:export",
    ".glb": f"{_HERE}.gltf:export",
    ".html": "pliant.viewer.share:export",
    ".mp4": "pliant.viewer.mp4:export",
    ".gif": "pliant.viewer.movies:export",
    ".png": "pliant.viewer.movies:export",
}
READERS = {
    ".npz": f"{_HERE}.archive:ArchiveResult",
    ".pvd": f"{_HERE}.paraview:ParaViewResult",
    ".ply": f"{_HERE}.sequences:SequenceResult",
    ".obj": f"{_HERE}.sequences:SequenceResult",
    ".usdc": f"{_HERE}.usd:UsdResult",
    ".usda": f"{_HERE}.usd:UsdResult",
    ".usd": f"{_HERE}.usd:UsdResult",
}
HOLD_TETS = (".npz", ".pvd")
HOLD_SPHERES = (".npz", ".pvd")  # of STREAMS; others get surfaces


def open_result(path: str | Path) -> Result:
    """A result in a file, read frame by frame as it is asked for; up to the last whole frame if its run was killed.

    result.times (frames,) [s], result.triangles, result.tets, result.positions(k) (n, 3) [m], result.frame(k) with
    fields. A sequence is opened by its name without numbers: open_result("run.ply") reads run_00000.ply and so on.
    """
    path = as_path(path, "open_result")
    home = _home(path, READERS, "read")
    if path.suffix.lower() not in (".ply", ".obj") and not path.exists():
        journal = journal_of(path)
        hint = f" Its recording was cut off: {journal} has the frames." if journal.exists() else ""
        raise FileError(f"{path}: there is no such file.{hint}")
    kind = _load(home)
    with reading(path):
        result: Result = kind(path)
    try:
        with reading(path):
            result.layout.check()
    except FileError:
        result.close()
        raise
    return result


def stream(path: Path, layout: Layout) -> FrameWriter:
    """A new file that takes frames."""
    kind = _load(_home(path, STREAMS, "written frame by frame"))
    if len(layout.spheres) and path.suffix.lower() not in HOLD_SPHERES:
        return WriterOfSurfaces(kind, path, layout)
    writer: FrameWriter = kind(path, layout)
    return writer


def exporter(path: Path) -> Callable[[Result, Path], None] | None:
    """The function that finishes this format from a whole result; None if it is written frame by frame.

    Raises if the ending is unknown or a package it needs is missing.
    """
    home = _home(path, STREAMS | EXPORTS, "written")
    return None if path.suffix.lower() in STREAMS else _load(home)


def has_tets(path: Path) -> bool:
    """Whether the format has room for whole volumes."""
    return path.suffix.lower() in HOLD_TETS


def check_tets(path: Path) -> None:
    """Refuse a format of surfaces for whole volumes."""
    if not has_tets(path):
        raise FileError(f"{path}: {path.suffix} holds surfaces only; for tets use {' or '.join(HOLD_TETS)}.")


def journal_of(path: Path) -> Path:
    """Where the frames of a format that is finished at the end are kept until then."""
    return path.with_name(f"{path.name}.frames.npz")


def _home(path: Path, table: dict[str, str], what: str) -> str:
    ending = path.suffix.lower()
    if ending in table:
        return table[ending]
    near = get_close_matches(ending, table, n=1, cutoff=0.6)
    hint = f" Did you mean {near[0]}?" if near else ""
    raise FileError(
        f"{path}: results with the ending {ending or '(none)'!r} cannot be {what}; known are {', '.join(table)}.{hint}"
    )


def _load(home: str) -> Any:
    module, _, name = home.partition(":")
    return getattr(import_module(module), name)

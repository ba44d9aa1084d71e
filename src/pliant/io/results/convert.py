"""From one format to another: results frame by frame, and meshes."""

from __future__ import annotations

from pathlib import Path

from pliant.errors import FileError
from pliant.geometry import TetMesh
from pliant.io.meshes import load_mesh, save_mesh
from pliant.io.results import formats
from pliant.io.results.places import cannot_write, check_place
from pliant.io.results.result import Result
from pliant.io.results.sequences import numbered

_SURFACE_MESHES = (".obj", ".ply", ".stl", ".off")


def convert(source: str | Path, target: str | Path, surface: bool = False) -> dict[str, int]:
    """Read one file and write another, in the formats their endings name; how many frames, or vertices and tets or
    triangles of a mesh, were written.

    A file that `open_result` reads is a result, anything else a mesh. surface: leave out tets and inner points; formats
    that hold only surfaces do so anyway.
    """
    source, target = Path(source), Path(target)
    if source.resolve() == target.resolve():
        raise FileError(f"{target}: this is the file to read; choose another name to write.")
    if not is_result(source):
        return _convert_mesh(source, target, surface)
    export = formats.exporter(target)
    check_place(target)
    with formats.open_result(source) as result:
        if export is not None:
            export(result, target)
        else:
            _stream(result, target, surface or target.suffix.lower() not in formats.HOLD_TETS)
        return {"frames": len(result)}


def is_result(path: Path) -> bool:
    """Whether a file holds frames: a single .ply or .obj is a mesh, a numbered series is not."""
    ending = path.suffix.lower()
    if ending in (".ply", ".obj"):
        return not path.exists() and path.parent.is_dir() and bool(numbered(path))
    return ending in formats.READERS


def _stream(result: Result, target: Path, surface: bool) -> None:
    layout, kept = result.layout.surface() if surface else (result.layout, None)
    try:
        writer = formats.stream(target, layout)
        try:
            for frame in result:
                writer.write(frame if kept is None else frame.on_surface(result.layout, kept))
        finally:
            writer.close()
    except OSError as error:
        raise error if isinstance(error, FileError) else cannot_write(target, error) from None


def _convert_mesh(source: Path, target: Path, surface: bool) -> dict[str, int]:
    mesh = load_mesh(source)
    check_place(target)
    if isinstance(mesh, TetMesh) and (surface or target.suffix.lower() in _SURFACE_MESHES):
        mesh = mesh.surface()
    save_mesh(target, mesh)
    return {"vertices": mesh.n_vertices, "tets" if isinstance(mesh, TetMesh) else "triangles": len(mesh.elements)}

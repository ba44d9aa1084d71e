"""Meshes from files: any format that meshio reads, USD, and .npz with arrays `points` and `tets` or `triangles`."""

from __future__ import annotations

import zipfile
from pathlib import Path

import numpy as np

from pliant.errors import FileError
from pliant.geometry import TetMesh, TriMesh
from pliant.io import usd_meshes
from pliant.io.archives import write_arrays
from pliant.io.obj import read_obj
from pliant.io.paths import as_path
from pliant.io.reading import read_by_meshio, reading


def load_mesh(path: str | Path, orient: bool = False) -> TetMesh | TriMesh:
    """A TetMesh if the file has tetrahedra, else a TriMesh of its triangles and quads (each split in two; faces of .obj
    files may have more corners).

    orient: flip inverted tets instead of refusing them. USD stages are read as one mesh (extra `usd`); `load_usd` gives
    their meshes one by one.
    """
    path = as_path(path, "load_mesh")
    if not path.exists():
        raise FileError(f"{path}: there is no such file.")
    with reading(path):
        return _load(path, orient)


def _load(path: Path, orient: bool) -> TetMesh | TriMesh:
    ending = path.suffix.lower()
    if ending == ".npz":
        return _load_arrays(path, orient)
    if ending in usd_meshes.ENDINGS:
        return usd_meshes.load_usd_mesh(path)
    if ending == ".obj":
        return _load_obj(path)
    mesh = read_by_meshio(path)
    cells = mesh.cells_dict
    points = np.asarray(mesh.points, float)
    if points.ndim != 2 or not len(points):
        raise FileError(f"{path}: it holds no points.")
    if points.shape[1] == 2:
        points = np.column_stack([points, np.zeros(len(points))])
    if "tetra" in cells:
        return TetMesh(points, cells["tetra"], orient=orient)
    triangles = [cells["triangle"]] if "triangle" in cells else []
    if "quad" in cells:
        quads = cells["quad"]
        triangles += [quads[:, [0, 1, 2]], quads[:, [0, 2, 3]]]
    if not triangles:
        found = ", ".join(sorted(cells)) or "no cells"
        raise FileError(f"{path}: it holds {found}; Pliant needs tetrahedra, triangles or quads.")
    return TriMesh(points, np.concatenate(triangles))


def _load_obj(path: Path) -> TriMesh:
    file = read_obj(path)
    if not len(file.points) or not file.faces:
        raise FileError(f"{path}: it holds {len(file.points)} points and {len(file.faces)} faces; Pliant needs some.")
    return TriMesh(file.points, file.triangles())


def _load_arrays(path: Path, orient: bool) -> TetMesh | TriMesh:
    try:
        with np.load(path, allow_pickle=False) as file:
            arrays = {name: file[name] for name in ("points", "tets", "triangles") if name in file.files}
    except (OSError, ValueError, EOFError, zipfile.BadZipFile, AttributeError, MemoryError) as error:
        raise FileError(f"{path}: this is not an .npz file ({error}).") from None
    if "points" in arrays and "tets" in arrays:
        return TetMesh(arrays["points"], arrays["tets"], orient=orient)
    if "points" in arrays and "triangles" in arrays:
        return TriMesh(arrays["points"], arrays["triangles"])
    raise FileError(f"{path}: a mesh needs the arrays 'points' and 'tets' or 'triangles'; it has {list(arrays)}.")


def save_mesh(path: str | Path, mesh: TetMesh | TriMesh, points: np.ndarray | None = None) -> None:
    """Write a mesh, at other positions (n, 3) if given, in the format the ending names; .npz keeps every bit."""
    path = as_path(path, "save_mesh")
    if not isinstance(mesh, TetMesh | TriMesh):
        raise FileError(f"save_mesh: mesh is a {type(mesh).__name__}: give a TetMesh or a TriMesh.")
    if path.suffix.lower() == ".npz":
        elements = {"tets": mesh.tets} if isinstance(mesh, TetMesh) else {"triangles": mesh.triangles}
        return save_arrays(path, points=mesh.points if points is None else points, **elements)
    import meshio

    kind, corners = ("tetra", mesh.tets) if isinstance(mesh, TetMesh) else ("triangle", mesh.triangles)
    cells = [(kind, corners.astype(np.int32) if path.suffix.lower() == ".ply" else corners)]  # all that .ply can hold
    try:
        meshio.write(path, meshio.Mesh(mesh.points if points is None else points, cells))
    except (Exception, SystemExit) as error:
        raise FileError(f"{path}: cannot be written ({type(error).__name__}: {error}).") from None


def save_arrays(path: Path, **arrays: np.ndarray) -> None:
    """Write arrays by name into an .npz file."""
    try:
        write_arrays(path, arrays)
    except OSError as error:
        raise FileError(f"{path}: cannot be written ({error.strerror or error}).") from None

"""Meshes from files, in any format that meshio reads."""

from __future__ import annotations

from pathlib import Path

import numpy as np

from pliant.errors import FileError
from pliant.geometry import TetMesh, TriMesh


def load_mesh(path: str | Path, orient: bool = False) -> TetMesh | TriMesh:
    """A TetMesh if the file has tetrahedra, else a TriMesh of its triangles and quads (each split in two).

    orient: flip inverted tets instead of refusing them.
    """
    import meshio

    path = Path(path)
    if not path.exists():
        raise FileError(f"{path}: there is no such file.")
    try:
        mesh = meshio.read(path)
    except (Exception, SystemExit) as error:  # meshio raises many kinds, and exits on unknown endings
        raise FileError(f"{path}: meshio cannot read it ({type(error).__name__}: {error}).") from None
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


def save_mesh(path: str | Path, mesh: TetMesh | TriMesh, points: np.ndarray | None = None) -> None:
    """Write a mesh, at other positions (n, 3) if given, in the format the ending names."""
    import meshio

    path = Path(path)
    cells = [("tetra", mesh.tets)] if isinstance(mesh, TetMesh) else [("triangle", mesh.triangles)]
    try:
        meshio.write(path, meshio.Mesh(mesh.points if points is None else points, cells))
    except (Exception, SystemExit) as error:
        raise FileError(f"{path}: cannot be written ({type(error).__name__}: {error}).") from None

"""UV coordinates of `.obj` files, corner by corner, so that panels may be cut apart in the uv plane."""

from __future__ import annotations

from pathlib import Path

import numpy as np

from pliant.errors import FileError
from pliant.io.obj import MISSING, read_obj
from pliant.io.paths import as_path


def load_uv(path: str | Path) -> np.ndarray:
    """(m, 3, 2) UV coordinates, without unit, of the corners of the triangles of an .obj file, in the order of
    `load_mesh`.
    """
    path = as_path(path, "load_uv")
    if path.suffix.lower() != ".obj":
        raise FileError(f"{path}: load_uv reads UV coordinates of .obj files; give one.")
    file = read_obj(path)
    for face in file.faces:
        if MISSING in face.uv:
            corner = face.points[face.uv.index(MISSING)] + 1
            raise FileError(
                f"{path}, line {face.line}: the corner '{corner}' has no UV coordinates; export the mesh with UVs."
            )
    return file.uv[file.triangles(uv=True)]

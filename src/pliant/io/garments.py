"""Garments from files: an .obj with UV coordinates."""

from __future__ import annotations

from pathlib import Path

from pliant.errors import FileError, MeshError
from pliant.geometry import TriMesh
from pliant.geometry.garment import Garment
from pliant.io.meshes import load_mesh
from pliant.io.paths import as_path
from pliant.io.uv import load_uv


def load_garment(path: str | Path, scale: float = 1.0) -> Garment:
    """Panels of an .obj file: flat at rest, as its UV coordinates lay them out, and put on where its points are.

    scale: [m] of one unit of u and v. Where the mesh goes on but its UV coordinates do not is a seam.
    """
    path = as_path(path, "load_garment")
    uv, mesh = load_uv(path), load_mesh(path)
    if not isinstance(mesh, TriMesh):
        raise FileError(f"{path}: a garment is made of triangles or quads.")
    try:
        return Garment.from_uv(mesh, uv, scale)
    except MeshError as error:
        raise FileError(f"{path}: {error}") from None

"""Meshes and arrays that a scene file names, where it puts them."""

from __future__ import annotations

import zipfile
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np

from pliant.errors import FileError
from pliant.geometry import TetMesh, TriMesh
from pliant.io.meshes import load_mesh
from pliant.materials import Invertible, SolidLaw
from pliant.model import checks
from pliant.model.motions import turned
from pliant.scenes.files import generated, placed
from pliant.scenes.files.fields import nearest
from pliant.scenes.files.source import Source


def geometry(about: Any, source: Source, k: int, shapes: dict[str, Callable[..., Any]]) -> Any:
    """A body's mesh, from a shape or a file, where its transform puts it."""
    with source.at("bodies", k, "mesh" if about.shape is None else "shape"):
        mesh: TetMesh | TriMesh
        if about.shape is None:
            mesh = load_mesh(existing(source.folder / about.mesh))
        else:
            mesh = shapes[about.shape.kind](**generated.options(about.shape, "kind"))
    if "transform" not in about.model_fields_set:
        return mesh
    with source.at("bodies", k, "transform"):
        place = about.transform
        return mesh.transformed(place.scale, _matrix(place.rotation), place.translation)


def _matrix(rotation: placed.Rotation | None) -> np.ndarray | None:
    if rotation is None:
        return None
    axis = checks.unit_vector(rotation.axis, "rotation: axis")
    return turned(np.eye(3), axis, np.zeros(3), np.radians(rotation.degrees)).T


def placed_points(points: np.ndarray, place: placed.Transform) -> np.ndarray:
    """Points scaled, rotated and moved, as TetMesh.transformed does; the same points if nothing is asked."""
    if place == placed.Transform():
        return points
    matrix = _matrix(place.rotation)
    return (points * np.asarray(place.scale)) @ (np.eye(3) if matrix is None else matrix.T) + place.translation


def placed_surface(path: Path, place: placed.Transform) -> TriMesh:
    """The surface in a file, where a transform puts it."""
    mesh = load_mesh(path)
    surface = mesh if isinstance(mesh, TriMesh) else mesh.surface()
    return TriMesh(placed_points(surface.points, place), surface.triangles)


def law_of(table: Any, source: Source, k: int) -> SolidLaw | Invertible:
    """The law in the table `material` of body k, with the arrays of a file that it names."""
    with source.at("bodies", k, "material"):
        varying = {}
        if table.elements is not None:
            path, names = source.folder / table.elements, generated.parameters_of(table)
            varying = arrays_of(path, names)
            if not varying:
                raise FileError(f"{path}: it has none of the arrays {', '.join(names)}; leave out the key elements.")
        return generated.make_law(table, varying)


def existing(path: Path) -> Path:
    if path.exists():
        return path
    beside = [other.name for other in path.parent.iterdir()] if path.parent.is_dir() else []
    raise FileError(f"{path}: there is no such file.{nearest(path.name, beside)}")


def arrays_of(path: Path, names: tuple[str, ...]) -> dict[str, Any]:
    """Those arrays of an .npz file that it has."""
    existing(path)
    try:
        with np.load(path, allow_pickle=False) as file:
            return {name: file[name] for name in names if name in file.files}
    except (OSError, ValueError, EOFError, zipfile.BadZipFile, AttributeError, MemoryError) as error:
        raise FileError(f"{path}: this is not an .npz file ({error}).") from None

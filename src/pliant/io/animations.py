"""Animations from files: .npz with frames, a mesh file for every frame, USD and glTF."""

from __future__ import annotations

import re
import zipfile
from pathlib import Path

import numpy as np

from pliant.errors import FileError, MeshError
from pliant.geometry import TriMesh
from pliant.geometry.animation import Animation
from pliant.io import gltf_animation, usd_meshes
from pliant.io.meshes import load_mesh
from pliant.io.paths import as_path
from pliant.io.usd_animation import usd_animation

MESHES = (".obj", ".ply", ".stl", ".off", ".vtk")


def load_animation(
    path: str | Path, frame_rate: float = 30.0, repeat: bool = False, name: str | None = None
) -> Animation:
    """A mesh that moves.

    path: an .npz file with the arrays `frames` (f, n, 3) [m], `triangles` (m, 3) and, if they are not at the frame
    rate, `times` (f,) [s]; a folder with a mesh file (.obj, .ply and others) for every frame; or a pattern such as
    "walk_*.obj". Files come in the order of the numbers in their names, and all have the same triangles.
        Or a .usd file (.usda, .usdc, .usdz) with time samples of points and transforms (extra `usd`), or a .glb or
        .gltf file with nodes that move, skins and morph targets: all meshes of its scene as one, z up [m].
    frame_rate: [1/s] of frames without times. What turns in USD and glTF files is taken as often between two keys.
    repeat: begin again after the last frame. name: of an animation of a glTF file; None: its first.
    """
    path = as_path(path, "load_animation")
    ending = path.suffix.lower()
    if ending in (*usd_meshes.ENDINGS, *gltf_animation.ENDINGS):
        return _from_scene(path, ending, frame_rate, repeat, name)
    if path.suffix.lower() == ".npz":
        return _from_arrays(path, frame_rate, repeat)
    files = _files(path)
    meshes = [(file, _surface(file)) for file in files]
    first_file, first = meshes[0]
    for file, mesh in meshes[1:]:
        if not np.array_equal(mesh.triangles, first.triangles):
            counts = f"{first.n_vertices} and {first.n_triangles}"
            raise FileError(
                f"{file}: it has {mesh.n_vertices} vertices and {mesh.n_triangles} triangles, not those of "
                f"{first_file} ({counts}), or in another order: all frames of an animation need the same triangles."
            )
    return Animation.from_frames(first.triangles, np.array([mesh.points for _, mesh in meshes]), frame_rate, repeat)


def _from_scene(path: Path, ending: str, frame_rate: float, repeat: bool, name: str | None) -> Animation:
    if not path.exists():
        raise FileError(f"{path}: there is no such file.")
    try:
        if ending in gltf_animation.ENDINGS:
            return gltf_animation.gltf_animation(path, frame_rate, repeat, name)
        return usd_animation(path, frame_rate, repeat)
    except MeshError as error:
        raise FileError(f"{path}: {error}") from None


def _files(path: Path) -> list[Path]:
    if path.is_dir():
        found = [file for file in path.iterdir() if file.suffix.lower() in MESHES]
    else:
        found = list(path.parent.glob(path.name))
    if not found:
        raise FileError(f"{path}: no frames are there; give an .npz file, a folder of meshes, or a pattern like *.obj.")
    return sorted(found, key=lambda file: [int(part) if part.isdigit() else part for part in _parts(file.name)])


def _parts(name: str) -> list[str]:
    """A name cut before and after its numbers, words first: walk_2 before walk_10."""
    return re.split(r"(\d+)", name)


def _surface(file: Path) -> TriMesh:
    mesh = load_mesh(file)
    return mesh if isinstance(mesh, TriMesh) else mesh.surface()


def _from_arrays(path: Path, frame_rate: float, repeat: bool) -> Animation:
    if not path.exists():
        raise FileError(f"{path}: there is no such file.")
    try:
        with np.load(path, allow_pickle=False) as file:
            arrays = {name: file[name] for name in ("frames", "triangles", "times") if name in file.files}
    except (OSError, ValueError, EOFError, zipfile.BadZipFile, AttributeError, MemoryError) as error:
        raise FileError(f"{path}: this is not an .npz file ({error}).") from None
    missing = [name for name in ("frames", "triangles") if name not in arrays]
    if missing:
        raise FileError(f"{path}: an animation needs the arrays 'frames' and 'triangles'; {missing[0]!r} is missing.")
    try:
        if "times" in arrays:
            return Animation(arrays["triangles"], arrays["frames"], arrays["times"], repeat)
        return Animation.from_frames(arrays["triangles"], arrays["frames"], frame_rate, repeat)
    except MeshError as error:
        raise FileError(f"{path}: {error}") from None

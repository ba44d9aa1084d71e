"""UV coordinates of `.obj` files, corner by corner, so that panels may be cut apart in the uv plane."""

from __future__ import annotations

from pathlib import Path

import numpy as np

from pliant.errors import FileError
from pliant.io.paths import as_path


def load_uv(path: str | Path) -> np.ndarray:
    """(m, 3, 2) UV coordinates of the corners of the triangles of an .obj file, in the order of `load_mesh`.

    path: the file. Its faces are triangles, or all of them quads, which `load_mesh` splits in two.
    """
    path = as_path(path, "load_uv")
    if path.suffix.lower() != ".obj":
        raise FileError(f"{path}: load_uv reads UV coordinates of .obj files; give one.")
    try:
        lines = path.read_text(encoding="utf-8", errors="replace").splitlines()
    except OSError as error:
        raise FileError(f"{path}: cannot be read ({error.strerror or error}).") from None
    coordinates: list[list[float]] = []
    faces: list[list[int]] = []
    for number, line in enumerate(lines, 1):
        word, *rest = line.split("#")[0].split() or [""]
        if word == "vt":
            coordinates.append(_two(path, number, rest))
        elif word == "f":
            faces.append([_place(path, number, corner, len(coordinates)) for corner in rest])
    return _corners(path, np.array(coordinates).reshape(-1, 2), faces)


def _two(path: Path, number: int, words: list[str]) -> list[float]:
    try:
        u, v = (float(word) for word in words[:2])
    except ValueError:
        raise FileError(f"{path}, line {number}: a UV coordinate is {' '.join(words)!r}; give two numbers.") from None
    return [u, v]


def _place(path: Path, number: int, corner: str, count: int) -> int:
    """The number of a corner's UV coordinates, from 0; a negative one counts back from the line."""
    parts = corner.split("/")
    if len(parts) < 2 or not parts[1]:
        raise FileError(
            f"{path}, line {number}: the corner {corner!r} has no UV coordinates; export the mesh with UVs."
        )
    try:
        place = int(parts[1])
    except ValueError:
        place = 0
    place = place - 1 if place > 0 else count + place
    if place < 0 or parts[1] == "0":
        raise FileError(f"{path}, line {number}: the corner {corner!r} names no UV coordinates.")
    return place


def _corners(path: Path, coordinates: np.ndarray, faces: list[list[int]]) -> np.ndarray:
    """Of triangles; quads become the two triangles of `load_mesh`, all first halves before all second ones."""
    sizes = {len(face) for face in faces}
    if sizes not in ({3}, {4}):
        raise FileError(f"{path}: its faces have {sorted(sizes)} corners; triangulate them all.")
    corners = np.array(faces)
    if corners.max() >= len(coordinates):
        raise FileError(f"{path}: a face names UV coordinate {corners.max() + 1}, but there are {len(coordinates)}.")
    if sizes == {4}:
        corners = np.concatenate([corners[:, [0, 1, 2]], corners[:, [0, 2, 3]]])
    return coordinates[corners]

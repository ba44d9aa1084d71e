"""Wavefront .obj files: points, faces of any number of corners, and UV coordinates that have numbers of their own.

meshio reads such files only where there are as many UV coordinates as points, which those of panels are not.
"""

from __future__ import annotations

from pathlib import Path
from typing import NamedTuple

import numpy as np

from pliant.errors import FileError

MISSING = -1  # number of a UV coordinate that a corner has not


class Face(NamedTuple):
    """A face of a file."""

    line: int
    points: list[int]
    uv: list[int]  # MISSING where there is none


class ObjFile(NamedTuple):
    """What is read of a file."""

    points: np.ndarray  # (n, 3)
    uv: np.ndarray  # (k, 2)
    faces: list[Face]

    def triangles(self, uv: bool = False) -> np.ndarray:
        """(m, 3) of the points, or of the UV coordinates: faces with three corners, then the first halves of those with
        four, then their second ones, then fans of those with more.
        """
        corners = [face.uv if uv else face.points for face in self.faces]
        three, four = ([own for own in corners if len(own) == count] for count in (3, 4))
        fans = [[own[0], *own[i : i + 2]] for own in corners if len(own) > 4 for i in range(1, len(own) - 1)]
        halves = [[own[0], own[1], own[2]] for own in four] + [[own[0], own[2], own[3]] for own in four]
        return np.array(three + halves + fans, dtype=np.int64).reshape(-1, 3)


def read_obj(path: Path) -> ObjFile:
    """Points, UV coordinates and faces; other lines are skipped."""
    try:
        lines = path.read_text(encoding="utf-8", errors="replace").splitlines()
    except OSError as error:
        raise FileError(f"{path}: cannot be read ({error.strerror or error}).") from None
    points: list[list[float]] = []
    uv: list[list[float]] = []
    faces: list[Face] = []
    for number, line in enumerate(lines, 1):
        word, *rest = line.split("#")[0].split() or [""]
        if word == "v":
            points.append(_numbers(path, number, rest, 3, "a point"))
        elif word == "vt":
            uv.append(_numbers(path, number, rest, 2, "a UV coordinate"))
        elif word == "f":
            faces.append(_face(path, number, rest, len(points), len(uv)))
    last = max((max(face.points) for face in faces), default=MISSING)
    if last >= len(points):
        raise FileError(f"{path}: a face names point {last + 1}, but there are {len(points)}.")
    last = max((max(face.uv) for face in faces), default=MISSING)
    if last >= len(uv):
        raise FileError(f"{path}: a face names UV coordinate {last + 1}, but there are {len(uv)}.")
    return ObjFile(np.array(points, float).reshape(-1, 3), np.array(uv, float).reshape(-1, 2), faces)


def _numbers(path: Path, number: int, words: list[str], count: int, what: str) -> list[float]:
    try:
        values = [float(word) for word in words[:count]]
    except ValueError:
        values = []
    if len(values) != count:
        raise FileError(f"{path}, line {number}: {what} is {' '.join(words)!r}; give {count} numbers.")
    return values


def _face(path: Path, number: int, corners: list[str], points: int, uv: int) -> Face:
    if len(corners) < 3:
        raise FileError(f"{path}, line {number}: a face has {len(corners)} corners; give at least three.")
    parts = [corner.split("/") for corner in corners]
    places = [_place(path, number, corner[0], points) for corner in parts]
    return Face(
        number, places, [_place(path, number, own[1], uv) if len(own) > 1 and own[1] else MISSING for own in parts]
    )


def _place(path: Path, number: int, word: str, count: int) -> int:
    """A number of a corner, from 0; a negative one counts back from the line."""
    try:
        place = int(word)
    except ValueError:
        place = 0
    from_0 = place - 1 if place > 0 else count + place
    if place == 0 or from_0 < 0:
        raise FileError(f"{path}, line {number}: a corner names {word!r}, which is not the number of an earlier line.")
    return from_0

"""Surfaces of what is recorded."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from pliant.geometry.surface import boundary_faces
from pliant.io.results.result import BODY_COLOURS, Layout


class Part(NamedTuple):
    """A body's own cells: tets of a solid, triangles of a sheet, or edges of springs."""

    n_points: int
    triangles: np.ndarray  # (k, 3) of a sheet
    tets: np.ndarray  # (m, 4)
    edges: np.ndarray = np.empty((0, 2), np.int64)  # (e, 2)


def layout_of_parts(parts: Sequence[Part], names: Sequence[str], frame_rate: float) -> Layout:
    """Of bodies whose points follow each other; tets in the order of the bodies."""
    start = np.concatenate([[0], np.cumsum([part.n_points for part in parts])]).astype(np.int64)
    sheets = _joined([part.triangles for part in parts], start, 3)
    tets = _joined([part.tets for part in parts], start, 4)
    edges = _joined([part.edges for part in parts], start, 2)
    faces, owners = boundary_faces(tets, int(start[-1])) if len(tets) else (sheets[:0], sheets[:0, 0])
    triangles = np.concatenate([faces, sheets])
    triangle_tets = np.concatenate([owners, np.full(len(sheets), -1)])
    order = np.argsort(np.searchsorted(start, triangles[:, 0], side="right"), kind="stable")  # bodies in turn
    colours = np.array([BODY_COLOURS[k % len(BODY_COLOURS)] for k in range(len(parts))])
    return Layout(
        int(start[-1]), triangles[order], tets, triangle_tets[order], tuple(names), start, colours, frame_rate, edges
    )


def frame_rate_of(times: np.ndarray) -> float:
    """Frames a second of times [s] that came without one."""
    step = float(np.median(np.diff(times))) if len(times) > 1 else 0.0
    return 1 / step if step > 0 else 30.0


def vertex_normals(points: np.ndarray, triangles: np.ndarray) -> np.ndarray:
    """Unit normals (n, 3) of points (n, 3): the mean of their triangles', weighted by area; z where there is none."""
    a, b, c = (points[triangles[:, k]] for k in range(3))
    faces = np.cross(b - a, c - a)
    corners = triangles.ravel()
    sums = np.stack([np.bincount(corners, np.repeat(faces[:, k], 3), minlength=len(points)) for k in range(3)], axis=1)
    lengths = np.linalg.norm(sums, axis=1, keepdims=True)
    return np.where(lengths > 0, sums / np.maximum(lengths, 1e-300), [0.0, 0.0, 1.0])


def _joined(parts: Sequence[np.ndarray], start: np.ndarray, width: int) -> np.ndarray:
    shifted = [np.reshape(part, (-1, width)) + first for part, first in zip(parts, start[:-1], strict=True)]
    return np.concatenate(shifted).astype(np.int64)

"""Strips of every kind of triangles, from -1 to 1 m along x."""

from __future__ import annotations

import numpy as np
from scipy.spatial import Delaunay

import pliant as pl

MESHES = ("parallel", "alternating", "crossed", "irregular", "irregular crossed")
SHIFTS = {"irregular": 0.35, "irregular crossed": 0.2}  # of a cell, by which vertices are moved at most


def strip_mesh(kind: str, cells: int, shape: float, draw: int = 0) -> pl.TriMesh:
    """A strip with `cells` cells per metre along it and a fifth as many, at least two, across; cells are `shape` times
    as long as wide. Vertices in the middle and at the ends stay where they are, those of long rims move along them.
    """
    across = max(2, cells // 5)
    width = across / (cells * shape)
    x, y = np.linspace(-1, 1, 2 * cells + 1), np.linspace(-0.5 * width, 0.5 * width, across + 1)
    points = np.zeros((len(x), len(y), 3))
    points[:, :, 0], points[:, :, 1] = x[:, None], y
    vertex = np.arange(points[:, :, 0].size).reshape(points.shape[:2])
    points = points.reshape(-1, 3)
    a, b, c, d = (v.ravel() for v in (vertex[:-1, :-1], vertex[1:, :-1], vertex[1:, 1:], vertex[:-1, 1:]))
    if kind.endswith("crossed"):
        middle = len(points) + np.arange(len(a))
        points = np.concatenate((points, 0.5 * (points[a] + points[c])))
        triangles = np.concatenate([np.stack((u, v, middle), axis=1) for u, v in ((a, b), (b, c), (c, d), (d, a))])
    else:
        is_rising = np.ones(len(a), bool)
        if kind == "alternating":
            is_rising = np.add.outer(np.arange(2 * cells), np.arange(across)).ravel() % 2 == 0
        two = np.where(is_rising[:, None], np.stack((a, b, c, a, c, d), axis=1), np.stack((a, b, d, b, c, d), axis=1))
        triangles = two.reshape(-1, 3)
    if kind in SHIFTS:
        moves = np.random.default_rng(draw).uniform(-1, 1, (len(points), 2)) * SHIFTS[kind]
        moves[np.isin(np.round(points[:, 0], 9), (-1, 0, 1))] = 0
        moves[np.abs(points[:, 1]) > 0.499 * width, 1] = 0
        points[:, :2] += moves * [1 / cells, width / across]
    if kind == "irregular":
        triangles = _delaunay(points, 1e-6 * width / across / cells)
    return pl.TriMesh(points, triangles)


def _delaunay(points: np.ndarray, least: float) -> np.ndarray:
    """Triangles that face up, without those of less than an area [m^2] at straight rims."""
    triangles = Delaunay(points[:, :2]).simplices.astype(np.int64)
    corner = points[triangles]
    double = np.cross(corner[:, 1] - corner[:, 0], corner[:, 2] - corner[:, 0])[:, 2]
    triangles[double < 0] = triangles[double < 0][:, ::-1]
    return triangles[np.abs(double) > least]

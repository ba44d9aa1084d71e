"""Triangles into pixels, on the CPU: no display, no graphics driver, the same picture on every machine.

VTK needs OpenGL from the system even off screen, and without it ends the whole process, so it cannot be relied on
where there is only Python.  The few thousand triangles of a picture take milliseconds here.

Arithmetic is on single numbers: array expressions would take Numba seconds to compile and allocate in every pixel.
"""

from __future__ import annotations

import math

import numpy as np
from numba import njit

CREASE_COSINE = 0.75  # faces that meet at more than about 40 degrees keep their edge sharp


def corner_normals(points: np.ndarray, triangles: np.ndarray) -> np.ndarray:
    """Unit normals (m, 3, 3) at each triangle's corners: the mean over faces of the vertex that are nearly level."""
    a, b, c = (points[triangles[:, k]] for k in range(3))
    faces = np.cross(b - a, c - a)
    corners = triangles.ravel()
    order = np.argsort(corners, kind="stable")
    first = np.searchsorted(corners[order], np.arange(len(points) + 1))
    sums = np.empty((len(triangles), 3, 3))
    _sum_level_faces(faces, np.linalg.norm(faces, axis=1), triangles, first, order // 3, sums)
    return sums / np.maximum(np.linalg.norm(sums, axis=2, keepdims=True), 1e-30)


@njit(cache=True)
def _sum_level_faces(faces, sizes, triangles, first, faces_of, sums):
    """Sum, at each corner, the faces (m, 3) around its vertex that make a small angle with the corner's own face."""
    for t in range(len(triangles)):
        for k in range(3):
            x = y = z = 0.0
            vertex = triangles[t, k]
            for i in range(first[vertex], first[vertex + 1]):
                s = faces_of[i]
                cosine = faces[s, 0] * faces[t, 0] + faces[s, 1] * faces[t, 1] + faces[s, 2] * faces[t, 2]
                if s == t or cosine > CREASE_COSINE * sizes[s] * sizes[t]:
                    x += faces[s, 0]
                    y += faces[s, 1]
                    z += faces[s, 2]
            sums[t, k, 0], sums[t, k, 1], sums[t, k, 2] = x, y, z


@njit(cache=True)
def fill(corners, triangles, nearness, owner, weights):
    """Draw triangles (m, 3) whose corners (n, 3) are columns, rows and nearness.

    Writes per pixel: nearness [m] of the nearest triangle, its index in `owner` and the weights of its first two
    corners.
    """
    height, width = nearness.shape
    for t in range(len(triangles)):
        i, j, k = triangles[t, 0], triangles[t, 1], triangles[t, 2]
        ax, ay, bx, by, cx, cy = (
            corners[i, 0],
            corners[i, 1],
            corners[j, 0],
            corners[j, 1],
            corners[k, 0],
            corners[k, 1],
        )
        area = (bx - ax) * (cy - ay) - (cx - ax) * (by - ay)
        if area == 0:
            continue
        left, right = max(0, math.floor(min(ax, bx, cx))), min(width - 1, math.ceil(max(ax, bx, cx)))
        top, bottom = max(0, math.floor(min(ay, by, cy))), min(height - 1, math.ceil(max(ay, by, cy)))
        for row in range(top, bottom + 1):
            y = row + 0.5
            for column in range(left, right + 1):
                x = column + 0.5
                wa = ((bx - x) * (cy - y) - (cx - x) * (by - y)) / area
                wb = ((cx - x) * (ay - y) - (ax - x) * (cy - y)) / area
                if wa < 0 or wb < 0 or wa + wb > 1:
                    continue
                near = wa * corners[i, 2] + wb * corners[j, 2] + (1 - wa - wb) * corners[k, 2]
                if near > nearness[row, column]:
                    nearness[row, column] = near
                    owner[row, column] = t
                    weights[row, column, 0], weights[row, column, 1] = wa, wb

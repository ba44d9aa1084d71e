"""Triangles into pixels, on the CPU: no display, no graphics driver, the same picture on every machine.

VTK needs OpenGL from the system even off screen, and without it ends the whole process, so it cannot be relied on
where there is only Python.  The few thousand triangles of a picture take milliseconds here.
"""

from __future__ import annotations

import numpy as np
from numba import njit

CREASE_COSINE = 0.75  # faces that meet at more than about 40 degrees keep their edge sharp


@njit(cache=True)
def corner_normals(points, triangles):
    """Unit normals (m, 3, 3) at each triangle's corners: the mean over faces of the vertex that are nearly level."""
    n, m = len(points), len(triangles)
    face = np.empty((m, 3))
    size = np.empty(m)
    first = np.zeros(n + 1, np.int64)
    for t in range(m):
        a, b, c = points[triangles[t, 0]], points[triangles[t, 1]], points[triangles[t, 2]]
        face[t] = np.cross(b - a, c - a)
        size[t] = max(np.sqrt(np.sum(face[t] ** 2)), 1e-30)
        for k in range(3):
            first[triangles[t, k] + 1] += 1
    first = np.cumsum(first)
    faces_of = np.empty(3 * m, np.int64)
    filled = first[:-1].copy()
    for t in range(m):
        for k in range(3):
            faces_of[filled[triangles[t, k]]] = t
            filled[triangles[t, k]] += 1
    normals = np.empty((m, 3, 3))
    for t in range(m):
        for k in range(3):
            total = np.zeros(3)
            vertex = triangles[t, k]
            for s in faces_of[first[vertex] : first[vertex + 1]]:
                if np.sum(face[s] * face[t]) > CREASE_COSINE * size[s] * size[t]:
                    total += face[s]
            length = np.sqrt(np.sum(total**2))
            normals[t, k] = total / length if length > 0 else face[t] / size[t]
    return normals


@njit(cache=True)
def fill(corners, triangles, nearness, owner, weights):
    """Draw triangles (m, 3) whose corners (n, 3) are columns, rows and nearness.

    Writes per pixel: nearness [m] of the nearest triangle, its index in `owner` and the weights of its three corners.
    """
    height, width = nearness.shape
    for t in range(len(triangles)):
        a, b, c = corners[triangles[t, 0]], corners[triangles[t, 1]], corners[triangles[t, 2]]
        area = (b[0] - a[0]) * (c[1] - a[1]) - (c[0] - a[0]) * (b[1] - a[1])
        if area == 0:
            continue
        left = max(0, int(np.floor(min(a[0], b[0], c[0]))))
        right = min(width - 1, int(np.ceil(max(a[0], b[0], c[0]))))
        top = max(0, int(np.floor(min(a[1], b[1], c[1]))))
        bottom = min(height - 1, int(np.ceil(max(a[1], b[1], c[1]))))
        for row in range(top, bottom + 1):
            y = row + 0.5
            for column in range(left, right + 1):
                x = column + 0.5
                wa = ((b[0] - x) * (c[1] - y) - (c[0] - x) * (b[1] - y)) / area
                wb = ((c[0] - x) * (a[1] - y) - (a[0] - x) * (c[1] - y)) / area
                wc = 1 - wa - wb
                if wa < 0 or wb < 0 or wc < 0:
                    continue
                near = wa * a[2] + wb * b[2] + wc * c[2]
                if near > nearness[row, column]:
                    nearness[row, column] = near
                    owner[row, column] = t
                    weights[row, column, 0], weights[row, column, 1], weights[row, column, 2] = wa, wb, wc

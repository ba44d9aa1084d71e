"""Invariants of the strain of many elements, compiled: what an energy costs most, for every law the same.

I = |F|^2,   II = |F^T F|^2,   J = det F of tets, |F_1 x F_2| of triangles, whose third stretch is 1
"""

from __future__ import annotations

import math

import numpy as np

from pliant.lanes.compiled import cached, compiled


def tet_invariants(elements: np.ndarray, gradients: np.ndarray, x: np.ndarray) -> np.ndarray:
    """(3, m) I, II, J of elements (m, k) with shape-function gradients (m, k, 3) [1/m] at x (n, 3) [m]."""
    measures = np.empty((3, len(elements)))
    cached(write_tet_invariants)(elements, gradients, np.ascontiguousarray(x, dtype=float), measures)
    return measures


def triangle_invariants(elements: np.ndarray, gradients: np.ndarray, x: np.ndarray) -> np.ndarray:
    """(3, m) I, II, J of triangles (m, 3) with shape-function gradients (m, 3, 2) [1/m] at x (n, 3) [m]."""
    measures = np.empty((3, len(elements)))
    cached(write_triangle_invariants)(elements, gradients, np.ascontiguousarray(x, dtype=float), measures)
    return measures


@compiled
def write_tet_invariants(elements, gradients, x, measures):
    for m in range(len(elements)):
        xx = xy = xz = yx = yy = yz = zx = zy = zz = 0.0
        first = elements[m, 0]
        for j in range(1, elements.shape[1]):
            v = elements[m, j]
            a, b, c = x[v, 0] - x[first, 0], x[v, 1] - x[first, 1], x[v, 2] - x[first, 2]
            p, q, r = gradients[m, j, 0], gradients[m, j, 1], gradients[m, j, 2]
            xx, xy, xz = xx + a * p, xy + a * q, xz + a * r
            yx, yy, yz = yx + b * p, yy + b * q, yz + b * r
            zx, zy, zz = zx + c * p, zy + c * q, zz + c * r
        c00, c11, c22 = xx * xx + yx * yx + zx * zx, xy * xy + yy * yy + zy * zy, xz * xz + yz * yz + zz * zz
        c01, c02, c12 = xx * xy + yx * yy + zx * zy, xx * xz + yx * yz + zx * zz, xy * xz + yy * yz + zy * zz
        measures[0, m] = c00 + c11 + c22
        measures[1, m] = c00 * c00 + c11 * c11 + c22 * c22 + 2.0 * (c01 * c01 + c02 * c02 + c12 * c12)
        measures[2, m] = xx * (yy * zz - yz * zy) - xy * (yx * zz - yz * zx) + xz * (yx * zy - yy * zx)


@compiled
def write_triangle_invariants(elements, gradients, x, measures):
    for m in range(len(elements)):
        ux = uy = uz = vx = vy = vz = 0.0
        first = elements[m, 0]
        for j in range(1, 3):
            v = elements[m, j]
            a, b, c = x[v, 0] - x[first, 0], x[v, 1] - x[first, 1], x[v, 2] - x[first, 2]
            p, q = gradients[m, j, 0], gradients[m, j, 1]
            ux, uy, uz = ux + a * p, uy + b * p, uz + c * p
            vx, vy, vz = vx + a * q, vy + b * q, vz + c * q
        uu, vv, uv = ux * ux + uy * uy + uz * uz, vx * vx + vy * vy + vz * vz, ux * vx + uy * vy + uz * vz
        nx, ny, nz = uy * vz - uz * vy, uz * vx - ux * vz, ux * vy - uy * vx
        measures[0, m] = uu + vv + 1.0
        measures[1, m] = uu * uu + vv * vv + 2.0 * uv * uv + 1.0
        measures[2, m] = math.sqrt(nx * nx + ny * ny + nz * nz)

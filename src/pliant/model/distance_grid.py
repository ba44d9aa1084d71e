"""Signed distances of a closed surface on a grid: exact in a band around it, swept outwards from there.

Distances at nodes near a triangle are exact. The sign is the winding number along a grid line through the node, the
sum of signed crossings (Nooruddin and Turk 2003): nodes within overlapping parts are inside. Further out the eikonal
equation is solved by fast sweeping (Zhao 2005), first order in the spacing. At the end the values become coefficients
of a quadratic B-spline, so that distances and normals between nodes are smooth and of third order:

    c = d - h^2/8 (d_xx + d_yy + d_zz)     differences of neighbouring nodes

The signs of exact zeros follow one perturbation of the grid, (eps, eps^2), whatever triangles meet there.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np

from pliant.elements.closest import closest_vertex_triangle, combine, row
from pliant.errors import SceneError
from pliant.lanes.compiled import cached, compiled, inlined
from pliant.lanes.vectors import cross, dot, subtract
from pliant.model.grid_enclosure import enclose_surface

BAND = 2  # cells around the box of a triangle whose nodes get exact distances
MARGIN = 4  # cells around the box of the mesh
MOST_NODES = 400**3
# places in a table of numbers: origin (3), spacing and its inverse, nodes along each axis (3), addresses, whether it
# deforms
ORIGIN, SPACING, INVERSE_SPACING, NODES, VALUES, NEAREST, POINTS, TRIANGLES, DEFORMS = 0, 3, 4, 5, 8, 9, 10, 11, 12


@dataclass(frozen=True, eq=False)
class DistanceGrid:
    """Coefficients on nodes at origin + spacing * (i, j, k), and what compiled code reads of them."""

    values: np.ndarray  # (nx, ny, nz) float32 coefficients [m], negative inside
    nearest: np.ndarray  # (nx, ny, nz) int32 closest triangle, -1 outside of the band
    origin: np.ndarray  # (3,) [m]
    spacing: float  # [m]
    points: np.ndarray  # (n, 3) [m] of the mesh
    triangles: np.ndarray  # (m, 3) int32
    table: np.ndarray  # the numbers that compiled code reads, with the addresses of these arrays

    @property
    def address(self) -> float:
        """Of the table; this object must outlive its use."""
        return float(self.table.ctypes.data)


def build_grid(points: np.ndarray, triangles: np.ndarray, resolution: int, name: str, deforms: bool) -> DistanceGrid:
    """Signed distances of a closed mesh, (n, 3) [m] and (m, 3), with so many cells along its longest side."""
    points = np.ascontiguousarray(points, dtype=float)
    triangles = np.ascontiguousarray(triangles, dtype=np.int32)
    low, high = points.min(axis=0), points.max(axis=0)
    spacing = float((high - low).max()) / resolution
    nodes = np.ceil((high - low) / spacing).astype(np.int64) + 2 * MARGIN + 1
    if nodes.prod() > MOST_NODES:
        raise SceneError(
            f"{name}: a resolution of {resolution} makes a grid of {' x '.join(map(str, nodes))} nodes; give less."
        )
    origin = low - MARGIN * spacing
    values = np.full(tuple(nodes), np.inf, np.float32)
    nearest = np.full(tuple(nodes), -1, np.int32)
    cached(write_band)(points, triangles, origin, spacing, values, nearest)
    crossings = np.zeros(tuple(nodes), np.int8)
    cached(add_crossings)(points, triangles, origin, spacing, crossings)
    cached(sweep_outwards)(spacing, nearest, values)
    inside = cached(write_signs)(crossings, 1e-6 * spacing, values)
    if inside == 0:
        raise SceneError(
            f"{name}: the mesh is thinner than the grid spacing of {spacing:g} m, so that no node is inside; raise "
            f"the resolution of {resolution}, or use method='mesh'."
        )
    coefficients = np.append(values, np.float32(0))[:-1].reshape(values.shape)  # kernels read one number further
    cached(write_coefficients)(values, coefficients)
    cached(enclose_surface)(points, triangles, origin, spacing, coefficients)
    addresses = (array.ctypes.data for array in (coefficients, nearest, points, triangles))
    table = np.array([*origin, spacing, 1 / spacing, *nodes, *addresses, deforms], dtype=float)
    return DistanceGrid(coefficients, nearest, origin, spacing, points, triangles, table)


@inlined
def first_and_last(low, high, origin, spacing, around, nodes):
    """Nodes along one axis between two coordinates and so many cells around them."""
    first = math.floor((low - origin) / spacing) - around + 1
    last = math.ceil((high - origin) / spacing) + around
    return max(int(first), 0), min(int(last), nodes)


@inlined
def between(a, b, c, axis):
    """The smallest and the largest of three coordinates."""
    return min(a[axis], min(b[axis], c[axis])), max(a[axis], max(b[axis], c[axis]))


@compiled
def write_band(points, triangles, origin, spacing, values, nearest):
    """Exact distances [m] of nodes near triangles, and the closest triangle."""
    nx, ny, nz = values.shape
    for t in range(len(triangles)):
        a, b, c = row(points, triangles[t, 0]), row(points, triangles[t, 1]), row(points, triangles[t, 2])
        n = cross(subtract(b, a), subtract(c, a))
        size = math.sqrt(dot(n, n))
        x0, x1 = between(a, b, c, 0)
        y0, y1 = between(a, b, c, 1)
        z0, z1 = between(a, b, c, 2)
        i0, i1 = first_and_last(x0, x1, origin[0], spacing, BAND, nx)
        j0, j1 = first_and_last(y0, y1, origin[1], spacing, BAND, ny)
        k0, k1 = first_and_last(z0, z1, origin[2], spacing, BAND, nz)
        for i in range(i0, i1):
            for j in range(j0, j1):
                for k in range(k0, k1):
                    p = (origin[0] + spacing * i, origin[1] + spacing * j, origin[2] + spacing * k)
                    least = min(float(values[i, j, k]), BAND * spacing)  # further off, another one may be closest
                    if abs(dot(n, subtract(p, a))) >= size * least:  # the triangle is not nearer than its plane
                        continue
                    y = (p, a, b, c)
                    r = combine(closest_vertex_triangle(y), y)
                    d = math.sqrt(dot(r, r))
                    if d < least:
                        values[i, j, k], nearest[i, j, k] = d, t


@inlined
def side_of(a, b, x, y):
    """On which side of the line from a to b, in the xy plane, a node is: 1 left, -1 right; 0: the line is a point.

    The ends come in one order for both triangles of an edge, so that both round alike.
    """
    flips = a[0] > b[0] or (a[0] == b[0] and a[1] > b[1])
    e, f = (b, a) if flips else (a, b)
    dx, dy = f[0] - e[0], f[1] - e[1]
    value = dx * (y - e[1]) - dy * (x - e[0])
    if value == 0.0:
        value = -dy if dy != 0.0 else dx  # the node is moved by (eps, eps^2)
    if value == 0.0:
        return 0
    return 1 if (value > 0.0) != flips else -1


@compiled
def add_crossings(points, triangles, origin, spacing, crossings):
    """At the first node above each crossing of a grid line along z with a triangle: 1 on the way in, -1 out."""
    nx, ny, nz = crossings.shape
    for t in range(len(triangles)):
        a, b, c = row(points, triangles[t, 0]), row(points, triangles[t, 1]), row(points, triangles[t, 2])
        n = cross(subtract(b, a), subtract(c, a))
        x0, x1 = between(a, b, c, 0)
        y0, y1 = between(a, b, c, 1)
        i0, i1 = first_and_last(x0, x1, origin[0], spacing, 1, nx)
        j0, j1 = first_and_last(y0, y1, origin[1], spacing, 1, ny)
        for i in range(i0, i1):
            x = origin[0] + spacing * i
            for j in range(j0, j1):
                y = origin[1] + spacing * j
                side = side_of(a, b, x, y)
                if side == 0 or side_of(b, c, x, y) != side or side_of(c, a, x, y) != side or n[2] == 0.0:
                    continue
                z = a[2] - (n[0] * (x - a[0]) + n[1] * (y - a[1])) / n[2]
                z = min(max(z, between(a, b, c, 2)[0]), between(a, b, c, 2)[1])
                k = min(max(math.ceil((z - origin[2]) / spacing), 0), nz - 1)
                crossings[i, j, k] -= side


@inlined
def eikonal(a, b, c, h):
    """The distance at a node whose nearer neighbours along three axes are at a, b and c (Zhao 2005, Section 2)."""
    low, high = min(a, min(b, c)), max(a, max(b, c))
    middle = max(min(a, b), min(max(a, b), c))
    d = low + h
    if d > middle:
        d = 0.5 * (low + middle + math.sqrt(max(2.0 * h * h - (middle - low) ** 2, 0.0)))
        if d > high:
            total = low + middle + high
            squares = low * low + middle * middle + high * high
            d = (total + math.sqrt(max(total * total - 3.0 * (squares - h * h), 0.0))) / 3.0
    return d


@compiled
def sweep_outwards(spacing, nearest, values):
    """Distances beyond the band, in eight sweeps."""
    nx, ny, nz = values.shape
    for order in range(8):
        for ii in range(nx):
            i = ii if order & 1 else nx - 1 - ii
            for jj in range(ny):
                j = jj if order & 2 else ny - 1 - jj
                for kk in range(nz):
                    k = kk if order & 4 else nz - 1 - kk
                    if nearest[i, j, k] >= 0:
                        continue
                    a = min(values[max(i - 1, 0), j, k], values[min(i + 1, nx - 1), j, k])
                    b = min(values[i, max(j - 1, 0), k], values[i, min(j + 1, ny - 1), k])
                    c = min(values[i, j, max(k - 1, 0)], values[i, j, min(k + 1, nz - 1)])
                    if min(a, min(b, c)) < values[i, j, k]:
                        found = np.float32(eikonal(float(a), float(b), float(c), spacing))
                        values[i, j, k] = min(found, values[i, j, k])


@compiled
def write_signs(crossings, least, values):
    """Make distances of nodes with a winding number above 0 negative; how many of these are deeper than `least` [m]."""
    nx, ny, nz = values.shape
    count = 0
    for i in range(nx):
        for j in range(ny):
            winding = 0
            for k in range(nz):
                winding += crossings[i, j, k]
                if winding > 0:
                    count += values[i, j, k] > least
                    values[i, j, k] = -values[i, j, k]
    return count


@compiled
def write_coefficients(values, coefficients):
    """Of the B-spline through the values; nodes at the rim of the grid keep theirs."""
    nx, ny, nz = values.shape
    for i in range(1, nx - 1):
        for j in range(1, ny - 1):
            for k in range(1, nz - 1):
                around = (
                    values[i - 1, j, k] + values[i + 1, j, k] + values[i, j - 1, k]
                    + values[i, j + 1, k] + values[i, j, k - 1] + values[i, j, k + 1]
                )  # fmt: skip
                coefficients[i, j, k] = values[i, j, k] - np.float32(0.125) * (around - 6 * values[i, j, k])

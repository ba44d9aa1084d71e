"""Signed distance and normal of a mesh from its grid of B-spline coefficients, compiled (model.distance_grid).

Within the grid distance and normal are those of a quadratic B-spline, 27 nodes to a point, with one continuous
derivative. Outside, the closest point c of the grid's box serves. All of the mesh lies beyond it, so that the true
distance is at least sqrt(|p - c|^2 + d(c)^2), and at least that from the mesh's box; the larger is taken.
"""

from __future__ import annotations

import math

from pliant.elements.closest import closest_vertex_triangle
from pliant.lanes.addresses import double_at, four_at, int_at, three_of
from pliant.lanes.compiled import compiled, inlined
from pliant.lanes.vectors import add_scaled, dot, subtract
from pliant.model.distance_grid import (
    DEFORMS,
    INVERSE_SPACING,
    MARGIN,
    NEAREST,
    NODES,
    ORIGIN,
    POINTS,
    SPACING,
    TRIANGLES,
    VALUES,
)

UP = (0.0, 0.0, 1.0)


@inlined
def grid_place(table, p, axis):
    """The coordinate of a point in cells from the first node, within the box in which the spline is defined."""
    u = (p[axis] - double_at(table, ORIGIN + axis)) * double_at(table, INVERSE_SPACING)
    return min(max(u, 1.0), double_at(table, NODES + axis) - 2.0)


@inlined
def spline_weights(f):
    """Of three nodes at -1, 0 and 1, and their slopes; f in -1/2..1/2."""
    return (
        (0.5 * (0.5 - f) * (0.5 - f), 0.75 - f * f, 0.5 * (0.5 + f) * (0.5 + f)),
        (f - 0.5, -2.0 * f, f + 0.5),
    )


@inlined
def weighted(w, a, b, c):
    return w[0] * a + w[1] * b + w[2] * c


@inlined
def spline_plane(values, first, nz, wy, sy):
    """Value and slope along y of three lines of nodes, in lanes along z."""
    a, b, c = four_at(values, first), four_at(values, first + nz), four_at(values, first + 2 * nz)
    return weighted(wy, a, b, c), weighted(sy, a, b, c)


@inlined
def spline(table, u):
    """Value [m] and slopes [m per cell] of the spline at a place u in cells."""
    ny, nz = int(double_at(table, NODES + 1)), int(double_at(table, NODES + 2))
    i, j, k = int(u[0] + 0.5), int(u[1] + 0.5), int(u[2] + 0.5)
    wx, sx = spline_weights(u[0] - i)
    wy, sy = spline_weights(u[1] - j)
    wz, sz = spline_weights(u[2] - k)
    values, first = int(double_at(table, VALUES)), ((i - 1) * ny + j - 1) * nz + k - 1
    a = spline_plane(values, first, nz, wy, sy)
    b = spline_plane(values, first + ny * nz, nz, wy, sy)
    c = spline_plane(values, first + 2 * ny * nz, nz, wy, sy)
    value = three_of(weighted(wx, a[0], b[0], c[0]))
    slope_x = three_of(weighted(sx, a[0], b[0], c[0]))
    slope_y = three_of(weighted(wx, a[1], b[1], c[1]))
    return dot(wz, value), (dot(wz, slope_x), dot(wz, slope_y), dot(sz, value))


@inlined
def unit(g, otherwise):
    """g over its length."""
    square = dot(g, g)
    if square > 1e-60:
        scale = 1.0 / math.sqrt(square)
        return (scale * g[0], scale * g[1], scale * g[2])
    return otherwise


@compiled
def grid_distance(address, p):
    """Signed distance [m] and outward unit normal at a point in the axes of the mesh."""
    table = int(address)
    u = (grid_place(table, p, 0), grid_place(table, p, 1), grid_place(table, p, 2))
    d, g = spline(table, u)
    n = unit(g, UP)
    h = double_at(table, SPACING)
    c = (
        double_at(table, ORIGIN) + h * u[0],
        double_at(table, ORIGIN + 1) + h * u[1],
        double_at(table, ORIGIN + 2) + h * u[2],
    )
    away = subtract(p, c)
    beyond = dot(away, away)
    if beyond <= 1e-12 * h * h:
        return d, n
    return math.sqrt(max(beyond + d * d, box_distance_squared(table, p))), unit(add_scaled(away, d, n), n)


@inlined
def box_distance_squared(table, p):
    """[m^2] from the box of the mesh, which is MARGIN cells within that of the grid."""
    total, h = 0.0, double_at(table, SPACING)
    for axis in range(3):
        low = double_at(table, ORIGIN + axis) + MARGIN * h
        high = low + (double_at(table, NODES + axis) - 1.0 - 2.0 * MARGIN) * h  # at most a cell above the mesh's
        out = max(max(low - p[axis], p[axis] - high), 0.0)
        total += out * out
    return total


@inlined
def mesh_point(table, vertex):
    points = int(double_at(table, POINTS))
    return (
        double_at(points, 3 * vertex), double_at(points, 3 * vertex + 1), double_at(points, 3 * vertex + 2),
    )  # fmt: skip


@inlined
def deforms(address):
    """Whether a grid is that of a mesh whose shape changes."""
    return double_at(int(address), DEFORMS) != 0.0


@compiled
def surface_displacement(address_start, address_end, p):
    """How far [m] the place of a deforming mesh that is closest to p at the end has come since the start; 0 for points
    further from it than the band.
    """
    start, table = int(address_start), int(address_end)
    ny, nz = int(double_at(table, NODES + 1)), int(double_at(table, NODES + 2))
    i, j, k = int(grid_place(table, p, 0) + 0.5), int(grid_place(table, p, 1) + 0.5), int(grid_place(table, p, 2) + 0.5)
    t = int(int_at(int(double_at(table, NEAREST)), (i * ny + j) * nz + k))
    if t < 0:
        return (0.0, 0.0, 0.0)
    triangles = int(double_at(table, TRIANGLES))
    v = (int(int_at(triangles, 3 * t)), int(int_at(triangles, 3 * t + 1)), int(int_at(triangles, 3 * t + 2)))
    now = (mesh_point(table, v[0]), mesh_point(table, v[1]), mesh_point(table, v[2]))
    w = closest_vertex_triangle((p, now[0], now[1], now[2]))
    moved = (0.0, 0.0, 0.0)
    for corner in range(3):
        moved = add_scaled(moved, -w[corner + 1], subtract(now[corner], mesh_point(start, v[corner])))
    return moved

"""Signed distances of obstacles, compiled: a shape is an integer kind and a row of numbers.

    row = translation (3), rotation (9, row by row: local to world), sizes (3), friction

Distances [m] are positive outside, never above the true one, exact inside and on the surface; normals are unit vectors
that point out.  Those of meshes come from a grid (grid_distance.py), to its accuracy.  Both are finite everywhere:
where there is no closest point (the centre of a sphere) one is chosen.
"""

from __future__ import annotations

import math

import numpy as np

from pliant.contact.primitives.grid_distance import deforms, grid_distance, surface_displacement
from pliant.lanes.compiled import allocating, cached, compiled, inlined
from pliant.lanes.vectors import add_scaled, dot, subtract
from pliant.model.obstacles import BOX, CAPSULE, CYLINDER, MESH, PLANE, ROW_LENGTH, SIZES, SPHERE, Shape

MAX_STEPS = 100
TOLERANCE = 1e-6  # of the way: a vertex that comes nearer has hit


@inlined
def to_local(row, p):
    """A point of the world in the frame of the shape."""
    x, y, z = p[0] - row[0], p[1] - row[1], p[2] - row[2]
    return (
        row[3] * x + row[6] * y + row[9] * z,
        row[4] * x + row[7] * y + row[10] * z,
        row[5] * x + row[8] * y + row[11] * z,
    )


@inlined
def direction_to_world(row, n):
    return (
        row[3] * n[0] + row[4] * n[1] + row[5] * n[2],
        row[6] * n[0] + row[7] * n[1] + row[8] * n[2],
        row[9] * n[0] + row[10] * n[1] + row[11] * n[2],
    )


@inlined
def _sign(a):
    return -1.0 if a < 0.0 else 1.0


@inlined
def _around(x, y, z, radius):
    """Distance and normal of a ball."""
    length = math.sqrt(x * x + y * y + z * z)
    if length == 0.0:
        return -radius, (0.0, 0.0, 1.0)
    return length - radius, (x / length, y / length, z / length)


@inlined
def _beyond(qx, qy, qz, sx, sy, sz):
    """Distance and normal of a box, from how far a point is beyond its faces and on which sides it is."""
    if qx <= 0.0 and qy <= 0.0 and qz <= 0.0:
        if qx >= qy and qx >= qz:
            return qx, (sx, 0.0, 0.0)
        if qy >= qz:
            return qy, (0.0, sy, 0.0)
        return qz, (0.0, 0.0, sz)
    ox, oy, oz = max(qx, 0.0), max(qy, 0.0), max(qz, 0.0)
    length = math.sqrt(ox * ox + oy * oy + oz * oz)
    return length, (sx * ox / length, sy * oy / length, sz * oz / length)


@inlined
def _box(p, a, b, c):
    return _beyond(abs(p[0]) - a, abs(p[1]) - b, abs(p[2]) - c, _sign(p[0]), _sign(p[1]), _sign(p[2]))


@inlined
def _cylinder(p, radius, half_length):
    """A box in the plane of axis and point: outward and along."""
    out = math.sqrt(p[0] * p[0] + p[1] * p[1])
    d, n = _beyond(out - radius, abs(p[2]) - half_length, -np.inf, 1.0, _sign(p[2]), 1.0)
    ex, ey = (p[0] / out, p[1] / out) if out > 0.0 else (1.0, 0.0)
    return d, (n[0] * ex, n[0] * ey, n[1])


@inlined
def _container(p, a, b, c):
    """Walls around a cavity that is open at the top; they are thick without end and reach up to z = c."""
    d, n = _beyond(abs(p[0]) - a, abs(p[1]) - b, -p[2] - c, _sign(p[0]), _sign(p[1]), -1.0)
    if p[2] - c > -d:  # above the rim, or nearer to it than to the cavity
        return p[2] - c, (0.0, 0.0, 1.0)
    return -d, (-n[0], -n[1], -n[2])


@compiled
def distance_and_normal(kind, row, p):
    """Signed distance [m] and outward unit normal of a shape at the point p."""
    q = to_local(row, p)
    a, b, c = row[SIZES], row[SIZES + 1], row[SIZES + 2]
    if kind == PLANE:
        d, n = q[2], (0.0, 0.0, 1.0)
    elif kind == SPHERE:
        d, n = _around(q[0], q[1], q[2], a)
    elif kind == BOX:
        d, n = _box(q, a, b, c)
    elif kind == CAPSULE:
        d, n = _around(q[0], q[1], q[2] - min(max(q[2], -b), b), a)
        if q[0] == 0.0 and q[1] == 0.0 and abs(q[2]) <= b:  # on the axis: outward is sideways
            n = (1.0, 0.0, 0.0)
    elif kind == CYLINDER:
        d, n = _cylinder(q, a, b)
    elif kind == MESH:
        d, n = grid_distance(a, q)
    else:
        d, n = _container(q, a, b, c)
    return d, direction_to_world(row, n)


@compiled
def material_displacement(kind, row_start, row_end, p):
    """How far [m] the material of a moving shape that is at p at the end has come since the start."""
    q = to_local(row_end, p)
    if kind == MESH and deforms(row_end[SIZES]):
        return direction_to_world(row_end, surface_displacement(row_start[SIZES], row_end[SIZES], q))
    at_start = direction_to_world(row_start, q)
    return subtract(p, (at_start[0] + row_start[0], at_start[1] + row_start[1], at_start[2] + row_start[2]))


@allocating
def vertex_impact(kind, row_start, row_end, p0, p1):
    """First time in 0..1 at which a vertex moving from p0 to p1 meets a moving shape, infinite if never.

    The way is taken as straight in the frame of the shape.  Moving on by the distance over the speed can never pass
    through (distances are never too large); after MAX_STEPS it counts as hit.
    """
    local = np.empty(ROW_LENGTH)
    for k in range(ROW_LENGTH):
        local[k] = 0.0 if k < SIZES else row_start[k]
    local[3], local[7], local[11] = 1.0, 1.0, 1.0
    start, end = to_local(row_start, p0), to_local(row_end, p1)
    way = subtract(end, start)
    length = math.sqrt(dot(way, way))
    time = 0.0
    for _ in range(MAX_STEPS):
        d = distance_and_normal(kind, local, add_scaled(start, time, way))[0]
        if d <= TOLERANCE * length:
            return time
        time += d / length
        if time >= 1.0:
            return np.inf
    return time


@compiled
def measure_all(kind, row, points, distances, normals):
    for i in range(len(points)):
        d, n = distance_and_normal(kind, row, (points[i, 0], points[i, 1], points[i, 2]))
        distances[i] = d
        normals[i, 0], normals[i, 1], normals[i, 2] = n


def measure(shape: Shape, points: np.ndarray, time: float = 0.0) -> tuple[np.ndarray, np.ndarray]:
    """Signed distances (k,) [m], negative inside, and outward unit normals (k, 3) at points (k, 3) [m]."""
    points = np.ascontiguousarray(points, dtype=float)
    distances, normals = np.empty(len(points)), np.empty((len(points), 3))
    cached(measure_all)(shape.kind, shape.row(time), points, distances, normals)
    return distances, normals

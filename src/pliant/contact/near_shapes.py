"""Vertices near obstacles with formulas."""

from __future__ import annotations

import math

import numpy as np

from pliant.contact.compiled import cached, compiled
from pliant.contact.shapes import carried, distance_and_normal, vertex_impact
from pliant.contact.touches import Touches, friction_of
from pliant.lanes.vectors import add_scaled, dot, subtract
from pliant.model import ContactModel
from pliant.model.obstacles import Shape


def touches_of_shapes(
    model: ContactModel, x0: np.ndarray, x1: np.ndarray, time: float, h: float, reach: float
) -> Touches:
    """Vertices that are within `reach` [m] of an obstacle at x1 (n, 3), or met one on the way from x0.

    The obstacle is taken as flat at the closest point, or where the vertex met it; that holds for one detection.
    """
    lists = [_of_shape(model, shape, x0, x1, time, h, reach) for shape in model.shapes]
    return Touches(*(np.concatenate(arrays) for arrays in zip(*lists, strict=True)))


def _of_shape(
    model: ContactModel, shape: Shape, x0: np.ndarray, x1: np.ndarray, time: float, h: float, reach: float
) -> Touches:
    n = len(x0)
    points, motions, normals, is_near = np.empty((n, 3)), np.empty((n, 3)), np.empty((n, 3)), np.empty(n, bool)
    rows = (shape.row(time), shape.row(time + h))
    cached(find_near)(shape.kind, *rows, x0, x1, reach, model.radius, model.excluded, points, motions, normals, is_near)
    chosen = np.flatnonzero(is_near)
    k = len(chosen)
    vertices, weights = np.full((k, 4), -1, np.int64), np.zeros((k, 4))
    vertices[:, 0], weights[:, 0] = chosen, 1.0
    friction = friction_of(model.friction[chosen], np.full(k, shape.friction), model.settings.friction)
    arrays = (points[chosen], motions[chosen], normals[chosen], model.radius[chosen])
    return Touches(vertices, weights, np.full(k, -1.0), *arrays, friction, np.zeros(k, bool))


@compiled
def find_near(kind, row_start, row_end, x0, x1, reach, radius, excluded, points, motions, normals, is_near):
    """Closest point, motion and normal of the shape for every vertex that may touch it."""
    for i in range(len(x0)):
        is_near[i] = False
        if excluded[i]:
            continue
        p0, p1 = (x0[i, 0], x0[i, 1], x0[i, 2]), (x1[i, 0], x1[i, 1], x1[i, 2])
        d, n = distance_and_normal(kind, row_end, p1)
        way = subtract(p1, p0)
        length = math.sqrt(dot(way, way))
        place = p1
        if d < -radius[i] or (d > reach + radius[i] and d < length):
            hit = vertex_impact(kind, row_start, row_end, p0, p1)
            if 0.0 < hit < 1.0:  # where it came in is where it is to stay
                place = add_scaled(p0, hit, way)
                d, n = distance_and_normal(kind, row_end, place)
                is_near[i] = True
        is_near[i] = is_near[i] or d <= reach + radius[i]
        if is_near[i]:
            q = add_scaled(place, -d, n)
            motion = carried(row_start, row_end, q)
            for k in range(3):
                points[i, k], motions[i, k], normals[i, k] = q[k], motion[k], n[k]

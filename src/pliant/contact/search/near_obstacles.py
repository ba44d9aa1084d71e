"""Vertices near obstacles with formulas."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from pliant.contact.contact_set import ContactSet, obstacle_contacts
from pliant.contact.primitives.shapes import distance_and_normal, material_displacement, vertex_impact
from pliant.contact.search.motion import largest_motion
from pliant.elements.closest import row
from pliant.kernels.threads import Team, share
from pliant.lanes.compiled import cached, compiled, inlined
from pliant.lanes.vectors import add_scaled, dot, subtract
from pliant.model import ContactModel


class NearObstacle(NamedTuple):
    """k vertices near an obstacle."""

    vertices: np.ndarray  # (k,)
    points: np.ndarray  # (k, 3) [m] of the obstacle
    motions: np.ndarray  # (k, 3) [m] of these in the step
    normals: np.ndarray  # (k, 3)


def reach_of(model: ContactModel, x0: np.ndarray, x1: np.ndarray, least: float) -> float:
    """[m] from obstacles in which things are listed that go from x0 to x1 (n, 3) [m]."""
    return max(2.0 * largest_motion(x0, x1), least) if model.shapes else 0.0


def obstacle_contacts_at(
    team: Team, model: ContactModel, number: int, x0: np.ndarray, x1: np.ndarray, time: float, h: float, reach: float
) -> ContactSet:
    """Contacts of `near_obstacle`."""
    near = near_obstacle(team, model, number, x0, x1, time, h, reach)
    return obstacle_contacts(number, *near, model.radius[near.vertices])


def near_obstacle(
    team: Team, model: ContactModel, number: int, x0: np.ndarray, x1: np.ndarray, time: float, h: float, reach: float
) -> NearObstacle:
    """Vertices that are within `reach` [m] of an obstacle, by its number, at x1 (n, 3), or met it on the way from x0.

    The obstacle moves from where it is at `time` to where it is h later [s].  It is taken as flat at the closest
    point, or where the vertex met it; that holds for one detection.
    """
    shape, is_near = model.shapes[number], np.empty(len(x0), bool)
    geometry = (shape.kind, shape.row(time), shape.row(time + h), x0, x1, reach, model.radius)
    team.run_for(6 * len(x0), cached(mark_near), *geometry, model.skips_obstacles, is_near)
    chosen = np.flatnonzero(is_near)
    k = len(chosen)
    points, motions, normals = np.empty((k, 3)), np.empty((k, 3)), np.empty((k, 3))
    cached(describe_near)(chosen, *geometry, points, motions, normals)
    return NearObstacle(chosen, points, motions, normals)


@compiled
def mark_near(thread, threads, barrier, kind, row_start, row_end, x0, x1, reach, radius, excluded, is_near):
    """Which vertices may touch the shape."""
    first, last = share(0, len(x0), thread, threads)
    for i in range(first, last):
        is_near[i] = (
            not excluded[i] and contact_with(kind, row_start, row_end, row(x0, i), row(x1, i), reach, radius[i])[0]
        )


@compiled
def describe_near(chosen, kind, row_start, row_end, x0, x1, reach, radius, points, motions, normals):
    """Closest point, motion and normal of the shape for chosen vertices."""
    for k in range(len(chosen)):
        i = chosen[k]
        _, q, n = contact_with(kind, row_start, row_end, row(x0, i), row(x1, i), reach, radius[i])
        motion = material_displacement(kind, row_start, row_end, q)
        for axis in range(3):
            points[k, axis], motions[k, axis], normals[k, axis] = q[axis], motion[axis], n[axis]


@inlined
def contact_with(kind, row_start, row_end, p0, p1, reach, radius):
    """Whether a vertex on its way from p0 to p1 may touch the shape, the closest point of it, and its normal there."""
    d, n = distance_and_normal(kind, row_end, p1)
    way = subtract(p1, p0)
    place, is_near = p1, False
    if d < -radius or (d > reach + radius and d * d < dot(way, way)):
        hit = vertex_impact(kind, row_start, row_end, p0, p1)
        if 0.0 < hit < 1.0:  # where it came in is where it is to stay
            place = add_scaled(p0, hit, way)
            d, n = distance_and_normal(kind, row_end, place)
            is_near = True
    return is_near or d <= reach + radius, add_scaled(place, -d, n), n

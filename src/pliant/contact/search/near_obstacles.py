"""Vertices near obstacles with formulas."""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np

from pliant.contact.contact_set import ContactSet, obstacle_contacts
from pliant.contact.primitives.shapes import (
    direction_to_world,
    distance_and_normal,
    material_displacement,
    to_local,
    vertex_impact,
)
from pliant.contact.search.motion import largest_motion
from pliant.elements.closest import row
from pliant.kernels.threads import Team, share
from pliant.lanes.compiled import cached, compiled, inlined
from pliant.lanes.vectors import add_scaled, dot, subtract
from pliant.model import ContactModel
from pliant.model.obstacles import SIZES

SHALLOW = 1e-2  # of an edge: what is no deeper in equilibria is taken where it is
SOON = 1e-3  # of an edge: what is nearer in equilibria is known before it presses

Way = tuple[np.ndarray, np.ndarray, float, float, float]  # from x0 to x1 (n, 3) [m], time, seconds, reach [m]


class NearObstacle(NamedTuple):
    """k vertices near an obstacle."""

    vertices: np.ndarray  # (k,)
    points: np.ndarray  # (k, 3) [m] of the obstacle
    motions: np.ndarray  # (k, 3) [m] of these in the step
    normals: np.ndarray  # (k, 3)


def reach_of(
    model: ContactModel, x0: np.ndarray, x1: np.ndarray, time: float, seconds: float, least: float, is_static: bool
) -> float:
    """[m] from obstacles, which move for so many seconds from `time` [s] on, in which things are listed that go from
    x0 to x1 (n, 3) [m].
    """
    if not model.shapes:
        return 0.0
    reach = max(2.0 * largest_motion(x0, x1), least)
    return max(reach, _static_reach(model, x0, time, seconds)) if is_static else reach


def _static_reach(model: ContactModel, x: np.ndarray, time: float, seconds: float) -> float:
    """[m] within which contacts of a load step are known: all that obstacles, which move for so many seconds from
    `time` [s] on, come to at x (n, 3) [m].
    """
    reach = SOON * float(model.edge.min(initial=0.0))
    for shape in model.shapes:
        start, end = (row[:SIZES] for row in (shape.row(time), shape.row(time + seconds)))
        if not np.array_equal(start, end):
            turned = (x - end[:3]) @ end[3:].reshape(3, 3) @ start[3:].reshape(3, 3).T + start[:3]
            reach = max(reach, 2.0 * float(np.abs(x - turned).max(initial=0.0)))
    return reach


def obstacle_contacts_at(
    team: Team, model: ContactModel, number: int, x0: np.ndarray, x1: np.ndarray, time: float, h: float, reach: float,
    is_static: bool = False,
) -> ContactSet:  # fmt: skip
    """Contacts of `near_obstacle`."""
    near = near_obstacle(team, model, number, x0, x1, time, h, reach, is_static)
    return obstacle_contacts(number, *near, model.radius[near.vertices])


def near_obstacle(
    team: Team, model: ContactModel, number: int, x0: np.ndarray, x1: np.ndarray, time: float, h: float, reach: float,
    is_static: bool = False,
) -> NearObstacle:  # fmt: skip
    """Vertices that are within `reach` [m] of an obstacle, by its number, at x1 (n, 3), or met it on the way from x0.

    The obstacle moves from where it is at `time` to where it is h later [s].  It is taken as flat at the closest
    point, or where the vertex met it; that holds for one detection. is_static: or where it touched it at x0, if it
    goes deep from there.
    """
    shape, is_near = model.shapes[number], np.empty(len(x0), bool)
    deep = (SHALLOW if is_static else np.inf) * model.edge
    geometry = (shape.kind, shape.row(time), shape.row(time + h), x0, x1, reach, model.radius, deep)
    team.run_for(6 * len(x0), cached(mark_near), *geometry, model.skips_obstacles, is_near)
    chosen = np.flatnonzero(is_near)
    k = len(chosen)
    points, motions, normals = np.empty((k, 3)), np.empty((k, 3)), np.empty((k, 3))
    cached(describe_near)(chosen, *geometry, points, motions, normals)
    return NearObstacle(chosen, points, motions, normals)


@compiled
def mark_near(thread, threads, barrier, kind, row_start, row_end, x0, x1, reach, radius, deep, excluded, is_near):
    """Which vertices may touch the shape."""
    first, last = share(0, len(x0), thread, threads)
    for i in range(first, last):
        is_near[i] = (
            not excluded[i]
            and contact_with(kind, row_start, row_end, row(x0, i), row(x1, i), reach, radius[i], deep[i])[0]
        )


@compiled
def describe_near(chosen, kind, row_start, row_end, x0, x1, reach, radius, deep, points, motions, normals):
    """Closest point, motion and normal of the shape for chosen vertices."""
    for k in range(len(chosen)):
        i = chosen[k]
        _, q, n = contact_with(kind, row_start, row_end, row(x0, i), row(x1, i), reach, radius[i], deep[i])
        motion = material_displacement(kind, row_start, row_end, q)
        for axis in range(3):
            points[k, axis], motions[k, axis], normals[k, axis] = q[axis], motion[axis], n[axis]


@inlined
def contact_with(kind, row_start, row_end, p0, p1, reach, radius, deep=math.inf):
    """Whether a vertex on its way from p0 to p1 may touch the shape, the closest point of it, and its normal there;
    deep [m]: what touches the shape at p0 and is deeper at p1 is to stay where it touched.
    """
    d, n = distance_and_normal(kind, row_end, p1)
    way = subtract(p1, p0)
    place, is_near = p1, False
    if d < -radius or (d > reach + radius and d * d < dot(way, way)):
        hit = vertex_impact(kind, row_start, row_end, p0, p1)
        if 0.0 < hit < 1.0 or (hit == 0.0 and d < -deep):  # where it came in is where it is to stay
            place = add_scaled(p0, hit, way)
            has_moved = False
            for i in range(SIZES):
                has_moved |= row_start[i] != row_end[i]
            if has_moved:
                there = direction_to_world(row_end, to_local(row_start, p0))
                carried = (there[0] + row_end[0] - p0[0], there[1] + row_end[1] - p0[1], there[2] + row_end[2] - p0[2])
                place = add_scaled(place, 1.0 - hit, carried)
            d, n = distance_and_normal(kind, row_end, place)
            is_near = True
    return is_near or d <= reach + radius, add_scaled(place, -d, n), n

"""Sides of what meets: which impacts are new, and from which side they come."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from pliant.contact.primitives.pair import common_normal, is_inner, points_of
from pliant.contact.primitives.time_of_impact import impact
from pliant.contact.search.colliders import Colliders
from pliant.contact.search.impacts import Impacts, chosen_of
from pliant.contact.tracking.side_history import (
    SideHistory,
    crossed_vertices,
    entry_of,
    mark_ways_back,
    triangle_returns,
)
from pliant.elements.closest import VERTEX_TRIANGLE, row
from pliant.kernels.threads import Team, share
from pliant.lanes.compiled import cached, compiled, inlined
from pliant.lanes.vectors import add_scaled, dot, subtract

OF_AN_IMPACT, OF_A_SIDE = 60, 400  # nanoseconds that it takes to find out whether one is known, and its side


def unknown(
    team: Team, impacts: Impacts, kind: int, colliders: Colliders, history: SideHistory, x0: np.ndarray
) -> Impacts:
    """Those that the history does not know at x0, and that are no way back from a wrong side."""
    if not len(impacts.first):
        return impacts
    is_back = np.empty(len(impacts.first), bool)
    arrays = (impacts.first, impacts.second, impacts.normals, colliders.surface.edges, colliders.faces_of_edge)
    has_crossed = crossed_vertices(history, len(x0))
    about = (x0, history, has_crossed, colliders.patches, colliders.has_inside, is_back)
    team.run_for(OF_AN_IMPACT * len(is_back), cached(mark_ways_back), kind, *arrays, *about)
    return chosen_of(impacts, ~is_back)


class Sides(NamedTuple):
    """Sides to track of vertices that meet triangles, the earliest impact first."""

    vertices: np.ndarray  # (k,)
    triangles: np.ndarray  # (k,)
    sides: np.ndarray  # (k,) 1 or -1
    crossed: np.ndarray  # (k,) bool: has crossed, or may have


def sides_of(
    team: Team, impacts: Impacts, colliders: Colliders, history: SideHistory, x0: np.ndarray, x1: np.ndarray
) -> Sides:
    """Sides as tracked at x0, or else from where vertices come; without ways back.

    A vertex that goes through a sheet and on below it meets some triangles from above and then others from below: the
    earliest gives the side.
    """
    k = len(impacts.first)
    times, sides, crossed = np.empty(k), np.empty(k), np.empty(k, bool)
    if k:
        known = (history, crossed_vertices(history, len(x0)), colliders.patches, colliders.has_inside, colliders.radius)
        team.run_for(OF_A_SIDE * k, cached(find_sides), impacts, x0, x1, *known, times, sides, crossed)
    order = np.argsort(times, kind="stable")
    order = order[sides[order] != 0]
    return Sides(impacts.first[order], impacts.second[order], sides[order], crossed[order])


@compiled
def find_sides(
    thread, threads, barrier, impacts, x0, x1, history, has_crossed, patches, has_inside, radius, times, sides, crossed
):
    """Times of impact (k,), those that are known already first; sides (k,), 0 for a way back; crossed (k,)."""
    begin, end = share(0, len(impacts.first), thread, threads)
    for k in range(begin, end):
        v, t, n = impacts.first[k], np.int64(impacts.second[k]), row(impacts.normals, k)
        m = entry_of(v, t, x0, history, patches)
        if m >= 0:
            times[k], sides[k], crossed[k] = -1.0, history.sides[m], history.crossed[m]
            continue
        w = impacts.weights[k]
        crossed[k] = is_inner(VERTEX_TRIANGLE, (w[0], w[1], w[2], w[3]))
        thickness = radius[v] + radius[patches.triangles[t, 1]]
        times[k], sides[k] = side_at_impact(v, t, n, thickness, x0, x1, patches)
        if has_inside[patches.triangles[t, 0]]:
            sides[k] = 1.0
        if triangle_returns(v, t, n, x0, history, has_crossed, patches, has_inside):
            sides[k] = 0.0


@inlined
def side_at_impact(v, t, n, thickness, x0, x1, patches):
    """When vertex v and triangle t meet, and whether n, from t to v, agrees with the oriented normal then: 1 or -1."""
    corners = patches.triangles[t]
    four = (v, corners[0], corners[1], corners[2])
    start, end = points_of(x0, four), points_of(x1, four)
    time = impact(VERTEX_TRIANGLE, start, end, thickness)[0]
    y = (
        add_scaled(start[0], time, subtract(end[0], start[0])),
        add_scaled(start[1], time, subtract(end[1], start[1])),
        add_scaled(start[2], time, subtract(end[2], start[2])),
        add_scaled(start[3], time, subtract(end[3], start[3])),
    )
    return time, (1.0 if patches.orient[t] * dot(common_normal(VERTEX_TRIANGLE, y)[0], n) >= 0.0 else -1.0)

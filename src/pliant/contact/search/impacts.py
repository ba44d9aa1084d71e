"""Pairs that meet on the way from one position to another: candidates from the trees, tested, described at impact."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from pliant.contact.contact_set import Contacts
from pliant.contact.primitives.pair import common_normal, is_inner, points_of
from pliant.contact.primitives.time_of_impact import impact
from pliant.contact.search.colliders import Colliders
from pliant.contact.search.inversion import are_opposite
from pliant.contact.search.motion import Motion
from pliant.contact.search.narrow_phase import Bodies, describe_impacts
from pliant.contact.search.overlaps import Pairs
from pliant.contact.tracking.side_history import (
    SideHistory,
    crossed_vertices,
    entry_of,
    mark_ways_back,
    triangle_returns,
)
from pliant.elements.closest import VERTEX_TRIANGLE, row
from pliant.kernels.threads import Team
from pliant.lanes.compiled import cached, compiled, inlined
from pliant.lanes.vectors import add_scaled, dot, subtract


class Impacts(NamedTuple):
    """Pairs of one kind that meet."""

    first: np.ndarray  # (k,) vertices of the scene, or edges of the surface
    second: np.ndarray  # (k,) triangles of the surface, or edges
    contacts: Contacts  # with weights and normals at the time of impact


def find_impacts(
    team: Team,
    colliders: Colliders,
    pairs: Pairs,
    kind: int,
    x0: np.ndarray,
    x1: np.ndarray,
    motion: Motion,
    near_too: bool,
    solids_too: bool,
) -> Impacts:
    """Those of candidates that meet between x0 and x1, do not come out of each other and are not of one tet; options as
    of `describe_impacts`.  motion: from x0 to x1.
    """
    surface, k = colliders.surface, len(pairs.first)
    weights, normals, is_impact = np.empty((k, 4)), np.empty((k, 3)), np.empty(k, bool)
    rows, inside = motion.start, colliders.has_inside
    bodies = Bodies(*surface, colliders.faces_of_edge, colliders.solid, colliders.radius, inside, rows)
    arguments = (kind, pairs, bodies, x0, x1, near_too, solids_too, weights, normals, is_impact)
    team.run_for(250 * k, cached(describe_impacts), *arguments)
    chosen = np.flatnonzero(is_impact)
    order = np.lexsort((pairs.second[chosen], pairs.first[chosen]))  # that of trees depends on when they were built
    chosen = chosen[order]
    first, second = pairs.first[chosen], pairs.second[chosen]
    if kind == VERTEX_TRIANGLE:
        first = surface.vertices[first, 0]
        is_of_two = colliders.patches.apex[second] != first
        corners = np.column_stack([first, surface.triangles[second]])
    else:
        is_of_two = ~are_opposite(colliders.opposite, len(surface.edges), first, second)
        corners = np.column_stack([surface.edges[first], surface.edges[second]])
    contacts = contacts_of(kind, corners, weights[chosen], normals[chosen], colliders, is_discrete=False)
    return chosen_of(Impacts(first, second, contacts), is_of_two)


def chosen_of(impacts: Impacts, which: np.ndarray) -> Impacts:
    """Some of them."""
    contacts = Contacts(*(array[which] for array in impacts.contacts))
    return Impacts(impacts.first[which], impacts.second[which], contacts)


def unknown(impacts: Impacts, kind: int, colliders: Colliders, history: SideHistory, x0: np.ndarray) -> Impacts:
    """Those that history does not know at x0, and that are no way back from a wrong side."""
    is_back = np.empty(len(impacts.first), bool)
    surface = colliders.surface
    arrays = (impacts.first, impacts.second, impacts.contacts.normals, surface.edges, colliders.faces_of_edge)
    has_crossed = crossed_vertices(history, len(x0))
    cached(mark_ways_back)(kind, *arrays, x0, history, has_crossed, colliders.patches, colliders.has_inside, is_back)
    return chosen_of(impacts, ~is_back)


class Sides(NamedTuple):
    """Sides to track of vertices that meet triangles, the earliest impact first."""

    vertices: np.ndarray  # (k,)
    triangles: np.ndarray  # (k,)
    sides: np.ndarray  # (k,) 1 or -1
    crossed: np.ndarray  # (k,) bool: has crossed, or may have


def sides_of(impacts: Impacts, colliders: Colliders, history: SideHistory, x0: np.ndarray, x1: np.ndarray) -> Sides:
    """Sides as tracked at x0, or else from where vertices come; without ways back.

    A vertex that goes through a sheet and on below it meets some triangles from above and then others from below: the
    earliest tells the side.
    """
    k = len(impacts.first)
    times, sides, crossed = np.empty(k), np.empty(k), np.empty(k, bool)
    arrays = (impacts.first, impacts.second, impacts.contacts, x0, x1)
    has_crossed = crossed_vertices(history, len(x0))
    cached(find_sides)(*arrays, history, has_crossed, colliders.patches, colliders.has_inside, times, sides, crossed)
    order = np.argsort(times, kind="stable")
    order = order[sides[order] != 0]
    return Sides(impacts.first[order], impacts.second[order], sides[order], crossed[order])


@compiled
def find_sides(first, second, contacts, x0, x1, history, has_crossed, patches, has_inside, times, sides, crossed):
    """Times of impact (k,), those that are known already first; sides (k,), 0 for a way back; crossed (k,)."""
    for k in range(len(first)):
        v, t, n = first[k], np.int64(second[k]), row(contacts.normals, k)
        m = entry_of(v, t, x0, history, patches)
        if m >= 0:
            times[k], sides[k], crossed[k] = -1.0, history.sides[m], history.crossed[m]
            continue
        w = contacts.weights[k]
        crossed[k] = is_inner(VERTEX_TRIANGLE, (w[0], w[1], w[2], w[3]))
        times[k], sides[k] = side_at_impact(v, t, n, contacts.gap[k], x0, x1, patches)
        if has_inside[patches.triangles[t, 0]]:
            sides[k] = 1.0
        if triangle_returns(v, t, n, x0, history, has_crossed, patches, has_inside):
            sides[k] = 0.0


@inlined
def side_at_impact(v, t, n, gap, x0, x1, patches):
    """When vertex v and triangle t meet, and whether n, from t to v, agrees with the oriented normal then: 1 or -1."""
    corners = patches.triangles[t]
    four = (v, corners[0], corners[1], corners[2])
    start, end = points_of(x0, four), points_of(x1, four)
    time = impact(VERTEX_TRIANGLE, start, end, gap)[0]
    y = (
        add_scaled(start[0], time, subtract(end[0], start[0])),
        add_scaled(start[1], time, subtract(end[1], start[1])),
        add_scaled(start[2], time, subtract(end[2], start[2])),
        add_scaled(start[3], time, subtract(end[3], start[3])),
    )
    return time, (1.0 if patches.orient[t] * dot(common_normal(VERTEX_TRIANGLE, y)[0], n) >= 0.0 else -1.0)


def contacts_of(
    kind: int, corners: np.ndarray, weights: np.ndarray, normals: np.ndarray, colliders: Colliders, is_discrete: bool
) -> Contacts:
    """Contacts of one kind of known vertices (k, 4), with weights (k, 4) and normals (k, 3)."""
    k, radius = len(corners), colliders.radius
    gap = radius[corners[:, 0]] + radius[corners[:, 2]] if radius.any() else np.zeros(k)
    corners = np.ascontiguousarray(corners, np.int32)
    return Contacts(np.full(k, kind, np.int8), corners, weights, normals, gap, np.full(k, is_discrete))

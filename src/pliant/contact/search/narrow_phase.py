"""Loops over candidate pairs: which of them touch or hit, and how."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from pliant.contact.primitives.pair import (
    can_be_touched_from,
    common_normal,
    corners_of,
    edge_normal,
    points_of,
    separating_normal,
)
from pliant.contact.primitives.time_of_impact import impact
from pliant.contact.search.normals import vertex_normal
from pliant.contact.search.solid import Solid
from pliant.elements.closest import VERTEX_TRIANGLE, combine
from pliant.kernels.threads import share
from pliant.lanes.compiled import compiled, inlined
from pliant.lanes.vectors import add_scaled, dot, subtract

TURNED_AWAY = 0.1  # cosine by which the mean normal at a vertex may look away from what hits it
# Cosine by which an edge may be hit from beyond the normals of its faces.  The exact cone between them would lose
# contacts: the normals are those of the start, the hit comes later, and on a flat face the cone is one direction only.
# The slack lets through what is up to 11 degrees beyond the cone of any edge and 37 degrees on a flat face.  Too wide a
# cone costs a contact that says the same as its neighbours; too narrow a one loses it.
BEYOND = 0.2


class Bodies(NamedTuple):
    """Surfaces and what is known of them."""

    vertices: np.ndarray  # (v, 1) of the surface
    edges: np.ndarray  # (e, 2)
    triangles: np.ndarray  # (t, 3)
    faces_of_edge: np.ndarray  # (e, 2)
    solid: Solid
    radius: np.ndarray  # (n,) [m]
    has_inside: np.ndarray  # (n,) bool: of a solid
    is_closed: np.ndarray  # (n,) bool: of a rigid body
    rows: np.ndarray  # where vertices start, as of Motion.start


@compiled
def describe_impacts(
    thread, threads, barrier, kind, pairs, bodies, x0, x1, near_too, solids_too, weights, normals, side, is_impact
):
    """Which pairs come nearer than the sum of their radii on the way, and weights (k, 4), normals (k, 3) and
    side (k,) of these at the time of impact; not what hits a solid's surface from inside, or an edge from where its
    faces are hit first.

    near_too: also those that are so near at the start; vertices and triangles of two solids are among them anyway, as
    nothing tracks them. solids_too: also pairs of solids, or else only those with a sheet.
    """
    begin, end = share(0, len(pairs.first), thread, threads)
    for k in range(begin, end):
        i, j = pairs.first[k], pairs.second[k]
        if kind == VERTEX_TRIANGLE:
            v = corners_of(kind, bodies.vertices, i, bodies.triangles, j)
        else:
            v = corners_of(kind, bodies.edges, i, bodies.edges, j)
        is_solid_a, is_solid_b = bodies.has_inside[v[0]], bodies.has_inside[v[2]]
        is_impact[k] = False
        if is_solid_a and is_solid_b and not solids_too:
            continue
        # between a solid and a rigid body both have an outside; a vertex's normal is known of solids alone
        has_side_b = is_solid_b or (is_solid_a and bodies.is_closed[v[2]])
        has_side_a = is_solid_a or (is_solid_b and bodies.is_closed[v[0]] and kind != VERTEX_TRIANGLE)
        gap, start, end_points = bodies.radius[v[0]] + bodies.radius[v[2]], points_of(x0, v), points_of(x1, v)
        time, w, r = impact(kind, start, end_points, gap)
        is_new = near_too or (is_solid_a and is_solid_b)
        if time < np.inf and (is_new or not (time == 0.0 and dot(r, r) < gap * gap)):
            y = (
                add_scaled(start[0], time, subtract(end_points[0], start[0])),
                add_scaled(start[1], time, subtract(end_points[1], start[1])),
                add_scaled(start[2], time, subtract(end_points[2], start[2])),
                add_scaled(start[3], time, subtract(end_points[3], start[3])),
            )
            motion = subtract(combine(w, end_points), combine(w, start))
            out_a, out_b = outsides(kind, i, j, v[0], has_side_a, has_side_b, y, bodies, x0)
            outward = out_b
            if bodies.is_closed[v[2]]:
                outward = outsides(kind, i, j, v[0], False, True, y, bodies, x0)[1]
            elif bodies.is_closed[v[0]] and kind != VERTEX_TRIANGLE:
                inward = outsides(kind, i, j, v[0], True, False, y, bodies, x0)[0]
                outward = (-inward[0], -inward[1], -inward[2])
            n = separating_normal(kind, y, w, r, motion, outward, out_a)
            is_impact[k] = is_open(kind, has_side_a, out_a, has_side_b, out_b, n)
            write(weights, normals, k, w, n)
            side[k] = side_of(kind, y, n)


@inlined
def outsides(kind, i, j, v, is_solid_a, is_solid_b, y, bodies, x):
    """Outward normals of both primitives of a pair at positions x, but of a triangle when it is hit, at y; zero where
    there is no solid.
    """
    out_a, out_b = (0.0, 0.0, 0.0), (0.0, 0.0, 0.0)
    if kind == VERTEX_TRIANGLE:
        if is_solid_a:
            out_a = vertex_normal(v, bodies.solid, bodies.rows)
        if is_solid_b:
            out_b = common_normal(kind, y)[0]
    else:
        if is_solid_a:
            out_a = edge_normal(x, bodies.triangles, bodies.faces_of_edge, i)
        if is_solid_b:
            out_b = edge_normal(x, bodies.triangles, bodies.faces_of_edge, j)
    return out_a, out_b


@inlined
def is_open(kind, is_solid_a, out_a, is_solid_b, out_b, n):
    """Whether two primitives can meet with the normal n from the second to the first."""
    if kind == VERTEX_TRIANGLE:
        return (not is_solid_a or dot(out_a, n) <= TURNED_AWAY) and (not is_solid_b or dot(out_b, n) >= 0.0)
    back = (-n[0], -n[1], -n[2])
    return (not is_solid_a or can_be_touched_from(out_a, back, BEYOND)) and (
        not is_solid_b or can_be_touched_from(out_b, n, BEYOND)
    )


@inlined
def write(weights, normals, k, w, n):
    weights[k, 0], weights[k, 1], weights[k, 2], weights[k, 3] = w
    normals[k, 0], normals[k, 1], normals[k, 2] = n


@inlined
def side_of(kind, y, n):
    """Of the triangle of a pair, by its winding, that n points to: 1 or -1; 0 for two edges."""
    if kind != VERTEX_TRIANGLE:
        return 0
    return 1 if dot(common_normal(kind, y)[0], n) >= 0.0 else -1

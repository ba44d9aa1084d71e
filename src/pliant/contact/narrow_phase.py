"""Loops over candidate pairs: which of them touch or hit, and how. Marking is threaded; descriptions are of the few."""

from __future__ import annotations

import math

import numpy as np

from pliant.contact.compiled import compiled, inlined
from pliant.contact.continuous import impact
from pliant.contact.distances import VERTEX_TRIANGLE, combine, row
from pliant.contact.pair import (
    can_be_touched_from,
    common_normal,
    corners_of,
    edge_normal,
    points_of,
    separating_normal,
)
from pliant.kernels.threads import share
from pliant.lanes.vectors import add_scaled, dot, subtract

ON_FACE = 1e-7  # depth, as part of an edge of the face, at which a vertex is on it
TURNED_AWAY = 0.1  # cosine by which the mean normal at a vertex may look away from what hits it
# Cosine by which an edge may be hit from beyond the normals of its faces.  The exact cone between them would lose
# contacts: the normals are those of the start, the hit comes later, and on a flat face the cone is one direction only.
# The slack lets through what is up to 11 degrees beyond the cone of any edge and 37 degrees on a flat face.  Too wide a
# cone costs a contact that says the same as its neighbours; too narrow a one loses it.
BEYOND = 0.2


@compiled
def point_outward(contacts, x):
    """Normals of vertices inside solids: towards their exit, or the face's own where they are on it."""
    for k in range(len(contacts.kind)):
        y = points_of(x, row4(contacts.vertices, k))
        w = row4(contacts.weights, k)
        r = combine(w, y)
        depth2 = dot(r, r)
        n, has_normal = common_normal(VERTEX_TRIANGLE, y)
        side = subtract(y[2], y[1])
        is_on_face = has_normal and depth2 <= ON_FACE * ON_FACE * dot(side, side)
        if depth2 > 0.0 and not is_on_face:
            n = (-r[0] / math.sqrt(depth2), -r[1] / math.sqrt(depth2), -r[2] / math.sqrt(depth2))
        write(contacts.weights, contacts.normals, k, w, n)


@compiled
def mark_impacts(
    thread, threads, barrier, kind, pairs, corners_a, corners_b, x0, x1, radius, has_inside, near_too, solids_too, keep
):
    """Which pairs come nearer than the sum of their radii on the way.

    near_too: also those that are so at the start; solids_too: also pairs of solids, or else only those with a sheet.
    """
    firsts, seconds = pairs.first, pairs.second
    begin, end = share(0, len(firsts), thread, threads)
    for k in range(begin, end):
        v = corners_of(kind, corners_a, firsts[k], corners_b, seconds[k])
        keep[k] = False
        if solids_too or not (has_inside[v[0]] and has_inside[v[2]]):
            gap = radius[v[0]] + radius[v[2]]
            time, _, r = impact(kind, points_of(x0, v), points_of(x1, v), gap)
            keep[k] = time < np.inf and (near_too or not (time == 0.0 and dot(r, r) < gap * gap))


@compiled
def edge_normals(x, triangles, faces_of_edge, first, second, outward):
    """Outward normals (k, 2, 3) of `edge_normal` at both edges of pairs."""
    for k in range(len(first)):
        outward[k, 0, 0], outward[k, 0, 1], outward[k, 0, 2] = edge_normal(x, triangles, faces_of_edge, first[k])
        outward[k, 1, 0], outward[k, 1, 1], outward[k, 1, 2] = edge_normal(x, triangles, faces_of_edge, second[k])


@compiled
def describe_impacts(kind, contacts, x0, x1, has_inside, outward, is_valid):
    """Weights and normals at the time of impact; not valid is what hits a solid's surface from inside, or an edge from
    where its faces are hit first.

    outward (k, 2, 3): outside of both primitives at x0 (of a triangle it is computed here, at the impact).
    """
    for k in range(len(contacts.kind)):
        v = row4(contacts.vertices, k)
        start, end = points_of(x0, v), points_of(x1, v)
        time, w, r = impact(kind, start, end, contacts.gap[k])
        y = (
            add_scaled(start[0], time, subtract(end[0], start[0])),
            add_scaled(start[1], time, subtract(end[1], start[1])),
            add_scaled(start[2], time, subtract(end[2], start[2])),
            add_scaled(start[3], time, subtract(end[3], start[3])),
        )
        motion = subtract(combine(w, end), combine(w, start))
        out_a = row(outward[k], 0)
        out_b = common_normal(kind, y)[0] if kind == VERTEX_TRIANGLE else row(outward[k], 1)
        is_solid_a, is_solid_b = has_inside[v[0]], has_inside[v[2]]
        n = separating_normal(kind, y, w, r, motion, out_b if is_solid_b else (0.0, 0.0, 0.0))
        if kind == VERTEX_TRIANGLE:
            is_open_a = not is_solid_a or dot(out_a, n) <= TURNED_AWAY
            is_open_b = not is_solid_b or dot(out_b, n) >= 0.0
        else:
            is_open_a = not is_solid_a or can_be_touched_from(out_a, (-n[0], -n[1], -n[2]), BEYOND)
            is_open_b = not is_solid_b or can_be_touched_from(out_b, n, BEYOND)
        is_valid[k] = is_open_a and is_open_b
        write(contacts.weights, contacts.normals, k, w, n)


@inlined
def row4(array, k):
    return (array[k, 0], array[k, 1], array[k, 2], array[k, 3])


@inlined
def write(weights, normals, k, w, n):
    weights[k, 0], weights[k, 1], weights[k, 2], weights[k, 3] = w
    normals[k, 0], normals[k, 1], normals[k, 2] = n

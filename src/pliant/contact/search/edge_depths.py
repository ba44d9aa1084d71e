"""How deep edges lie inside other bodies: no vertex need be inside, and so no contact need know of it.

Sharp edges of solids, and edges of sheets and springs, are cut with the boundaries of solids. Each part of an edge
between the face where it enters a body and the one where it leaves has a deepest point: the one furthest from the
boundary. In a convex body the distance is concave along the edge, so golden sections find it. An edge that is not
sharp, below 20 degrees, lies hardly deeper than its ends.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from pliant.contact.search.bvh import FAN
from pliant.contact.search.colliders import Colliders, check_positions, fit_trees
from pliant.contact.search.motion import motion_of
from pliant.contact.search.overlaps import STACK, overlaps
from pliant.contact.search.penetration_query import Work, boxes_within, insert_block
from pliant.elements.closest import closest_vertex_triangle, combine, row
from pliant.kernels.threads import Team, share
from pliant.lanes.compiled import allocating, cached, compiled, inlined
from pliant.lanes.masks import lowest_bit
from pliant.lanes.vectors import cross, dot, subtract

NOTHING, ENTERS, LEAVES = 0, 1, 2
GOLDEN = 0.5 * (5**0.5 - 1)
SECTIONS = 16  # golden sections at most: the place is found to 5e-4 of the part that is inside
ACCURACY = 1e-3  # of a depth


class DeepEdge(NamedTuple):
    """The edge that lies deepest inside another body."""

    vertices: tuple[int, int]
    body: int  # that it is inside of
    depth: float  # [m] beyond the distance to be kept
    kept: float  # [m] that distance
    outward: np.ndarray  # (3,) unit vector from its deepest point to the nearest face of the body


class Parts(NamedTuple):
    """Parts of edges inside bodies, those first that may be deepest."""

    edge: np.ndarray  # (k,) row of surface.edges
    body: np.ndarray  # (k,)
    start: np.ndarray  # (k,) where on the edge, from 0 to 1
    end: np.ndarray
    faces: np.ndarray  # (k, 2) of the body at the start and at the end, -1 where the edge ends inside
    length: np.ndarray  # (k,) [m]
    most: np.ndarray  # (k,) [m] that no point of it is deeper than


def deepest_edge(team: Team, colliders: Colliders, x: np.ndarray) -> DeepEdge | None:
    """Of all edges at positions x (n, 3) [m]; None if no edge is inside a body of which it is no part."""
    solid, surface = colliders.solid, colliders.surface
    probing = [tree for tree in (colliders.sharp_tree, colliders.bare_tree) if len(tree.corners)]
    if not len(solid.faces) or not probing:
        return None
    x = check_positions(x, colliders, "the position")
    *edge_trees, face_tree = fit_trees(team, (*probing, colliders.face_tree), motion_of(team, x, x, 0.0))
    nobody_itself = np.ones(len(colliders.rules.allowed), bool)
    found = [overlaps(team, tree, face_tree, False, colliders.rules, None, nobody_itself) for tree in edge_trees]
    edge, face = (np.concatenate(parts) for parts in zip(*found, strict=True))
    if not len(edge):
        return None
    place, way = np.empty(len(edge)), np.empty(len(edge), np.int8)
    team.run_for(20 * len(edge), cached(cut_edges), edge, face, surface.edges, solid.faces, x, place, way)
    cuts = np.flatnonzero(way != NOTHING)
    edge, face = edge[cuts], face[cuts]
    first = solid.faces[face, 0]
    body = colliders.rules.body[first]
    parts = _parts_inside(edge, body, place[cuts], way[cuts], face, colliders, x)
    if not len(parts.edge):
        return None
    of_body, thickness = np.zeros(len(nobody_itself)), colliders.radius - colliders.clearance
    of_body[body] = thickness[first]
    kept = thickness[surface.edges[parts.edge, 0]] + of_body[parts.body]
    k, depth, place = cached(deepest_part)(parts, kept, surface.edges, face_tree, solid.faces, x)
    ends, number = surface.edges[parts.edge[k]], int(parts.body[k])
    own = solid.faces[colliders.rules.body[solid.faces[:, 0]] == number]
    out = np.asarray(cached(way_to_faces)(tuple(x[ends[0]] + place * (x[ends[1]] - x[ends[0]])), own, x), float)
    out = out / max(float(np.linalg.norm(out)), 1e-300)
    return DeepEdge((int(ends[0]), int(ends[1])), number, float(depth), float(kept[k]), out)


def _parts_inside(
    edge: np.ndarray,
    body: np.ndarray,
    place: np.ndarray,
    way: np.ndarray,
    face: np.ndarray,
    colliders: Colliders,
    x: np.ndarray,
) -> Parts:
    """From where edges enter and leave bodies."""
    edges, of_solids = colliders.surface.edges, colliders.solid.faces
    order = np.lexsort((face, way, place, body, edge))
    edge, body, place, way, face = (values[order] for values in (edge, body, place, way, face))
    starts, last, both = np.empty(len(edge)), np.full(len(edge), -1.0), np.full((len(edge), 2), -1, np.int32)
    cached(pair_cuts)(edge, body, place, way, face, starts, last, both)
    inside = np.flatnonzero(last > starts)
    edge, body, start, end, faces = (values[inside] for values in (edge, body, starts, last, both))
    ends, most = x[edges[edge]], np.empty(len(edge))
    length = (end - start) * np.linalg.norm(ends[:, 1] - ends[:, 0], axis=1)
    parts = Parts(edge, body, start, end, faces, length, most)
    cached(bound_depths)(parts, edges, of_solids, x)
    return Parts(*(values[np.argsort(-most, kind="stable")] for values in parts))


@compiled
def cut_edges(thread, threads, barrier, edge, face, edges, faces, x, place, way):
    """Where each edge crosses each face, and whether it enters or leaves the body there."""
    first, last = share(0, len(edge), thread, threads)
    for k in range(first, last):
        p, q = row(x, edges[edge[k], 0]), row(x, edges[edge[k], 1])
        f = face[k]
        a, b, c = row(x, faces[f, 0]), row(x, faces[f, 1]), row(x, faces[f, 2])
        n, along = cross(subtract(b, a), subtract(c, a)), subtract(q, p)
        above, below = dot(n, subtract(p, a)), dot(n, subtract(q, a))
        way[k], place[k] = NOTHING, 0.0
        if (above > 0.0) == (below > 0.0):
            continue
        u = dot(cross(subtract(a, p), subtract(b, p)), along)
        v = dot(cross(subtract(b, p), subtract(c, p)), along)
        w = dot(cross(subtract(c, p), subtract(a, p)), along)
        if (u >= 0.0 and v >= 0.0 and w >= 0.0) or (u <= 0.0 and v <= 0.0 and w <= 0.0):
            way[k], place[k] = (ENTERS if above > 0.0 else LEAVES), above / (above - below)


@compiled
def pair_cuts(edge, body, place, way, face, start, end, faces):
    """Parts between entering and leaving, of cuts sorted along each edge and body; an end without a cut is inside. Two
    faces that are cut where they meet count once.
    """
    for k in range(len(edge)):
        is_first = k == 0 or edge[k - 1] != edge[k] or body[k - 1] != body[k]
        is_last = k == len(edge) - 1 or edge[k + 1] != edge[k] or body[k + 1] != body[k]
        if way[k] == LEAVES:
            if is_first:
                start[k], end[k], faces[k, 1] = 0.0, place[k], face[k]
            elif way[k - 1] == ENTERS:
                start[k], end[k], faces[k, 0], faces[k, 1] = place[k - 1], place[k], face[k - 1], face[k]
        elif is_last:
            start[k], end[k], faces[k, 0] = place[k], 1.0, face[k]


@compiled
def bound_depths(parts, edges, faces, x):
    """A concave function that is zero at an end is nowhere above twice that in the middle; nor above half the way, if
    it is zero at both.
    """
    for k in range(len(parts.edge)):
        p, q = row(x, edges[parts.edge[k], 0]), row(x, edges[parts.edge[k], 1])
        middle = between(p, q, 0.5 * (parts.start[k] + parts.end[k]))
        parts.most[k] = 2.0 * np.sqrt(distance_to_cut_faces(middle, k, parts, faces, x))
        if parts.faces[k, 0] >= 0 and parts.faces[k, 1] >= 0:
            parts.most[k] = min(parts.most[k], 0.5 * parts.length[k])


@allocating
def deepest_part(parts, kept, edges, face_tree, faces, x):
    """The part that is deepest, its depth [m] with kept (k,) [m], the distance to be kept, and where on its edge."""
    work = Work(np.empty((STACK, 2), np.int64), np.empty(STACK), np.empty(FAN, np.float32))
    best, deepest, place = 0, -1.0, 0.0
    for k in range(len(parts.edge)):
        if parts.most[k] + kept[k] > deepest:
            depth, t = depth_of_part(k, parts, deepest - kept[k], edges, face_tree, faces, x, work)
            if depth + kept[k] > deepest:
                best, deepest, place = k, depth + kept[k], t
    return best, deepest, place


@compiled
def depth_of_part(k, parts, least, edges, face_tree, faces, x, work):
    """The largest distance [m] of a part from the boundary, and where, by golden sections; less if it is not above the
    least.

    Distances change along an edge by no more than the way, and a concave function that is nowhere negative is nowhere
    above the larger one of those at two golden sections, divided by GOLDEN.
    """
    p, q = row(x, edges[parts.edge[k], 0]), row(x, edges[parts.edge[k], 1])
    low, high, scale = parts.start[k], parts.end[k], parts.length[k] / (parts.end[k] - parts.start[k])
    one, other = high - GOLDEN * (high - low), low + GOLDEN * (high - low)
    at_one = depth_at(between(p, q, one), k, parts, face_tree, faces, x, work)
    at_other = depth_at(between(p, q, other), k, parts, face_tree, faces, x, work)
    for _ in range(SECTIONS):
        found, rest = max(at_one, at_other), scale * (high - low)
        if min(found + rest, found / GOLDEN) <= least or rest <= ACCURACY * found:
            break
        if at_one < at_other:
            low, one, at_one = one, other, at_other
            other = low + GOLDEN * (high - low)
            at_other = depth_at(between(p, q, other), k, parts, face_tree, faces, x, work)
        else:
            high, other, at_other = other, one, at_one
            one = high - GOLDEN * (high - low)
            at_one = depth_at(between(p, q, one), k, parts, face_tree, faces, x, work)
    return max(at_one, at_other), one if at_one > at_other else other


@inlined
def depth_at(p, k, parts, face_tree, faces, x, work):
    """[m] from p to the boundary."""
    reach2 = distance_to_cut_faces(p, k, parts, faces, x)
    return distance_to_body(p, reach2, parts.body[k], face_tree, faces, x, work)


@inlined
def distance_to_cut_faces(p, k, parts, faces, x):
    """Squared, [m^2], to the nearer one of the faces where the edge goes in and out."""
    least = np.inf
    for side in range(2):
        f = parts.faces[k, side]
        if f >= 0:
            least = min(least, squared_distance(p, f, faces, x))
    return least


@inlined
def squared_distance(p, f, faces, x):
    y = (p, row(x, faces[f, 0]), row(x, faces[f, 1]), row(x, faces[f, 2]))
    r = combine(closest_vertex_triangle(y), y)
    return dot(r, r)


@inlined
def between(p, q, t):
    return (p[0] + t * (q[0] - p[0]), p[1] + t * (q[1] - p[1]), p[2] + t * (q[2] - p[2]))


@compiled
def distance_to_body(p, reach2, body, face_tree, faces, x, work):
    """From p to the nearest face of a body [m], at most the root of reach2. The tree's groups are bodies."""
    order, bounds, groups, level_start = face_tree.order, face_tree.bounds, face_tree.groups, face_tree.level_start
    waiting, distances, lanes = work.waiting, work.distances, work.lanes
    seen = subtract(p, (face_tree.origin[0], face_tree.origin[1], face_tree.origin[2]))
    best = reach2
    waiting[0, 0], waiting[0, 1], distances[0], height = 0, len(level_start) - 2, 0.0, 1
    while height > 0:
        height -= 1
        if distances[height] > best:
            continue
        block, level = waiting[height, 0], waiting[height, 1]
        near = boxes_within(seen, best, bounds, level_start[level] + block, lanes)
        base = height
        while near:
            lane = lowest_bit(near)
            near &= near - 1
            group = groups[(level_start[level] + block) * FAN + lane]
            if lanes[lane] > best or (group >= 0 and group != body):
                continue
            if level > 0:
                height = insert_block(waiting, distances, base, height, block * FAN + lane, level - 1, lanes[lane])
                continue
            f = order[block * FAN + lane]
            best = min(best, squared_distance(p, f, faces, x))
    return np.sqrt(best)


@compiled
def way_to_faces(p, faces, x):
    """The vector from p to the nearest of some faces (f, 3)."""
    best, way = np.inf, p
    for f in range(len(faces)):
        y = (p, row(x, faces[f, 0]), row(x, faces[f, 1]), row(x, faces[f, 2]))
        r = combine(closest_vertex_triangle(y), y)
        if dot(r, r) < best:
            best, way = dot(r, r), (-r[0], -r[1], -r[2])
    return way

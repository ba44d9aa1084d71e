"""Penetration query: for each vertex inside a solid the closest surface point that is reachable through the solid.

After Chen, Diaz and Yuksel 2023, Shortest Path to Boundary for Self-Intersecting Meshes: the shortest way out is
straight, so the closest boundary face whose straight way lies inside the solid is the answer
(segment_inside_mesh.py).  Faces come from a tree, nearest boxes first.

Deviation: two surfaces that touch face each other, so a face that looks the same way as the vertex's own surface is not
taken, as long as there is another.  Without that, a finger pressed more than half through a wall is pulled through.
"""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np

from pliant.contact.primitives.pair import common_normal, is_inner
from pliant.contact.primitives.segment_inside_mesh import FACES, segment_is_inside
from pliant.contact.search.bvh import BLOCK, FAN, zero
from pliant.contact.search.normals import vertex_normal
from pliant.contact.search.overlaps import STACK
from pliant.elements.closest import VERTEX_TRIANGLE, closest_vertex_triangle, combine, row
from pliant.kernels.threads import next_part
from pliant.lanes import load, maximum, number, store
from pliant.lanes.compiled import allocating, compiled, inlined
from pliant.lanes.masks import lowest_bit, mask_bits
from pliant.lanes.vectors import cross, dot, subtract

# Cosine between a face and the normal at a vertex above which they look the same way.  The far side of a wall looks the
# same way as the faces of a vertex that is pressed into it, and at the corner of a cube those are 54.7 degrees from the
# normal at the vertex; walls beside it are at 90 degrees and must stay open.  This is the middle, 72.4 degrees.
SAME_WAY = 0.3
ON_FACE = 1e-7  # depth, as part of an edge of the face, at which a vertex is on it
PART = 64  # points that a thread takes at once
NEAR = 64  # tets that are looked at before a search
NOT_MORE = 1.0 - 1e-6  # of a squared distance that is found in single precision
NEARER = 1.0 - 1e-9  # of a squared distance: less is nearer, and faces that share the nearest point are not


class Work(NamedTuple):
    """Scratch memory of a search."""

    waiting: np.ndarray  # (STACK, 2) blocks still to be opened, and their levels
    distances: np.ndarray  # (STACK,) of them, squared
    lanes: np.ndarray  # (FAN,) float32 squared distances of a block's boxes


@inlined
def boxes_within(p, reach2, bounds, block, out):
    """Which boxes of a block are no further from p than the root of reach2, as bits, but none that is empty; squared
    distances into out (FAN,), a little less than they are.
    """
    z = zero()
    total = z
    for k in range(3):
        low, high = load(bounds, block * BLOCK + k * FAN, z), load(bounds, block * BLOCK + (3 + k) * FAN, z)
        place = number(p[k], z)
        d = maximum(maximum(low - place, place - high), z)
        total = total + d * d
    total = total * number(NOT_MORE, z)
    store(out, 0, total)
    return mask_bits((total <= number(reach2, z)) & (total < number(np.inf, z)))


@inlined
def _looks_same_way(own, a, b, c):
    n = cross(subtract(b, a), subtract(c, a))
    cosine = dot(n, own)
    return cosine > 0.0 and cosine * cosine > SAME_WAY * SAME_WAY * dot(n, n)


@inlined
def _way_to_face(p, v, f, faces, x, normal, strictness):
    """Squared distance from p to a face and the vector from the closest point to p; infinite if the face does not
    count.
    """
    i, j, k = faces[f, 0], faces[f, 1], faces[f, 2]
    y = (p, row(x, i), row(x, j), row(x, k))
    if v in (i, j, k) or (strictness > 1 and _looks_same_way(normal, y[1], y[2], y[3])):
        return np.inf, p
    r = combine(closest_vertex_triangle(y), y)
    return dot(r, r), r


@inlined
def _squared_size(x, tets, t):
    """Square of the longest edge at the first corner of a tet, and a little, so that a flat one has a size."""
    largest = 1e-300
    for k in range(1, 4):
        side = subtract(row(x, tets[t, k]), row(x, tets[t, 0]))
        largest = max(largest, dot(side, side))
    return largest


@inlined
def _squared_extent(bounds, top):
    """Square of the diagonal of all boxes of the highest block."""
    total = 0.0
    for k in range(3):
        low, high = np.inf, -np.inf
        for lane in range(FAN):
            low = min(low, bounds[top * BLOCK + k * FAN + lane])
            high = max(high, bounds[top * BLOCK + (3 + k) * FAN + lane])
        total += (high - low) * (high - low)
    return total


@allocating
def search_surface_points(thread, threads, barrier, pairs, face_tree, solid, x, rows, body, no_self_contact, points):
    """Most surface points are near the vertex's own tet; the others are searched for."""
    work = Work(np.empty((STACK, 2), np.int64), np.empty(STACK), np.empty(FAN, np.float32))
    near, reached = np.empty(NEAR, np.int32), np.empty(NEAR, np.int32)
    first = PART * next_part(barrier)
    while first < len(pairs.first):
        last = min(first + PART, len(pairs.first))
        search_nearby(first, last, pairs, solid, x, rows, body, no_self_contact, points, near)
        reached = search_others(first, last, pairs, face_tree, solid, x, body, no_self_contact, points, work, reached)
        measure_surface_points(first, last, solid, x, points)
        first = PART * next_part(barrier)


@compiled
def search_nearby(first, last, pairs, solid, x, rows, body, no_self_contact, points, reached):
    """Surface points near the vertex's own tet; -1 for others.  The normals are the vertices' own."""
    for k in range(first, last):
        v, t = pairs.first[k], pairs.second[k]
        n = vertex_normal(v, solid, rows)
        points.face[k] = closest_face_nearby(v, t, solid, x, n, no_self_contact[body[solid.tets[t, 0]]], reached)
        points.is_direct[k] = True
        points.normal[k, 0], points.normal[k, 1], points.normal[k, 2] = n


@allocating
def search_others(first, last, pairs, face_tree, solid, x, body, no_self_contact, points, work, reached):
    """Where there is no way out nearby: the closest face that faces the vertex, else any, else the nearest of the
    body.  Returns `reached` for the next search.
    """
    whole2 = _squared_extent(face_tree.bounds, face_tree.level_start[-2])
    vertices, own_tets, found, is_direct = pairs.first, pairs.second, points.face, points.is_direct
    for k in range(first, last):
        v, t, face = vertices[k], own_tets[k], np.int64(found[k])
        for strictness in range(2, -1, -1):
            if face >= 0:
                break
            # Within a growing reach, because a search without a bound opens far more of the tree than it needs.
            reach2 = _squared_size(x, solid.tets, t) / 16.0
            while face < 0 and reach2 < np.inf:
                reach2 = np.inf if reach2 >= whole2 else 16.0 * reach2
                normal = row(points.normal, k)
                arguments = (face_tree, solid, x, normal, body, no_self_contact, work, reached)
                face, reached = closest_face(v, t, strictness, reach2, *arguments)
            is_direct[k] = strictness > 0
        found[k] = face
    return reached


@compiled
def measure_surface_points(first, last, solid, x, points):
    """Weights, depths and normals, the way out, of the faces that were found; a vertex on its face takes the face's.

    Behind a face is inside. Where the nearest point is on the rim of a face, the vertex may be in front of it and
    inside all the same, as next to a dent: only over the face itself does the plane tell the side.
    """
    faces, weights, normals = solid.faces, points.weights, points.normal
    for k in range(first, last):
        face = points.face[k]
        points.depth[k] = np.inf
        if face >= 0:
            y = (
                row(x, points.vertex[k]),
                row(x, faces[face, 0]),
                row(x, faces[face, 1]),
                row(x, faces[face, 2]),
            )
            w = closest_vertex_triangle(y)
            r = combine(w, y)
            depth = math.sqrt(dot(r, r))
            n, has_normal = common_normal(VERTEX_TRIANGLE, y)
            side = subtract(y[2], y[1])
            is_on_face = has_normal and depth * depth <= ON_FACE * ON_FACE * dot(side, side)
            points.side[k] = 1
            if depth > 0.0 and not is_on_face:
                points.side[k] = -1 if is_inner(VERTEX_TRIANGLE, w) and dot(n, r) > 0.0 else 1
                n = (-r[0] / depth, -r[1] / depth, -r[2] / depth)
            points.depth[k], points.corners[k, 0] = depth, points.vertex[k]
            for i in range(3):
                points.corners[k, 1 + i] = faces[face, i]
            weights[k, 0], weights[k, 1], weights[k, 2], weights[k, 3] = w
            normals[k, 0], normals[k, 1], normals[k, 2] = n


@inlined
def closest_face_nearby(v, t, solid, x, normal, is_free, reached):
    """The closest boundary face that faces the surface of vertex v, which is in tet t; -1 if a search has to tell.

    A straight way out that is shorter than a known one leads through tets that a ball of that radius touches: these
    are `reached`, one through another.  Only in nearly convex bodies is each straight way taken as one inside, else
    only those that do not leave t.
    """
    tets, neighbours, faces = solid.tets, solid.neighbours, solid.faces
    p, face, best = row(x, v), np.int64(-1), np.inf
    reached[0], count, opened = t, 1, 0
    while opened < count:
        u = reached[opened]
        for k in range(4):
            if neighbours[u, k] < 0:
                f = np.int64(-1 - neighbours[u, k])
                d2, _ = _way_to_face(p, v, f, faces, x, normal, 2)
                if d2 < NEARER * best:
                    if opened > 0 and not is_free:
                        return np.int64(-1)
                    face, best = f, d2
        for k in range(4):
            other = neighbours[u, k]
            if other >= 0 and not _is_among(other, reached, count) and _is_within(p, u, k, tets, x, best):
                if count == len(reached):
                    return np.int64(-1)
                reached[count] = other
                count += 1
        opened += 1
    return face


@inlined
def _is_among(number, numbers, count):
    for k in range(count):  # noqa: SIM110 (a loop compiles, any() over a generator does not)
        if numbers[k] == number:
            return True
    return False


@inlined
def _is_within(p, t, k, tets, x, reach2):
    """Whether face k of tet t is nearer to p than the root of reach2."""
    if reach2 == np.inf:
        return True
    a, b, c = (row(x, tets[t, FACES[k, 0]]), row(x, tets[t, FACES[k, 1]]), row(x, tets[t, FACES[k, 2]]))
    n = cross(subtract(b, a), subtract(c, a))
    height, nn = dot(n, subtract(a, p)), dot(n, n)
    if height * height >= reach2 * nn and nn > 0.0:  # its plane is not
        return False
    y = (p, a, b, c)
    r = combine(closest_vertex_triangle(y), y)
    return dot(r, r) < reach2


@allocating
def closest_face(v, t, strictness, reach2, face_tree, solid, x, normal, body, no_self_contact, work, reached):
    """Closest boundary face of the body of tet t, not at vertex v, or -1; and `reached` for the next search.

    The tree's groups are bodies.  Only faces nearer than the root of reach2 count.

    strictness 1 asks for a straight way from v to it, 2 also that it faces the vertex's surface.
    The boundary faces of t itself come first: the way to them lies in t, and they bound the search.
    """
    order, bounds, groups, level_start = face_tree.order, face_tree.bounds, face_tree.groups, face_tree.level_start
    tets, neighbours, faces, tet_of_face = solid.tets, solid.neighbours, solid.faces, solid.tet_of_face
    waiting, distances, lanes = work.waiting, work.distances, work.lanes
    p, own_body = row(x, v), body[tets[t, 0]]
    seen = subtract(p, (face_tree.origin[0], face_tree.origin[1], face_tree.origin[2]))
    best, best_face = reach2, np.int64(-1)
    for k in range(4):
        if neighbours[t, k] < 0:
            f = np.int64(-1 - neighbours[t, k])
            d2, _ = _way_to_face(p, v, f, faces, x, normal, strictness)
            if d2 < best:
                best, best_face = d2, f
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
            if lanes[lane] > best or (group >= 0 and group != own_body):
                continue
            if level > 0:
                height = insert_block(waiting, distances, base, height, block * FAN + lane, level - 1, lanes[lane])
                continue
            f = np.int64(order[block * FAN + lane])
            d2, r = _way_to_face(p, v, f, faces, x, normal, strictness)
            # Of faces that share the nearest point the first is taken, whichever of them the tree has first.
            if d2 * NEARER > best or (d2 >= NEARER * best and f >= best_face):
                continue
            passes = True
            if strictness > 0 and not no_self_contact[own_body]:
                goal = tet_of_face[f]
                passes, reached = segment_is_inside(p, subtract(p, r), t, goal, x, tets, neighbours, reached)
            if passes:
                best, best_face = min(d2, best), f
    return best_face, reached


@inlined
def insert_block(waiting, distances, base, height, block, level, distance):
    """Put a block among those above `base`, the nearest on top; the new height."""
    at = height
    while at > base and distances[at - 1] < distance:
        waiting[at, 0], waiting[at, 1], distances[at] = waiting[at - 1, 0], waiting[at - 1, 1], distances[at - 1]
        at -= 1
    waiting[at, 0], waiting[at, 1], distances[at] = block, level, distance
    return height + 1

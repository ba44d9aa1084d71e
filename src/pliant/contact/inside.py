"""Vertices inside solids, and the way out of each: the closest boundary point reachable through the solid.

After Chen, Diaz and Yuksel 2023, Shortest Path to Boundary for Self-Intersecting Meshes: the shortest way out is straight, so
the closest boundary face whose straight way lies inside the solid is the answer (passage.py).  Faces come from a tree,
nearest boxes first.

Deviation: two surfaces that touch face each other, so a face that looks the same way as the vertex's own surface is not
taken, as long as there is another.  Without that, a finger pressed more than half through a wall is pulled through.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from pliant.contact.bvh import BLOCK, FAN, STACK, Pairs, Tree, overlaps
from pliant.contact.compiled import cached, compiled, inlined
from pliant.contact.distances import closest_vertex_triangle, combine, row
from pliant.contact.passage import can_pass
from pliant.contact.solid import Solid
from pliant.kernels.threads import Team, share
from pliant.lanes.vectors import cross, dot, subtract

SAME_WAY = 0.3  # cosine between a face and the vertex's surface above which they look the same way


class Exits(NamedTuple):
    """Ways out of vertices that are inside."""

    vertex: np.ndarray  # (k,) int32 vertex of the scene
    face: np.ndarray  # (k,) int32 boundary face of the solid
    weights: np.ndarray  # (k, 4) signed weights of the vertex and the face's corners
    depth: np.ndarray  # (k,) [m]
    is_direct: np.ndarray  # (k,) bool: False where no straight way was found and the nearest face of the body is taken


def vertex_normals(triangles: np.ndarray, x: np.ndarray) -> np.ndarray:
    """(n, 3) unit normals of a surface at its vertices, zero where there is none.

    Faces count by their angle at the vertex, so that normals do not depend on how a surface is cut into triangles.
    """
    corners = x[triangles]
    face_normals = _unit(np.cross(corners[:, 1] - corners[:, 0], corners[:, 2] - corners[:, 0]))
    normals = np.zeros_like(x)
    for k in range(3):
        u = _unit(corners[:, (k + 1) % 3] - corners[:, k])
        v = _unit(corners[:, (k + 2) % 3] - corners[:, k])
        angle = np.arctan2(np.linalg.norm(np.cross(u, v), axis=1), np.einsum("ta,ta->t", u, v))
        for axis in range(3):
            normals[:, axis] += np.bincount(triangles[:, k], angle * face_normals[:, axis], minlength=len(x))
    return _unit(normals)


def _unit(vectors: np.ndarray) -> np.ndarray:
    """Vectors of length 1; zero stays zero."""
    length = np.linalg.norm(vectors, axis=1, keepdims=True)
    return np.divide(vectors, length, out=np.zeros_like(vectors), where=length > 0)


def vertices_in_tets(
    team: Team, vertex_tree: Tree, vertices: np.ndarray, tet_tree: Tree, solid: Solid, x: np.ndarray, rules: tuple
) -> Pairs:
    """Pairs (vertex, tet) of the vertices (v, 1) inside tets they are no corner of; each vertex by scene number."""
    near = overlaps(team, vertex_tree, tet_tree, False, (vertices, solid.tets), rules)
    vertex = vertices[near.first, 0]
    is_in = np.empty(len(vertex), bool)
    team.run(cached(test_inside), vertex, near.second, solid.tets, x, is_in)
    order = np.lexsort((near.second[is_in], vertex[is_in]))
    return Pairs(vertex[is_in][order], near.second[is_in][order])


def find_exits(
    team: Team, pairs: Pairs, face_tree: Tree, solid: Solid, x: np.ndarray, normals: np.ndarray, body: np.ndarray
) -> Exits:
    """The way out for each vertex and each body it is in; of several tets of one body, the one nearest to the surface."""
    k = len(pairs.first)
    exits = Exits(pairs.first, np.empty(k, np.int32), np.empty((k, 4)), np.empty(k), np.empty(k, bool))
    team.run(cached(search_exits), pairs, face_tree, solid, x, normals, body, exits)
    other = body[solid.tets[pairs.second, 0]]
    order = np.lexsort((exits.face, exits.depth, ~exits.is_direct, other, exits.vertex))
    key = np.stack([exits.vertex[order], other[order]])
    is_first = np.r_[True, (key[:, 1:] != key[:, :-1]).any(axis=0)][:k]
    chosen = order[is_first & (exits.face[order] >= 0)]
    return Exits(*(array[chosen] for array in exits))


@compiled
def test_inside(thread, threads, barrier, vertices, tets_near, tets, x, is_in):
    first, last = share(0, len(vertices), thread, threads)
    for k in range(first, last):
        t = tets_near[k]
        a = row(x, tets[t, 0])
        is_in[k] = point_in_tet(row(x, vertices[k]), a, row(x, tets[t, 1]), row(x, tets[t, 2]), row(x, tets[t, 3]))


@inlined
def point_in_tet(p, a, b, c, d):
    """Whether p is strictly inside a tet of either orientation; a flat tet has no inside."""
    ab, ac, ad, ap = subtract(b, a), subtract(c, a), subtract(d, a), subtract(p, a)
    n = cross(ab, ac)
    volume = dot(n, ad)
    u = dot(cross(ac, ad), ap)
    v = dot(cross(ad, ab), ap)
    w = dot(n, ap)
    if volume < 0.0:
        volume, u, v, w = -volume, -u, -v, -w
    return u > 0.0 and v > 0.0 and w > 0.0 and u + v + w < volume


@inlined
def _squared_distance_to_box(p, bounds, block, lane):
    total = 0.0
    for k in range(3):
        low, high = bounds[block * BLOCK + k * FAN + lane], bounds[block * BLOCK + (3 + k) * FAN + lane]
        d = max(max(low - p[k], p[k] - high), 0.0)
        total += d * d
    return total


@inlined
def _looks_same_way(normals, v, a, b, c):
    n, own = cross(subtract(b, a), subtract(c, a)), row(normals, v)
    cosine = dot(n, own)
    return cosine > 0.0 and cosine * cosine > SAME_WAY * SAME_WAY * dot(n, n)


@compiled
def search_exits(thread, threads, barrier, pairs, face_tree, solid, x, normals, body, exits):
    """For each pair: first the closest face that faces the vertex, else any face, else the nearest of the body."""
    first, last = share(0, len(pairs.first), thread, threads)
    order, bounds, level_start = face_tree.order, face_tree.bounds, face_tree.level_start
    tets, neighbours, faces, tet_of_face = solid.tets, solid.neighbours, solid.faces, solid.tet_of_face
    for k in range(first, last):
        v, t = pairs.first[k], pairs.second[k]
        face = -1
        for strictness in range(2, -1, -1):
            face = closest_exit(
                v, t, strictness, order, bounds, level_start, x, normals, body, tets, neighbours, faces, tet_of_face
            )
            exits.is_direct[k] = strictness > 0
            if face >= 0:
                break
        exits.face[k] = face
        if face >= 0:
            y = (row(x, v), row(x, faces[face, 0]), row(x, faces[face, 1]), row(x, faces[face, 2]))
            w = closest_vertex_triangle(y)
            r = combine(w, y)
            exits.depth[k] = np.sqrt(dot(r, r))
            exits.weights[k, 0], exits.weights[k, 1], exits.weights[k, 2], exits.weights[k, 3] = w


@compiled
def closest_exit(v, t, strictness, order, bounds, level_start, x, normals, body, tets, neighbours, faces, tet_of_face):
    """Closest boundary face of the body of tet t, not at vertex v, or -1.

    strictness 1 asks for a straight way from v to it, 2 also that it faces the vertex's surface.
    """
    p, own_body = row(x, v), body[tets[t, 0]]
    best, best_face = np.inf, np.int64(-1)
    waiting, waiting_level, waiting_distance = np.empty(STACK, np.int64), np.empty(STACK, np.int64), np.empty(STACK)
    waiting[0], waiting_level[0], waiting_distance[0], height = 0, len(level_start) - 2, 0.0, 1
    while height > 0:
        height -= 1
        level, block = waiting_level[height], waiting[height]
        if waiting_distance[height] >= best:
            continue
        base = height
        for lane in range(FAN):
            distance = _squared_distance_to_box(p, bounds, level_start[level] + block, lane)
            if not distance < best:  # an empty box is infinitely far
                continue
            if level > 0:  # nearest on top
                at = height
                while at > base and waiting_distance[at - 1] < distance:
                    waiting[at], waiting_level[at] = waiting[at - 1], waiting_level[at - 1]
                    waiting_distance[at] = waiting_distance[at - 1]
                    at -= 1
                waiting[at], waiting_level[at], waiting_distance[at] = block * FAN + lane, level - 1, distance
                height += 1
                continue
            f = order[block * FAN + lane]
            i, j, k = faces[f, 0], faces[f, 1], faces[f, 2]
            if v == i or v == j or v == k or body[i] != own_body:
                continue
            y = (p, row(x, i), row(x, j), row(x, k))
            r = combine(closest_vertex_triangle(y), y)
            d2 = dot(r, r)
            if d2 >= best or (strictness > 1 and _looks_same_way(normals, v, y[1], y[2], y[3])):
                continue
            if strictness == 0 or can_pass(p, subtract(p, r), t, tet_of_face[f], x, tets, neighbours):
                best, best_face = d2, f
    return best_face

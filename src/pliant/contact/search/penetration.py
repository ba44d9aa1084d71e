"""Vertices inside solids, and the closest surface point of each that is reachable through the solid
(penetration_query.py).
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from pliant.contact.search.bvh import Tree
from pliant.contact.search.ccd_culling import CcdCulling
from pliant.contact.search.motion import Motion
from pliant.contact.search.overlaps import Pairs, overlaps
from pliant.contact.search.penetration_query import search_surface_points
from pliant.contact.search.solid import Solid
from pliant.elements.closest import VERTEX_TET, row
from pliant.kernels.threads import Team
from pliant.lanes.compiled import cached, compiled, inlined
from pliant.lanes.vectors import cross, dot, subtract

if TYPE_CHECKING:
    from pliant.contact.search.broad_phase import Rules

FLAT = 1e-2  # of the product of the edges at a corner: a smaller volume, six times, is that of a flat tet


class SurfacePoints(NamedTuple):
    """Closest surface points of vertices that are inside."""

    vertex: np.ndarray  # (k,) int32 vertex of the scene
    face: np.ndarray  # (k,) int32 boundary face of the solid, -1 where there is none
    corners: np.ndarray  # (k, 4) int32 the vertex and the face's corners
    weights: np.ndarray  # (k, 4) their signed weights
    side: np.ndarray  # (k,) int8 of the face, by its winding, that the normal points to
    normal: np.ndarray  # (k, 3) unit vector out of the solid
    depth: np.ndarray  # (k,) [m]
    is_direct: np.ndarray  # (k,) bool: False where no straight way was found and the nearest face of the body is taken


def vertices_in_tets(
    team: Team,
    vertex_tree: Tree,
    vertices: np.ndarray,
    tet_tree: Tree,
    solid: Solid,
    motion: Motion,
    rules: Rules,
    no_self_contact: np.ndarray | None = None,
) -> Pairs:
    """Pairs (vertex, tet) of the vertices (v, 1) inside tets they are no corner of, at the start of a motion; each
    vertex by scene number, ascending, with its tets ascending.

    no_self_contact (bodies,) bool: bodies of which no vertex is in their own tets.
    """
    found = overlaps(team, vertex_tree, tet_tree, False, rules, CcdCulling(VERTEX_TET, motion, 0.0), no_self_contact)
    vertex = vertices[found.first, 0]
    start, pairs = np.zeros(len(rules.body) + 1, np.int64), Pairs(np.empty_like(vertex), np.empty_like(found.second))
    if len(vertex):
        cached(sort_pairs)(vertex, found.second, start, pairs)
    return pairs


def query_penetrations(
    team: Team,
    pairs: Pairs,
    face_tree: Tree,
    solid: Solid,
    x: np.ndarray,
    motion: Motion,
    body: np.ndarray,
    no_self_contact: np.ndarray | None = None,
) -> SurfacePoints:
    """The way out for each vertex and each body it is in; of several tets of one body, the one nearest to the
    surface. The face is -1 where there is no way out at all.

    pairs: as of `vertices_in_tets`; motion: one that starts at x.
    no_self_contact (bodies,) bool: nearly convex bodies, in which every straight way is taken as one inside.
    """
    k = len(pairs.first)
    face, corners, weights = np.empty(k, np.int32), np.empty((k, 4), np.int32), np.empty((k, 4))
    numbers = (np.empty(k, np.int8), np.empty((k, 3)), np.empty(k), np.empty(k, bool))
    points = SurfacePoints(pairs.first, face, corners, weights, *numbers)
    no_self_contact = np.zeros(int(body.max(initial=0)) + 1, bool) if no_self_contact is None else no_self_contact
    arguments = (pairs, face_tree, solid, x, motion.start, body, no_self_contact, points)
    team.run_for(400 * k, cached(search_surface_points), *arguments)
    is_best = np.empty(k, bool)
    cached(mark_best)(points, pairs.second, solid.tets, body, is_best)
    return points if is_best.all() else SurfacePoints(*(array[is_best] for array in points))


def without_inverted(pairs: Pairs, solid: Solid, x: np.ndarray, body: np.ndarray) -> Pairs:
    """Pairs of a vertex and a tet at positions x (n, 3) [m] without those of one body of which a tet around the vertex,
    or the tet itself, is inside out.

    Such a vertex is in another tet of its body because its own have been pressed through their faces, not because the
    surface of the body has come there: their material brings it back, and no way out of the body does.
    """
    own = body[pairs.first] == body[solid.tets[pairs.second, 0]]
    if not own.any():
        return pairs
    is_inverted, is_around = np.empty(len(solid.tets), bool), np.zeros(len(x), bool)
    cached(mark_inverted)(solid.tets, x, is_inverted, is_around)
    kept = ~(own & (is_around[pairs.first] | is_inverted[pairs.second]))
    return Pairs(pairs.first[kept], pairs.second[kept])


@compiled
def mark_inverted(tets, x, is_inverted, is_around):
    """Which tets are inside out or flat, and which vertices are a corner of one."""
    for t in range(len(tets)):
        a = row(x, tets[t, 0])
        b, c, d = subtract(row(x, tets[t, 1]), a), subtract(row(x, tets[t, 2]), a), subtract(row(x, tets[t, 3]), a)
        size2 = dot(b, b) * dot(c, c) * dot(d, d)
        is_inverted[t] = dot(cross(b, c), d) <= FLAT * math.sqrt(size2)
        if is_inverted[t]:
            for i in range(4):
                is_around[tets[t, i]] = True


@compiled
def sort_pairs(first, second, start, pairs):
    """Counting sort: start[v + 1] first counts, then is where the next pair of v goes, then where those of v end."""
    for k in range(len(first)):
        start[first[k] + 1] += 1
    total = 0
    for v in range(1, len(start)):
        start[v], total = total, total + start[v]
    for k in range(len(first)):
        place = start[first[k] + 1]
        start[first[k] + 1] = place + 1
        pairs.second[place] = second[k]
    for v in range(len(start) - 1):
        for k in range(start[v], start[v + 1]):  # few: inserted one by one
            pairs.first[k], place, number = v, k, pairs.second[k]
            while place > start[v] and pairs.second[place - 1] > number:
                pairs.second[place] = pairs.second[place - 1]
                place -= 1
            pairs.second[place] = number


@compiled
def mark_best(points, own_tets, tets, body, is_best):
    """One surface point for each vertex and body it is in: a direct one, then the shortest, then the lowest face."""
    for k in range(len(is_best)):
        is_best[k] = True
        m = k
        while m > 0 and points.vertex[m - 1] == points.vertex[k]:  # those before lose to it, or it to them
            m -= 1
            if is_best[m] and body[tets[own_tets[m], 0]] == body[tets[own_tets[k], 0]]:
                is_best[k] = is_better(points, k, m)
                is_best[m] = not is_best[k]


@inlined
def is_better(points, k, m):
    """Whether surface point k is better than surface point m; one without a face is infinitely deep."""
    if points.is_direct[k] != points.is_direct[m]:
        return points.is_direct[k]
    if points.depth[k] != points.depth[m]:
        return points.depth[k] < points.depth[m]
    return points.face[k] < points.face[m]

"""The history of sides: a sheet has no inside, so what has gone through it must be known to be pushed back.

Between two states the motion is taken as straight, and continuous detection finds every pair that meets on it.  So if
every pair that is near or has crossed at the start of a step is tracked with its side, `track_sides` knows the same at
the end: a pair is either tracked already, or it was apart at the start, and its side is the one from which it came.
That does not depend on what the solver knew or did in between.

A vertex keeps its side of a patch (patches.py) until it is clear of the patch on that side, or has gone around its rim.
One that has not crossed has gone around where the rim is nearest; one that has, when it is further from the rim than a
triangle is wide (nearer to it, it is not pushed, but its side is known when it comes back under the sheet).
Two edges keep theirs until they are clear on that side, or one has passed an end of the other.

Solids have an inside, and vertices in it are pushed out without history (penetration.py).  Their triangles are tracked
too where a vertex moves fast enough to come out behind, or belongs to a sheet, and their edges where two sharp ones
have crossed: the overlap of two faces has as corners the vertices of one that are in the other, and crossings of their
sharp edges.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from pliant.contact.contact_set import ContactSet, joined, no_contacts, pair_contacts
from pliant.contact.primitives.pair import common_normal, is_inner, points_of, unit
from pliant.contact.search.broad_phase import Surface
from pliant.contact.search.patches import (
    closest_on_triangle,
    has_corner,
    is_at_rim,
    nearest_on_patch,
    oriented_normal,
    share_corner,
    width,
)
from pliant.elements.closest import EDGE_EDGE, VERTEX_TRIANGLE, closest_edge_edge, combine, row
from pliant.kernels.threads import Team, share
from pliant.lanes.compiled import cached, compiled, inlined, lower_bound
from pliant.lanes.vectors import dot, subtract

if TYPE_CHECKING:
    from pliant.contact.search.colliders import Colliders

SAME = 1e-9  # of a triangle's edge: nearer points are the same
OF_A_VERTEX, OF_A_PAIR = 200, 40  # nanoseconds that a look at a vertex and its patch, or at a pair of edges, takes


class SideHistory(NamedTuple):
    """Pairs that are near or have crossed, with their sides."""

    vertices: np.ndarray  # (a,) int32 vertex of the scene, ascending
    triangles: np.ndarray  # (a,) int32 triangle of the surface, nearest on its patch, ascending for each vertex
    sides: np.ndarray  # (a,) 1 or -1: of the triangle's oriented normal
    crossed: np.ndarray  # (a,) bool: is on the wrong side
    edges: np.ndarray  # (b, 2) int32 edges of the surface, ascending
    normals: np.ndarray  # (b, 3) from the second edge to the first

    def count_crossed(self) -> int:
        """Vertices on the wrong side of a triangle."""
        return len(np.unique(self.vertices[self.crossed])) if len(self.vertices) else 0


def no_side_history() -> SideHistory:
    """Nothing is near."""
    none = np.zeros(0, np.int32)
    return SideHistory(none, none, np.zeros(0), np.zeros(0, bool), np.zeros((0, 2), np.int32), np.zeros((0, 3)))


def prune(team: Team, colliders: Colliders, history: SideHistory, x: np.ndarray) -> tuple[SideHistory, ContactSet]:
    """The history at positions x without what has come apart, each pair once, and the contacts it stands for."""
    about = (team, colliders, history, x)
    vertices = _prune_vertices(*about) if len(history.vertices) else (history[:4], no_contacts())
    pairs = _prune_edges(*about) if len(history.edges) else (history[4:], no_contacts())
    return SideHistory._make((*vertices[0], *pairs[0])), joined(vertices[1], pairs[1])


def _prune_vertices(
    team: Team, colliders: Colliders, history: SideHistory, x: np.ndarray
) -> tuple[tuple[np.ndarray, ...], ContactSet]:
    k, patches = len(history.vertices), colliders.patches
    triangles, sides, crossed = history.triangles.copy(), history.sides.copy(), history.crossed.copy()
    keep, touches, places = np.empty(k, bool), np.empty(k, bool), _blank(k)
    arrays = (history.vertices, triangles, sides, crossed, x, colliders.radius, patches, places, keep, touches)
    team.run_for(OF_A_VERTEX * k, cached(prune_vertices), *arrays)
    key = history.vertices.astype(np.int64) * len(patches.triangles) + triangles
    kept = _first_of_each(key, keep)
    parts = (history.vertices[kept], triangles[kept], sides[kept], crossed[kept])
    return parts, places.contacts(VERTEX_TRIANGLE, kept[touches[kept]])


def _prune_edges(
    team: Team, colliders: Colliders, history: SideHistory, x: np.ndarray
) -> tuple[tuple[np.ndarray, np.ndarray], ContactSet]:
    k, edges = len(history.edges), colliders.surface.edges
    keep, places = np.empty(k, bool), _blank(k)
    arrays = (history.edges, history.normals, edges, x, colliders.radius, places, keep)
    team.run_for(OF_A_PAIR * k, cached(prune_edges), *arrays)
    kept = _first_of_each(history.edges.astype(np.int64) @ (len(edges), 1), keep)
    return (history.edges[kept], places.normals[kept]), places.contacts(EDGE_EDGE, kept)


class Places(NamedTuple):
    """Where pairs touch, as of ContactSet."""

    vertices: np.ndarray  # (k, 4) int32
    weights: np.ndarray  # (k, 4)
    normals: np.ndarray  # (k, 3)
    thickness: np.ndarray  # (k,) [m]
    side: np.ndarray  # (k,) int8

    def contacts(self, kind: int, which: np.ndarray) -> ContactSet:
        """Contacts of one kind at some of the places, by their numbers."""
        vertices, weights, normals, thickness, side = (array.take(which, axis=0) for array in self)
        geometry = (vertices, weights, normals, thickness, side)
        return pair_contacts(kind, *geometry, updates_closest_point=kind == VERTEX_TRIANGLE)


def _blank(k: int) -> Places:
    """Places to be filled in."""
    return Places(np.empty((k, 4), np.int32), np.empty((k, 4)), np.empty((k, 3)), np.empty(k), np.zeros(k, np.int8))


def _first_of_each(key: np.ndarray, keep: np.ndarray) -> np.ndarray:
    """Places of the first of each key among those to keep, by ascending key."""
    places = np.flatnonzero(keep)
    return places[np.unique(key[places], return_index=True)[1]]


@compiled
def prune_vertices(
    thread, threads, barrier, vertices, triangles, sides, crossed, x, radius, patches, places, keep, touches
):
    first, last = share(0, len(vertices), thread, threads)
    for k in range(first, last):
        v = vertices[k]
        t, w, r = nearest_on_patch(v, np.int64(triangles[k]), x, patches)
        corners = patches.triangles[t]
        gap = radius[v] + radius[corners[1]]
        touches[k], n, sides[k], crossed[k] = push_from_patch(w, r, t, sides[k], crossed[k], gap, x, patches)
        keep[k] = touches[k] or crossed[k]
        triangles[k] = t
        places.vertices[k, 0], places.thickness[k] = v, gap
        places.side[k] = np.int8(sides[k] * patches.orient[t])
        for i in range(3):
            places.vertices[k, i + 1], places.normals[k, i] = corners[i], n[i]
        for i in range(4):
            places.weights[k, i] = w[i]


@inlined
def push_from_patch(w, r, t, side, crossed, gap, x, patches):
    """Whether a vertex at r from its nearest point of a patch touches it, the way it is pushed, its side and whether it
    is on the wrong one; `side` and `crossed` are those before.
    """
    n, has_normal = oriented_normal(t, x, patches)
    out = (side * n[0], side * n[1], side * n[2])
    height, length = dot(r, out), math.sqrt(dot(r, r))
    if length == 0.0 and not has_normal:
        return gap > 0.0, (0.0, 0.0, 1.0), side, False
    if has_normal and (is_inner(VERTEX_TRIANGLE, w) or length == 0.0):
        return height < gap, out, side, height < 0.0
    towards = (r[0] / length, r[1] / length, r[2] / length)
    if height < 0.0 and is_at_rim(w, t, patches):
        if crossed and length <= width(t, x, patches):
            return False, out, side, True
        return length < gap, towards, -side, False  # gone around
    if height < 0.0:
        return True, (-towards[0], -towards[1], -towards[2]), side, True
    return length < gap, towards, side, False


@compiled
def prune_edges(thread, threads, barrier, pairs, normals, edges, x, radius, places, keep):
    first, last = share(0, len(pairs), thread, threads)
    for k in range(first, last):
        a, b = edges[pairs[k, 0]], edges[pairs[k, 1]]
        v = (a[0], a[1], b[0], b[1])
        gap = radius[v[0]] + radius[v[2]]
        y = points_of(x, v)
        w = closest_edge_edge(y)
        r = combine(w, y)
        keep[k], n = push_from_edge(w, r, y, row(normals, k), gap)
        places.thickness[k] = gap
        for i in range(4):
            places.vertices[k, i], places.weights[k, i] = v[i], w[i]
        for i in range(3):
            places.normals[k, i] = n[i]


@inlined
def push_from_edge(w, r, y, before, gap):
    """Whether two edges touch, and the way they are pushed apart; `before` is the last such way."""
    n, has_normal = common_normal(EDGE_EDGE, y)
    if has_normal and is_inner(EDGE_EDGE, w):
        s = 1.0 if dot(n, before) >= 0.0 else -1.0
        n = (s * n[0], s * n[1], s * n[2])
        return dot(r, n) < gap, n
    length = math.sqrt(dot(r, r))
    return length < gap, before if length == 0.0 else unit(r)


def as_placed(history: SideHistory, edges: np.ndarray, x: np.ndarray) -> SideHistory:
    """The history at positions x (n, 3) [m] where nothing has crossed, as is proved: what seems to be on the wrong
    side, as behind a sharp fold, is on its own.
    """
    return chosen_as_placed(history, history.crossed, np.ones(len(history.edges), bool), edges, x)


def chosen_as_placed(
    history: SideHistory, vertices: np.ndarray, pairs: np.ndarray, edges: np.ndarray, x: np.ndarray
) -> SideHistory:
    """The same for vertices (a,) bool, of those that seem to have crossed, and pairs of edges (b,) bool."""
    normals = history.normals[pairs]
    cached(turn_to_first)(history.edges[pairs], edges, x, normals)
    turned = history.normals.copy()
    turned[pairs] = normals
    sides = np.where(vertices, -history.sides, history.sides)
    return history._replace(sides=sides, crossed=history.crossed & ~vertices, normals=turned)


def untracked(
    history: SideHistory, surface: Surface, body: np.ndarray, are_known: Callable[[np.ndarray, np.ndarray], np.ndarray]
) -> SideHistory:
    """The history without pairs of bodies (k,) and (k,) whose sides are known from where they are; body (n,) of each
    vertex.
    """
    edges = body[surface.edges[history.edges, 0]]
    kept = ~are_known(body[history.vertices], body[surface.triangles[history.triangles, 0]])
    kept_edges = ~are_known(edges[:, 0], edges[:, 1])
    vertices = (array[kept] for array in history[:4])
    return SideHistory._make((*vertices, history.edges[kept_edges], history.normals[kept_edges]))


@compiled
def turn_to_first(pairs, edges, x, normals):
    """Let normals (b, 3) of pairs of edges point to the first one."""
    for k in range(len(pairs)):
        a, b = edges[pairs[k, 0]], edges[pairs[k, 1]]
        y = points_of(x, (a[0], a[1], b[0], b[1]))
        if dot(combine(closest_edge_edge(y), y), row(normals, k)) < 0.0:
            for axis in range(3):
                normals[k, axis] = -normals[k, axis]


@compiled
def entry_of(v, t, x, history, patches):
    """Place in the history of vertex v's side of the patch around triangle t, as it is at x; -1 if it is unknown."""
    first, last = lower_bound(history.vertices, v), lower_bound(history.vertices, v + 1)
    if first == last:
        return -1
    t, _, r = nearest_on_patch(v, t, x, patches)
    for m in range(first, last):
        known = history.triangles[m]
        if known == t:
            return m
        difference = subtract(closest_on_triangle(v, known, x, patches.triangles)[1], r)
        edge = subtract(row(x, patches.triangles[t, 1]), row(x, patches.triangles[t, 0]))
        if dot(difference, difference) <= SAME * SAME * dot(edge, edge) and share_corner(patches.triangles, known, t):
            return m
    return -1


def crossed_vertices(history: SideHistory, n_vertices: int) -> np.ndarray:
    """(n,) bool: vertices that are on the wrong side of something."""
    has_crossed = np.zeros(n_vertices, bool)
    has_crossed[history.vertices[history.crossed]] = True
    return has_crossed


@inlined
def returns_to(v, t, n, x, history, has_crossed, patches):
    """Whether vertex v has crossed the patch around triangle t, and n, from it to v, points the wrong way."""
    if not has_crossed[v] or has_corner(patches.triangles, t, v):
        return False
    m = entry_of(v, t, x, history, patches)
    return m >= 0 and history.crossed[m] and history.sides[m] * dot(oriented_normal(t, x, patches)[0], n) < 0.0


@compiled
def triangle_returns(v, t, n, x, history, has_crossed, patches, is_closed):
    """Whether triangle t, that meets vertex v with the normal n (from t to v), comes back with all its corners from the
    wrong side of v's surface; or v, that has passed a solid, comes to the back of it.
    """
    away, corners = (-n[0], -n[1], -n[2]), patches.triangles[t]
    for e in range(patches.start[v], patches.start[v + 1]):
        f = np.int64(patches.around[e])
        if (
            returns_to(corners[0], f, away, x, history, has_crossed, patches)
            and returns_to(corners[1], f, away, x, history, has_crossed, patches)
            and returns_to(corners[2], f, away, x, history, has_crossed, patches)
        ):
            return True
    if is_closed[corners[0]]:
        for m in range(lower_bound(history.vertices, v), lower_bound(history.vertices, v + 1)):
            known = history.triangles[m]
            side = history.sides[m] * dot(oriented_normal(known, x, patches)[0], n)
            if history.crossed[m] and is_closed[patches.triangles[known, 0]] and side < 0.0:
                return True
    return False


@compiled
def edge_returns(a, b, n, edges, faces_of_edge, x, history, has_crossed, patches):
    """Whether edges a and b, that meet with the normal n (from b to a), come back with an end that has crossed the
    surface of the other.
    """
    away = (-n[0], -n[1], -n[2])
    for i in range(2):
        for f in range(2):
            of_a, of_b = np.int64(faces_of_edge[a, f]), np.int64(faces_of_edge[b, f])
            if of_b >= 0 and returns_to(edges[a, i], of_b, n, x, history, has_crossed, patches):
                return True
            if of_a >= 0 and returns_to(edges[b, i], of_a, away, x, history, has_crossed, patches):
                return True
    return False


@compiled
def vertex_returns(v, t, n, x, history, has_crossed, patches, is_closed):
    """Whether an impact of vertex v with triangle t, with the normal n from t to v, is known or a way back."""
    m = entry_of(v, t, x, history, patches)
    if m >= 0:
        return history.triangles[m] == t or history.sides[m] * dot(oriented_normal(t, x, patches)[0], n) < 0.0
    return triangle_returns(v, t, n, x, history, has_crossed, patches, is_closed)


@compiled
def mark_ways_back(
    thread, threads, barrier, kind, first, second, normals, edges, faces_of_edge, x, history, has_crossed, patches,
    is_closed, is_back,
):  # fmt: skip
    """Which impacts with the normals (k, 3) are between pairs that are tracked, or of a vertex that comes back.

    first, second: vertices of the scene and triangles, or edges and edges.
    """
    begin, end = share(0, len(first), thread, threads)
    for k in range(begin, end):
        n = row(normals, k)
        if kind == VERTEX_TRIANGLE:
            is_back[k] = vertex_returns(first[k], np.int64(second[k]), n, x, history, has_crossed, patches, is_closed)
        else:
            is_back[k] = is_tracked(first[k], second[k], history.edges) or edge_returns(
                first[k], second[k], n, edges, faces_of_edge, x, history, has_crossed, patches
            )


@inlined
def is_tracked(a, b, pairs):
    """Whether edges a and b are among pairs (m, 2), which are sorted."""
    first, last = 0, len(pairs)
    while first < last:
        middle = (first + last) // 2
        if pairs[middle, 0] < a or (pairs[middle, 0] == a and pairs[middle, 1] < b):
            first = middle + 1
        else:
            last = middle
    return first < len(pairs) and pairs[first, 0] == a and pairs[first, 1] == b

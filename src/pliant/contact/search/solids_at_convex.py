"""Contacts of solids with convex rigid bodies where a step begins: by what is inside, without a history of sides.

A convex rigid body is the inside of planes, so that how deep anything is in it, and the shortest way out, are known
from where it is: nothing has to be known of how it came there. The overlap of a solid with it has as corners

    vertices of the solid that are inside the rigid body,
    corners of the rigid body that are inside tets (penetration.py),
    edges of the solid that go in through one face of the rigid body and out through another: at the sharp edge between.

All of these, and what is outside but nearer than the distance to be kept, are contacts that lead out of the rigid body
(decision 0104). Who meets within the step is found by continuous detection.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from pliant.contact.contact_set import ContactSet, no_contacts, pair_contacts
from pliant.contact.primitives.pair import can_be_touched_from, edge_normal, face_normal
from pliant.contact.search.colliders import Colliders
from pliant.contact.search.convex_bodies import ConvexBodies
from pliant.contact.search.motion import Motion
from pliant.contact.search.narrow_phase import BEYOND
from pliant.contact.search.near_bodies import find_near_bodies
from pliant.contact.search.normals import vertex_normal
from pliant.contact.search.penetration_query import SAME_WAY
from pliant.elements.closest import EDGE_EDGE, VERTEX_TRIANGLE, closest_vertex_triangle, combine, row
from pliant.lanes.compiled import cached, compiled, inlined
from pliant.lanes.vectors import cross, dot, subtract

ALIGNED = 1e-4  # squared sine between edges that have a normal of their own
HARDER = 10.0  # times: the edges and corners of a rigid body bear the load of all faces of a solid around them
RIM = 0.02  # of an edge: nearer to its ends its vertices are the contact


class Parts(NamedTuple):
    """Surfaces of solids, body after body."""

    start: np.ndarray  # (bodies + 1,) first of its vertices
    vertices: np.ndarray
    edge_start: np.ndarray  # (bodies + 1,)
    edges: np.ndarray  # rows of surface.edges
    face_start: np.ndarray  # (bodies + 1,)
    faces: np.ndarray  # rows of surface.triangles


class Room(NamedTuple):
    """Contacts that are found, in the order of the search."""

    kind: np.ndarray  # (k,) int8
    vertices: np.ndarray  # (k, 4) int32
    weights: np.ndarray  # (k, 4)
    normals: np.ndarray  # (k, 3)


class SolidsAtConvex:
    """Which pairs of bodies are a solid and a convex rigid body, and their contacts."""

    def __init__(self, colliders: Colliders, convex: ConvexBodies):
        self._colliders, self._convex = colliders, convex
        surface, body, bodies = colliders.surface, colliders.rules.body, len(colliders.rules.allowed)
        self.is_convex = convex.width > 0
        self.is_solid = np.zeros(bodies, bool)
        self.is_solid[body[colliders.has_inside]] = True
        lists = (surface.vertices[:, :1], surface.edges, surface.triangles)
        columns: list[np.ndarray] = []
        for corners in lists:
            usable = np.flatnonzero(
                colliders.has_inside[corners[:, 0]] & ~colliders.rules.excluded[corners].any(axis=1)
            )
            order = usable[np.argsort(body[corners[usable, 0]], kind="stable")]
            columns.append(np.searchsorted(body[corners[order, 0]], np.arange(bodies + 1)))
            columns.append(surface.vertices[order, 0] if corners.shape[1] == 1 else order)
        self._parts = Parts(*columns)
        self._sides = _faces_of_edges(convex)
        self._rigid, self._solids = np.flatnonzero(self.is_convex), np.flatnonzero(self.is_solid)

    def __bool__(self) -> bool:
        return len(self._rigid) > 0 and len(self._solids) > 0

    def are_known(self, one: np.ndarray, other: np.ndarray) -> np.ndarray:
        """(k,) bool: whether bodies (k,) and (k,) are a solid and a convex rigid body."""
        return (self.is_convex[one] & self.is_solid[other]) | (self.is_convex[other] & self.is_solid[one])

    def harder(self, contacts: ContactSet) -> np.ndarray:
        """(k,) times the chosen stiffness of contacts: HARDER between a solid and a convex rigid body."""
        body, v = self._colliders.rules.body, contacts.vertices
        known = (contacts.obstacle < 0) & self.are_known(body[v[:, 0]], body[np.maximum(v[:, 2], 0)])
        return np.where(known, HARDER, 1.0)

    def are_near(self, x: np.ndarray) -> bool:
        """Whether boxes of a solid and a convex rigid body overlap at positions x (n, 3) [m]."""
        return len(self._near_bodies(x)) > 0

    def contacts(self, x: np.ndarray, motion: Motion) -> ContactSet:
        """At positions x (n, 3) [m]; motion: one that starts there."""
        colliders, convex = self._colliders, self._convex
        pairs = self._near_bodies(x)
        if not len(pairs):
            return no_contacts()
        about = (colliders.surface, colliders.faces_of_edge, colliders.solid, colliders.radius)
        arguments = (convex, self._sides, self._parts, *about, pairs, x, motion.start)
        room = _room(64 * len(pairs))
        while (count := cached(find_at_convex)(*arguments, room)) > len(room.kind):
            room = _room(2 * count)
        kind, vertices, weights, normals = (array[:count] for array in room)
        thickness = colliders.radius[vertices[:, 0]] + colliders.radius[vertices[:, 2]]
        side = (kind == VERTEX_TRIANGLE).astype(np.int8)
        found = pair_contacts(kind, vertices, weights, normals, thickness, side)
        found.updates_closest_point[:] = kind == VERTEX_TRIANGLE
        return found

    def _near_bodies(self, x: np.ndarray) -> np.ndarray:
        """(k, 2) solids and convex rigid bodies whose boxes overlap, ascending."""
        allowed, most = self._colliders.rules.allowed, len(self._solids) * len(self._rigid)
        boxes, pairs = np.empty((len(allowed), 6)), np.empty((most, 2), np.int64)
        members = (self._solids, self._rigid, self._parts, self._convex)
        return pairs[: cached(find_near_bodies)(*members, self._colliders.radius, allowed, x, boxes, pairs)]


def _faces_of_edges(convex: ConvexBodies) -> np.ndarray:
    """(e, 2) rows of convex.faces at its sharp edges."""
    ends = np.sort(convex.faces[:, [[0, 1], [1, 2], [2, 0]]], axis=2).reshape(-1, 2)
    n = int(ends.max(initial=0)) + 1
    keys, face = ends @ (n, 1), np.repeat(np.arange(len(convex.faces)), 3)
    order = np.argsort(keys, kind="stable")
    own = np.sort(convex.edges, axis=1) @ (n, 1)
    first = np.searchsorted(keys[order], own)
    last = np.searchsorted(keys[order], own, side="right") - 1
    return np.column_stack([face[order[first]], face[order[last]]]) if len(own) else np.zeros((0, 2), np.int64)


def _room(k: int) -> Room:
    return Room(np.empty(k, np.int8), np.empty((k, 4), np.int32), np.empty((k, 4)), np.empty((k, 3)))


@inlined
def write(room, count, kind, vertices, w, n):
    """Put a contact at its place, if there is room; the next place."""
    if count < len(room.kind):
        v, weights, normals = room.vertices, room.weights, room.normals
        room.kind[count] = kind
        v[count, 0], v[count, 1], v[count, 2], v[count, 3] = vertices
        weights[count, 0], weights[count, 1], weights[count, 2], weights[count, 3] = w
        normals[count, 0], normals[count, 1], normals[count, 2] = n
    return count + 1


@compiled
def find_at_convex(convex, sides, parts, surface, faces_of_edge, solid, radius, pairs, x, rows, room):
    """How many contacts there are."""
    count = 0
    for p in range(len(pairs)):
        s, b = pairs[p, 0], pairs[p, 1]
        kept = radius[parts.vertices[parts.start[s]]] + radius[convex.vertices[convex.start[b]]]
        low, high = box_around(convex, b, x, kept)
        for k in range(parts.start[s], parts.start[s + 1]):
            v = parts.vertices[k]
            if is_within(row(x, v), low, high):
                n = vertex_normal(v, solid, rows)
                count = add_vertex(convex, b, v, n, kept, x, room, count)
        for k in range(parts.edge_start[s], parts.edge_start[s + 1]):
            e = parts.edges[k]
            if overlaps_box(row(x, surface.edges[e, 0]), row(x, surface.edges[e, 1]), low, high):
                out = edge_normal(x, surface.triangles, faces_of_edge, e)
                count = add_edge(convex, sides, b, surface.edges[e], out, kept, x, room, count)
        count = add_corners(convex, b, parts, s, surface.triangles, low, high, kept, x, room, count)
    return count


@inlined
def box_around(convex, b, x, kept):
    """Lowest and highest coordinates of a body, and a distance more."""
    low, high = (np.inf, np.inf, np.inf), (-np.inf, -np.inf, -np.inf)
    for k in range(convex.start[b], convex.start[b + 1]):
        p = row(x, convex.vertices[k])
        low = (min(low[0], p[0]), min(low[1], p[1]), min(low[2], p[2]))
        high = (max(high[0], p[0]), max(high[1], p[1]), max(high[2], p[2]))
    return (low[0] - kept, low[1] - kept, low[2] - kept), (high[0] + kept, high[1] + kept, high[2] + kept)


@inlined
def is_within(p, low, high):
    return low[0] <= p[0] <= high[0] and low[1] <= p[1] <= high[1] and low[2] <= p[2] <= high[2]


@inlined
def overlaps_box(p, q, low, high):
    """Whether the box of a segment does."""
    return (
        min(p[0], q[0]) <= high[0] and max(p[0], q[0]) >= low[0]
        and min(p[1], q[1]) <= high[1] and max(p[1], q[1]) >= low[1]
        and min(p[2], q[2]) <= high[2] and max(p[2], q[2]) >= low[2]
    )  # fmt: skip


@inlined
def height_above(convex, b, p, x):
    """How far a point is above the plane of a body that it is furthest above [m]: not above 0 inside."""
    most = -np.inf
    for f in range(convex.plane_start[b], convex.plane_start[b + 1]):
        n = face_normal(x, convex.planes, f)
        most = max(most, dot(n, subtract(p, row(x, convex.planes[f, 0]))))
    return most


@inlined
def add_vertex(convex, b, v, own, kept, x, room, count):
    """A vertex with the normal `own` that is inside, or nearer than the distance to be kept: at the nearest face, of
    those that do not look the same way as the vertex if there is one.
    """
    p = row(x, v)
    height = height_above(convex, b, p, x)
    if height >= kept:
        return count
    best, least, is_facing = -1, np.inf, False
    for f in range(convex.face_start[b], convex.face_start[b + 1]):
        n = face_normal(x, convex.faces, f)
        y = (p, row(x, convex.faces[f, 0]), row(x, convex.faces[f, 1]), row(x, convex.faces[f, 2]))
        r = combine(closest_vertex_triangle(y), y)
        faces = height > 0.0 or dot(n, own) <= SAME_WAY
        distance = dot(r, r)
        if (faces and not is_facing) or (faces == is_facing and distance < least):
            best, least, is_facing = f, distance, faces
    if height > 0.0 and least >= kept * kept:
        return count
    corners = (v, convex.faces[best, 0], convex.faces[best, 1], convex.faces[best, 2])
    y = (p, row(x, corners[1]), row(x, corners[2]), row(x, corners[3]))
    w, n, distance = closest_vertex_triangle(y), face_normal(x, convex.faces, best), least**0.5
    if height > 0.0 and distance > 0.0:
        r = combine(w, y)
        n = (r[0] / distance, r[1] / distance, r[2] / distance)
    return write(room, count, VERTEX_TRIANGLE, corners, w, n)


@compiled
def add_corners(convex, b, parts, s, triangles, low, high, kept, x, room, count):
    """Corners of the rigid body in front of the nearest triangle of the solid, nearer than the distance to be kept."""
    first = count
    for c in range(convex.start[b], convex.start[b + 1]):
        v = convex.vertices[c]
        p = row(x, v)
        best, least = -1, kept * kept
        for k in range(parts.face_start[s], parts.face_start[s + 1]):
            t = parts.faces[k]
            a, d, e = row(x, triangles[t, 0]), row(x, triangles[t, 1]), row(x, triangles[t, 2])
            if not is_near_corners(p, a, d, e, kept):
                continue
            y = (p, a, d, e)
            r = combine(closest_vertex_triangle(y), y)
            distance = dot(r, r)
            if distance < least:
                best, least = t, distance
        if best < 0:
            continue
        corners = (v, triangles[best, 0], triangles[best, 1], triangles[best, 2])
        y = (p, row(x, corners[1]), row(x, corners[2]), row(x, corners[3]))
        w, n = closest_vertex_triangle(y), face_normal(x, triangles, best)
        r, distance = combine(w, y), least**0.5
        if dot(r, n) <= 0.0 or distance == 0.0:  # it is inside, or not in front of the nearest one
            continue
        count = write(room, count, VERTEX_TRIANGLE, corners, w, (r[0] / distance, r[1] / distance, r[2] / distance))
    return max(first, count)


@inlined
def is_near_corners(p, a, b, c, kept):
    """Whether a point is in the box of a triangle, and a distance more."""
    for i in range(3):
        if p[i] < min(a[i], min(b[i], c[i])) - kept or p[i] > max(a[i], max(b[i], c[i])) + kept:
            return False
    return True


@compiled
def add_edge(convex, sides, b, ends, out, kept, x, room, count):
    """An edge of a solid, whose faces look along `out`, with the sharp edges of a body next to which it goes through
    it, or is nearer than the distance to be kept.
    """
    p, q = row(x, ends[0]), row(x, ends[1])
    along = subtract(q, p)
    enters, leaves, into, out_of = 0.0, 1.0, -1, -1
    nearest = -np.inf  # no point of it is nearer to the plane that it is furthest above
    for f in range(convex.plane_start[b], convex.plane_start[b + 1]):
        n, corner = face_normal(x, convex.planes, f), row(x, convex.planes[f, 0])
        above, slope = dot(n, subtract(p, corner)), dot(n, along)
        nearest = max(nearest, min(above, above + slope))
        if above <= 0.0 and above + slope <= 0.0:
            continue
        if slope == 0.0:
            enters, leaves = 1.0, 0.0
        elif slope < 0.0:
            if -above / slope > enters:
                enters, into = -above / slope, f
        elif -above / slope < leaves:
            leaves, out_of = -above / slope, f
    if nearest >= kept:
        return count
    goes_through = enters < leaves and into >= 0 and out_of >= 0
    if enters < leaves and not goes_through:  # an end is inside, and is a contact
        return count
    a, d = -1, -1  # sharp edges where it goes in and out
    least_a, least_d = -np.inf, -np.inf
    for e in range(convex.edge_start[b], convex.edge_start[b + 1]):
        one, other = face_normal(x, convex.faces, sides[e, 0]), face_normal(x, convex.faces, sides[e, 1])
        n, gap, w = normal_of_edges(p, along, e, convex.edges, one, other, x)
        if w[0] < RIM or w[1] < RIM or w[2] > -RIM or w[3] > -RIM:
            continue
        if not can_be_touched_from(out, (-n[0], -n[1], -n[2]), BEYOND):
            continue
        if not goes_through:
            if 0.0 <= gap < kept:
                count = write_edge(room, count, ends, convex.edges[e], w, n)
            continue
        if gap > 0.0:
            continue
        if is_plane_of(face_normal(x, convex.planes, into), one, other) and gap > least_a:
            a, least_a = e, gap
        if is_plane_of(face_normal(x, convex.planes, out_of), one, other) and gap > least_d:
            d, least_d = e, gap
    for place in range(2):
        e = a if place == 0 else d
        if e >= 0 and (place == 0 or a != d):
            one, other = face_normal(x, convex.faces, sides[e, 0]), face_normal(x, convex.faces, sides[e, 1])
            n, _, w = normal_of_edges(p, along, e, convex.edges, one, other, x)
            count = write_edge(room, count, ends, convex.edges[e], w, n)
    return count


@inlined
def write_edge(room, count, ends, others, w, n):
    return write(room, count, EDGE_EDGE, (ends[0], ends[1], others[0], others[1]), w, n)


@inlined
def is_plane_of(n, one, other):
    """Whether n is one of two normals."""
    return max(dot(n, one), dot(n, other)) > 1.0 - 1e-9


@inlined
def normal_of_edges(p, along, e, edges, one, other, x):
    """The normal of an edge from p, and edge e of a body with normals `one` and `other` at it, out of the body; how far
    the first is from the second along it [m], and signed weights of the points where they cross. Without a normal
    between those of the faces all weights are 0.
    """
    nothing = ((0.0, 0.0, 1.0), 0.0, (0.0, 0.0, 0.0, 0.0))
    start = row(x, edges[e, 0])
    v = subtract(row(x, edges[e, 1]), start)
    n = cross(along, v)
    nn = dot(n, n)
    if nn <= ALIGNED * dot(along, along) * dot(v, v):
        return nothing
    middle = (one[0] + other[0], one[1] + other[1], one[2] + other[2])
    size = nn**0.5 if dot(n, middle) > 0.0 else -(nn**0.5)
    u = (n[0] / size, n[1] / size, n[2] / size)
    if not can_be_touched_from((0.5 * middle[0], 0.5 * middle[1], 0.5 * middle[2]), u, 0.0):
        return nothing
    r = subtract(start, p)
    s, t = dot(cross(r, v), n) / nn, dot(cross(r, along), n) / nn
    return u, -dot(r, u), (1.0 - s, s, t - 1.0, -t)

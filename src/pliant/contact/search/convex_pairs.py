"""Contacts of convex rigid bodies that are near each other: what lies on both sides of the plane between them.

Hard contacts rest without penetration, so that detection by penetration or by motion would find them in one step and
not in the next; and where corners and edges lie on each other, closest points have no direction. Two convex bodies have
a plane between them: that of the axis along which they overlap least, among the normals of their faces and the cross
products of their edges (the separating axis theorem). Contacts are

    corners of one body near the plane above a face of the other,
    edges of both near the plane that cross,

with the axis as normal. They hold for the step. Bodies that may meet in it have their plane too: what is between them
then does not press before it is met (decision 0075).
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from pliant.contact.contact_set import ContactSet, chosen, no_contacts, pair_contacts
from pliant.contact.search.box_pairs import box_pairs
from pliant.contact.search.convex_bodies import ConvexBodies
from pliant.elements.closest import EDGE_EDGE, VERTEX_TRIANGLE, row
from pliant.lanes.compiled import cached, compiled, inlined
from pliant.lanes.vectors import cross, dot, subtract
from pliant.model import ContactModel

NEAR = 0.02  # of the mean edge: bodies that are nearer have their plane
RIM = 2e-3  # how far outside a triangle, in its weights, a corner still counts as above it
STEEP = 0.99  # cosine to the axis of faces and edges' planes that take part
SLOW = 0.25  # of its width that a body goes in a step: planes of faster ones do not look ahead
EDGES_AFTER_FACES = 0.005  # of the margin: how much better an axis of two edges must be than that of a face


class Bounds(NamedTuple):
    """Of c convex bodies, on their way in a step."""

    own: np.ndarray  # (c,) by their numbers
    low: np.ndarray  # (c, 3) [m] of a box around the way, wider by the margin
    high: np.ndarray  # (c, 3)
    margin: np.ndarray  # (c,) [m]
    shift: np.ndarray  # (c, 3) [m] mean motion of the corners
    turn: np.ndarray  # (c,) [m] the largest motion of a corner against that
    is_slow: np.ndarray  # (bodies,) whether it goes less than a part of its width: nothing passes it by


def bounds_of(convex: ConvexBodies, x0: np.ndarray, x1: np.ndarray, edge: np.ndarray) -> Bounds:
    """From x0 to x1 (n, 3) [m]; edge (n,) [m] of the bodies."""
    c = len(convex.own)
    rooms = (np.empty((c, 3)), np.empty((c, 3)), np.empty(c), np.empty((c, 3)), np.empty(c))
    bounds = Bounds(convex.own, *rooms, np.ones(len(convex.width), bool))
    if c:
        cached(write_bounds)(convex, x0, x1, edge, bounds)
    return bounds


@compiled
def write_bounds(convex, x0, x1, edge, bounds):
    for i in range(len(bounds.own)):
        b = bounds.own[i]
        first, last = convex.start[b], convex.start[b + 1]
        margin, longest, furthest = NEAR * edge[convex.vertices[first]], 0.0, 0.0
        for axis in range(3):
            low, high, total = np.inf, -np.inf, 0.0
            for k in range(first, last):
                p, q = x0[convex.vertices[k], axis], x1[convex.vertices[k], axis]
                low, high, total = min(low, min(p, q)), max(high, max(p, q)), total + (q - p)
            bounds.low[i, axis], bounds.high[i, axis] = low - margin, high + margin
            bounds.shift[i, axis] = total / (last - first)
        for k in range(first, last):
            way = subtract(row(x1, convex.vertices[k]), row(x0, convex.vertices[k]))
            rest = subtract(way, row(bounds.shift, i))
            longest, furthest = max(longest, dot(way, way)), max(furthest, dot(rest, rest))
        bounds.margin[i], bounds.turn[i] = margin, furthest**0.5
        bounds.is_slow[b] = longest <= (SLOW * convex.width[b]) ** 2


class Room(NamedTuple):
    """Contacts that are found, in the order of the search."""

    kind: np.ndarray  # (k,) int8
    vertices: np.ndarray  # (k, 4) int32
    weights: np.ndarray  # (k, 4)
    normals: np.ndarray  # (k, 3)
    upper: np.ndarray  # (t,) int64 scratch: faces of a body along an axis
    near: np.ndarray  # (e,) int64 scratch: edges of a body near a plane


class Axes(NamedTuple):
    """Axes of separation where the step starts."""

    normals: np.ndarray  # (p, 3) unit normals of `planes`
    heights: np.ndarray  # (p,) [m] of the planes along them
    along: np.ndarray  # (d, 3) [m] `directions`
    corners: np.ndarray  # (m, 3) [m] where `vertices` are
    middles: np.ndarray  # (bodies, 3) [m] of their corners


def convex_contacts(
    convex: ConvexBodies,
    x0: np.ndarray,
    x1: np.ndarray,
    bounds: Bounds,
    may_touch: np.ndarray,
) -> tuple[ContactSet, np.ndarray]:
    """Contacts of the step from x0 to the guess x1 (n, 3) [m], and (m, 2) of which pairs of bodies they are; bounds of
    this step, may_touch (bodies, bodies).
    """
    if len(bounds.own) < 2:
        return no_contacts(), np.zeros((0, 2), np.int64)
    pairs = box_pairs(bounds.low, bounds.high)
    if not len(pairs):
        return no_contacts(), np.zeros((0, 2), np.int64)
    are_near = np.zeros(len(pairs), bool)
    arguments = (convex, x0, x1, bounds, pairs, may_touch, are_near)
    scratch = (np.empty(len(convex.faces), np.int64), np.empty(len(convex.edges), np.int64))
    sizes = (len(convex.planes), len(convex.directions), len(convex.vertices))
    three = (np.empty((n, 3)) for n in (sizes[0], *sizes[1:], len(convex.width)))
    axes = Axes(next(three), np.empty(sizes[0]), *three)
    room = _room(8 * len(pairs) + 64, scratch)
    while (count := cached(find_contacts)(*arguments, axes, room)) > len(room.kind):
        room = _room(2 * count, scratch)
    kind, vertices, weights, normals = (
        room.kind[:count],
        room.vertices[:count],
        room.weights[:count],
        room.normals[:count],
    )
    found = pair_contacts(kind, vertices, weights, normals, np.zeros(count), np.zeros(count, np.int8))
    return found, bounds.own[pairs[are_near]]


def with_planes(
    convex: ConvexBodies,
    pairs: tuple[ContactSet, ...],
    x0: np.ndarray,
    x1: np.ndarray,
    model: ContactModel,
    bounds: Bounds | None,
) -> tuple[ContactSet, ...]:
    """Contacts, with planes between convex bodies that are near each other from x0 to x1 (n, 3) [m] in place of all
    others that those have; bodies so slow that planes look ahead have none but planes. bounds of this step, if they are
    known.
    """
    if len(convex.own) < 2:
        return pairs
    bounds = bounds_of(convex, x0, x1, model.edge) if bounds is None else bounds
    own, near = convex_contacts(convex, x0, x1, bounds, model.allowed)
    kept = model.radius + model.clearance
    own.thickness[:] = kept[own.vertices[:, 0]] + kept[own.vertices[:, 2]]
    is_slow = (convex.width > 0) & bounds.is_slow
    return (own, *(_without_pairs(part, near, is_slow, model.body) for part in pairs))


def _without_pairs(contacts: ContactSet, pairs: np.ndarray, is_slow: np.ndarray, body: np.ndarray) -> ContactSet:
    """Contacts that are between other bodies than some pairs (m, 2) and two slow ones, is_slow (bodies,); body (n,) of
    each vertex.
    """
    if not contacts.size:
        return contacts
    own, bodies = body[contacts.vertices[:, [0, 2]]].astype(np.int64), int(body.max()) + 1
    names, others = (side.min(axis=1) * bodies + side.max(axis=1) for side in (pairs, own))
    return chosen(contacts, ~np.isin(others, names) & ~is_slow[own].all(axis=1))


def _room(k: int, scratch: tuple[np.ndarray, np.ndarray]) -> Room:
    return Room(np.empty(k, np.int8), np.empty((k, 4), np.int32), np.empty((k, 4)), np.empty((k, 3)), *scratch)


@compiled
def find_contacts(convex, x0, x1, bounds, pairs, may_touch, are_near, axes, room):
    """The plane is that of the start of the step; who is above whom is seen where bodies would be without contact."""
    count = 0
    write_axes(convex, x0, axes)
    for p in range(len(pairs)):
        i, j = pairs[p, 0], pairs[p, 1]
        a, b = bounds.own[i], bounds.own[j]
        if not may_touch[a, b]:
            continue
        margin = min(bounds.margin[i], bounds.margin[j])
        way = subtract(row(bounds.shift, i), row(bounds.shift, j))
        looks_ahead = bounds.is_slow[a] and bounds.is_slow[b]
        ahead = dot(way, way) ** 0.5 + bounds.turn[i] + bounds.turn[j] if looks_ahead else 0.0
        x, before = x1 if looks_ahead else x0, count
        overlap, n = separating_axis(convex, axes, a, b, margin, margin + ahead)
        if overlap < -margin - ahead:
            continue
        count = add_corners(convex, x, a, b, n, margin, room, count)
        count = add_corners(convex, x, b, a, (-n[0], -n[1], -n[2]), margin, room, count)
        count = add_edges(convex, x, a, b, n, margin, ahead, room, count)
        if overlap >= -margin or count > before:
            are_near[p] = True
    return count


@inlined
def support(convex, body, x, n):
    """How far a body reaches along n from the origin [m]."""
    furthest = -np.inf
    for k in range(convex.start[body], convex.start[body + 1]):
        furthest = max(furthest, dot(row(x, convex.vertices[k]), n))
    return furthest


@inlined
def extent(convex, axes, body, n):
    """From where to where a body reaches along n from the origin [m], where the step starts."""
    if convex.is_box[body]:
        first, middle = convex.direction_start[body], dot(row(axes.middles, body), n)
        half = abs(dot(row(axes.along, first), n)) + abs(dot(row(axes.along, first + 1), n))
        half = 0.5 * (half + abs(dot(row(axes.along, first + 2), n)))
        return middle - half, middle + half
    nearest, furthest = np.inf, -np.inf
    for k in range(convex.start[body], convex.start[body + 1]):
        along = dot(row(axes.corners, k), n)
        nearest, furthest = min(nearest, along), max(furthest, along)
    return nearest, furthest


@inlined
def unit(v):
    size = dot(v, v) ** 0.5
    return (v[0] / size, v[1] / size, v[2] / size)


@inlined
def minus(v):
    return (-v[0], -v[1], -v[2])


@compiled
def write_axes(convex, x, axes):
    """At positions x (n, 3) [m]."""
    for k in range(len(convex.vertices)):
        for axis in range(3):
            axes.corners[k, axis] = x[convex.vertices[k], axis]
    for f in range(len(convex.planes)):
        corner = row(x, convex.planes[f, 0])
        n = unit(cross(subtract(row(x, convex.planes[f, 1]), corner), subtract(row(x, convex.planes[f, 2]), corner)))
        axes.normals[f, 0], axes.normals[f, 1], axes.normals[f, 2] = n
        axes.heights[f] = dot(corner, n)
    for e in range(len(convex.directions)):
        along = subtract(row(x, convex.directions[e, 1]), row(x, convex.directions[e, 0]))
        axes.along[e, 0], axes.along[e, 1], axes.along[e, 2] = along
    for b in range(len(convex.width)):
        first, last = convex.start[b], convex.start[b + 1]
        for axis in range(3):
            total = 0.0
            for k in range(first, last):
                total += axes.corners[k, axis]
            axes.middles[b, axis] = total / max(last - first, 1)


@compiled
def separating_axis(convex, axes, a, b, margin, far):
    """By how much the bodies overlap along the axis where they do so least [m], and it: from b to a; any axis along
    which they are further apart than `far` [m].
    """
    least, axis = np.inf, (0.0, 0.0, 1.0)
    for side in range(2):
        body, other = (b, a) if side == 0 else (a, b)
        for f in range(convex.plane_start[body], convex.plane_start[body + 1]):
            n = row(axes.normals, f)
            overlap = axes.heights[f] - extent(convex, axes, other, n)[0]
            if overlap < least - 1e-12:
                least, axis = overlap, n if side == 0 else minus(n)
                if least < -far:
                    return least, axis
    for e in range(convex.direction_start[a], convex.direction_start[a + 1]):
        along = row(axes.along, e)
        for f in range(convex.direction_start[b], convex.direction_start[b + 1]):
            other = row(axes.along, f)
            n = cross(along, other)
            if dot(n, n) < 1e-6 * dot(along, along) * dot(other, other):
                continue
            n = unit(n)
            (low_a, high_a), (low_b, high_b) = extent(convex, axes, a, n), extent(convex, axes, b, n)
            forward, backward = high_b - low_a, high_a - low_b
            n = n if forward < backward else minus(n)
            overlap = min(forward, backward)
            if overlap < least - EDGES_AFTER_FACES * margin:
                least, axis = overlap, n
                if least < -far:
                    return least, axis
    return least, axis


@compiled
def add_corners(convex, x, a, b, n, margin, room, count):
    """Corners of body a above faces of body b, along n."""
    top, upper, uppers = support(convex, b, x, n), room.upper, 0
    for plane in range(convex.plane_start[b], convex.plane_start[b + 1]):
        p0 = row(x, convex.planes[plane, 0])
        m = cross(subtract(row(x, convex.planes[plane, 1]), p0), subtract(row(x, convex.planes[plane, 2]), p0))
        along = dot(m, n)
        if along > 0.0 and along * along >= STEEP * STEEP * dot(m, m):
            for f in range(convex.face_start[b], convex.face_start[b + 1]):
                if convex.face_plane[f] == plane:
                    upper[uppers] = f
                    uppers += 1
    for k in range(convex.start[a], convex.start[a + 1]):
        v = convex.vertices[k]
        p = row(x, v)
        if dot(p, n) - top > margin:
            continue
        best, chosen, weights = -RIM, -1, (0.0, 0.0, 0.0)
        for place in range(uppers):
            f = upper[place]
            p0, p1, p2 = row(x, convex.faces[f, 0]), row(x, convex.faces[f, 1]), row(x, convex.faces[f, 2])
            u, w, r = subtract(p1, p0), subtract(p2, p0), subtract(p, p0)
            along = dot(cross(u, w), n)
            one, two = dot(cross(r, w), n) / along, dot(cross(u, r), n) / along
            least = min(1.0 - one - two, min(one, two))
            if least > best:
                best, chosen, weights = least, f, (1.0 - one - two, one, two)
        if chosen >= 0:
            if count < len(room.kind):
                room.kind[count] = VERTEX_TRIANGLE
                room.vertices[count, 0], room.weights[count, 0] = v, 1.0
                for i in range(3):
                    room.vertices[count, i + 1] = convex.faces[chosen, i]
                    room.weights[count, i + 1] = -weights[i]
                    room.normals[count, i] = n[i]
            count += 1
    return count


@inlined
def is_along(u, n):
    """Whether an edge is so steep to the plane that it has no area with any other one there."""
    up, square = dot(u, n), dot(u, u)
    return square - up * up < 1e-4 * square


@compiled
def add_edges(convex, x, a, b, n, margin, ahead, room, count):
    """Edges of both bodies near the plane that cross, seen along n."""
    top, bottom = support(convex, b, x, n), -support(convex, a, x, minus(n))
    near, nears = room.near, 0
    for f in range(convex.edge_start[b], convex.edge_start[b + 1]):
        b0, b1 = row(x, convex.edges[f, 0]), row(x, convex.edges[f, 1])
        if top - max(dot(b0, n), dot(b1, n)) <= margin and not is_along(subtract(b1, b0), n):
            near[nears] = f
            nears += 1
    for e in range(convex.edge_start[a], convex.edge_start[a + 1]):
        a0, a1 = row(x, convex.edges[e, 0]), row(x, convex.edges[e, 1])
        if min(dot(a0, n), dot(a1, n)) - bottom > margin:
            continue
        u = subtract(a1, a0)
        if is_along(u, n):
            continue
        for place in range(nears):
            f = near[place]
            b0, b1 = row(x, convex.edges[f, 0]), row(x, convex.edges[f, 1])
            v, r = subtract(b1, b0), subtract(b0, a0)
            area = dot(cross(u, v), n)
            if area * area < 1e-4 * dot(u, u) * dot(v, v):
                continue
            s, t = dot(cross(r, v), n) / area, dot(cross(r, u), n) / area
            if s < 1e-3 or s > 1 - 1e-3 or t < 1e-3 or t > 1 - 1e-3:
                continue
            gap = dot(a0, n) + s * dot(u, n) - dot(b0, n) - t * dot(v, n)
            if gap > 2 * margin or gap < -2 * margin - ahead:
                continue
            if count < len(room.kind):
                room.kind[count] = EDGE_EDGE
                for i in range(2):
                    room.vertices[count, i], room.vertices[count, i + 2] = convex.edges[e, i], convex.edges[f, i]
                room.weights[count, 0], room.weights[count, 1] = 1.0 - s, s
                room.weights[count, 2], room.weights[count, 3] = t - 1.0, -t
                for i in range(3):
                    room.normals[count, i] = n[i]
            count += 1
    return count

"""Cores of round rigid bodies on a way without intersections (decision 0030).

A sphere is a point with a radius, a capsule a segment with one: it touches a triangle or an edge if its core comes
nearer than the radius. Pairs of cores with triangles, edges and each other are few, and every core is compared with all
boxes; the proofs are those of near_pairs, a radius further out.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from pliant.contact.primitives.separation import direction, rounding_of
from pliant.contact.search.colliders import Colliders
from pliant.contact.search.initial_intersections import goes_through
from pliant.contact.search.near_pairs import NearPairs, pairs_of, points_at
from pliant.elements.closest import EDGE_EDGE, VERTEX_TRIANGLE, row
from pliant.lanes.compiled import cached, compiled, inlined
from pliant.model import ContactModel
from pliant.model.rigid_shapes import CORE


class Cores(NamedTuple):
    """c cores, and what they may touch."""

    ends: np.ndarray  # (c, 2) int32 vertices of the scene, at one place for a sphere
    radius: np.ndarray  # (c,) [m] of the surface around them
    is_long: np.ndarray  # (c,) bool: a capsule
    body: np.ndarray  # (n,) int32 of each vertex of the scene
    allowed: np.ndarray  # (bodies, bodies) bool
    triangles: np.ndarray  # (t, 3) int32
    edges: np.ndarray  # (e, 2) int32
    is_bare: np.ndarray  # (e,) bool: edges without triangles, of ropes


class Room(NamedTuple):
    """Where pairs are written, as of NearPairs."""

    kind: np.ndarray
    vertices: np.ndarray
    radius: np.ndarray


def cores_of(model: ContactModel, colliders: Colliders) -> Cores:
    """Those of the round bodies of a model.

    Pressing begins half a thickness outside the surface, for which `model.round_bodies.radius` is larger.
    """
    features, surface = model.round_bodies, colliders.surface
    chosen = np.flatnonzero(features.kind == CORE)
    ends = features.core_ends[chosen].astype(np.int32)
    are_apart: np.ndarray = np.any(features.ends[chosen, 0] != features.ends[chosen, 1], axis=1)
    touches = [~model.excluded[elements].any(axis=1) for elements in (surface.triangles, surface.edges)]
    is_bare: np.ndarray = np.all(colliders.faces_of_edge < 0, axis=1)
    return Cores(
        ends,
        features.radius[chosen] - model.radius[ends[:, 0]],
        are_apart,
        model.body.astype(np.int32),
        model.allowed,
        np.ascontiguousarray(surface.triangles[touches[0]]),
        np.ascontiguousarray(surface.edges[touches[1]]),
        is_bare[touches[1]],
    )


def core_pairs(cores: Cores, x0: np.ndarray, x1: np.ndarray, separation: float, kept: np.ndarray) -> NearPairs:
    """All with surfaces that may be nearer than a separation [m] on the way from x0 to x1, as of `near_pairs`."""
    count = 0 if not len(cores.ends) else 64
    while True:
        room = Room(np.empty(count, np.int8), np.empty((count, 4), np.int32), np.empty(count))
        found = cached(find_core_pairs)(cores, x0, x1, separation, room) if count else 0
        if found <= count:
            return pairs_of(room.kind[:found], room.vertices[:found], kept, room.radius[:found])
        count = found


def touching_cores(cores: Cores, x: np.ndarray) -> np.ndarray:
    """(k, 5) vertices of cores (two) and of triangles or edges (the last twice) that touch at x (n, 3) [m]."""
    pairs = core_pairs(cores, x, x, 0.0, np.zeros(len(x)))
    is_apart = np.empty(len(pairs.kind), bool)
    cached(mark_cores_apart)(cores, pairs, x, is_apart)
    v, at_faces = pairs.vertices[~is_apart], pairs.kind[~is_apart] == VERTEX_TRIANGLE
    of_face = np.column_stack([v[:, [0, 0]], v[:, 1:]])
    return np.where(at_faces[:, None], of_face, v[:, [0, 1, 2, 3, 3]]).astype(np.int32)


@compiled
def mark_cores_apart(cores, pairs, x, is_apart):
    for k in range(len(is_apart)):
        y = points_at(x, pairs.vertices, k)
        is_apart[k] = direction(pairs.kind[k], y)[2] > pairs.radius[k] + 2.0 * rounding_of(pairs.kind[k], y, y)
        if pairs.kind[k] == VERTEX_TRIANGLE:  # a long core may go through it far from both its ends
            for c in range(len(cores.ends)):
                if cores.ends[c, 0] == pairs.vertices[k, 0] and cores.is_long[c]:
                    is_apart[k] &= not goes_through(y[0], row(x, cores.ends[c, 1]), y[1], y[2], y[3])


@inlined
def boxes_meet(one, other, x0, x1, distance):
    """Whether boxes around the ways of some vertices and of others are nearer than a distance."""
    for axis in range(3):
        low, high, least, most = np.inf, -np.inf, np.inf, -np.inf
        for v in one:
            low, high = min(low, x0[v, axis], x1[v, axis]), max(high, x0[v, axis], x1[v, axis])
        for v in other:
            least, most = min(least, x0[v, axis], x1[v, axis]), max(most, x0[v, axis], x1[v, axis])
        if least > high + distance or most < low - distance:
            return False
    return True


@inlined
def write_pair(room, count, kind, a, b, c, d, radius):
    """Write a pair as number `count`, if there is room; how many there are then."""
    if count < len(room.kind):
        room.kind[count], room.radius[count] = kind, radius
        v = room.vertices[count]
        v[0], v[1], v[2], v[3] = a, b, c, d
    return count + 1


@compiled
def find_core_pairs(cores, x0, x1, separation, room):
    """How many pairs there are, of which those are written that there is room for."""
    count = 0
    for k in range(len(cores.ends)):
        a, b, r = cores.ends[k, 0], cores.ends[k, 1], cores.radius[k]
        allowed, reach = cores.allowed[cores.body[a]], r + separation
        for t in range(len(cores.triangles)):
            corners = cores.triangles[t]
            if not allowed[cores.body[corners[0]]] or not boxes_meet(cores.ends[k], corners, x0, x1, reach):
                continue
            count = write_pair(room, count, VERTEX_TRIANGLE, a, corners[0], corners[1], corners[2], r)
            if cores.is_long[k]:
                count = write_pair(room, count, VERTEX_TRIANGLE, b, corners[0], corners[1], corners[2], r)
        for e in range(len(cores.edges)):
            if not (cores.is_long[k] or cores.is_bare[e]) or not allowed[cores.body[cores.edges[e, 0]]]:
                continue
            if boxes_meet(cores.ends[k], cores.edges[e], x0, x1, reach):
                count = write_pair(room, count, EDGE_EDGE, a, b, cores.edges[e, 0], cores.edges[e, 1], r)
        for other in range(k + 1, len(cores.ends)):
            both, ends = r + cores.radius[other], cores.ends[other]
            if allowed[cores.body[ends[0]]] and boxes_meet(cores.ends[k], ends, x0, x1, both + separation):
                count = write_pair(room, count, EDGE_EDGE, a, b, ends[0], ends[1], both)
    return count

"""Pairs that may come near each other on a way, whether they stay apart on it, and pushing those apart that do not."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from pliant.contact.primitives.separation import APART, LEAST, MEETS, back_across, look
from pliant.contact.search.colliders import Colliders, across_seams
from pliant.contact.search.inversion import are_opposite
from pliant.contact.search.surface_pairs import surface_pairs
from pliant.elements.closest import EDGE_EDGE, VERTEX_TRIANGLE, combine, row
from pliant.kernels.threads import Team, share
from pliant.lanes.compiled import cached, compiled, inlined
from pliant.lanes.vectors import cross, dot, subtract

NANOSECONDS = 300  # that a look at a pair takes
BEYOND = 1e-3  # of the distance to be kept: by so much more a pair is pushed apart


class NearPairs(NamedTuple):
    """Pairs of a vertex and a triangle or of two edges, k in all."""

    kind: np.ndarray  # (k,) int8 VERTEX_TRIANGLE or EDGE_EDGE
    vertices: np.ndarray  # (k, 4) int32 of the scene
    kept: np.ndarray  # (k,) distances to be kept at least [m]
    radius: np.ndarray  # (k,) [m] around what they span: of cores of round bodies
    status: np.ndarray  # (k,) int8 APART, NEAR or MEETS (separation.look)

    @property
    def touching(self) -> np.ndarray:
        """Numbers of those that do not stay apart, in the order of their vertices."""
        found = np.flatnonzero(self.status != APART)
        v = self.vertices[found]
        return found[np.lexsort((v[:, 3], v[:, 2], v[:, 1], v[:, 0], self.kind[found]))]


def near_pairs(
    team: Team, colliders: Colliders, x0: np.ndarray, x1: np.ndarray, separation: float, kept: np.ndarray,
    ahead: float | None = None,
) -> NearPairs:  # fmt: skip
    """All that may be nearer than a separation [m] on the way from x0 to x1 (n, 3) [m].

    kept (n,): each vertex's share of the distance that pairs are to keep [m].
    """
    found, surface = surface_pairs(team, colliders, x0, x1, separation, ahead), colliders.surface
    first, second = found.of_edges
    if len(colliders.opposite):
        counts = ~are_opposite(colliders.opposite, len(surface.edges), first, second)
        first, second = first[counts], second[counts]
    m, k = len(found.at_triangles.first), len(found.at_triangles.first) + len(first)
    pairs = NearPairs(np.empty(k, np.int8), np.empty((k, 4), np.int32), np.empty(k), np.zeros(k), np.zeros(k, np.int8))
    of_two = (*found.at_triangles, first, second)
    team.run_for(10 * k, cached(write_pairs), *of_two, surface.vertices, surface.edges, surface.triangles, kept, pairs)
    if not len(colliders.stitched):
        return pairs
    v = pairs.vertices
    is_seam = np.concatenate(
        [across_seams(colliders, v[:m, :1], v[:m, 1:]), across_seams(colliders, v[m:, :2], v[m:, 2:])]
    )
    return NearPairs(*(array[~is_seam] for array in pairs))


@compiled
def write_pairs(
    thread, threads, barrier, vertices, at_triangles, edges, other_edges, points, edge_ends, corners, kept, pairs
):
    """Pairs of vertices and triangles, then of edges, by their vertices."""
    m, v = len(vertices), pairs.vertices
    first, last = share(0, len(v), thread, threads)
    for place in range(first, last):
        k = np.uint64(place)
        if place < m:
            pairs.kind[k], v[k, 0] = VERTEX_TRIANGLE, points[vertices[k], 0]
            for i in range(3):
                v[k, 1 + i] = corners[at_triangles[k], i]
        else:
            e = np.uint64(place - m)
            pairs.kind[k] = EDGE_EDGE
            for i in range(2):
                v[k, i], v[k, 2 + i] = edge_ends[edges[e], i], edge_ends[other_edges[e], i]
        pairs.kept[k] = kept[v[k, 0]] + kept[v[k, 2]]


def pairs_of(kind: np.ndarray, vertices: np.ndarray, kept: np.ndarray, radius: np.ndarray) -> NearPairs:
    """Pairs (k,) that nobody has looked at; kept (n,): as of `near_pairs`."""
    return NearPairs(kind, vertices, kept[vertices[:, 0]] + kept[vertices[:, 2]], radius, np.zeros(len(kind), np.int8))


def look_at_pairs(team: Team, pairs: NearPairs, x0: np.ndarray, x1: np.ndarray, has_moved: np.ndarray) -> None:
    """Bring the status of pairs up to date in which a vertex has moved, (n,) bool."""
    team.run_for(NANOSECONDS * len(pairs.kind), cached(write_status), pairs, x0, x1, has_moved)


@inlined
def points_at(x, vertices, k):
    return (
        row(x, vertices[k, 0]),
        row(x, vertices[k, 1]),
        row(x, vertices[k, 2]),
        row(x, vertices[k, 3]),
    )


@compiled
def write_status(thread, threads, barrier, pairs, x0, x1, has_moved):
    first, last = share(0, len(pairs.kind), thread, threads)
    v = pairs.vertices
    for k in range(first, last):
        if has_moved[v[k, 0]] or has_moved[v[k, 1]] or has_moved[v[k, 2]] or has_moved[v[k, 3]]:
            pairs.status[k] = look(
                pairs.kind[k], points_at(x0, v, k), points_at(x1, v, k), pairs.kept[k], pairs.radius[k]
            )[0]


class PushedBodies(NamedTuple):
    """Rigid bodies, which pushes of their points move as wholes. Motions are small, and summed up until the points are
    put where the bodies are.
    """

    of_vertex: np.ndarray  # (n,) int32 body of each vertex of the scene, -1 for others
    centres: np.ndarray  # (b, 3) [m] of mass
    inverse: np.ndarray  # (b, 6, 6) of the mass matrices
    motions: np.ndarray  # (b, 6) [m] and [rad]


def no_bodies(n: int) -> PushedBodies:
    """For a scene of n vertices without any."""
    return PushedBodies(np.full(n, -1, np.int32), np.zeros((0, 3)), np.zeros((0, 6, 6)), np.zeros((0, 6)))


@inlined
def pushed_place(x, v, bodies):
    """Where vertex v is with the motion of its body."""
    p, b = row(x, v), bodies.of_vertex[v]
    if b < 0:
        return p
    m, arm = bodies.motions[b], subtract(p, row(bodies.centres, b))
    turned = cross((m[3], m[4], m[5]), arm)
    return (p[0] + m[0] + turned[0], p[1] + m[1] + turned[1], p[2] + m[2] + turned[2])


@inlined
def pushed_points(x, vertices, k, bodies):
    return (
        pushed_place(x, vertices[k, 0], bodies),
        pushed_place(x, vertices[k, 1], bodies),
        pushed_place(x, vertices[k, 2], bodies),
        pushed_place(x, vertices[k, 3], bodies),
    )


@inlined
def load_of(weight, place, n, v, bodies):
    """Force and torque (6) on the body of vertex v of a unit push along n, times its weight."""
    t = cross(subtract(place, row(bodies.centres, bodies.of_vertex[v])), n)
    return (weight * n[0], weight * n[1], weight * n[2], weight * t[0], weight * t[1], weight * t[2])


@inlined
def yielding_of(load, body, bodies):
    """1 / kg: how far a body goes along a load, for a unit of it."""
    total = 0.0
    for i in range(6):
        for j in range(6):
            total += load[i] * bodies.inverse[body, i, j] * load[j]
    return total


@inlined
def push_body(load, size, body, bodies):
    for i in range(6):
        for j in range(6):
            bodies.motions[body, i] += size * bodies.inverse[body, i, j] * load[j]


@inlined
def sum_of_loads(first, last, w, y, n, v, k, bodies):
    total = (0.0, 0.0, 0.0, 0.0, 0.0, 0.0)
    for i in range(first, last):
        own = load_of(w[i], y[i], n, v[k, i], bodies)
        total = (
            total[0] + own[0],
            total[1] + own[1],
            total[2] + own[2],
            total[3] + own[3],
            total[4] + own[4],
            total[5] + own[5],
        )
    return total


@compiled
def push_pairs(chosen, pairs, x0, x1, inverse_mass, bodies, has_moved):
    """Push chosen pairs apart at x1, one after the other, as far as they are to be and along the direction in which
    they were last known to be apart; both sides by their masses, so that their momentum stays.
    """
    v = pairs.vertices
    for place in range(len(chosen)):
        k = chosen[place]
        y = pushed_points(x1, v, k, bodies)
        status, goal, w, n = look(pairs.kind[k], points_at(x0, v, k), y, pairs.kept[k], pairs.radius[k])
        if status == APART:
            continue
        wanted = pairs.radius[k] + goal * (1.0 + BEYOND)
        lacking = wanted - dot(n, combine(w, y))
        if status == MEETS and lacking <= 0.0:  # it turns on the way, and may end on the other side
            w, n = back_across(pairs.kind[k], points_at(x0, v, k), y, pairs.radius[k] + LEAST * goal)
            lacking = wanted - dot(n, combine(w, y))
        middle = 1 if pairs.kind[k] == VERTEX_TRIANGLE else 2
        total = yielding_of_side(0, middle, w, y, n, v, k, inverse_mass, bodies)
        total += yielding_of_side(middle, 4, w, y, n, v, k, inverse_mass, bodies)
        if lacking <= 0.0 or total <= 0.0 or dot(n, n) == 0.0:
            continue
        push_side(0, middle, lacking / total, w, y, n, v, k, x1, inverse_mass, bodies, has_moved)
        push_side(middle, 4, lacking / total, w, y, n, v, k, x1, inverse_mass, bodies, has_moved)


@inlined
def yielding_of_side(first, last, w, y, n, v, k, inverse_mass, bodies):
    body = bodies.of_vertex[v[k, first]]
    if body >= 0:
        return yielding_of(sum_of_loads(first, last, w, y, n, v, k, bodies), body, bodies)
    total = 0.0
    for i in range(first, last):
        total += w[i] * w[i] * inverse_mass[v[k, i]]
    return total


@inlined
def push_side(first, last, size, w, y, n, v, k, x1, inverse_mass, bodies, has_moved):
    """Push the vertices from first to last of a pair, or their body, with an impulse of some size along n."""
    body = bodies.of_vertex[v[k, first]]
    if body >= 0:
        push_body(sum_of_loads(first, last, w, y, n, v, k, bodies), size, body, bodies)
        has_moved[v[k, first]] = True
        return
    for i in range(first, last):
        share_of_it = size * w[i] * inverse_mass[v[k, i]]
        if share_of_it != 0.0:
            has_moved[v[k, i]] = True
            for axis in range(3):
                x1[v[k, i], axis] += share_of_it * n[axis]

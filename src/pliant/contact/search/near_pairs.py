"""Pairs that may come near each other on a way, whether they stay apart on it, and pushing those apart that do not."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from pliant.contact.primitives.separation import APART, look
from pliant.contact.search.broad_phase import edge_edge_pairs, vertex_triangle_pairs
from pliant.contact.search.colliders import Colliders, across_seams, fit_surface
from pliant.contact.search.inversion import are_opposite
from pliant.elements.closest import EDGE_EDGE, VERTEX_TRIANGLE, combine, row
from pliant.kernels.threads import Team, share
from pliant.lanes.compiled import cached, compiled, inlined
from pliant.lanes.vectors import dot

NANOSECONDS = 300  # that a look at a pair takes
BEYOND = 1e-3  # of the distance to be kept: by so much more a pair is pushed apart


class NearPairs(NamedTuple):
    """Pairs of a vertex and a triangle or of two edges, k in all."""

    kind: np.ndarray  # (k,) int8 VERTEX_TRIANGLE or EDGE_EDGE
    vertices: np.ndarray  # (k, 4) int32 of the scene
    kept: np.ndarray  # (k,) distances to be kept at least [m]
    status: np.ndarray  # (k,) int8 APART, NEAR or MEETS (separation.look)

    @property
    def touching(self) -> np.ndarray:
        """Numbers of those that do not stay apart, in the order of their vertices."""
        found = np.flatnonzero(self.status != APART)
        v = self.vertices[found]
        return found[np.lexsort((v[:, 3], v[:, 2], v[:, 1], v[:, 0], self.kind[found]))]


def near_pairs(
    team: Team, colliders: Colliders, x0: np.ndarray, x1: np.ndarray, separation: float, kept: np.ndarray
) -> NearPairs:
    """All that may be nearer than a separation [m] on the way from x0 to x1 (n, 3) [m].

    kept (n,): each vertex's share of the distance that pairs are to keep [m].
    """
    trees, surface, rules = fit_surface(team, colliders, x0, x1, separation), colliders.surface, colliders.rules
    first, second = vertex_triangle_pairs(team, trees, surface, rules)
    at_faces = np.column_stack([surface.vertices[first], surface.triangles[second]])
    first, second = edge_edge_pairs(team, trees, surface, rules)
    if len(colliders.opposite):
        counts = ~are_opposite(colliders.opposite, len(surface.edges), first, second)
        first, second = first[counts], second[counts]
    of_edges = np.column_stack([surface.edges[first], surface.edges[second]])
    at_faces = at_faces[~across_seams(colliders, at_faces[:, :1], at_faces[:, 1:])]
    of_edges = of_edges[~across_seams(colliders, of_edges[:, :2], of_edges[:, 2:])]
    vertices = np.concatenate([at_faces, of_edges]).astype(np.int32)
    kind = np.repeat(np.array([VERTEX_TRIANGLE, EDGE_EDGE], np.int8), [len(at_faces), len(of_edges)])
    return NearPairs(kind, vertices, kept[vertices[:, 0]] + kept[vertices[:, 2]], np.zeros(len(kind), np.int8))


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
            pairs.status[k] = look(pairs.kind[k], points_at(x0, v, k), points_at(x1, v, k), pairs.kept[k])[0]


@compiled
def push_pairs(chosen, pairs, x0, x1, inverse_mass, has_moved):
    """Push chosen pairs apart at x1, one after the other, as far as they are to be and along the direction in which
    they were last known to be apart; both sides by their masses, so that their momentum stays.
    """
    for place in range(len(chosen)):
        k = chosen[place]
        v = pairs.vertices
        status, goal, w, n = look(pairs.kind[k], points_at(x0, v, k), points_at(x1, v, k), pairs.kept[k])
        if status == APART:
            continue
        lacking = goal * (1.0 + BEYOND) - dot(n, combine(w, points_at(x1, v, k)))
        total = 0.0
        for i in range(4):
            total += w[i] * w[i] * inverse_mass[v[k, i]]
        if lacking <= 0.0 or total <= 0.0:
            continue
        for i in range(4):
            share_of_it = lacking * w[i] * inverse_mass[v[k, i]] / total
            if share_of_it != 0.0:
                has_moved[v[k, i]] = True
                for axis in range(3):
                    x1[v[k, i], axis] += share_of_it * n[axis]

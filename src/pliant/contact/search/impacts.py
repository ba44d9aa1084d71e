"""Pairs that meet on the way from one position to another: candidates from the trees, tested, described at impact."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from pliant.contact.contact_set import ContactSet, pair_contacts
from pliant.contact.search.colliders import Colliders, across_seams
from pliant.contact.search.inversion import are_opposite
from pliant.contact.search.motion import Motion
from pliant.contact.search.narrow_phase import Bodies, describe_impacts
from pliant.contact.search.overlaps import Pairs
from pliant.elements.closest import VERTEX_TRIANGLE
from pliant.kernels.threads import Team, share
from pliant.lanes.compiled import cached, compiled

COPYING = 20  # nanoseconds that it takes to copy an impact


class Impacts(NamedTuple):
    """Pairs of one kind that meet, with weights and normals at the time of impact."""

    first: np.ndarray  # (k,) vertices of the scene, or edges of the surface
    second: np.ndarray  # (k,) triangles of the surface, or edges
    vertices: np.ndarray  # (k, 4) of the scene
    weights: np.ndarray  # (k, 4)
    normals: np.ndarray  # (k, 3) from the second to the first
    side: np.ndarray  # (k,) int8 of the triangle, as in a ContactSet


def find_impacts(
    team: Team,
    colliders: Colliders,
    pairs: Pairs,
    kind: int,
    x0: np.ndarray,
    x1: np.ndarray,
    motion: Motion,
    near_too: bool,
    solids_too: bool,
) -> Impacts:
    """Those of candidates that meet between x0 and x1, do not come out of each other, and are neither of one tet nor
    neighbours across a seam; options as of `describe_impacts`.  motion: from x0 to x1.
    """
    surface, k = colliders.surface, len(pairs.first)
    weights, normals, side, is_impact = np.empty((k, 4)), np.empty((k, 3)), np.empty(k, np.int8), np.empty(k, bool)
    about = (colliders.radius, colliders.has_inside, colliders.is_closed, motion.start)
    bodies = Bodies(*surface, colliders.faces_of_edge, colliders.solid, *about)
    arguments = (kind, pairs, bodies, x0, x1, near_too, solids_too, weights, normals, side, is_impact)
    if k:
        team.run_for(250 * k, cached(describe_impacts), *arguments)
    chosen = np.flatnonzero(is_impact)
    count = max(len(surface.triangles), len(surface.edges))
    keys = pairs.first[chosen].astype(np.int64) * count + pairs.second[chosen]
    chosen = chosen[np.argsort(keys)]  # the order of trees depends on when they were built; each pair is there once
    impacts, found = _blank(len(chosen)), (pairs.first, pairs.second, weights, normals, side)
    team.run_for(COPYING * len(chosen), cached(write_impacts), kind, chosen, found, *surface, impacts)
    first, second, vertices = impacts[:3]
    if kind == VERTEX_TRIANGLE:
        is_of_two = colliders.patches.apex[second] != first
    else:
        is_of_two = ~are_opposite(colliders.opposite, len(surface.edges), first, second)
    own = 1 if kind == VERTEX_TRIANGLE else 2
    is_of_two &= ~across_seams(colliders, vertices[:, :own], vertices[:, own:])
    return chosen_of(impacts, is_of_two)


def _blank(k: int) -> Impacts:
    """Impacts to be filled in."""
    numbers = (np.empty(k, np.int32), np.empty(k, np.int32), np.empty((k, 4), np.int32))
    return Impacts(*numbers, np.empty((k, 4)), np.empty((k, 3)), np.empty(k, np.int8))


@compiled
def write_impacts(thread, threads, barrier, kind, chosen, found, points, edges, triangles, impacts):
    """Those of the pairs that are chosen, by the vertices of the scene."""
    first, second, weights, normals, side = found
    begin, end = share(0, len(chosen), thread, threads)
    for m in range(begin, end):
        k = np.uint64(chosen[m])
        a, b, v = np.uint64(first[k]), np.uint64(second[k]), impacts.vertices[np.uint64(m)]
        impacts.first[m], impacts.second[m], impacts.side[m] = first[k], second[k], side[k]
        if kind == VERTEX_TRIANGLE:
            impacts.first[m] = v[0] = points[a, 0]
            v[1], v[2], v[3] = triangles[b, 0], triangles[b, 1], triangles[b, 2]
        else:
            v[0], v[1], v[2], v[3] = edges[a, 0], edges[a, 1], edges[b, 0], edges[b, 1]
        for i in range(4):
            impacts.weights[m, i] = weights[k, i]
        for i in range(3):
            impacts.normals[m, i] = normals[k, i]


def chosen_of(impacts: Impacts, which: np.ndarray) -> Impacts:
    """Some of them, by a mask."""
    return impacts if which.all() else Impacts(*(array[which] for array in impacts))


def contacts_of(kind: int, impacts: Impacts, colliders: Colliders) -> ContactSet:
    """Contacts that hold back what meets, until the end of the step with the weights and normals at impact."""
    vertices = impacts.vertices
    return pair_contacts(
        kind, vertices, impacts.weights, impacts.normals, thickness_of(colliders, vertices), impacts.side
    )


def thickness_of(colliders: Colliders, vertices: np.ndarray) -> np.ndarray:
    """Distances (k,) [m] that pairs of vertices (k, 4) are to keep."""
    radius = colliders.radius
    return radius[vertices[:, 0]] + radius[vertices[:, 2]] if radius.any() else np.zeros(len(vertices))

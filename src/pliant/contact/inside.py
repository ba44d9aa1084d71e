"""Vertices inside solids, and the way out of each: the closest boundary point reachable through the solid
(ways_out.py).
"""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from pliant.contact.bvh import Tree
from pliant.contact.compiled import cached, compiled, inlined
from pliant.contact.motion import Motion
from pliant.contact.overlaps import Pairs, overlaps
from pliant.contact.sieve import VERTEX_TET, Sieve
from pliant.contact.solid import Solid
from pliant.contact.ways_out import search_exits
from pliant.kernels.threads import Team

if TYPE_CHECKING:
    from pliant.contact.broad_phase import Rules


class Exits(NamedTuple):
    """Ways out of vertices that are inside."""

    vertex: np.ndarray  # (k,) int32 vertex of the scene
    face: np.ndarray  # (k,) int32 boundary face of the solid, -1 where none is a way out
    corners: np.ndarray  # (k, 4) int32 the vertex and the face's corners
    weights: np.ndarray  # (k, 4) their signed weights
    normal: np.ndarray  # (k, 3) unit vector towards the way out
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
    unfolded: np.ndarray | None = None,
) -> Pairs:
    """Pairs (vertex, tet) of the vertices (v, 1) inside tets they are no corner of, at the start of a motion; each
    vertex by scene number, ascending, with its tets ascending.

    unfolded (bodies,) bool: bodies of which no vertex is in their own tets.
    """
    found = overlaps(team, vertex_tree, tet_tree, False, rules, Sieve(VERTEX_TET, motion, 0.0), unfolded)
    vertex = vertices[found.first, 0]
    start, pairs = np.zeros(len(rules.body) + 1, np.int64), Pairs(np.empty_like(vertex), np.empty_like(found.second))
    cached(sort_pairs)(vertex, found.second, start, pairs)
    return pairs


def find_exits(
    team: Team,
    pairs: Pairs,
    face_tree: Tree,
    solid: Solid,
    x: np.ndarray,
    motion: Motion,
    body: np.ndarray,
    unfolded: np.ndarray | None = None,
) -> Exits:
    """The way out for each vertex and each body it is in; of several tets of one body, the one nearest to the
    surface. The face is -1 where there is no way out at all.

    pairs: as of `vertices_in_tets`; motion: one that starts at x.
    unfolded (bodies,) bool: nearly convex bodies, in which every straight way is taken as one inside.
    """
    k = len(pairs.first)
    face, corners, weights, normal = (
        np.empty(k, np.int32),
        np.empty((k, 4), np.int32),
        np.empty((k, 4)),
        np.empty((k, 3)),
    )
    exits = Exits(pairs.first, face, corners, weights, normal, np.empty(k), np.empty(k, bool))
    unfolded = np.zeros(int(body.max(initial=0)) + 1, bool) if unfolded is None else unfolded
    team.run_for(400 * k, cached(search_exits), pairs, face_tree, solid, x, motion.start, body, unfolded, exits)
    is_best = np.empty(k, bool)
    cached(mark_best)(exits, pairs.second, solid.tets, body, is_best)
    return exits if is_best.all() else Exits(*(array[is_best] for array in exits))


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
def mark_best(exits, own_tets, tets, body, is_best):
    """One exit for each vertex and body it is in: a direct one, then the shortest, then the lowest face."""
    for k in range(len(is_best)):
        is_best[k] = True
        m = k
        while m > 0 and exits.vertex[m - 1] == exits.vertex[k]:  # those before lose to it, or it to them
            m -= 1
            if is_best[m] and body[tets[own_tets[m], 0]] == body[tets[own_tets[k], 0]]:
                is_best[k] = is_better(exits, k, m)
                is_best[m] = not is_best[k]


@inlined
def is_better(exits, k, m):
    """Whether exit k is better than exit m; one without a face is infinitely deep."""
    if exits.is_direct[k] != exits.is_direct[m]:
        return exits.is_direct[k]
    if exits.depth[k] != exits.depth[m]:
        return exits.depth[k] < exits.depth[m]
    return exits.face[k] < exits.face[m]

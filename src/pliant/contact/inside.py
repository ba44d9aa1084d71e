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
    weights: np.ndarray  # (k, 4) signed weights of the vertex and the face's corners
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
    vertex by scene number.

    unfolded (bodies,) bool: bodies of which no vertex is in their own tets.
    """
    found = overlaps(team, vertex_tree, tet_tree, False, rules, Sieve(VERTEX_TET, motion, 0.0), unfolded)
    vertex = vertices[found.first, 0]
    order = np.argsort(vertex * np.int64(len(solid.tets)) + found.second)  # no two are equal
    return Pairs(vertex[order], found.second[order])


def find_exits(
    team: Team,
    pairs: Pairs,
    face_tree: Tree,
    solid: Solid,
    x: np.ndarray,
    normals: np.ndarray,
    body: np.ndarray,
    unfolded: np.ndarray | None = None,
) -> Exits:
    """The way out for each vertex and each body it is in; of several tets of one body, the one nearest to the
    surface. The face is -1 where there is no way out at all.

    normals (k, 3): outward, at the vertices of the pairs, which are sorted by vertex.
    unfolded (bodies,) bool: nearly convex bodies, in which every straight way is taken as one inside.
    """
    k = len(pairs.first)
    exits = Exits(pairs.first, np.empty(k, np.int32), np.empty((k, 4)), np.empty(k), np.empty(k, bool))
    unfolded = np.zeros(int(body.max(initial=0)) + 1, bool) if unfolded is None else unfolded
    team.run_for(300 * k, cached(search_exits), pairs, face_tree, solid, x, normals, body, unfolded, exits)
    is_best = np.empty(k, bool)
    cached(mark_best)(exits, body[solid.tets[pairs.second, 0]], is_best)
    return Exits(*(array[is_best] for array in exits))


@compiled
def mark_best(exits, other, is_best):
    """One exit for each vertex and body (k,) it is in: a direct one, then the shortest, then the lowest face."""
    for k in range(len(is_best)):
        is_best[k] = True
        m = k
        while m > 0 and exits.vertex[m - 1] == exits.vertex[k]:  # those before lose to it, or it to them
            m -= 1
            if other[m] == other[k] and is_best[m]:
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

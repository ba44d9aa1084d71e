"""Pairs of the few vertices that go another way than was searched for, in place of those that are known of them."""

from __future__ import annotations

import numpy as np

from pliant.contact.search import bvh
from pliant.contact.search.broad_phase import Trees, vertex_triangle_pairs
from pliant.contact.search.ccd_culling import CcdCulling
from pliant.contact.search.colliders import Colliders
from pliant.contact.search.overlaps import Pairs, overlaps
from pliant.elements.closest import EDGE_EDGE
from pliant.kernels.threads import Team


def pairs_of_strayed(
    team: Team, colliders: Colliders, trees: Trees, is_far: np.ndarray, at_triangles: Pairs, of_edges: Pairs
) -> tuple[Pairs, Pairs]:
    """Pairs of vertices and triangles, and of edges, with those of primitives that have a vertex which has strayed,
    (n,) bool, as trees find them; others stay.
    """
    surface, rules = colliders.surface, colliders.rules
    vertices, edges, triangles = (is_far[v].any(axis=1) for v in (surface.vertices, surface.edges, surface.triangles))
    about = (trees.motion, rules.body)
    far_vertices = bvh.part(team, trees.vertices, vertices, surface.vertices, *about)
    far_triangles = bvh.part(team, trees.triangles, triangles, surface.triangles, *about)
    far_edges = bvh.part(team, trees.edges, edges, surface.edges, *about)
    first = vertex_triangle_pairs(team, trees._replace(vertices=far_vertices), surface, rules)
    second = vertex_triangle_pairs(team, trees._replace(triangles=far_triangles), surface, rules)
    culling = CcdCulling(EDGE_EDGE, trees.motion, trees.separation)
    both = overlaps(team, far_edges, trees.edges, False, rules, culling, trees.no_self_contact)
    both = _each_once(both, edges)
    return (
        _joined(_without(at_triangles, vertices, triangles), first, _without(second, vertices, None)),
        _joined(_without(of_edges, edges, edges), both),
    )


def _without(pairs: Pairs, first: np.ndarray, second: np.ndarray | None) -> Pairs:
    """Pairs of which neither the first nor the second is one of those, (m,) bool."""
    stays = ~first[pairs.first]
    if second is not None:
        stays &= ~second[pairs.second]
    return Pairs(pairs.first[stays], pairs.second[stays])


def _each_once(pairs: Pairs, are_far: np.ndarray) -> Pairs:
    """Pairs of edges of which the first has strayed, as pairs first < second; two that have strayed come twice."""
    stays = ~are_far[pairs.second] | (pairs.first < pairs.second)
    first, second = pairs.first[stays], pairs.second[stays]
    return Pairs(np.minimum(first, second), np.maximum(first, second))


def _joined(*parts: Pairs) -> Pairs:
    return Pairs(*(np.concatenate(arrays) for arrays in zip(*parts, strict=True)))

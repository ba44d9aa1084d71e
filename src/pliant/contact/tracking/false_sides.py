"""Sides that the mesh itself contradicts (decision 0167): where part of a sheet has gone through something, edges go
through triangles.

The nearest point of a patch jumps across a sharp fold, and past the corner of a rim. A vertex may then seem to be on
the wrong side, and would be pushed for ever against what lies on its own. If it had crossed, and a neighbour of it had
not, the edge between them, or one near it, would go through a triangle.
"""

from __future__ import annotations

import numpy as np

from pliant.contact.search.colliders import Colliders
from pliant.contact.search.initial_intersections import piercing_pairs
from pliant.contact.tracking.side_history import SideHistory, chosen_as_placed
from pliant.geometry.components import connected_components
from pliant.kernels.threads import Team

MOVED = 1e-4  # of the mean edge, at most


def without_false_sides(team: Team, colliders: Colliders, history: SideHistory, x: np.ndarray) -> SideHistory:
    """The history at positions x (n, 3) [m] where vertices that seem to have crossed a sheet, with neighbours that have
    not, but no edge through a triangle among them, are on the side on which they are.
    """
    surface = colliders.surface
    has_crossed = history.crossed & ~colliders.has_inside[surface.triangles[history.triangles, 0]]
    if not has_crossed.any():
        return history
    is_false = np.zeros(len(x), bool)
    is_false[history.vertices[has_crossed]] = True
    is_false = _contradicted(is_false, surface.edges, _piercing(team, colliders, x))
    if not is_false.any():
        return history
    of_edges = is_false[surface.edges[history.edges]].any(axis=(1, 2))
    return chosen_as_placed(history, has_crossed & is_false[history.vertices], of_edges, surface.edges, x)


def _piercing(team: Team, colliders: Colliders, x: np.ndarray) -> np.ndarray:
    """Vertices of edges that go through triangles, and of these. Vertices are moved a little, each in a way of its own:
    an edge that goes through the middle of a vertex goes through none of its triangles.
    """
    surface = colliders.surface
    edge = float(np.linalg.norm(x[surface.edges[:, 1]] - x[surface.edges[:, 0]], axis=1).mean())
    away = np.sin(np.arange(1.0, x.size + 1.0) ** 2).reshape(x.shape)  # without a pattern, the same in each step
    pairs = piercing_pairs(team, colliders, x + MOVED * edge * away)
    return np.concatenate([surface.edges[pairs[:, 0]].ravel(), surface.triangles[pairs[:, 1]].ravel()])


def _contradicted(seems: np.ndarray, edges: np.ndarray, piercing: np.ndarray) -> np.ndarray:
    """(n,) bool: which of those that seem to have crossed, (n,) bool, are in a connected part of them that has other
    neighbours, and of which none is in `piercing`.
    """
    count, ends = len(seems), seems[edges]
    part = connected_components(edges[ends.all(axis=1)], count)[1]
    has_others, pierces = np.zeros(count, bool), np.zeros(count, bool)
    has_others[part[edges[ends.any(axis=1) & ~ends.all(axis=1)].ravel()]] = True
    pierces[part[piercing]] = True
    return seems & has_others[part] & ~pierces[part]

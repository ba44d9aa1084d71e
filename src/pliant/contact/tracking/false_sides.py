"""Sides that the mesh itself contradicts (decision 0167): where part of a sheet has gone through something, edges go
through triangles.

The nearest point of a patch jumps across a sharp fold, and past the corner of a rim. A vertex may then seem to be on
the wrong side, and would be pushed for ever against what lies on its own. If it had crossed, and a neighbour of it had
not, the edge between them, or one near it, would go through a triangle.

Where a solid is crushed, its boundary folds in the same way, and a vertex seems to have come out behind a triangle
beside it. Its side is forgotten: vertices inside solids are found without a history (penetration.py).
"""

from __future__ import annotations

import math

import numpy as np

from pliant.contact.search.colliders import Colliders, any_of
from pliant.contact.search.initial_intersections import piercing_pairs
from pliant.contact.tracking.side_history import SideHistory, chosen_as_placed
from pliant.geometry.components import connected_components
from pliant.kernels.threads import Team
from pliant.lanes.compiled import cached, compiled

MOVED = 1e-4  # of the mean edge where it starts, at most
IRRATIONAL = 0.5 * (math.sqrt(5.0) - 1.0)


def without_false_sides(team: Team, colliders: Colliders, history: SideHistory, x: np.ndarray) -> SideHistory:
    """The history at positions x (n, 3) [m] where vertices that seem to have crossed a sheet, with neighbours that have
    not, but no edge through a triangle among them, are on the side on which they are; without the sides of such
    vertices of solids at solids.
    """
    surface, has_inside = colliders.surface, colliders.has_inside
    at_solid = has_inside[surface.triangles[history.triangles, 0]]
    of_solids = history.crossed & at_solid & has_inside[history.vertices]
    has_crossed = history.crossed & ~at_solid
    asked = of_solids | has_crossed
    if not asked.any():
        return history
    seems = np.zeros(len(x), bool)
    seems[history.vertices[asked]] = True
    is_false = _contradicted(team, colliders, seems, x)
    if not is_false.any():
        return history
    kept = ~(of_solids & is_false[history.vertices])
    history = SideHistory._make((*(array[kept] for array in history[:4]), *history[4:]))
    at_sheets = has_crossed[kept] & is_false[history.vertices]
    of_edges = is_false[surface.edges[history.edges]].any(axis=(1, 2))
    return chosen_as_placed(history, at_sheets, of_edges, surface.edges, x)


def _contradicted(team: Team, colliders: Colliders, seems: np.ndarray, x: np.ndarray) -> np.ndarray:
    """(n,) bool: which of those that seem to have crossed, (n,) bool, are in a connected part of them that has other
    neighbours, and of which none is of an edge that goes through a triangle, or of such a triangle.
    """
    count, edges = len(seems), colliders.surface.edges
    edges = edges[any_of(seems, edges)]
    is_within = seems[edges].all(axis=1)
    part = connected_components(edges[is_within], count)[1]
    has_others, pierces = np.zeros(count, bool), np.zeros(count, bool)
    has_others[part[edges[~is_within].ravel()]] = True
    has_others = seems & has_others[part]
    if has_others.any():
        pierces[part[_piercing(team, colliders, x, has_others)]] = True
    return has_others & ~pierces[part]


def _piercing(team: Team, colliders: Colliders, x: np.ndarray, among: np.ndarray) -> np.ndarray:
    """Vertices of edges that go through triangles, and of these, of pairs with a vertex among (n,) bool. All are moved
    a little, each in a way of its own: an edge that goes through the middle of a vertex goes through none of its
    triangles.
    """
    surface, moved = colliders.surface, np.empty_like(x)
    cached(move_a_little)(x, MOVED * colliders.edge, moved)
    pairs = piercing_pairs(team, colliders, moved, among)
    return np.concatenate([surface.edges[pairs[:, 0]].ravel(), surface.triangles[pairs[:, 1]].ravel()])


@compiled
def move_a_little(x, most, moved):
    """Positions (n, 3) [m], each moved by at most so much, without a pattern and the same in each step."""
    for i in range(len(x)):
        for k in range(3):
            number = float(3 * i + k + 1)
            part = number * number * IRRATIONAL
            moved[i, k] = x[i, k] + most * (2.0 * (part - math.floor(part)) - 1.0)

"""What is known of contacts, when a mesh is torn or elements are deleted.

before (n,): the vertex that each vertex was.  A triangle or an edge is found again by the vertices that its corners
were.  A triangle stays one; an edge or a vertex may have become several, and each of them inherits the sides of what it
was.  What was deleted is found nowhere, and neither are its sides.
"""

from __future__ import annotations

import numpy as np

from pliant.contact.search.colliders import Colliders
from pliant.contact.tracking.identity import places_among
from pliant.contact.tracking.multipliers import Multipliers
from pliant.contact.tracking.pressing import Pressing
from pliant.contact.tracking.side_history import SideHistory
from pliant.elements.closest import EDGE_EDGE, VERTEX_TRIANGLE


class Inheritance:
    """Which features of new colliders come from which of old ones."""

    def __init__(self, old: Colliders, new: Colliders, before: np.ndarray):
        self.old, self.new, self.before = old, new, before.astype(np.int32)
        now = _places(self.before[new.surface.triangles], old.surface.triangles)
        self.triangles = np.full(len(old.surface.triangles), -1, np.int64)  # where each old triangle is now; -1: gone
        self.triangles[now[now >= 0]] = np.flatnonzero(now >= 0)
        self.old_edge = _places_of_many(self.before[new.surface.edges], old.surface.edges)

    def sides(self, history: SideHistory) -> SideHistory:
        """The side history, of the new features."""
        row, vertices = _expand(history.vertices, self.before)
        triangles = self.triangles[history.triangles[row]]
        left = np.flatnonzero(triangles >= 0)
        row, vertices, triangles = row[left], vertices[left], triangles[left]
        orient = self.old.patches.orient[history.triangles[row]] * self.new.patches.orient[triangles]
        order = np.lexsort((triangles, vertices))
        edges, normals = self._edge_sides(history)
        return SideHistory(
            vertices[order].astype(np.int32),
            triangles[order].astype(np.int32),
            (history.sides[row] * orient)[order],
            history.crossed[row][order],
            edges,
            normals,
        )

    def _edge_sides(self, history: SideHistory) -> tuple[np.ndarray, np.ndarray]:
        """Pairs of new edges (b, 2) and their normals (b, 3)."""
        row, first = _expand(history.edges[:, 0], self.old_edge)
        again, second = _expand(history.edges[row, 1], self.old_edge)
        row, first = row[again], first[again]
        ends, others = self.new.surface.edges[first], self.new.surface.edges[second]
        is_apart = (ends[:, :, None] != others[:, None, :]).all(axis=(1, 2))
        row, first, second = row[is_apart], first[is_apart], second[is_apart]
        sign = np.where(first < second, 1.0, -1.0)
        pairs = np.column_stack([np.minimum(first, second), np.maximum(first, second)]).astype(np.int32)
        order = np.lexsort((pairs[:, 1], pairs[:, 0]))
        return pairs[order], (sign[:, None] * history.normals[row])[order]

    def pressing(self, known: Pressing, parties: int) -> Pressing:
        """Who pressed whom, of the new vertices."""
        row, vertices = _expand(known.keys // parties, self.before)
        keys, first = np.unique(vertices * np.int64(parties) + known.keys[row] % parties, return_index=True)
        return Pressing(keys, *(values[row][first] for values in (known.depths, known.loads, known.shortfalls)))

    def multipliers(self, kept: Multipliers) -> Multipliers:
        """Forces are not doubled: of several edges or vertices the first takes them over."""
        ids, is_left, surface = kept.ids.copy(), np.ones(len(kept.ids), bool), self.old.surface
        edges = np.full(len(surface.edges), -1, np.int64)
        known = np.flatnonzero(self.old_edge >= 0)[::-1]
        edges[self.old_edge[known]] = known  # the first of several is written last
        features = (
            (VERTEX_TRIANGLE, slice(2, 5), surface.triangles, self.new.surface.triangles, self.triangles),
            (EDGE_EDGE, slice(1, 3), surface.edges, self.new.surface.edges, edges),
            (EDGE_EDGE, slice(3, 5), surface.edges, self.new.surface.edges, edges),
        )
        for kind, columns, old, new, now_of_old in features:
            rows = np.flatnonzero(ids[:, 0] == kind)
            place = _places_of_many(ids[rows, columns], old)
            now = np.where(place >= 0, now_of_old[place], -1) if len(now_of_old) else place
            is_left[rows[now < 0]] = False
            rows, now = rows[now >= 0], now[now >= 0]
            ids[rows, columns] = np.sort(new[now], axis=1)
        first, second = ids[:, [1, 2]].astype(np.int64), ids[:, [3, 4]].astype(np.int64)
        is_later = (first - second) @ (len(self.before), 1) > 0
        swap = np.flatnonzero((ids[:, 0] == EDGE_EDGE) & is_later)
        ids[swap, 1:] = ids[swap][:, [3, 4, 1, 2]]
        return Multipliers(*(array[is_left] for array in kept._replace(ids=ids)))


def _places(corners: np.ndarray, known: np.ndarray) -> np.ndarray:
    """(k,) where each row of corners (k, c) is among the known (l, c), in any order of corners; each place once."""
    return places_among(np.sort(corners, axis=1), np.sort(known, axis=1))


def _places_of_many(corners: np.ndarray, known: np.ndarray) -> np.ndarray:
    """The same, but several rows may have one place."""
    if not len(known) or not len(corners):
        return np.full(len(corners), -1, np.int64)
    names, first = np.unique(np.sort(corners, axis=1), axis=0, return_inverse=True)
    return _places(names, known)[first.ravel()]


def _expand(values: np.ndarray, origin: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """For each of values (m,): all i with origin[i] equal to it.  Returns which value (l,), and i (l,)."""
    order = np.argsort(origin, kind="stable")
    first, last = np.searchsorted(origin[order], values), np.searchsorted(origin[order], values, side="right")
    count = last - first
    row = np.repeat(np.arange(len(values)), count)
    return row, order[np.arange(len(row)) - np.repeat(np.cumsum(count) - count, count) + np.repeat(first, count)]

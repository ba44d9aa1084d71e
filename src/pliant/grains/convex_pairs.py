"""Contacts of convex rigid bodies with each other as rows, by the plane between them (contact.search.convex_pairs)."""

from __future__ import annotations

import numpy as np

from pliant.constraints.rows import CONTACT, Rows, with_room
from pliant.contact.contact_set import ContactSet
from pliant.contact.response.friction import set_friction
from pliant.contact.search.convex_bodies import convex_bodies
from pliant.contact.search.convex_pairs import PlaneSearch, bounds_of
from pliant.grains.record import OVERLAP_PART
from pliant.grains.touching import BARE
from pliant.model import CARRIED, FREE, Model

SOURCES = 1 << 28  # numbers of what is opposite, above those of all others


class ConvexPairs:
    """Finds them; `is_convex` (bodies,) says between whom."""

    def __init__(self, model: Model):
        contact = model.contact
        assert contact is not None
        self.model = model
        bodies = len(contact.allowed)
        is_rigid = np.bincount(contact.body, model.subspace == FREE, bodies) == 0
        convex = convex_bodies(contact.triangles, contact.positions, contact.body, is_rigid)
        self._search = PlaneSearch(convex)
        self.is_convex = np.diff(convex.start) > 0
        self._moves = np.bincount(contact.body, model.subspace == CARRIED, bodies) > 0
        self._allowed = contact.allowed & (self._moves[:, None] | self._moves[None, :])

    def unseen(self) -> tuple[int, int] | None:
        """Two bodies that may touch and whose contacts nobody finds: surfaces of which one is not convex; else None."""
        contact, model = self.model.contact, self.model
        assert contact is not None
        bodies, bare = len(contact.allowed), contact.radius == 0
        corners = np.concatenate([contact.triangles.ravel(), contact.tets.ravel()])
        has_surface = np.bincount(contact.body[corners], bare[corners], bodies) > 0
        moves = np.bincount(contact.body, model.subspace != 0, bodies) > 0
        for a in np.flatnonzero(has_surface & moves):
            for b in np.flatnonzero(has_surface & contact.allowed[a]):
                if a != b and not (self.is_convex[a] and self.is_convex[b]):
                    return int(a), int(b)
        return None

    def append(
        self, rows: Rows, count: int, x: np.ndarray, carrier_of: np.ndarray, centres: np.ndarray
    ) -> tuple[Rows, int]:
        """Write contacts at x (n, 3) [m] into rows after the first `count`; the rows, longer if they had to be, and how
        many there are now. carrier_of (n,) and centres (b, 3) [m]: as of constraints.levers.
        """
        contact = self.model.contact
        assert contact is not None
        if self.is_convex.sum() < 2:
            return rows, count
        bounds = bounds_of(self._search.convex, x, x, contact.edge)
        found = self._search.contacts(x, x, bounds, self._allowed)[0]
        if not found.size:
            return rows, count
        set_friction(found, contact)
        rows = with_room(rows, count + found.size, count)
        self._write(rows, slice(count, count + found.size), found, x, carrier_of, centres)
        return rows, count + found.size

    def _write(
        self, rows: Rows, at: slice, found: ContactSet, x: np.ndarray, carrier_of: np.ndarray, centres: np.ndarray
    ) -> None:
        contact = self.model.contact
        assert contact is not None
        v, weights, n = found.vertices.astype(np.int64), found.weights, found.normals
        here, there = (np.einsum("ki,kia->ka", np.maximum(sign * weights, 0.0), x[v]) for sign in (1.0, -1.0))
        size = BARE * np.minimum(contact.edge[v[:, 0]], contact.edge[v[:, 3]])
        gap = np.einsum("ka,ka->k", n, here - there)
        is_edge = weights[:, 1] > 0
        opposite = np.where(is_edge[:, None], v[:, [2, 3, 3]], v[:, 1:])
        shares = np.where(is_edge[:, None], np.column_stack([-weights[:, 2:], 0 * gap]), -weights[:, 1:])
        numbers = (opposite * (73856093, 19349663, 83492791)).sum(axis=1) + is_edge * v[:, 1]
        rows.kind[at] = CONTACT
        rows.vertices[at] = np.column_stack([v[:, 0], opposite])
        rows.source[at] = SOURCES + numbers % SOURCES
        rows.weights[at], rows.separation[at] = shares, here - there + size[:, None] * n
        rows.normal[at], rows.tangent[at] = n, _any_tangents(n)
        rows.rest[at] = size + np.minimum(gap + OVERLAP_PART * size, 0.0)
        rows.friction[at] = found.friction
        rows.compliance[at], rows.factor[at], rows.impulse[at] = 0.0, 1.0, 0.0
        rows.rolling[at] = 0.0
        for side, (vertex, place) in enumerate(((v[:, 0], here), (opposite[:, 0], there))):
            body = carrier_of[vertex]
            rows.carrier[at, side] = body
            levers = np.where((body >= 0)[:, None], place - centres[np.maximum(body, 0)], 0.0)
            rows.levers[at, 3 * side : 3 * side + 3] = levers


def _any_tangents(n: np.ndarray) -> np.ndarray:
    """Unit vectors (k, 3) across n (k, 3)."""
    t = np.cross(n, np.eye(3)[np.argmin(np.abs(n), axis=1)])
    return t / np.linalg.norm(t, axis=1, keepdims=True)

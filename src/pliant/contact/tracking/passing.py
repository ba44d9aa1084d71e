"""What has gone through something on the way to the end of a step that is not over (decision 0090)."""

from __future__ import annotations

from itertools import combinations
from typing import NamedTuple

import numpy as np

from pliant.contact.contact_set import ContactSet, chosen, gaps, joined
from pliant.contact.search.colliders import Colliders
from pliant.contact.search.initial_intersections import piercing_pairs
from pliant.contact.tracking.pressing import Parties, Pressing, pressed_before
from pliant.contact.tracking.side_history import SideHistory, prune
from pliant.elements.closest import VERTEX_TRIANGLE
from pliant.kernels.threads import Team

CLOSE = 0.2  # of the distance that a pair keeps: with less left, intersections are looked for
FAST = 0.25  # of an edge in a step: solids that move further, seen from each other, are left to contact forces


class Ahead(NamedTuple):
    """What is known of the positions at which a step would end."""

    x: np.ndarray  # (n, 3) [m]
    history: SideHistory
    no_self_contact: np.ndarray  # (bodies,) bool: who does not touch itself on the way
    least_width: float  # [m] of all tets, at most


class Skipped(NamedTuple):
    """Who is not held apart."""

    keys: np.ndarray  # vertex * bodies + body: who intersects whom where the step begins, so that it can get out, or
    # started so near to it that it settles there
    body: np.ndarray  # (n,) of each vertex
    is_solid: np.ndarray  # (n,) bool
    motion: np.ndarray  # (n, 3) [m] of vertices in the step
    size: np.ndarray  # (n,) [m] of an edge of the body
    is_convex: np.ndarray  # (bodies,) bool: rigid bodies whose distance and depth planes tell

    def pairs(self, vertices: np.ndarray, own: np.ndarray | int) -> np.ndarray:
        """(k,) bool: pairs with vertices (k, m), of which the first `own` are one side's, of bodies that intersect
        there, of two convex rigid bodies, or of solids that meet fast: what is inside is known to be, and is pushed out
        again. A solid is not held apart from itself at all if a vertex of it is fast, or intersects it.
        """
        is_first = np.arange(vertices.shape[1]) < np.broadcast_to(own, len(vertices))[:, None]
        one, other = self.body[vertices[:, 0]], self.body[vertices[:, 2]]
        against = np.where(is_first, other[:, None], one[:, None])
        intersect = np.isin(vertices * np.int64(self.body.max() + 1) + against, self.keys).any(axis=1)
        is_crushed = (one == other) & self.crushed[one]
        are_convex = self.is_convex[one] & self.is_convex[other]
        are_solid = self.is_solid[vertices[:, [0, 2]]].all(axis=1)
        return intersect | are_convex | (are_solid & (is_crushed | self._is_fast(vertices, is_first)))

    def _is_fast(self, vertices: np.ndarray, is_first: np.ndarray) -> np.ndarray:
        """(k,) bool: whether two vertices of a pair (k, m), of different sides, move far, as seen from each other."""
        found, m = np.zeros(len(vertices), bool), vertices.shape[1]
        for i, j in combinations(range(m), 2):
            one, other = vertices[:, i], vertices[:, j]
            way = np.linalg.norm(self.motion[one] - self.motion[other], axis=1)
            is_far = way > FAST * np.minimum(self.size[one], self.size[other])
            found |= (is_first[:, i] != is_first[:, j]) & is_far
        return found

    @property
    def crushed(self) -> np.ndarray:
        """(bodies,) bool: bodies that intersect themselves, or of which a vertex is fast."""
        count = int(self.body.max()) + 1
        vertex, against = np.divmod(self.keys, count)
        found = np.zeros(count, bool)
        found[self.body[np.linalg.norm(self.motion, axis=1) > FAST * self.size]] = True
        found[against[self.body[vertex] == against]] = True
        return found

    def contacts(self, contacts: ContactSet) -> np.ndarray:
        """(k,) bool: the same for contacts; those with obstacles are not among them."""
        are_skipped, between = np.zeros(contacts.size, bool), np.flatnonzero(contacts.obstacle < 0)
        own = np.where(contacts.kind[between] == VERTEX_TRIANGLE, 1, 2)
        are_skipped[between] = self.pairs(contacts.vertices[between], own)
        return are_skipped


def passing(
    team: Team, colliders: Colliders, edge: np.ndarray, is_convex: np.ndarray, ahead: Ahead, contacts: ContactSet,
    x_prev: np.ndarray, known: tuple[Parties, Pressing | None], are_near: bool,
) -> Skipped | None:  # fmt: skip
    """Who is not to be held, if others go through anything on the way from x_prev (n, 3) [m]; None if nothing does that
    keeps a distance. edge (n,) [m]: mean of the bodies; is_convex (bodies,) bool: rigid ones that are; contacts: of the
    step; known: who pressed in the step before, None as a simulation starts; are_near: whether solids are near to
    convex rigid bodies, of which pairs are not tracked.
    """
    comes_close, settling = _comes_close(team, colliders, ahead, contacts, x_prev, known)
    if not (comes_close or are_near):
        return None
    pierced = _pierced(team, colliders, ahead.x)
    pierced = pierced[(colliders.radius[pierced] > 0).any(axis=1)]
    body = colliders.rules.body
    about = (body, colliders.has_inside, ahead.x - x_prev, edge, is_convex)
    skipped = Skipped(settling, *about)
    pierced = pierced[~skipped.pairs(pierced, 2)]
    if not len(pierced):
        return None
    skipped = skipped._replace(keys=np.union1d(settling, intersecting(team, colliders, x_prev)))
    return None if skipped.pairs(pierced, 2).all() else skipped


def _comes_close(
    team: Team,
    colliders: Colliders,
    ahead: Ahead,
    contacts: ContactSet,
    x_prev: np.ndarray,
    known: tuple[Parties, Pressing | None],
) -> tuple[bool, np.ndarray]:
    """Whether a pair that is tracked, or a contact of the step, has little left of the distance that it keeps; and
    keys, as of Skipped, of those that started with hardly any: they settle, and are left to contact forces unless they
    are deep.
    """
    tracked = prune(team, colliders, ahead.history, ahead.x)[1]
    both = joined(chosen(contacts, np.flatnonzero(contacts.obstacle < 0)), tracked)
    if not both.size:
        return False, np.zeros(0, np.int64)
    kept, gap = both.thickness + both.offset, gaps(both, ahead.x) + both.thickness
    if known[1] is None:
        short = np.clip(kept - (gaps(both, x_prev) + both.thickness), 0.0, kept)
    else:
        short = np.minimum(pressed_before(team, both, *known).shortfalls, kept)
    settles = (short > (1.0 - CLOSE) * kept) & (gap > -CLOSE * kept)
    comes_close = ((gap < CLOSE * (kept - short)) & ~settles & (kept > 0)).any()
    v, body = both.vertices[settles], colliders.rules.body
    own = np.where(both.kind[settles] == VERTEX_TRIANGLE, 1, 2)
    return bool(comes_close), np.unique(v * np.int64(body.max() + 1) + _others(v, own, body))


def _pierced(team: Team, colliders: Colliders, x: np.ndarray) -> np.ndarray:
    """(k, 5) vertices of edges that go through triangles, and of these, at positions x (n, 3) [m]."""
    pairs, surface = piercing_pairs(team, colliders, x), colliders.surface
    return np.column_stack([surface.edges[pairs[:, 0]], surface.triangles[pairs[:, 1]]])


def intersecting(team: Team, colliders: Colliders, x: np.ndarray) -> np.ndarray:
    """Keys, as of Skipped, of what intersects at positions x (n, 3) [m]."""
    pierced, body = _pierced(team, colliders, x), colliders.rules.body
    return np.unique(pierced * np.int64(body.max() + 1) + _others(pierced, 2, body))


def _others(vertices: np.ndarray, own: np.ndarray | int, body: np.ndarray) -> np.ndarray:
    """(k, m) the body on the other side of each of the vertices (k, m), of which the first `own` are one side's."""
    is_first = np.arange(vertices.shape[1]) < np.broadcast_to(own, len(vertices))[:, None]
    return np.where(is_first, body[vertices[:, 2:3]], body[vertices[:, :1]])

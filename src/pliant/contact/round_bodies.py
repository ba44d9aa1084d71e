"""Contacts of rigid spheres, capsules and cylinders, exactly where there are formulas.

A sphere is a point with a radius, a capsule a segment with one: against triangles, edges, obstacles with formulas and
each other their distance is that of the cores less the radii. A cylinder meets obstacles with the rims of its ends and
with its side; meshes meet the prism it is drawn as.

A round body touches at another of its points in every step, and friction has to act at that point. So each contact
takes one of the body's sliding points (model.rigid) and puts it where the surface will touch at the end of the step, as
it is expected when the step begins. Within the step the point is material: it turns with the body, rolls and sticks.
"""

from __future__ import annotations

import logging
from dataclasses import dataclass, field

import numpy as np

from pliant.contact.contact_set import (
    ContactSet,
    chosen,
    empty_contacts,
    no_contacts,
    pair_contacts,
    write_unanswered,
)
from pliant.contact.search.colliders import Colliders
from pliant.contact.search.round_search import BOX, Found, Parts, find_obstacle, find_pairs
from pliant.contact.tracking.duplicates import without_duplicates
from pliant.elements.closest import EDGE_EDGE, VERTEX_OBSTACLE, VERTEX_TRIANGLE, row
from pliant.lanes.compiled import cached, compiled, inlined
from pliant.lanes.vectors import add_scaled
from pliant.model import ContactModel
from pliant.model.carried import CORNERS, CarriedPoints
from pliant.model.rigid_shapes import CORE

logger = logging.getLogger("pliant")

SKIN = 1e-3  # of the stiffness of a contact: what its point on the surface has, for friction to follow from
HARD_SKIN = 0.1  # the same of hard contacts, whose friction is as stiff as the surface point
ON_SKIN, AT_CORE = 1, 2  # where the contact of a sliding point is


def _room(k: int) -> Found:
    places, opposite, motions, normals = (np.zeros((k, 3)) for _ in range(4))
    who = (np.zeros(k, np.int64), np.full(k, -1), np.zeros((k, 4), np.int32), np.zeros((k, 4)))
    return Found(*who, places, opposite, motions, normals, np.zeros(k))


@dataclass
class RoundDetector:
    """Finds contacts of round bodies once per step, and slides their points there."""

    model: ContactModel
    colliders: Colliders
    contacts: ContactSet = field(default_factory=no_contacts)  # of this step
    _parts: Parts = field(init=False)
    _boxes: np.ndarray = field(init=False)  # room for those of bodies
    _vertices: np.ndarray = field(init=False)  # (s,) all sliding points
    _masses: np.ndarray = field(init=False)  # (s, 4) the mass points of their bodies
    _offsets: np.ndarray = field(init=False)  # (s, 4, 3) [m] of these in the bodies' axes
    _is_sliding: np.ndarray = field(
        init=False
    )  # (n + 1,) whether a vertex is one; the last for those that are not there
    _resting: np.ndarray = field(init=False)  # (s, 4) weights of these that give the points that no contact has
    _rooms: dict[int, Found] = field(default_factory=dict)  # by the number of the obstacle
    _nothing: Found = field(default_factory=lambda: _room(0))
    _told: bool = False
    _role: np.ndarray = field(init=False)  # (n,) int8 AT_CORE or ON_SKIN of sliding points with contacts in this step
    _rows: tuple[np.ndarray, np.ndarray] | None = None  # carried points, and rows of the sliding ones among them

    def __post_init__(self) -> None:
        surface, body, bodies = self.colliders.surface, self.model.body, len(self.model.allowed)
        parts = []
        taking_part = [e[~self.model.excluded[e].any(axis=1)] for e in (surface.triangles, surface.edges)]
        corners = np.unique(np.concatenate([elements.ravel() for elements in taking_part]))[:, None]
        for elements in (*taking_part, corners):
            order = np.argsort(body[elements[:, 0]], kind="stable")
            sorted_ = np.ascontiguousarray(elements[order])
            parts += [sorted_, np.searchsorted(body[sorted_[:, 0]], np.arange(bodies + 1))]
        parts[4] = parts[4].ravel()
        self._parts, self._boxes = Parts(*parts), np.empty((bodies, BOX))
        features = self.model.round_bodies
        owner = np.repeat(np.arange(len(features.kind)), np.diff(features.sliding_start))
        self._vertices = features.sliding  # in order, as those of a body are and bodies follow each other
        self._masses, self._offsets = (features.masses[:, None] + np.arange(4))[owner], features.offsets[owner]
        self._is_sliding = np.zeros(len(body) + 1, bool)
        self._is_sliding[self._vertices] = True
        self._role = np.zeros(len(body), np.int8)
        self._resting = np.full((len(self._vertices), 4), 0.25)  # at the centre

    def __bool__(self) -> bool:
        return len(self.model.round_bodies.kind) > 0

    def slide(
        self,
        x0: np.ndarray,
        x1: np.ndarray,
        time: float,
        h: float,
        carried: CarriedPoints | None,
        y: np.ndarray | None = None,
    ) -> None:
        """Find the contacts of the step from x0 to the guess x1 (n, 3) [m], and put sliding points there: in both, in
        the targets y (n, 3) [m], and in the offsets of what carries them.
        """
        weights = self._resting.copy()
        self.contacts = self._placed(self.nearby(x0, x1, time, h), x1, weights)
        targets, rows = x1 if y is None else y, self._rows_in(carried)
        offsets = self._offsets[:0, 0] if carried is None else carried.offsets
        cached(place_sliding)(self._vertices, self._masses, self._offsets, weights, x0, x1, targets, rows, offsets)

    def _rows_in(self, carried: CarriedPoints | None) -> np.ndarray:
        """(s,) rows of the sliding points among those that bodies carry, -1 where none does."""
        if carried is None:
            return np.full(len(self._vertices), -1)
        if self._rows is None or self._rows[0] is not carried.points:
            self._rows = (carried.points, carried.row_of(self._vertices))
        return self._rows[1]

    def nearby(self, x0: np.ndarray, x1: np.ndarray, time: float, h: float) -> list[tuple[int, Found]]:
        """Contacts with each obstacle by its number, and with bodies (-1)."""
        features, model = self.model.round_bodies, self.model
        found = []
        for k, shape in enumerate(model.shapes):
            rows = (shape.kind, shape.row(time), shape.row(time + h))
            found.append((k, self._grown(k, find_obstacle, features, *rows, x0, x1)))
        rules = (model.allowed, model.radius)
        found.append((-1, self._grown(-1, find_pairs, features, self._parts, *rules, x0, x1, self._boxes)))
        return found

    def _grown(self, obstacle: int, function: object, *arguments: object) -> Found:
        """What a compiled search finds, in as much room as it needs: a view of it, until the next search."""
        if obstacle not in self._rooms:
            self._rooms[obstacle] = _room(64)
        room = self._rooms[obstacle]
        room.other.fill(-1)
        while (count := cached(function)(*arguments, room)) > len(room.gaps):
            room = self._rooms[obstacle] = _room(2 * count)
        return Found(*(array[:count] for array in room)) if count else self._nothing

    def _placed(self, found: list[tuple[int, Found]], x1: np.ndarray, weights: np.ndarray) -> ContactSet:
        """Contacts that have sliding points, and weights (s, 4) of the mass points that give the places of those."""
        features, parts, size = self.model.round_bodies, [], 0
        used = np.zeros(len(features.kind), np.int64)
        self._role[self._vertices] = 0
        for obstacle, all_of_them in found:
            if not len(all_of_them.gaps):
                continue
            own = all_of_them if obstacle >= 0 else _without_repeats(all_of_them)
            order, taken = np.argsort(own.gaps, kind="stable"), np.empty((len(own.gaps), 4), np.int64)
            surfaces, cores = cached(take_points)(own, order, features, used, taken)
            self._tell(len(taken) - surfaces)
            parts.append((obstacle, own, taken, size, size + surfaces))
            size += surfaces + cores
        if not size:
            return no_contacts()
        contacts, about = empty_contacts(size), (features, self.model.radius, x1)
        for part in parts:
            cached(write_round)(*part, *about, contacts, weights, self._role)
        return contacts

    def forget_drifts(self, contacts: ContactSet) -> None:
        """Sliding points are others in every step: they have not moved."""
        if self:
            contacts.drift[self._is_sliding[contacts.vertices].any(axis=1)] = 0.0

    def share_answers(self, contacts: ContactSet, is_hard: bool = False) -> None:
        """Let cores press and surfaces rub: what a core's contact has of friction, that of the surface has, for a small
        part of the stiffness.
        """
        if self.contacts.size:
            cached(share_with_skins)(contacts, self._role, HARD_SKIN if is_hard else SKIN)

    def _tell(self, left_out: int) -> None:
        if left_out and not self._told:
            self._told = True
            logger.warning(
                "a round rigid body has more contacts than sliding points; the %d least deep of a step are left out. "
                "Coarser meshes around it have fewer.",
                left_out,
                extra={"entry": "too-many-contacts"},
            )


def _without_repeats(found: Found) -> Found:
    """Each end of a core with each corner, edge or face once, though neighbouring triangles see it."""
    is_round = found.other >= 0
    names = found.weights.copy()
    names[is_round] = [1.0, -1.0, 0.0, 0.0]
    arrays = (found.vertices, names, found.normals, np.arange(len(is_round), dtype=float))
    numbered = pair_contacts(VERTEX_TRIANGLE, *arrays, np.zeros(len(is_round)))
    kept = np.sort(
        np.concatenate([without_duplicates(chosen(numbered, ~is_round)).thickness, np.flatnonzero(is_round)])
    )
    return Found(*(array[kept.astype(int)] for array in found))


@compiled
def take_points(own, order, features, used, taken):
    """Sliding points of contacts, by their rows among all: taken (k, 4) on the surface of the feature and of the other
    one, and on their cores; -1 where there is none left. order (k,): who is first, the deepest; used (f,): how many of
    each feature are taken. How many contacts have points, and how many of them cores.
    """
    surfaces, cores = 0, 0
    for place in range(len(order)):
        k = order[place]
        f, g = own.feature[k], own.other[k]
        needed = 2 if features.kind[f] == CORE else 1
        for i in range(4):
            taken[k, i] = -1
        if not (has_points(f, needed, features, used) and (g < 0 or has_points(g, needed, features, used))):
            continue
        for side in range(2 if g >= 0 else 1):
            feature = f if side == 0 else g
            for i in range(needed):
                taken[k, side + 2 * i] = features.sliding_start[feature] + used[feature] + i
            used[feature] += needed
        surfaces, cores = surfaces + 1, cores + (needed == 2)
    return surfaces, cores


@inlined
def has_points(feature, needed, features, used):
    return features.sliding_start[feature] + used[feature] + needed <= features.sliding_start[feature + 1]


@compiled
def write_round(obstacle, own, taken, at_surface, at_core, features, radius, x, contacts, weights, role):
    """Contacts at the surfaces, from number `at_surface` on, and at the cores, from `at_core` on, with an obstacle, or
    with bodies (-1); weights of their sliding points (s, 4), and roles (n,).
    """
    for k in range(len(taken)):
        if taken[k, 0] < 0:
            continue
        write_contact(at_surface, k, 0, 0.0, obstacle, own, taken, features, radius, x, contacts, weights)
        at_surface += 1
        if features.kind[own.feature[k]] == CORE:
            role[features.sliding[taken[k, 0]]], role[features.sliding[taken[k, 2]]] = ON_SKIN, AT_CORE
            write_contact(at_core, k, 2, 1.0, obstacle, own, taken, features, radius, x, contacts, weights)
            at_core += 1


@compiled
def write_contact(c, k, side, part, obstacle, own, taken, features, radius, x, contacts, weights):
    """Contact c of the points taken[k, side] and, of round bodies, taken[k, side + 1], part of the radii inside."""
    f, g, n = own.feature[k], own.other[k], row(own.normals, k)
    point, r, s = features.sliding[taken[k, side]], part * features.radius[f], 0.0
    write_weights(features.masses[f], add_scaled(row(own.places, k), r, n), x, taken[k, side], weights)
    if obstacle >= 0:
        write_unanswered(c, VERTEX_OBSTACLE, obstacle, r, contacts)
    elif g >= 0:
        s = part * features.radius[g]
        write_unanswered(c, EDGE_EDGE, -1, r + s, contacts)
        write_weights(features.masses[g], add_scaled(row(own.opposite, k), -s, n), x, taken[k, side + 1], weights)
    else:
        write_unanswered(c, VERTEX_TRIANGLE, -1, r + radius[own.vertices[k, 2]], contacts)
    for i in range(4):
        if obstacle >= 0:
            contacts.vertices[c, i], contacts.weights[c, i] = -1, 0.0
        else:
            contacts.vertices[c, i], contacts.weights[c, i] = own.vertices[k, i], own.weights[k, i]
    if obstacle < 0 and g >= 0:
        opposite = features.sliding[taken[k, side + 1]]
        contacts.vertices[c, 1], contacts.vertices[c, 2], contacts.vertices[c, 3] = point, opposite, opposite
        contacts.weights[c, 1], contacts.weights[c, 2], contacts.weights[c, 3] = 0.0, -1.0, 0.0
    contacts.vertices[c, 0] = point
    contacts.weights[c, 0] = 1.0 if obstacle >= 0 or g >= 0 else own.weights[k, 0]
    for axis in range(3):
        contacts.normals[c, axis] = n[axis]
        contacts.points[c, axis] = own.opposite[k, axis] if obstacle >= 0 else 0.0
        contacts.motions[c, axis] = own.motions[k, axis] if obstacle >= 0 else 0.0


@inlined
def write_weights(first, place, x, k, weights):
    """As of model.carried.weights_of, along the principal axes that four mass points span, of which one is first."""
    for i in range(4):
        weights[k, i] = 0.25
    for a in range(3):
        along, square = 0.0, 0.0
        for axis in range(3):
            span, middle = 0.0, 0.0
            for i in range(4):
                p = x[first + i, axis]
                span, middle = span + CORNERS[i, a] * p, middle + p
            along += 0.25 * span * (place[axis] - 0.25 * middle)
            square += (0.25 * span) ** 2
        for i in range(4):
            weights[k, i] += 0.25 * CORNERS[i, a] * (along / square)


@compiled
def place_sliding(vertices, masses, offsets, weights, x0, x1, targets, rows, of_bodies):
    """Put points where weights (s, 4) of mass points (s, 4) say, in three positions (n, 3) [m] and, from the offsets
    (s, 4, 3) [m] of these, in the bodies that carry them.
    """
    for k in range(len(vertices)):
        v = np.uint64(vertices[k])
        for axis in range(3):
            start, guess, target, offset = 0.0, 0.0, 0.0, 0.0
            for i in range(4):
                w, m = weights[k, i], np.uint64(masses[k, i])
                start, guess = start + w * x0[m, axis], guess + w * x1[m, axis]
                target, offset = target + w * targets[m, axis], offset + w * offsets[k, i, axis]
            x0[v, axis], x1[v, axis], targets[v, axis] = start, guess, target
            if rows[k] >= 0:
                of_bodies[rows[k], axis] = offset


@compiled
def share_with_skins(contacts, role, part):
    for c in range(len(contacts.kind)):
        own = role[contacts.vertices[c, 0]]
        if own == AT_CORE:
            contacts.friction[c] = 0.0
        elif own == ON_SKIN:
            contacts.stiffness[c] *= part
            contacts.friction[c] /= part

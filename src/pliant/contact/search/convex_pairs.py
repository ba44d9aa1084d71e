"""Contacts of convex rigid bodies that are near each other: what lies on both sides of the plane between them.

Hard contacts rest without penetration, so that detection by penetration or by motion would find them in one step and
not in the next; and where corners and edges lie on each other, closest points have no direction. Two convex bodies have
a plane between them: that of the axis along which they overlap least, among the normals of their faces and the cross
products of their edges (the separating axis theorem). Contacts are

    corners of one body near the plane above a face of the other,
    edges of both near the plane that cross,

with the axis as normal. They hold for the step. Bodies that may meet in it have their plane too: what is between them
then does not press before it is met (decision 0075).
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from pliant.contact.contact_set import ContactSet, chosen, no_contacts, pair_contacts
from pliant.contact.search.box_axes import BOX, pairs_of_boxes, write_box_axes
from pliant.contact.search.box_pairs import BoxSearch
from pliant.contact.search.convex_bodies import ConvexBodies
from pliant.contact.search.plane_contacts import add_contacts_of_pair, room_for
from pliant.contact.search.separating_axes import axes_for, separating_axis, write_axes
from pliant.elements.closest import row
from pliant.lanes.compiled import cached, compiled
from pliant.lanes.vectors import dot, subtract
from pliant.model import ContactModel

NEAR = 0.02  # of the mean edge: bodies that are nearer have their plane
SLOW = 0.25  # of its width that a body goes in a step: planes of faster ones do not look ahead


class Bounds(NamedTuple):
    """Of c convex bodies, on their way in a step."""

    own: np.ndarray  # (c,) by their numbers
    low: np.ndarray  # (c, 3) [m] of a box around the way, wider by the margin
    high: np.ndarray  # (c, 3)
    margin: np.ndarray  # (c,) [m]
    shift: np.ndarray  # (c, 3) [m] mean motion of the corners
    turn: np.ndarray  # (c,) [m] the largest motion of a corner against that
    is_slow: np.ndarray  # (bodies,) whether it goes less than a part of its width: nothing passes it by


def bounds_of(convex: ConvexBodies, x0: np.ndarray, x1: np.ndarray, edge: np.ndarray) -> Bounds:
    """From x0 to x1 (n, 3) [m]; edge (n,) [m] of the bodies."""
    c = len(convex.own)
    rooms = (np.empty((c, 3)), np.empty((c, 3)), np.empty(c), np.empty((c, 3)), np.empty(c))
    bounds = Bounds(convex.own, *rooms, np.ones(len(convex.width), bool))
    if c:
        cached(write_bounds)(convex, x0, x1, edge, bounds)
    return bounds


@compiled
def write_bounds(convex, x0, x1, edge, bounds):
    for i in range(len(bounds.own)):
        b = bounds.own[i]
        first, last = convex.start[b], convex.start[b + 1]
        margin, longest, furthest = NEAR * edge[convex.vertices[first]], 0.0, 0.0
        for axis in range(3):
            low, high, total = np.inf, -np.inf, 0.0
            for k in range(first, last):
                p, q = x0[convex.vertices[k], axis], x1[convex.vertices[k], axis]
                low, high, total = min(low, min(p, q)), max(high, max(p, q)), total + (q - p)
            bounds.low[i, axis], bounds.high[i, axis] = low - margin, high + margin
            bounds.shift[i, axis] = total / (last - first)
        for k in range(first, last):
            way = subtract(row(x1, convex.vertices[k]), row(x0, convex.vertices[k]))
            rest = subtract(way, row(bounds.shift, i))
            longest, furthest = max(longest, dot(way, way)), max(furthest, dot(rest, rest))
        bounds.margin[i], bounds.turn[i] = margin, furthest**0.5
        bounds.is_slow[b] = longest <= (SLOW * convex.width[b]) ** 2


class PlaneSearch:
    """Finds contacts of convex bodies. Its arrays serve again in the next search, which writes over what it has found:
    to find room for them takes as long as half of the search.
    """

    def __init__(self, convex: ConvexBodies):
        self.convex = convex
        self.room = room_for(convex, 0)
        self._axes, self._boxes = axes_for(convex), pairs_of_boxes(len(convex.width), 0)
        self._near = BoxSearch()

    def find(self, x0: np.ndarray, x1: np.ndarray, bounds: Bounds, may_touch: np.ndarray) -> tuple[int, np.ndarray]:
        """How many contacts a step from x0 to the guess x1 (n, 3) [m] has, which are the first in `room`, and (m, 2) of
        which pairs of bodies they are; bounds of this step, may_touch (bodies, bodies).
        """
        convex, none = self.convex, np.zeros((0, 2), np.int64)
        pairs = self._near.pairs(bounds.low, bounds.high) if len(bounds.own) > 1 else none
        if not len(pairs):
            return 0, none
        if len(pairs) > len(self._boxes.margins):
            self._boxes = pairs_of_boxes(len(convex.width), 2 * len(pairs))
        are_near = np.zeros(len(pairs), bool)
        arguments = (convex, x0, x1, bounds, pairs, may_touch, are_near, self._axes, self._boxes)
        while (count := cached(find_contacts)(*arguments, self.room)) > len(self.room.kind):
            self.room = room_for(convex, 2 * count)
        return count, bounds.own[pairs[are_near]]

    def contacts(
        self, x0: np.ndarray, x1: np.ndarray, bounds: Bounds, may_touch: np.ndarray
    ) -> tuple[ContactSet, np.ndarray]:
        """What `find` finds."""
        count, near = self.find(x0, x1, bounds, may_touch)
        if not count:
            return no_contacts(), near
        kind, vertices, weights, normals = (array[:count] for array in self.room[:4])
        return pair_contacts(kind, vertices, weights, normals, np.zeros(count), np.zeros(count, np.int8)), near


def with_planes(
    search: PlaneSearch,
    pairs: tuple[ContactSet, ...],
    x0: np.ndarray,
    x1: np.ndarray,
    model: ContactModel,
    bounds: Bounds | None,
) -> tuple[ContactSet, ...]:
    """Contacts, with planes between convex bodies that are near each other from x0 to x1 (n, 3) [m] in place of all
    others that those have; bodies so slow that planes look ahead have none but planes. bounds of this step, if they are
    known.
    """
    convex = search.convex
    if len(convex.own) < 2:
        return pairs
    bounds = bounds_of(convex, x0, x1, model.edge) if bounds is None else bounds
    own, near = search.contacts(x0, x1, bounds, model.allowed)
    kept = model.radius + model.clearance
    own.thickness[:] = kept[own.vertices[:, 0]] + kept[own.vertices[:, 2]]
    is_slow = (convex.width > 0) & bounds.is_slow
    return (own, *(_without_pairs(part, near, is_slow, model.body) for part in pairs))


def _without_pairs(contacts: ContactSet, pairs: np.ndarray, is_slow: np.ndarray, body: np.ndarray) -> ContactSet:
    """Contacts that are between other bodies than some pairs (m, 2) and two slow ones, is_slow (bodies,); body (n,) of
    each vertex.
    """
    if not contacts.size:
        return contacts
    own, bodies = body[contacts.vertices[:, [0, 2]]].astype(np.int64), int(body.max()) + 1
    names, others = (side.min(axis=1) * bodies + side.max(axis=1) for side in (pairs, own))
    return chosen(contacts, ~np.isin(others, names) & ~is_slow[own].all(axis=1))


@compiled
def find_contacts(convex, x0, x1, bounds, pairs, may_touch, are_near, axes, boxes, room):
    """The plane is that of the start of the step; who is above whom is seen where bodies would be without contact."""
    count, place = 0, 0
    write_axes(convex, x0, axes, boxes.boxes)
    write_box_axes(list_boxes(convex, bounds, pairs, may_touch, boxes), boxes)
    for p in range(len(pairs)):
        i, j = pairs[p, 0], pairs[p, 1]
        a, b = bounds.own[i], bounds.own[j]
        if not may_touch[a, b]:
            continue
        margin = min(bounds.margin[i], bounds.margin[j])
        way = subtract(row(bounds.shift, i), row(bounds.shift, j))
        looks_ahead = bounds.is_slow[a] and bounds.is_slow[b]
        ahead = dot(way, way) ** 0.5 + bounds.turn[i] + bounds.turn[j] if looks_ahead else 0.0
        x, before = x1 if looks_ahead else x0, count
        if convex.is_box[a] and convex.is_box[b]:
            overlap, n = boxes.axes[place, 3], row(boxes.axes, place)
            place += 1
        else:
            overlap, n = separating_axis(convex, axes, a, b, margin, margin + ahead)
        if overlap < -margin - ahead:
            continue
        count = add_contacts_of_pair(convex, x, a, b, n, margin, room, count)
        if overlap >= -margin or count > before:
            are_near[p] = True
    return count


@compiled
def list_boxes(convex, bounds, pairs, may_touch, boxes):
    """Pairs that may touch and are boxes; how many there are."""
    count = 0
    for p in range(len(pairs)):
        i, j = pairs[p, 0], pairs[p, 1]
        a, b = bounds.own[i], bounds.own[j]
        if may_touch[a, b] and convex.is_box[a] and convex.is_box[b]:
            boxes.first[count], boxes.second[count] = a * BOX, b * BOX
            boxes.margins[count] = min(bounds.margin[i], bounds.margin[j])
            count += 1
    return count

"""The record of a contact, from detection to force: one struct of arrays.

Detection makes sets of contacts, `joined` puts them into the one of a step, solvers refresh and read it, and the
report, the recorders and `Simulation.contacts` measure forces from it.
"""

from __future__ import annotations

from functools import cache
from typing import NamedTuple

import numpy as np

from pliant.elements.closest import FACE_OBSTACLE, VERTEX_OBSTACLE, closest_separation, positions_of, row
from pliant.lanes.compiled import cached, compiled, inlined
from pliant.lanes.vectors import dot

FACE_THICKNESS = 0.5  # of that of vertices, for edges and triangles at obstacles: a sheet may follow a round one


class ContactSet(NamedTuple):
    """k contacts: a vertex and a triangle, two edges, or an obstacle with a formula and a vertex or a point of an edge
    or a triangle.

    With the signed weights w, s = sum_i w_i x_i (less the obstacle's point) leads from the second side to the first,
    and the contact presses with the depth d = max(0, thickness - s . n) (VBD, Equation 12). What was found late, when
    it penetrated already, presses by the offset less than it penetrates: the thickness is less by it (decision 0024).
    A hard contact presses by more: its offset is less by lambda over its stiffness (decision 0028).
    """

    # who: tracking.identity makes ids of these that last from step to step
    kind: np.ndarray  # (k,) int8 VERTEX_TRIANGLE, EDGE_EDGE, VERTEX_OBSTACLE or FACE_OBSTACLE
    vertices: np.ndarray  # (k, 4) int32 vertices of the scene, -1 where there are fewer
    obstacle: np.ndarray  # (k,) int32 number of the obstacle, -1 where there is none
    # where
    weights: np.ndarray  # (k, 4) signed weights of the vertices; they sum to 0, with an obstacle to 1
    points: np.ndarray  # (k, 3) of the obstacle at the end of the step [m]
    motions: np.ndarray  # (k, 3) of that point in the step [m]
    normals: np.ndarray  # (k, 3) unit vector n from the second side to the first
    thickness: np.ndarray  # (k,) distance at which it begins to press [m]: that to be kept, less the offset
    offset: np.ndarray  # (k,) part of the penetration that does not press [m]
    side: np.ndarray  # (k,) int8 1 or -1: of the triangle, by its winding, that the vertex is on; 0 without a triangle
    updates_closest_point: np.ndarray  # (k,) bool: weights and normal change with the positions (VBD 3.5)
    # how it answers
    stiffness: np.ndarray  # (k,) [N/m]
    friction: np.ndarray  # (k,) coefficient mu
    friction_limit: np.ndarray  # (k,) mu k d of the last refresh [N]
    normal_multiplier: np.ndarray  # (k,) lambda >= 0 [N]; 0 unless a solver accumulates it
    tangential_multiplier: np.ndarray  # (k, 3) lambda_T, across the normal [N]; likewise
    # of hard contacts (decision 0028), zero for others
    tangential_shift: np.ndarray  # (k, 3) [m] added to the motion along the surface that friction resists
    earlier_multiplier: np.ndarray  # (k,) lambda at the end of the step before [N]
    drift: np.ndarray  # (k, 3) [m] how far a sticking contact has moved along the surface since it stuck

    @property
    def size(self) -> int:
        """How many contacts there are."""
        return len(self.kind)


def pair_contacts(
    kind: int | np.ndarray,
    vertices: np.ndarray,
    weights: np.ndarray,
    normals: np.ndarray,
    thickness: np.ndarray,
    side: np.ndarray,
    updates_closest_point: bool = False,
) -> ContactSet:
    """Contacts between vertices (k, 4) of the scene; what they answer with is still zero."""
    k = len(vertices)
    return ContactSet(
        np.full(k, kind, np.int8) if np.ndim(kind) == 0 else np.asarray(kind, np.int8),
        np.ascontiguousarray(vertices, np.int32),
        np.full(k, -1, np.int32),
        weights,
        np.zeros((k, 3)),
        np.zeros((k, 3)),
        normals,
        thickness,
        np.zeros(k),
        np.asarray(side, np.int8),
        np.full(k, updates_closest_point),
        *_no_answers(k),
    )


def obstacle_contacts(
    obstacle: int,
    vertices: np.ndarray,
    points: np.ndarray,
    motions: np.ndarray,
    normals: np.ndarray,
    thickness: np.ndarray,
) -> ContactSet:
    """Contacts of vertices (k,) of the scene with one obstacle; what they answer with is still zero."""
    corners, weights = np.full((len(vertices), 4), -1, np.int32), np.zeros((len(vertices), 4))
    corners[:, 0], weights[:, 0] = vertices, 1.0
    return _with_obstacle(VERTEX_OBSTACLE, obstacle, corners, weights, points, motions, normals, thickness)


def face_contacts(
    obstacle: int,
    corners: np.ndarray,
    weights: np.ndarray,
    points: np.ndarray,
    motions: np.ndarray,
    normals: np.ndarray,
    thickness: np.ndarray,
) -> ContactSet:
    """Contacts of points of edges or triangles, with corners (k, 3), the last -1 for an edge, and weights (k, 3) that
    sum to 1, with one obstacle; what they answer with is still zero.
    """
    k = len(corners)
    four = np.column_stack([corners, np.full(k, -1)]).astype(np.int32)
    weights = np.column_stack([weights, np.zeros(k)])
    return _with_obstacle(FACE_OBSTACLE, obstacle, four, weights, points, motions, normals, thickness)


def _with_obstacle(
    kind: int,
    obstacle: int,
    corners: np.ndarray,
    weights: np.ndarray,
    points: np.ndarray,
    motions: np.ndarray,
    normals: np.ndarray,
    thickness: np.ndarray,
) -> ContactSet:
    k = len(corners)
    return ContactSet(
        np.full(k, kind, np.int8),
        corners,
        np.full(k, obstacle, np.int32),
        weights,
        points,
        motions,
        normals,
        thickness,
        np.zeros(k),
        np.zeros(k, np.int8),
        np.zeros(k, bool),
        *_no_answers(k),
    )


def _no_answers(k: int) -> tuple[np.ndarray, ...]:
    return *(np.zeros(k) for _ in range(4)), np.zeros((k, 3)), np.zeros((k, 3)), np.zeros(k), np.zeros((k, 3))


def empty_contacts(k: int) -> ContactSet:
    """Room for k contacts, of which nothing is written."""
    three, four = (k, 3), (k, 4)
    who = (np.empty(k, np.int8), np.empty(four, np.int32), np.empty(k, np.int32))
    where = (np.empty(four), np.empty(three), np.empty(three), np.empty(three), np.empty(k), np.empty(k))
    answers = (np.empty(k), np.empty(k), np.empty(k), np.empty(k), np.empty(three), np.empty(three), np.empty(k))
    return ContactSet(*who, *where, np.empty(k, np.int8), np.empty(k, bool), *answers, np.empty(three))


@cache
def no_contacts() -> ContactSet:
    """The empty set."""
    nothing = np.zeros(0)
    return pair_contacts(0, np.zeros((0, 4)), np.zeros((0, 4)), np.zeros((0, 3)), nothing, nothing)


def chosen(contacts: ContactSet, which: np.ndarray) -> ContactSet:
    """Some of them, by a mask or by numbers."""
    if which.dtype == bool:
        if which.all():
            return contacts
        which = np.flatnonzero(which)
    if not len(which):
        return no_contacts()
    return ContactSet(*(array.take(which, axis=0) for array in contacts))


def joined(*sets: ContactSet) -> ContactSet:
    """One set after another."""
    full = [contacts for contacts in sets if contacts.size]
    if len(full) < 2:
        return full[0] if full else no_contacts()
    return ContactSet(*(np.concatenate(arrays) for arrays in zip(*full, strict=True)))


def depths(contacts: ContactSet, x: np.ndarray) -> np.ndarray:
    """Depth d (k,) [m] with which they press at positions x (n, 3) [m]."""
    return np.maximum(-gaps(contacts, x), 0.0)


def gaps(contacts: ContactSet, x: np.ndarray) -> np.ndarray:
    """Distance beyond the thickness (k,) [m] at positions x (n, 3) [m]; negative where a contact presses."""
    distances = np.empty(contacts.size)
    if contacts.size:
        cached(write_gaps)(contacts, x, distances)
    return distances


def penetrations(contacts: ContactSet, x: np.ndarray) -> np.ndarray:
    """How much nearer than the distance to be kept (k,) [m] they are at positions x (n, 3) [m], pressing or not."""
    return np.maximum(contacts.offset - gaps(contacts, x), 0.0)


@compiled
def write_gaps(contacts, x, distances):
    for place in range(len(distances)):
        c = np.uint64(place)
        s = closest_separation(c, positions_of(c, contacts, x), contacts)
        distances[c] = dot(s, row(contacts.normals, c)) - contacts.thickness[c]


@inlined
def write_unanswered(c, kind, obstacle, thickness, contacts):
    """What a contact is, and zero for all that it answers with."""
    contacts.kind[c], contacts.obstacle[c], contacts.side[c] = kind, obstacle, 0
    contacts.thickness[c], contacts.offset[c], contacts.updates_closest_point[c] = thickness, 0.0, False
    contacts.stiffness[c], contacts.friction[c], contacts.friction_limit[c] = 0.0, 0.0, 0.0
    contacts.normal_multiplier[c], contacts.earlier_multiplier[c] = 0.0, 0.0
    for axis in range(3):
        contacts.tangential_multiplier[c, axis], contacts.tangential_shift[c, axis] = 0.0, 0.0
        contacts.drift[c, axis] = 0.0

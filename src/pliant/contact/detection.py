"""Detection: what penetrates now, what would hit on the way from one position to another, and what to remember of it.

Both read Colliders and positions and return Contacts.  Neighbouring triangles that see a vertex at their common edge,
and edges that are closest at an end, tell of the same contact: it is listed once.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from pliant.contact.broad_phase import edge_edge_pairs, vertex_triangle_pairs
from pliant.contact.colliders import Colliders, check_positions, fit_surface, fit_trees
from pliant.contact.contacts import Contacts, joined, no_contacts
from pliant.contact.distances import EDGE_EDGE, VERTEX_TRIANGLE
from pliant.contact.inside import Exits, find_exits, vertices_in_tets
from pliant.contact.meetings import contacts_of, find_meetings, sides_of, unknown
from pliant.contact.memory import Memory, no_memory, settled
from pliant.contact.motion import motion_of
from pliant.contact.overlaps import overlaps
from pliant.contact.pair import are_sharp
from pliant.contact.repetition import without_repetition
from pliant.contact.sieve import Sieve
from pliant.kernels.threads import Team

SHARP = 0.97  # cosine of half the angle between the faces of an edge, below which (28 degrees) a solid is sharp there


class Penetrations(NamedTuple):
    """What penetrates at one moment."""

    contacts: Contacts
    inside: int  # vertices inside solids
    indirect_exits: int  # of which so many have no straight way out, and are pushed to the nearest face
    without_exit: int  # and so many have none at all, and are not among the contacts


def discrete_contacts(team: Team, colliders: Colliders, x: np.ndarray, memory: Memory | None = None) -> Contacts:
    """What penetrates at positions x (n, 3) [m]: vertices inside solids, and what is near or has crossed a sheet.

    memory: what `remember` has found for x; None: sides are as they are at x.
    """
    return find_penetrations(team, colliders, x, memory).contacts


def find_penetrations(
    team: Team, colliders: Colliders, x: np.ndarray, memory: Memory | None = None, unfolded: np.ndarray | None = None
) -> Penetrations:
    """`discrete_contacts`, and how vertices inside solids fare.

    unfolded (bodies,) bool: who is known to be unfolded at x; None: that is to be found out.
    """
    x = check_positions(x, colliders, "the position")
    if memory is None:
        memory = remember(team, colliders, no_memory(), x, x)
    if unfolded is None:
        unfolded = colliders.unfolded.mark(team, x, x, 0.0, len(colliders.rules.allowed))
    inside, indirect, lost = _inside_contacts(team, colliders, x, unfolded)
    contacts = settled(colliders.patches, colliders.surface.edges, colliders.radius, memory, x)[1]
    contacts = without_repetition(joined(inside, _without_those_inside(contacts, inside, colliders)))
    return Penetrations(contacts, len(inside.kind) + lost, indirect, lost)


def continuous_contacts(
    team: Team, colliders: Colliders, x0: np.ndarray, x1: np.ndarray, memory: Memory | None = None
) -> Contacts:
    """What hits between positions x0 and x1 (n, 3) [m], with weights and normals at the time of impact.

    Pairs that discrete detection finds at x0 are not repeated, and nothing stops what leaves a solid from inside or
    comes back from the wrong side of a sheet, as `memory` tells for x0.
    """
    x0, x1 = check_positions(x0, colliders, "the start"), check_positions(x1, colliders, "the position")
    trees = fit_surface(team, colliders, x0, x1, 2.0 * colliders.radius.max(initial=0.0))
    lists = []
    for kind, find in ((VERTEX_TRIANGLE, vertex_triangle_pairs), (EDGE_EDGE, edge_edge_pairs)):
        pairs = find(team, trees, colliders.surface, colliders.rules)
        meetings = find_meetings(team, colliders, pairs, kind, x0, x1, trees.motion, near_too=False, solids_too=True)
        if memory is not None:
            meetings = unknown(meetings, kind, colliders, memory, x0)
        lists.append(meetings.contacts)
    return without_repetition(joined(*lists))


def remember(
    team: Team, colliders: Colliders, memory: Memory, x0: np.ndarray, x1: np.ndarray, solids_too: bool = False
) -> Memory:
    """Sides of all pairs that are near or have crossed at x1 (n, 3) [m], from those at x0 and the motion between.

    solids_too: also of vertices of solids that may have passed through a solid.
    """
    x0, x1 = check_positions(x0, colliders, "the start"), check_positions(x1, colliders, "the position")
    trees = fit_surface(team, colliders, x0, x1, 2.0 * colliders.radius.max(initial=0.0))
    options = {"near_too": True, "solids_too": solids_too}
    near_triangles = vertex_triangle_pairs(team, trees, colliders.surface, colliders.rules)
    vertices = find_meetings(team, colliders, near_triangles, VERTEX_TRIANGLE, x0, x1, trees.motion, **options)
    sides = sides_of(vertices, colliders, memory, x0, x1)
    near_edges = edge_edge_pairs(team, trees, colliders.surface, colliders.rules)
    edges = find_meetings(team, colliders, near_edges, EDGE_EDGE, x0, x1, trees.motion, **options)
    edges = unknown(edges, EDGE_EDGE, colliders, memory, x0)
    pairs = np.column_stack([edges.first, edges.second]).astype(np.int32)
    found = Memory(*sides, pairs, edges.contacts.normals)
    together = Memory(
        *(np.concatenate(parts) for parts in zip(memory, found, strict=True))
    )  # known ones first: they stay
    return settled(colliders.patches, colliders.surface.edges, colliders.radius, together, x1)[0]


def remember_edges(
    team: Team, colliders: Colliders, memory: Memory, x0: np.ndarray, x1: np.ndarray, unfolded: np.ndarray
) -> Memory:
    """The memory at x1 (n, 3) [m], with the sharp edges of solids that have crossed on the way from x0.

    No vertex need be inside a solid for that, and so nothing else would know of it.
    unfolded (bodies,) bool: who is unfolded all the way.
    """
    x0, x1 = check_positions(x0, colliders, "the start"), check_positions(x1, colliders, "the position")
    motion = motion_of(team, x0, x1, 0.0)
    tree = fit_trees(team, (colliders.sharp_tree,), motion)[0]
    pairs = overlaps(team, tree, tree, True, colliders.rules, Sieve(EDGE_EDGE, motion, 0.0), unfolded)
    meetings = find_meetings(team, colliders, pairs, EDGE_EDGE, x0, x1, motion, near_too=False, solids_too=True)
    meetings = unknown(meetings, EDGE_EDGE, colliders, memory, x0)
    surface = colliders.surface
    is_sharp = np.ones(len(meetings.first), bool)
    for edges in (meetings.first, meetings.second):
        is_sharp &= are_sharp(x1, surface.triangles, colliders.faces_of_edge, edges, SHARP)
    crossed = np.column_stack([meetings.first, meetings.second]).astype(np.int32)[is_sharp]
    together = memory._replace(
        edges=np.concatenate([memory.edges, crossed]),
        normals=np.concatenate([memory.normals, meetings.contacts.normals[is_sharp]]),
    )
    return settled(colliders.patches, surface.edges, colliders.radius, together, x1)[0]


def _inside_contacts(
    team: Team, colliders: Colliders, x: np.ndarray, unfolded: np.ndarray
) -> tuple[Contacts, int, int]:
    """Vertices inside solids, pushed to the closest boundary point that is reachable through the solid; how many of
    them have no straight way there; and how many more have no way out.
    """
    solid, rules, vertices = colliders.solid, colliders.rules, colliders.surface.vertices
    if not len(solid.tets):
        return no_contacts(), 0, 0
    motion = motion_of(team, x, x, 0.0)
    trees = (colliders.vertex_tree, colliders.tet_tree, colliders.face_tree)
    vertex_tree, tet_tree, face_tree = fit_trees(team, trees, motion)
    pairs = vertices_in_tets(team, vertex_tree, vertices, tet_tree, solid, motion, rules, unfolded)
    if not len(pairs.first):
        return no_contacts(), 0, 0
    exits = find_exits(team, pairs, face_tree, solid, x, motion, rules.body, unfolded)
    has_exit = exits.face >= 0
    if not has_exit.all():
        exits = Exits(*(array[has_exit] for array in exits))
    contacts = contacts_of(VERTEX_TRIANGLE, exits.corners, exits.weights, exits.normal, colliders, is_discrete=True)
    return contacts, int((~exits.is_direct).sum()), int((~has_exit).sum())


def _without_those_inside(contacts: Contacts, inside: Contacts, colliders: Colliders) -> Contacts:
    """Contacts without those of a vertex with the solid that it is inside of."""
    touching = np.flatnonzero(contacts.kind == VERTEX_TRIANGLE)
    if not len(touching) or not len(inside.kind):
        return contacts
    body, n = colliders.rules.body.astype(np.int64), len(colliders.rules.body)
    keys = [body[v[:, 2]] * n + v[:, 0] for v in (contacts.vertices[touching], inside.vertices)]
    is_double = np.zeros(len(contacts.kind), bool)
    is_double[touching] = np.isin(*keys)
    return Contacts(*(array[~is_double] for array in contacts))

"""Detection: what penetrates now, and what would hit on the way from one position to another.

Both read Colliders and positions and return Contacts.  Neighbouring triangles that see a vertex at their common edge,
and edges that are closest at an end, tell of the same contact: it is listed once.
"""

from __future__ import annotations

import numpy as np

from pliant.contact.broad_phase import edge_edge_pairs, vertex_triangle_pairs
from pliant.contact.colliders import Colliders, check_positions, fit_surface
from pliant.contact.compiled import cached
from pliant.contact.contacts import Contacts, joined, no_contacts
from pliant.contact.distances import EDGE_EDGE, VERTEX_TRIANGLE
from pliant.contact.inside import find_exits, vertex_normals, vertices_in_tets
from pliant.contact.narrow_phase import (
    describe_impacts,
    describe_near,
    edge_normals,
    mark_impacts,
    mark_near,
    point_outward,
)
from pliant.contact.overlaps import Pairs
from pliant.contact.sides import keep_sides
from pliant.kernels.threads import Team

FINDERS = ((VERTEX_TRIANGLE, vertex_triangle_pairs), (EDGE_EDGE, edge_edge_pairs))


def discrete_contacts(team: Team, colliders: Colliders, x: np.ndarray, previous: Contacts | None = None) -> Contacts:
    """What penetrates at positions x (n, 3) [m]: vertices inside solids, and primitives nearer than their thickness.

    previous: contacts of the step before; sheets stay on the side they were on.
    """
    x = check_positions(x, colliders, "the position")
    lists = [_inside_contacts(team, colliders, x)]
    widest = 2.0 * colliders.radius.max(initial=0.0)
    if widest > 0.0:
        trees = fit_surface(team, colliders, x, x, widest)
        for kind, find in FINDERS:
            pairs = find(team, trees, colliders.surface, colliders.rules)
            lists.append(_near_contacts(team, colliders, kind, pairs, x))
    contacts = _once(joined(*lists))
    if previous is not None and len(previous.kind) and len(contacts.kind):
        keep_sides(contacts, previous, colliders.has_inside[contacts.vertices[:, 2]])
    return contacts


def continuous_contacts(team: Team, colliders: Colliders, x0: np.ndarray, x1: np.ndarray) -> Contacts:
    """What hits between positions x0 and x1 (n, 3) [m], with weights and normals at the time of impact.

    Pairs that discrete detection finds at x0 are not repeated, and nothing stops what leaves a solid from inside.
    """
    x0, x1 = check_positions(x0, colliders, "the start"), check_positions(x1, colliders, "the position")
    trees = fit_surface(team, colliders, x0, x1, 2.0 * colliders.radius.max(initial=0.0))
    lists = []
    for kind, find in FINDERS:
        pairs = find(team, trees, colliders.surface, colliders.rules)
        lists.append(_impact_contacts(team, colliders, kind, pairs, x0, x1))
    return _once(joined(*lists))


def _inside_contacts(team: Team, colliders: Colliders, x: np.ndarray) -> Contacts:
    """Vertices inside solids, pushed to the closest boundary point that is reachable through the solid."""
    solid, rules, vertices = colliders.solid, colliders.rules, colliders.surface.vertices
    if not len(solid.tets):
        return no_contacts()
    vertex_tree = colliders.vertex_tree.fit(team, x, x, 0.0)
    tet_tree = colliders.tet_tree.fit(team, x, x, 0.0)
    pairs = vertices_in_tets(team, vertex_tree, vertices, tet_tree, solid, x, rules)
    if not len(pairs.first):
        return no_contacts()
    face_tree = colliders.face_tree.fit(team, x, x, 0.0)
    exits = find_exits(team, pairs, face_tree, solid, x, _outward_at(pairs.first, colliders, x), rules.body)
    corners = np.column_stack([exits.vertex, solid.faces[exits.face]])
    contacts = _without_details(VERTEX_TRIANGLE, corners, colliders, is_discrete=True)
    contacts.weights[:] = exits.weights
    cached(point_outward)(contacts, x)
    return contacts


def _near_contacts(team: Team, colliders: Colliders, kind: int, pairs: Pairs, x: np.ndarray) -> Contacts:
    """Primitives nearer than the sum of their radii."""
    keep = np.empty(len(pairs.first), bool)
    primitives = _primitives(colliders, kind)
    team.run(cached(mark_near), kind, pairs, *primitives, x, colliders.radius, colliders.has_inside, keep)
    corners = _corners(pairs.first[keep], pairs.second[keep], *primitives)
    contacts = _without_details(kind, corners, colliders, is_discrete=True)
    cached(describe_near)(kind, contacts, x)
    return contacts


def _impact_contacts(
    team: Team, colliders: Colliders, kind: int, pairs: Pairs, x0: np.ndarray, x1: np.ndarray
) -> Contacts:
    """Pairs that meet on the way and do not come out of each other."""
    keep = np.empty(len(pairs.first), bool)
    primitives = _primitives(colliders, kind)
    team.run(cached(mark_impacts), kind, pairs, *primitives, x0, x1, colliders.radius, keep)
    first, second = pairs.first[keep], pairs.second[keep]
    corners = _corners(first, second, *primitives)
    contacts = _without_details(kind, corners, colliders, is_discrete=False)
    outward = np.zeros((len(first), 2, 3))
    if kind == VERTEX_TRIANGLE:
        outward[:, 0] = _outward_at(corners[:, 0], colliders, x0)[corners[:, 0]]
    else:
        cached(edge_normals)(x0, colliders.surface.triangles, colliders.faces_of_edge, first, second, outward)
    is_valid = np.empty(len(first), bool)
    cached(describe_impacts)(kind, contacts, x0, x1, colliders.has_inside, outward, is_valid)
    return Contacts(*(array[is_valid] for array in contacts))


def _outward_at(vertices: np.ndarray, colliders: Colliders, x: np.ndarray) -> np.ndarray:
    """(n, 3) outward unit normals of solids, at these vertices at least; zero on sheets."""
    is_used = np.zeros(len(x), bool)
    is_used[vertices] = True
    faces = colliders.solid.faces
    return vertex_normals(faces[is_used[faces].any(axis=1)], x)


def _primitives(colliders: Colliders, kind: int) -> tuple[np.ndarray, np.ndarray]:
    """Corners of what pairs of a kind number."""
    surface = colliders.surface
    return (surface.vertices, surface.triangles) if kind == VERTEX_TRIANGLE else (surface.edges, surface.edges)


def _corners(first: np.ndarray, second: np.ndarray, corners_a: np.ndarray, corners_b: np.ndarray) -> np.ndarray:
    """(k, 4) vertices of pairs."""
    return np.column_stack([corners_a[first], corners_b[second]])


def _without_details(kind: int, corners: np.ndarray, colliders: Colliders, is_discrete: bool) -> Contacts:
    """Contacts of known vertices, still without weights and normals."""
    k = len(corners)
    gap = colliders.radius[corners[:, 0]] + colliders.radius[corners[:, 2]]
    kinds, discrete = np.full(k, kind, np.int8), np.full(k, is_discrete)
    return Contacts(kinds, np.ascontiguousarray(corners, np.int32), np.empty((k, 4)), np.empty((k, 3)), gap, discrete)


def _once(contacts: Contacts) -> Contacts:
    """Without repetitions: contacts of one vertex with the same edge or vertex are the same, the first stays."""
    if not len(contacts.kind):
        return contacts
    ours = np.where(contacts.weights > 0, contacts.vertices, -1)
    theirs = np.where(contacts.weights < 0, contacts.vertices, -1)
    ours, theirs = np.sort(ours, axis=1)[:, ::-1], np.sort(theirs, axis=1)[:, ::-1]  # vertices first, then -1
    count_ours, count_theirs = (ours >= 0).sum(axis=1), (theirs >= 0).sum(axis=1)
    swap = (count_ours > count_theirs) | ((count_ours == 1) & (count_theirs == 1) & (ours[:, 0] > theirs[:, 0]))
    small, large = np.where(swap[:, None], theirs, ours), np.where(swap[:, None], ours, theirs)
    _, first = np.unique(np.column_stack([small, large]), axis=0, return_index=True)
    return Contacts(*(array[np.sort(first)] for array in contacts))

"""Detection: what penetrates now, what would hit on the way from one position to another, and which sides to keep.

Both read Colliders and positions and return a ContactSet.  Neighbouring triangles that see a vertex at their common
edge, and edges that are closest at an end, are the same contact: it is listed once.
"""

from __future__ import annotations

from dataclasses import replace
from typing import NamedTuple

import numpy as np

from pliant.contact.contact_set import ContactSet, chosen, joined, no_contacts, pair_contacts
from pliant.contact.primitives.pair import are_sharp
from pliant.contact.search.broad_phase import Rules
from pliant.contact.search.ccd_culling import CcdCulling
from pliant.contact.search.colliders import Colliders, check_positions, fit_trees, make_colliders
from pliant.contact.search.impacts import contacts_of, find_impacts, thickness_of
from pliant.contact.search.motion import motion_of
from pliant.contact.search.overlaps import overlaps
from pliant.contact.search.penetration import SurfacePoints, query_penetrations, vertices_in_tets, without_inverted
from pliant.contact.search.solids_at_convex import SolidsAtConvex
from pliant.contact.search.surface_pairs import surface_pairs
from pliant.contact.tracking.closed_starts import outside_closed
from pliant.contact.tracking.duplicates import without_duplicates
from pliant.contact.tracking.impact_sides import sides_of, unknown
from pliant.contact.tracking.side_history import SideHistory, no_side_history, prune, untracked
from pliant.elements.closest import EDGE_EDGE, VERTEX_TRIANGLE
from pliant.kernels.threads import Team
from pliant.model import ContactModel

SHARP = 0.97  # cosine of half the angle between the faces of an edge, below which (28 degrees) a solid is sharp there


class Penetrations(NamedTuple):
    """What penetrates at one moment."""

    contacts: ContactSet
    inside: int  # vertices inside solids
    without_straight_path: int  # of which so many have no straight way out, and are pushed to the nearest face
    without_surface_point: int  # and so many have none at all, and are not among the contacts


def colliders_of(team: Team, model: ContactModel) -> Colliders:
    """What takes part in contact in a model, where it starts."""
    rules = Rules(model.body.astype(np.int32), model.allowed, model.excluded)
    shapes = (model.triangles, model.tets, rules, model.radius + model.clearance, model.positions, model.springs)
    colliders = make_colliders(*shapes, model.stitched, model.clearance, model.is_closed)
    return without_crossing_springs(team, colliders, model.positions) if len(model.springs) else colliders


def find_penetrations(
    team: Team,
    colliders: Colliders,
    x: np.ndarray,
    history: SideHistory | None = None,
    no_self_contact: np.ndarray | None = None,
    at_convex: SolidsAtConvex | None = None,
) -> Penetrations:
    """What penetrates at positions x (n, 3) [m]: vertices inside solids, and what is near or has crossed a sheet.

    history: what `track_sides` has found for x; None: sides are as they are at x.
    no_self_contact (bodies,) bool: who is known not to touch itself at x; None: that is to be found out.
    at_convex: pairs of a solid and a convex rigid body, of which the history knows nothing; None: it knows of all.
    """
    x = check_positions(x, colliders, "the position")
    if history is None:
        history = track_sides(team, colliders, no_side_history(), x, x)
    if no_self_contact is None:
        no_self_contact = colliders.self_collision_culling.mark(team, x, x, 0.0, len(colliders.rules.allowed))
    inside, indirect, lost = inside_contacts(team, colliders, x, no_self_contact)
    contacts = prune(team, colliders, history, x)[1]
    if at_convex is not None:
        contacts = joined(contacts, at_convex.contacts(x, motion_of(team, x, x, 0.0)))
    contacts = without_duplicates(joined(inside, _without_those_inside(contacts, inside, colliders)))
    return Penetrations(contacts, len(inside.kind) + lost, indirect, lost)


def continuous_contacts(
    team: Team, colliders: Colliders, x0: np.ndarray, x1: np.ndarray, history: SideHistory | None = None
) -> ContactSet:
    """What hits between positions x0 and x1 (n, 3) [m], with weights and normals at the time of impact.

    Pairs that `find_penetrations` finds at x0 are not repeated, and nothing stops what leaves a solid from inside or
    comes back from the wrong side of a sheet, as `history` has it for x0.
    """
    x0, x1 = check_positions(x0, colliders, "the start"), check_positions(x1, colliders, "the position")
    near = surface_pairs(team, colliders, x0, x1, 2.0 * colliders.radius.max(initial=0.0))
    lists = []
    for kind, pairs in ((VERTEX_TRIANGLE, near.at_triangles), (EDGE_EDGE, near.of_edges)):
        impacts = find_impacts(team, colliders, pairs, kind, x0, x1, near.motion, near_too=False, solids_too=True)
        if history is not None:
            impacts = unknown(team, impacts, kind, colliders, history, x0)
        lists.append(contacts_of(kind, impacts, colliders))
    return without_duplicates(joined(*lists))


def track_sides(
    team: Team,
    colliders: Colliders,
    history: SideHistory,
    x0: np.ndarray,
    x1: np.ndarray,
    solids_too: bool = False,
    ahead: float | None = None,
) -> SideHistory:
    """Sides of all pairs that are near or have crossed at x1 (n, 3) [m], from those at x0 and the motion between.

    solids_too: also of vertices of solids that may have passed through a solid. ahead: as of `surface_pairs`.
    """
    x0, x1 = check_positions(x0, colliders, "the start"), check_positions(x1, colliders, "the position")
    near = surface_pairs(team, colliders, x0, x1, 2.0 * colliders.radius.max(initial=0.0), ahead)
    options = {"near_too": True, "solids_too": solids_too}
    vertices = find_impacts(team, colliders, near.at_triangles, VERTEX_TRIANGLE, x0, x1, near.motion, **options)
    sides = sides_of(team, vertices, colliders, history, x0, x1)
    edges = find_impacts(team, colliders, near.of_edges, EDGE_EDGE, x0, x1, near.motion, **options)
    edges = unknown(team, edges, EDGE_EDGE, colliders, history, x0)
    pairs = np.column_stack([edges.first, edges.second]).astype(np.int32)
    found = SideHistory(*sides, pairs, edges.normals)
    # known ones first: they stay
    together = SideHistory(*(np.concatenate(parts) for parts in zip(history, found, strict=True)))
    return prune(team, colliders, together, x1)[0]


def sides_at(
    team: Team, colliders: Colliders, history: SideHistory, x: np.ndarray, at_convex: SolidsAtConvex | None = None
) -> SideHistory:
    """The history at positions x (n, 3) [m] to which no way is known: sides that are tracked there stay, others are as
    vertices are placed, and outside of rigid bodies. at_convex: as of `find_penetrations`.
    """
    found = outside_closed(team, colliders, track_sides(team, colliders, history, x, x), x)
    return _without_known(found, colliders, at_convex)


def _without_known(history: SideHistory, colliders: Colliders, at_convex: SolidsAtConvex | None) -> SideHistory:
    """A history without the pairs of bodies whose sides are known from where they are."""
    if at_convex is None:
        return history
    return untracked(history, colliders.surface, colliders.rules.body, at_convex.are_known)


def without_crossing_springs(team: Team, colliders: Colliders, x: np.ndarray) -> Colliders:
    """Colliders in which springs of one net that touch at x (n, 3) [m], where they start, never touch each other:
    diagonals of a net cross.
    """
    near = track_sides(team, colliders, no_side_history(), x, x).edges
    surface, body = colliders.surface, colliders.rules.body
    are_springs = (colliders.faces_of_edge[near] < 0).all(axis=(1, 2))
    ends = body[surface.edges[near][:, :, 0]]
    keys = near.astype(np.int64) @ (len(surface.edges), 1)
    crossing = keys[are_springs & (ends[:, 0] == ends[:, 1])]
    return replace(colliders, opposite=np.union1d(colliders.opposite, crossing))


def track_edge_sides(
    team: Team,
    colliders: Colliders,
    history: SideHistory,
    x0: np.ndarray,
    x1: np.ndarray,
    no_self_contact: np.ndarray,
) -> SideHistory:
    """The history at x1 (n, 3) [m], with the sharp edges of solids that have crossed on the way from x0.

    No vertex need be inside a solid for that, and so nothing else would know of it.
    no_self_contact (bodies,) bool: who does not touch itself on the way.
    """
    x0, x1 = check_positions(x0, colliders, "the start"), check_positions(x1, colliders, "the position")
    motion = motion_of(team, x0, x1, 0.0)
    tree = fit_trees(team, (colliders.sharp_tree,), motion)[0]
    pairs = overlaps(team, tree, tree, True, colliders.rules, CcdCulling(EDGE_EDGE, motion, 0.0), no_self_contact)
    impacts = find_impacts(team, colliders, pairs, EDGE_EDGE, x0, x1, motion, near_too=False, solids_too=True)
    impacts = unknown(team, impacts, EDGE_EDGE, colliders, history, x0)
    surface = colliders.surface
    is_sharp = np.ones(len(impacts.first), bool)
    for edges in (impacts.first, impacts.second):
        is_sharp &= are_sharp(x1, surface.triangles, colliders.faces_of_edge, edges, SHARP)
    crossed = np.column_stack([impacts.first, impacts.second]).astype(np.int32)[is_sharp]
    together = history._replace(
        edges=np.concatenate([history.edges, crossed]),
        normals=np.concatenate([history.normals, impacts.normals[is_sharp]]),
    )
    return prune(team, colliders, together, x1)[0]


def sides_after(
    team: Team,
    colliders: Colliders,
    history: SideHistory,
    x0: np.ndarray,
    x1: np.ndarray,
    is_fast: bool,
    has_thin: bool,
    at_convex: SolidsAtConvex | None = None,
    ahead: float | None = None,
) -> tuple[SideHistory, np.ndarray]:
    """The history at x1 (n, 3) [m] after a step from x0, and who does not touch itself on the way, (bodies,) bool.

    is_fast: solids may have passed through solids; has_thin: there are sheets or springs; at_convex: as of
    `find_penetrations`; ahead: as of `surface_pairs`.
    """
    if is_fast or has_thin:
        history = track_sides(team, colliders, history, x0, x1, is_fast, ahead if has_thin else None)
    no_self_contact = colliders.self_collision_culling.mark(team, x0, x1, 0.0, len(colliders.rules.allowed))
    if len(colliders.sharp_tree.corners) or not (is_fast or has_thin):
        history = track_edge_sides(team, colliders, history, x0, x1, no_self_contact)
    return _without_known(history, colliders, at_convex), no_self_contact


def inside_contacts(
    team: Team, colliders: Colliders, x: np.ndarray, no_self_contact: np.ndarray
) -> tuple[ContactSet, int, int]:
    """Vertices inside solids, pushed to the closest boundary point that is reachable through the solid; how many of
    them have no straight way there; and how many more have no way out.
    """
    solid, rules, vertices = colliders.solid, colliders.rules, colliders.surface.vertices
    if not len(solid.tets):
        return no_contacts(), 0, 0
    motion = motion_of(team, x, x, 0.0)
    trees = (colliders.vertex_tree, colliders.tet_tree, colliders.face_tree)
    vertex_tree, tet_tree, face_tree = fit_trees(team, trees, motion)
    pairs = vertices_in_tets(team, vertex_tree, vertices, tet_tree, solid, motion, rules, no_self_contact)
    pairs = without_inverted(pairs, solid, x, rules.body)
    if not len(pairs.first):
        return no_contacts(), 0, 0
    points = query_penetrations(team, pairs, face_tree, solid, x, motion, rules.body, no_self_contact)
    has_point = points.face >= 0
    if not has_point.all():
        points = SurfacePoints(*(array[has_point] for array in points))
    thickness = thickness_of(colliders, points.corners)
    geometry = (points.corners, points.weights, points.normal, thickness, points.side)
    contacts = pair_contacts(VERTEX_TRIANGLE, *geometry, updates_closest_point=True)
    return contacts, int((~points.is_direct).sum()), int((~has_point).sum())


def _without_those_inside(contacts: ContactSet, inside: ContactSet, colliders: Colliders) -> ContactSet:
    """Contacts without those of a vertex with the solid that it is inside of."""
    touching = np.flatnonzero(contacts.kind == VERTEX_TRIANGLE)
    if not len(touching) or not len(inside.kind):
        return contacts
    body, n = colliders.rules.body.astype(np.int64), len(colliders.rules.body)
    keys = [body[v[:, 2]] * n + v[:, 0] for v in (contacts.vertices[touching], inside.vertices)]
    is_double = np.zeros(len(contacts.kind), bool)
    is_double[touching] = np.isin(*keys)
    return chosen(contacts, ~is_double)

"""Pairs of primitives of a surface that may touch: vertices near triangles, edges near edges.

Never a pair that shares a vertex, and only pairs the scene's rules allow.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from pliant.contact.search.bvh import Tree
from pliant.contact.search.ccd_culling import CcdCulling
from pliant.contact.search.motion import Motion
from pliant.contact.search.overlaps import Pairs, overlaps
from pliant.elements.closest import EDGE_EDGE, VERTEX_TRIANGLE
from pliant.geometry.surface import unique_edges
from pliant.kernels.threads import Team


class Surface(NamedTuple):
    """What can touch, by vertices of the scene; each primitive once."""

    vertices: np.ndarray  # (v, 1) int32
    edges: np.ndarray  # (e, 2) int32
    triangles: np.ndarray  # (t, 3) int32


class Rules(NamedTuple):
    """Who may touch whom. A primitive belongs to the body of its first vertex."""

    body: np.ndarray  # (n,) int32 body of each vertex of the scene
    allowed: np.ndarray  # (bodies, bodies) bool, symmetric; the diagonal is self-contact
    excluded: np.ndarray  # (n,) bool: a primitive with such a vertex touches nothing


class Trees(NamedTuple):
    """Trees over the primitives of a surface, and the motion they are for."""

    vertices: Tree
    edges: Tree
    triangles: Tree
    motion: Motion
    separation: float  # [m]: primitives that stay further apart are no pair
    no_self_contact: np.ndarray | None = None  # (bodies,) bool: cannot touch themselves on the way


def with_springs(surface: Surface, springs: np.ndarray) -> Surface:
    """A surface and springs (s, 2), whose edges come last: they have no triangles."""
    if not len(springs):
        return surface
    edges = np.unique(np.sort(springs, axis=1), axis=0).astype(np.int32)
    vertices = np.union1d(surface.vertices, edges).astype(np.int32)
    return Surface(vertices[:, None], np.concatenate([surface.edges, edges]), surface.triangles)


def surface_of(triangles: np.ndarray, n_vertices: int) -> Surface:
    """The surface of triangles (t, 3): their vertices and edges."""
    triangles = np.ascontiguousarray(triangles, dtype=np.int32).reshape(-1, 3)
    if not len(triangles):
        return Surface(np.zeros((0, 1), np.int32), np.zeros((0, 2), np.int32), triangles)
    edges = unique_edges(triangles.astype(np.int64), n_vertices).astype(np.int32)
    edges = edges[edges[:, 0] != edges[:, 1]]  # a triangle may name a vertex twice
    return Surface(np.unique(triangles)[:, None], edges, triangles)


def vertex_triangle_pairs(team: Team, trees: Trees, surface: Surface, rules: Rules) -> Pairs:
    """Rows of surface.vertices and surface.triangles that are near."""
    culling = CcdCulling(VERTEX_TRIANGLE, trees.motion, trees.separation)
    return overlaps(team, trees.vertices, trees.triangles, False, rules, culling, trees.no_self_contact)


def edge_edge_pairs(team: Team, trees: Trees, surface: Surface, rules: Rules) -> Pairs:
    """Rows of surface.edges that are near each other, first < second."""
    culling = CcdCulling(EDGE_EDGE, trees.motion, trees.separation)
    return overlaps(team, trees.edges, trees.edges, True, rules, culling, trees.no_self_contact)

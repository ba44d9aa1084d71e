"""Intersection contours: the lines along which surfaces cut each other, and where moving them shortens these lines.

After Volino and Magnenat-Thalmann 2006, Resolving Surface Collisions through Intersection Contour Minimization, and Ye
and Zhao 2012, The Intersection Contour Minimization Method for Untangling Oriented Deformable Surfaces.

A contour runs from point to point P where an edge of one surface goes through a triangle of the other. With the unit
vector E along the edge, the normal N of the triangle, and for each of the edge's faces the unit vector R along which
the contour leaves P inside that face, a motion d of the edge against the triangle changes the length of the contour by

    dL = -G . d,        G = sum_faces  R - (E . R) / (E . N) N

since P moves by d - (N . d) / (E . N) E, and R . N = 0.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from pliant.contact.search.colliders import Colliders
from pliant.geometry.components import connected_components

FLAT = 1e-3  # E . N at least: the edge of a surface that lies in the other


class Contours(NamedTuple):
    """k points at which edges go through triangles, in c contours."""

    pairs: np.ndarray  # (k, 2) rows of surface.edges and surface.triangles
    label: np.ndarray  # (k,) contour of each point
    side: np.ndarray  # (k,) 1 or -1: the side of its contour, one of the two surfaces, that the edge is on
    gradients: np.ndarray  # (k, 3) G of each point
    towards: np.ndarray  # (c, 3) sum over a contour of G times side: motion of the first side that shortens it most


def contours_of(colliders: Colliders, pairs: np.ndarray, x: np.ndarray) -> Contours:
    """Of pairs (k, 2) of edges and triangles that intersect at x (n, 3) [m]; edges of springs have no contour."""
    pairs = pairs[(colliders.faces_of_edge[pairs[:, 0]] >= 0).all(axis=1)]
    faces = colliders.faces_of_edge[pairs[:, 0]].astype(np.int64)  # (k, 2), twice the same at a rim
    label = _labels(faces, pairs[:, 1].astype(np.int64), len(colliders.surface.triangles))
    side = _sides(faces, pairs[:, 1], label)
    gradients = length_gradients(colliders, pairs, x)
    towards = np.zeros((int(label.max(initial=-1)) + 1, 3))
    np.add.at(towards, label, side[:, None] * gradients)
    return Contours(pairs, label, side, gradients, towards)


def length_gradients(colliders: Colliders, pairs: np.ndarray, x: np.ndarray) -> np.ndarray:
    """G (k, 3) of pairs (k, 2) of an edge and a triangle."""
    surface, faces = colliders.surface, colliders.faces_of_edge[pairs[:, 0]]
    along = _unit(x[surface.edges[pairs[:, 0], 1]] - x[surface.edges[pairs[:, 0], 0]])
    normal = _normals(surface.triangles[pairs[:, 1]], x)
    slope = np.einsum("ka,ka->k", along, normal)
    slope = np.where(slope < 0, np.minimum(slope, -FLAT), np.maximum(slope, FLAT))
    total = np.zeros((len(pairs), 3))
    for k in range(2):
        corners = surface.triangles[faces[:, k]]
        inwards = x[corners].mean(axis=1) - x[surface.edges[pairs[:, 0], 0]]
        inwards -= np.einsum("ka,ka->k", inwards, along)[:, None] * along
        r = _unit(np.cross(normal, _normals(corners, x)))
        r *= np.where(np.einsum("ka,ka->k", r, inwards) < 0, -1.0, 1.0)[:, None]
        is_new = k == 0 or faces[:, 1] != faces[:, 0]
        g = r - (np.einsum("ka,ka->k", along, r) / slope)[:, None] * normal
        total += np.where(np.broadcast_to(is_new, len(pairs))[:, None], g, 0.0)
    return total


def _labels(faces: np.ndarray, triangle: np.ndarray, triangles: int) -> np.ndarray:
    """(k,) contours: points that are on the same pair of faces are on one line."""
    k = len(triangle)
    cells = np.concatenate([np.sort(np.column_stack([faces[:, i], triangle]), axis=1) @ (triangles, 1) for i in (0, 1)])
    _, cell = np.unique(cells, return_inverse=True)
    points = np.tile(np.arange(k), 2)
    size = k + int(cell.max(initial=-1)) + 1
    label = connected_components(np.column_stack([points, k + cell.ravel()]), size)[1][:k]
    return np.unique(label, return_inverse=True)[1].ravel()


def _sides(faces: np.ndarray, triangle: np.ndarray, label: np.ndarray) -> np.ndarray:
    """(k,) 1 or -1: faces at one edge are on the same side, an edge and the triangle it goes through are not. A
    surface may cut itself, so that bodies do not tell.
    """
    side = np.zeros(len(triangle), np.int64)
    points_at: dict[tuple[int, int], list[int]] = {}
    for k in range(len(triangle)):
        for face in {*faces[k].tolist(), int(triangle[k])}:
            points_at.setdefault((int(label[k]), face), []).append(k)
    for start in range(len(triangle)):
        waiting = [] if side[start] else [(start, 1)]
        while waiting:
            k, own = waiting.pop()
            if side[k]:
                continue
            side[k] = own
            for face, sign in (*((int(f), own) for f in faces[k]), (int(triangle[k]), -own)):
                for other in points_at[int(label[k]), face]:
                    if not side[other]:
                        waiting.append((other, sign if face in faces[other] else -sign))
    return side


def _normals(corners: np.ndarray, x: np.ndarray) -> np.ndarray:
    a, b, c = np.moveaxis(x[corners], 1, 0)
    return _unit(np.cross(b - a, c - a))


def _unit(vectors: np.ndarray) -> np.ndarray:
    return vectors / np.maximum(np.linalg.norm(vectors, axis=1, keepdims=True), 1e-300)

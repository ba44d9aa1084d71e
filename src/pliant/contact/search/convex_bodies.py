"""Which rigid bodies are convex, and what their surfaces are made of."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from pliant.contact.search.broad_phase import Surface

FLAT = 1e-6  # of the size of a body: how far a corner may stand out of a face of a convex one
PARALLEL = 1 - 1e-12  # cosine of normals and edges that are one axis of separation

_NOTHING = (np.zeros(0, np.int64), np.zeros((0, 3), np.int64), np.zeros((0, 2), np.int64))


class ConvexBodies(NamedTuple):
    """Surfaces of convex rigid bodies, body after body; others have none."""

    start: np.ndarray  # (bodies + 1,) first of its vertices
    vertices: np.ndarray  # (m,)
    face_start: np.ndarray  # (bodies + 1,)
    faces: np.ndarray  # (t, 3) outward
    edge_start: np.ndarray  # (bodies + 1,)
    edges: np.ndarray  # (e, 2) that are sharp
    plane_start: np.ndarray  # (bodies + 1,)
    planes: np.ndarray  # (p, 3) one face of each normal
    direction_start: np.ndarray  # (bodies + 1,)
    directions: np.ndarray  # (d, 2) one edge of each direction
    width: np.ndarray  # (bodies,) [m] across their faces, at least; 0 for others
    face_plane: np.ndarray  # (t,) the plane of each face
    is_box: np.ndarray  # (bodies,) bool: whether it is a box, with its three directions as axes
    own: np.ndarray  # (c,) numbers of those that are convex
    face_rows: np.ndarray  # (t, 3) `faces` by the places of their corners among `vertices`
    edge_rows: np.ndarray  # (e, 2)
    plane_rows: np.ndarray  # (p, 3)

    def include(self, surface: Surface, body: np.ndarray, excluded: np.ndarray) -> bool:
        """Whether all of a surface that touches belongs to them; body, excluded (n,): of each vertex, and whether it
        touches nothing.
        """
        corners = np.concatenate([surface.triangles.ravel(), surface.edges.ravel()])
        return bool((np.diff(self.start) > 0)[body[corners[~excluded[corners]]]].all())


def convex_bodies(triangles: np.ndarray, x: np.ndarray, body: np.ndarray, is_rigid: np.ndarray) -> ConvexBodies:
    """Of surfaces (t, 3) at x (n, 3) [m]; body (n,), is_rigid (bodies,)."""
    parts: list[list[np.ndarray]] = [[], [], [], [], []]
    owner = body[triangles[:, 0]]
    order = np.argsort(owner, kind="stable")
    start = np.searchsorted(owner[order], np.arange(len(is_rigid) + 1))
    for k in range(len(is_rigid)):
        surface = _convex_surface(triangles[order[start[k] : start[k + 1]]], x) if is_rigid[k] else None
        vertices, faces, edges = _NOTHING if surface is None else surface
        planes, directions = (
            faces[_first_of_each(_normals(faces, x), False)],
            edges[_first_of_each(_along(edges, x), True)],
        )
        for part, values in zip(parts, (vertices, faces, edges, planes, directions), strict=True):
            part.append(values)
    columns: list[np.ndarray] = []
    for part in parts:
        columns += [np.cumsum([0] + [len(values) for values in part]), np.ascontiguousarray(np.concatenate(part))]
    columns.append(np.array([_least_width(faces, x) for faces in parts[1]]))
    first = columns[6][:-1]
    own = [k + _nearest(_normals(f, x), _normals(p, x)) for k, f, p in zip(first, parts[1], parts[3], strict=True)]
    columns.append(np.concatenate(own))
    columns.append(np.array([_is_box(x[np.unique(e)], x[d]) for e, d in zip(parts[2], parts[4], strict=True)], bool))
    columns.append(np.flatnonzero(np.diff(columns[0])))
    place = np.zeros(len(x), np.int64)
    place[columns[1]] = np.arange(len(columns[1]))
    columns += [place[columns[k]] for k in (3, 5, 7)]
    return ConvexBodies(*columns)


def _nearest(normals: np.ndarray, units: np.ndarray) -> np.ndarray:
    """(t,) which of some units (p, 3) each normal (t, 3) is."""
    if not len(normals):
        return np.zeros(0, np.int64)
    nearest: np.ndarray = np.argmax(normals @ units.T, axis=1)
    return nearest


def _is_box(corners: np.ndarray, directions: np.ndarray) -> bool:
    """Whether corners (m, 3) are those of a box with edges (d, 2, 3)."""
    if len(corners) != 8 or len(directions) != 3:
        return False
    halves = 0.5 * (directions[:, 1] - directions[:, 0])
    cosines = np.triu(halves @ halves.T, 1) / np.linalg.norm(halves, axis=1) / np.linalg.norm(halves, axis=1)[:, None]
    if np.abs(cosines).max() > FLAT:
        return False
    signs = np.array([(a, b, c) for a in (-1, 1) for b in (-1, 1) for c in (-1, 1)])
    expected, own = signs @ halves, corners - corners.mean(axis=0)
    apart = np.linalg.norm(expected[:, None] - own, axis=2).min(axis=1).max()
    return bool(apart <= FLAT * np.linalg.norm(halves))


def _normals(faces: np.ndarray, x: np.ndarray) -> np.ndarray:
    """Unit normals (t, 3)."""
    a = x[faces[:, 0]]
    normals = np.cross(x[faces[:, 1]] - a, x[faces[:, 2]] - a)
    return normals / np.maximum(np.linalg.norm(normals, axis=1), 1e-300)[:, None]


def _along(edges: np.ndarray, x: np.ndarray) -> np.ndarray:
    """Unit vectors (e, 3)."""
    along = x[edges[:, 1]] - x[edges[:, 0]]
    return along / np.maximum(np.linalg.norm(along, axis=1), 1e-300)[:, None]


def _first_of_each(units: np.ndarray, both_ways: bool) -> np.ndarray:
    """Numbers of unit vectors (k, 3), or of vectors that have no sign, that differ from all before."""
    cosines = units @ units.T
    is_same = np.tril((np.abs(cosines) if both_ways else cosines) > PARALLEL, -1)
    return np.flatnonzero(~is_same.any(axis=1))


def _least_width(faces: np.ndarray, x: np.ndarray) -> float:
    """[m] of a convex body between two planes, one of them that of a face."""
    if not len(faces):
        return 0.0
    normals, corners = _normals(faces, x), x[np.unique(faces)]
    heights = np.einsum("ta,ta->t", normals, x[faces[:, 0]])[:, None] - normals @ corners.T
    return float(heights.max(axis=1).min())


def _convex_surface(faces: np.ndarray, x: np.ndarray) -> tuple[np.ndarray, np.ndarray, np.ndarray] | None:
    """Its vertices, outward faces and sharp edges; None if it is not convex."""
    vertices = np.unique(faces)
    if not len(vertices):
        return None
    middle, size = x[vertices].mean(axis=0), float(np.ptp(x[vertices], axis=0).max())
    normals = _normals(faces, x)
    heights = np.einsum("ta,ta->t", normals, x[faces[:, 0]] - middle)
    normals, turned = normals * np.sign(heights)[:, None], heights < 0
    if ((normals @ (x[vertices] - middle).T).max(axis=1) > np.abs(heights) + FLAT * size).any():
        return None
    faces = np.where(turned[:, None], faces[:, ::-1], faces).astype(np.int64)
    ends = np.sort(faces[:, [[0, 1], [1, 2], [2, 0]]], axis=2).reshape(-1, 2)
    edges, number = np.unique(ends, axis=0, return_inverse=True)
    total, count = np.zeros((len(edges), 3)), np.bincount(number.ravel(), minlength=len(edges))
    np.add.at(total, number.ravel(), np.repeat(normals, 3, axis=0))
    is_flat = np.linalg.norm(total, axis=1) > count * (1 - 1e-9)
    return vertices.astype(np.int64), faces, edges[~is_flat].astype(np.int64)

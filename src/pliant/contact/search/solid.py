"""Tets as a room with walls: which tet lies behind each face, and which faces are the boundary."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from pliant.contact.search.motion import ROW
from pliant.elements.closest import row
from pliant.errors import MeshError
from pliant.geometry.surface import TET_FACES
from pliant.kernels.threads import Team, share
from pliant.lanes.compiled import cached, compiled
from pliant.lanes.vectors import cross, dot, subtract

AROUND = 8  # faces at a vertex that lanes read at a time


class Solid(NamedTuple):
    """Tets of one or more bodies, by vertices of the scene."""

    tets: np.ndarray  # (m, 4) int32
    neighbours: np.ndarray  # (m, 4) int32 tet behind each face of TET_FACES; -1 - f at boundary face f
    faces: np.ndarray  # (f, 3) int32 boundary triangles, outward oriented
    tet_of_face: np.ndarray  # (f,) int32
    around_start: np.ndarray  # (n + 1,) first of a vertex's faces in the two arrays below
    next_rows: np.ndarray  # (3 f + AROUND,) uint32 rows, as of a Motion, of the next corner of each face at a vertex
    last_rows: np.ndarray  # (3 f + AROUND,) uint32 and of its last corner


def solid_of(tets: np.ndarray, n_vertices: int) -> Solid:
    """Connect tets (m, 4) of positive volume through their faces."""
    tets = np.ascontiguousarray(tets, dtype=np.int32).reshape(-1, 4)
    faces = tets[:, TET_FACES].reshape(-1, 3)
    corners = np.sort(faces.astype(np.int64), axis=1)
    order = np.lexsort(corners.T[::-1])
    ranked = corners[order]
    follows = np.r_[False, (ranked[1:] == ranked[:-1]).all(axis=1)][: len(order)]
    if (follows[1:] & follows[:-1]).any():
        face = ranked[np.flatnonzero(follows[1:] & follows[:-1])[0]].tolist()
        raise MeshError(f"The face {face} belongs to three tets or more: remove tets that are listed twice.")
    neighbours = np.full(len(faces), -1, np.int32)
    second = np.flatnonzero(follows)
    neighbours[order[second]] = order[second - 1] // 4
    neighbours[order[second - 1]] = order[second] // 4
    boundary = np.flatnonzero(neighbours < 0)
    neighbours[boundary] = -1 - np.arange(len(boundary))
    faces = np.ascontiguousarray(faces[boundary])
    face, corner = np.divmod(np.argsort(faces.ravel(), kind="stable"), 3)
    more = np.zeros(AROUND, np.uint32)
    next_rows, last_rows = (np.r_[(ROW * faces[face, (corner + k) % 3]).astype(np.uint32), more] for k in (1, 2))
    around_start = np.searchsorted(np.sort(faces.ravel()), np.arange(n_vertices + 1)).astype(np.int64)
    tet_of_face = (boundary // 4).astype(np.int32)
    return Solid(tets, neighbours.reshape(-1, 4), faces, tet_of_face, around_start, next_rows, last_rows)


def least_width(team: Team, tets: np.ndarray, x: np.ndarray) -> float:
    """The least distance [m] between parallel planes that hold a tet (m, 4) at positions x (n, 3), infinite if there is
    none: what moves less in a step cannot pass a solid.

    If no two vertices move against each other by more than d, it changes by at most d.
    """
    if not len(tets):
        return np.inf
    least = np.full(team.threads, np.inf)
    team.run_for(30 * len(tets), cached(measure_least_width), tets, x, least)
    return float(np.sqrt(least.min()))


@compiled
def measure_least_width(thread, threads, barrier, tets, x, least):
    """The least squared width of each thread's tets into least (threads,)."""
    first, last = share(0, len(tets), thread, threads)
    smallest = np.inf
    for place in range(first, last):
        t = np.uint64(place)
        a, b = row(x, tets[t, 0]), row(x, tets[t, 1])
        c, d = row(x, tets[t, 2]), row(x, tets[t, 3])
        ab, ac, ad, bc, bd, cd = (
            subtract(b, a),
            subtract(c, a),
            subtract(d, a),
            subtract(c, b),
            subtract(d, b),
            subtract(d, c),
        )
        n = cross(ab, ac)
        area2 = dot(n, n)
        for u, v in ((ab, ad), (ac, ad), (bc, bd), (ab, cd), (ac, bd), (ad, bc)):
            m = cross(u, v)
            area2 = max(area2, dot(m, m))
        volume = dot(n, ad)
        smallest = min(smallest, volume * volume / max(area2, 1e-300))
    least[thread] = smallest


def heights(corners: np.ndarray) -> np.ndarray:
    """(m,) least distance [m] of a corner from the opposite face, in tets with corners (m, 4, 3)."""
    a, b, c, d = np.moveaxis(corners, 1, 0)
    return _widths(corners, ((c - b, d - b), (c - a, d - a), (b - a, d - a), (b - a, c - a)))


def distances_of_edges(corners: np.ndarray) -> np.ndarray:
    """(m,) least distance [m] between the lines of opposite edges, in tets with corners (m, 4, 3)."""
    a, b, c, d = np.moveaxis(corners, 1, 0)
    return _widths(corners, ((b - a, d - c), (c - a, d - b), (d - a, c - b)))


def _widths(corners: np.ndarray, spans: tuple[tuple[np.ndarray, np.ndarray], ...]) -> np.ndarray:
    """(m,) least distance [m] between parallel planes that hold a tet (m, 4, 3), spanned by pairs of edges (m, 3)."""
    a, b, c, d = np.moveaxis(corners, 1, 0)
    volume = np.abs(np.einsum("ma,ma->m", np.cross(b - a, c - a), d - a))
    area = np.max([np.linalg.norm(np.cross(u, v), axis=1) for u, v in spans], axis=0)
    return volume / np.maximum(area, 1e-300)

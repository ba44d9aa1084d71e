"""Solids that surely do not touch themselves, so that nobody has to search them for it.

A body that is convex as it starts and little deformed is folded nowhere.  Let F be the deformation gradient of its tets
and M any matrix.  The straight way between two of its points a and b lies inside it, and along it

    |x(a) - x(b)|  >=  |M (a - b)| - max |F - M| |a - b|  >=  (s - e) |a - b|

with s the least singular value of M and e the largest |F - M|.  It holds all the way between two states if it holds at
both with one M.  And a and b of parts without a common vertex are further apart at the start than the least distance
between opposite parts of a tet: the sum of the shape functions of the first part falls from 1 to 0 on the way.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import scipy.sparse as sp
from scipy.sparse.csgraph import connected_components

from pliant.contact.compiled import cached, compiled, inlined
from pliant.contact.distances import row
from pliant.contact.solid import Solid, distances_of_edges, heights
from pliant.kernels.threads import Team
from pliant.lanes.vectors import cross, dot

LEAST = 0.1  # s - e that is asked for
FLAT = 1e-6  # part of the size of a face by which the next one may rise above its plane: rounding


@dataclass(frozen=True)
class Unfolded:
    """Convex bodies as they start."""

    bodies: np.ndarray  # (b,) numbers of convex bodies
    vertices: np.ndarray  # their vertices, body by body
    vertex_start: np.ndarray  # (b + 1,)
    tets: np.ndarray  # (m, 4) their tets, body by body, as places in `vertices`
    tet_start: np.ndarray  # (b + 1,)
    tightness: np.ndarray  # (m,) largest singular value of the inverse of a tet's edges [1/m]
    start: np.ndarray  # (v, 3) where vertices start, from the mean of their body [m]
    dual: np.ndarray  # (v, 3): sum_i x_i dual_i^T is the matrix nearest to the deformation of the body [1/m]
    narrowest: np.ndarray  # (b,) least distance between opposite parts of a tet [m]
    rest: np.ndarray  # (v, 6) scratch: what is left of positions at both ends after M is taken off [m]

    def mark(self, team: Team, x0: np.ndarray, x1: np.ndarray, separation: float, bodies: int) -> np.ndarray:
        """(bodies,) bool: who keeps all its parts further apart than `separation` [m] from x0 to x1 (n, 3) [m]."""
        is_unfolded = np.zeros(bodies, bool)
        if len(self.bodies):
            arrays = (
                self.vertices,
                self.vertex_start,
                self.tets,
                self.tet_start,
                self.tightness,
                self.start,
                self.dual,
            )
            spread = np.full(len(self.bodies), np.inf)
            team.run(cached(least_spread), *arrays, x0, x1, self.rest, spread)
            is_unfolded[self.bodies] = (spread >= LEAST) & (spread * self.narrowest > separation)
        return is_unfolded


def unfolded_of(
    solid: Solid, edges: np.ndarray, faces_of_edge: np.ndarray, x: np.ndarray, body: np.ndarray
) -> Unfolded:
    """Find the bodies (n,) that are convex at positions x (n, 3) [m]; edges (e, 2) are those of the boundary."""
    is_convex = _convex_bodies(solid, edges, faces_of_edge, x, body)
    bodies = np.flatnonzero(is_convex)
    tet_body = body[solid.tets[:, 0]]
    tets = solid.tets[is_convex[tet_body]]
    tets = tets[np.argsort(body[tets[:, 0]], kind="stable")]
    vertices = np.unique(tets)
    vertices = vertices[np.argsort(body[vertices], kind="stable")]
    vertex_start, tet_start = (
        np.searchsorted(body[v], [*bodies, np.iinfo(np.int32).max]) for v in (vertices, tets[:, 0])
    )
    place = np.zeros(len(x), np.int32)
    place[vertices] = np.arange(len(vertices))
    start, dual, narrowest = x[vertices], np.zeros((len(vertices), 3)), np.zeros(len(bodies))
    edges = x[tets[:, 1:]] - x[tets[:, :1]]
    widths = np.minimum(heights(x[tets]), distances_of_edges(x[tets]))
    for b in range(len(bodies)):
        own = slice(vertex_start[b], vertex_start[b + 1])
        start[own] -= start[own].mean(axis=0)
        dual[own] = start[own] @ np.linalg.inv(start[own].T @ start[own])
        narrowest[b] = widths[tet_start[b] : tet_start[b + 1]].min()
    tightness = 1.0 / np.linalg.svd(edges, compute_uv=False)[:, -1] if len(tets) else np.zeros(0)
    scratch = np.empty((len(vertices), 6))
    return Unfolded(bodies, vertices, vertex_start, place[tets], tet_start, tightness, start, dual, narrowest, scratch)


def _convex_bodies(
    solid: Solid, edges: np.ndarray, faces_of_edge: np.ndarray, x: np.ndarray, body: np.ndarray
) -> np.ndarray:
    """(bodies,) bool: in one piece, of the topology of a ball, and at no edge of the boundary bent inwards."""
    count = int(body.max(initial=0)) + 1
    is_convex = np.zeros(count, bool)
    is_convex[body[solid.tets[:, 0]]] = True
    a, b, c, d = (x[solid.tets[:, k]] for k in range(4))
    volume = np.einsum("ma,ma->m", np.cross(b - a, c - a), d - a)
    is_convex[body[solid.tets[volume <= 0, 0]]] = False
    i, j, k = solid.faces.T
    normal = np.cross(x[j] - x[i], x[k] - x[i])
    area2 = np.linalg.norm(normal, axis=1)
    for one, other in (faces_of_edge.T, faces_of_edge.T[::-1]):
        rise = np.einsum("eka,ea->ek", x[solid.faces[other]] - x[i[one]][:, None], normal[one]).max(axis=1, initial=0.0)
        is_bent = rise > FLAT * area2[one] ** 1.5
        is_convex[body[i[one[is_bent]]]] = False
    corners, sides, faces = (np.bincount(body[v], minlength=count) for v in (np.unique(solid.faces), edges[:, 0], i))
    is_convex &= (corners - sides + faces == 2) & (2 * sides == 3 * faces)  # Euler's number of a closed surface
    pieces = connected_components(
        sp.coo_matrix((np.ones(3 * len(i)), (np.r_[i, j, k], np.r_[j, k, i])), (len(x),) * 2)
    )[1]
    first = np.full(count, -1)
    first[body[i]] = pieces[i]
    is_convex[body[i[pieces[i] != first[body[i]]]]] = False
    return is_convex


@compiled
def least_spread(
    thread, threads, barrier, vertices, vertex_start, tets, tet_start, tightness, start, dual, x0, x1, rest, spread
):
    """s - e of each body."""
    for b in range(thread, len(spread), threads):
        first, last = vertex_start[b], vertex_start[b + 1]
        m = nearest_matrix(vertices, dual, first, last, x0)
        for i in range(first, last):
            for k in range(3):
                moved = dot(m[k], row(start, i))
                rest[i, k], rest[i, 3 + k] = x0[vertices[i], k] - moved, x1[vertices[i], k] - moved
        largest = 0.0
        for t in range(tet_start[b], tet_start[b + 1]):
            size = max(squared_edges(rest, tets, t, 0), squared_edges(rest, tets, t, 3))
            largest = max(largest, size * tightness[t] * tightness[t])
        spread[b] = least_singular_value(m) - np.sqrt(largest)


@inlined
def nearest_matrix(vertices, dual, first, last, x):
    """sum_i x_i dual_i^T, by rows."""
    a, b, c = (0.0, 0.0, 0.0), (0.0, 0.0, 0.0), (0.0, 0.0, 0.0)
    for i in range(first, last):
        p, q = row(x, vertices[i]), row(dual, i)
        a = (a[0] + p[0] * q[0], a[1] + p[0] * q[1], a[2] + p[0] * q[2])
        b = (b[0] + p[1] * q[0], b[1] + p[1] * q[1], b[2] + p[1] * q[2])
        c = (c[0] + p[2] * q[0], c[1] + p[2] * q[1], c[2] + p[2] * q[2])
    return (a, b, c)


@inlined
def squared_edges(rest, tets, t, at):
    """Sum of squares of the three edges at the first corner."""
    o, total = tets[t, 0], 0.0
    for c in range(1, 4):
        v = tets[t, c]
        for k in range(at, at + 3):
            total += (rest[v, k] - rest[o, k]) ** 2
    return total


@inlined
def least_singular_value(m):
    """A little less than it, or 0: the other two multiply to at most half of |m|^2 less its square."""
    volume, total = abs(dot(cross(m[0], m[1]), m[2])), dot(m[0], m[0]) + dot(m[1], m[1]) + dot(m[2], m[2])
    least = 0.0
    for _ in range(16):
        least = 2.0 * volume / (total - least * least) if total > 0.0 else 0.0
    return least

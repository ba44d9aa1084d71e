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

from pliant.contact.search.solid import Solid, distances_of_edges, heights
from pliant.elements.closest import row
from pliant.geometry.components import connected_components
from pliant.kernels.threads import Team
from pliant.lanes import load, make_zero, maximum, store
from pliant.lanes.compiled import cached, compiled, inlined
from pliant.lanes.rows import gather4
from pliant.lanes.vectors import cross, dot, subtract

LEAST = 0.1  # s - e that is asked for
LANES = 16  # tets at a time
ROUNDING = 1e-5  # more than a sum of a few numbers in single precision loses
FLAT = 1e-6  # part of the size of a face by which the next one may rise above its plane: rounding
zero = make_zero("single", LANES)


@dataclass(frozen=True)
class SelfCollisionCulling:
    """Convex bodies as they start."""

    bodies: np.ndarray  # (b,) numbers of convex bodies
    vertices: np.ndarray  # their vertices, body by body
    vertex_start: np.ndarray  # (b + 1,)
    starts: np.ndarray  # flat (packs, 4, LANES) uint32 four times the places in `vertices` of their tets' corners
    pack_start: np.ndarray  # (b + 1,) first pack of tets of each body; its last pack repeats its last tet
    tightness: np.ndarray  # flat (packs, LANES) float32 largest singular value of the inverse of a tet's edges [1/m]
    tightest: np.ndarray  # (b,) of them
    start: np.ndarray  # (v, 3) where vertices start, from the mean of their body [m]
    dual: np.ndarray  # (v, 3): sum_i x_i dual_i^T is the matrix nearest to the deformation of the body [1/m]
    narrowest: np.ndarray  # (b,) least distance between opposite parts of a tet [m]
    rest: tuple[np.ndarray, np.ndarray]  # (v, 4) float32 scratch: positions at both ends after M is taken off [m]

    def mark(self, team: Team, x0: np.ndarray, x1: np.ndarray, separation: float, bodies: int) -> np.ndarray:
        """(bodies,) bool: who keeps all its parts further apart than `separation` [m] from x0 to x1 (n, 3) [m]."""
        is_free = np.zeros(bodies, bool)
        if len(self.bodies):
            vertices = (self.vertices, self.vertex_start, self.start, self.dual)
            tets = (self.starts, self.pack_start, self.tightness, self.tightest)
            spread, largest = np.full(len(self.bodies), np.inf), np.empty((len(self.bodies), LANES), np.float32)
            team.run_for(
                10 * len(self.tightness), cached(least_spread), *vertices, *tets, x0, x1, *self.rest, largest, spread
            )
            is_free[self.bodies] = (spread >= LEAST) & (spread * self.narrowest > separation)
        return is_free


def self_collision_culling_of(
    solid: Solid, edges: np.ndarray, faces_of_edge: np.ndarray, x: np.ndarray, body: np.ndarray
) -> SelfCollisionCulling:
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
    tightest = np.array([tightness[tet_start[b] : tet_start[b + 1]].max() for b in range(len(bodies))])
    lanes, pack_start = _tets_in_packs(tet_start)
    starts = (4 * place[tets][lanes]).transpose(0, 2, 1).astype(np.uint32).ravel()
    packed = (starts, pack_start, tightness[lanes].astype(np.float32).ravel(), tightest)
    scratch = np.zeros((len(vertices), 4), np.float32), np.zeros((len(vertices), 4), np.float32)
    return SelfCollisionCulling(bodies, vertices, vertex_start, *packed, start, dual, narrowest, scratch)


def _tets_in_packs(tet_start: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Tets (packs, LANES) of bodies that begin at tet_start (b + 1,), and the first pack of each body."""
    pack_start = np.concatenate([[0], np.cumsum(-(-np.diff(tet_start) // LANES))])
    body = np.repeat(np.arange(len(tet_start) - 1), np.diff(pack_start))
    first = tet_start[body] + LANES * (np.arange(len(body)) - pack_start[body])
    return np.minimum(first[:, None] + np.arange(LANES), tet_start[body + 1][:, None] - 1), pack_start


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
    _, pieces = connected_components(np.r_[np.c_[i, j], np.c_[j, k]], len(x))
    first = np.full(count, -1)
    first[body[i]] = pieces[i]
    is_convex[body[i[pieces[i] != first[body[i]]]]] = False
    return is_convex


@compiled
def least_spread(
    thread,
    threads,
    barrier,
    vertices,
    vertex_start,
    start,
    dual,
    starts,
    pack_start,
    tightness,
    tightest,
    x0,
    x1,
    rest0,
    rest1,
    largest,
    spread,
):
    """s - e of each body, less what single precision may lose of e."""
    for b in range(thread, len(spread), threads):
        first, last = vertex_start[b], vertex_start[b + 1]
        m = nearest_matrix(vertices, dual, first, last, x0)
        size = max(
            take_off(m, vertices, start, first, last, x0, rest0), take_off(m, vertices, start, first, last, x1, rest1)
        )
        total = zero()
        for k in range(pack_start[b], pack_start[b + 1]):
            tight = load(tightness, k * LANES, zero())
            edges = maximum(squared_edges(rest0, starts, k), squared_edges(rest1, starts, k))
            total = maximum(total, edges * tight * tight)
        store(largest, b * LANES, total)
        e = 0.0
        for lane in range(LANES):
            e = max(e, np.sqrt(np.float64(largest[b, lane])))
        spread[b] = least_singular_value(m) - (1.0 + ROUNDING) * e - ROUNDING * size * tightest[b]


@inlined
def take_off(m, vertices, start, first, last, x, rest):
    """Positions first..last without the linear map m, seen from the first of them; the largest coordinate."""
    o = (0.0, 0.0, 0.0)
    largest = 0.0
    for i in range(first, last):
        p, q = row(x, vertices[i]), row(start, i)
        r = (p[0] - dot(m[0], q), p[1] - dot(m[1], q), p[2] - dot(m[2], q))
        if i == first:
            o = r
        r = subtract(r, o)
        rest[i, 0], rest[i, 1], rest[i, 2] = r
        largest = max(largest, max(abs(r[0]), max(abs(r[1]), abs(r[2]))))
    return largest


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
def squared_edges(rest, starts, k):
    """Sums of squares of the three edges at the first corners of the tets of pack k."""
    o, total = gather4(rest, starts, 4 * k * LANES, zero()), zero()
    for c in range(1, 4):
        p = gather4(rest, starts, (4 * k + c) * LANES, zero())
        r = (p[0] - o[0], p[1] - o[1], p[2] - o[2])
        total = total + dot(r, r)
    return total


@inlined
def least_singular_value(m):
    """A little less than it, or 0: the other two multiply to at most half of |m|^2 less its square."""
    volume, total = abs(dot(cross(m[0], m[1]), m[2])), dot(m[0], m[0]) + dot(m[1], m[1]) + dot(m[2], m[2])
    least = 0.0
    for _ in range(16):
        least = 2.0 * volume / (total - least * least) if total > 0.0 else 0.0
    return least

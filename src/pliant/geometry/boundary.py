"""Boundaries of sheets as chains of vertices: loops, and parts of them between two ends or in a selection."""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike

from pliant.errors import MeshError
from pliant.geometry.folds import boundary_edges
from pliant.geometry.mesh import TriMesh


def boundary_loops(mesh: TriMesh) -> list[np.ndarray]:
    """The boundary of a sheet, loop by loop: vertices in order, the first repeated at the end, as triangles run along
    them; the longest loop (by length) first.
    """
    follower = _followers(mesh)
    loops, left = [], dict(follower)
    while left:
        first = min(left)
        loop = [first, left.pop(first)]
        while loop[-1] != first:
            loop.append(left.pop(loop[-1]))
        loops.append(np.array(loop))
    return sorted(loops, key=lambda loop: -_length(mesh.points, loop))


def boundary_chain(mesh: TriMesh, start: int, end: int) -> np.ndarray:
    """Vertices of the boundary of a sheet from one to another, the shorter of the two ways by length."""
    follower = _followers(mesh)
    for vertex in (start, end):
        if vertex not in follower:
            raise MeshError(f"boundary_chain: vertex {vertex} is not on the boundary of the sheet.")
    forward, backward = _walk(follower, start, end), _walk(follower, end, start)
    if forward is None or backward is None:
        raise MeshError(f"boundary_chain: vertices {start} and {end} lie on different loops of the boundary.")
    return min((forward, backward[::-1]), key=lambda chain: _length(mesh.points, chain))


def chain_within(mesh: TriMesh, vertices: ArrayLike) -> np.ndarray:
    """The one chain, or the loop with its first vertex repeated at the end, that the boundary edges between the given
    vertices make; two and more are refused.
    """
    chosen = {int(vertex) for vertex in np.asarray(vertices)}
    inner = {a: b for a, b in _followers(mesh).items() if a in chosen and b in chosen}
    starts = sorted(set(inner) - set(inner.values()))
    if not inner or len(starts) > 1:
        raise MeshError(
            f"the {len(chosen)} vertices hold {len(starts)} separate chains of the boundary; choose those of one."
        )
    chain = [starts[0] if starts else min(inner)]
    while chain[-1] in inner:
        chain.append(inner.pop(chain[-1]))
    if inner:
        raise MeshError(f"the {len(chosen)} vertices hold more than one loop of the boundary; choose those of one.")
    return np.array(chain)


def _followers(mesh: TriMesh) -> dict[int, int]:
    """The next vertex along the boundary, by vertex."""
    edges = boundary_edges(mesh.triangles, mesh.n_vertices)
    starts, counts = np.unique(edges[:, 0], return_counts=True)
    if (counts > 1).any():
        raise MeshError(
            f"vertex {starts[counts > 1][0]} is on two loops of the boundary: part them, or give chains of vertices."
        )
    return dict(edges.tolist())


def _walk(follower: dict[int, int], start: int, end: int) -> np.ndarray | None:
    chain = [start]
    while chain[-1] != end or len(chain) == 1:
        following = follower[chain[-1]]
        if following == start and following != end:
            return None
        chain.append(following)
    return np.array(chain)


def _length(points: np.ndarray, chain: np.ndarray) -> float:
    return float(np.linalg.norm(np.diff(points[chain], axis=0), axis=1).sum())

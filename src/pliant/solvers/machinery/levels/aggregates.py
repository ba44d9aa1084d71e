"""Aggregates of vertices: compact, connected, of about equal size, and of one body each."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from pliant.geometry import spatial_order
from pliant.geometry.components import connected_components
from pliant.sparse import sp

ROUNDS = 2  # in which seeds move to the middle of what is nearest to them
FINE = 2**20  # units in the mean length of an edge


class Aggregates(NamedTuple):
    """A level: which aggregate each point belongs to, and the graph of the aggregates."""

    of_point: np.ndarray  # (n,)
    size: int
    graph: sp.csr_matrix  # (count, count) with the diagonal
    component: np.ndarray  # (count,) connected part that an aggregate belongs to


def join_points(
    points: np.ndarray,
    graph: sp.csr_matrix,
    component: np.ndarray,
    count: int,
    is_whole: np.ndarray | None = None,
) -> Aggregates:
    """About `count` aggregates of points (n, 3), at least one of every component (n,).

    graph: (n, n) neighbours; is_whole (components,): those that are one aggregate whatever their size. Each aggregate
    is what is nearest to its seed along the graph; seeds are spread along a space-filling curve in every component,
    then move to the middle of their aggregates.
    """
    seeds = _seeds(points, component, count, is_whole)
    rows = np.repeat(np.arange(len(points)), np.diff(graph.indptr))
    lengths = np.linalg.norm(points[rows] - points[graph.indices], axis=1)
    unit = float(lengths.sum()) / max(int(np.count_nonzero(lengths)), 1) / FINE or 1.0
    is_inside = component[rows] == component[graph.indices]
    nearest = sp.csr_matrix(
        (np.maximum(_whole(lengths, unit), 1.0)[is_inside], (rows[is_inside], graph.indices[is_inside])),
        shape=graph.shape,
    )
    for turn in range(ROUNDS + 1):
        source = sp.csgraph.dijkstra(nearest, indices=seeds, min_only=True, return_predecessors=True)[2]
        of_point = np.searchsorted(seeds, source)
        if turn < ROUNDS:
            seeds = _middles(points, of_point, len(seeds), unit)
    lost = np.flatnonzero(source < 0)  # none: every component has a seed and is connected
    assert not len(lost)
    m = len(seeds)
    pairs = sp.csr_matrix((np.ones(graph.nnz), (of_point[rows], of_point[graph.indices])), shape=(m, m))
    joined = (pairs + sp.identity(m, format="csr")).tocsr()
    joined.sort_indices()
    return Aggregates(of_point, m, joined, component[seeds])


def components(graph: sp.csr_matrix, body: np.ndarray) -> np.ndarray:
    """(n,) connected parts of bodies (n,): what holds two bodies together does not make them one."""
    rows = np.repeat(np.arange(len(body)), np.diff(graph.indptr))
    inside = body[rows] == body[graph.indices]
    return connected_components(np.column_stack([rows[inside], graph.indices[inside]]), len(body))[1]


def _whole(lengths: np.ndarray, unit: float) -> np.ndarray:
    """Lengths in whole units: sums of them are exact, so that equal ways are equal wherever a body lies."""
    counted: np.ndarray = np.round(lengths / unit)
    return counted


def _seeds(points: np.ndarray, component: np.ndarray, count: int, is_whole: np.ndarray | None) -> np.ndarray:
    """Sorted points, as many in each component as it has a share in all, at least one."""
    place = np.empty(len(points), np.int64)
    place[spatial_order(points)] = np.arange(len(points))
    order = np.lexsort((place, component))
    sizes = np.bincount(component)
    shares = np.clip(np.round(count * sizes / len(points)).astype(np.int64), 1, sizes)
    if is_whole is not None:
        shares[is_whole] = 1
    first = np.concatenate([[0], np.cumsum(sizes)[:-1]])
    number = np.arange(shares.sum()) - np.repeat(np.cumsum(shares) - shares, shares)
    along = ((number + 0.5) / np.repeat(shares, shares) * np.repeat(sizes, shares)).astype(np.int64)
    return np.sort(order[np.repeat(first, shares) + along])


def _middles(points: np.ndarray, of_point: np.ndarray, m: int, unit: float) -> np.ndarray:
    """Sorted points nearest to the centres of aggregates."""
    from_centre = _whole(np.linalg.norm(points - centres(points, of_point, m)[of_point], axis=1), unit)
    order = np.lexsort((from_centre, of_point))
    return np.sort(order[np.searchsorted(of_point[order], np.arange(m))])


def centres(points: np.ndarray, of_point: np.ndarray, m: int) -> np.ndarray:
    """(m, 3) means of the points of aggregates."""
    sizes = np.bincount(of_point, minlength=m)
    return np.column_stack([np.bincount(of_point, points[:, k], m) / sizes for k in range(3)])

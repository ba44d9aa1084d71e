"""Elements in strips and tiles, for sums over elements that are scattered to their vertices.

In a *strip* of tets v_0 v_1 v_2 ... tet j has the corners v_j to v_(j+3): each tet but the first shares a face with the
one before and brings one new vertex, so that one position per tet is read, and one sum written, instead of four.
A *tile* is a run of elements along a curve through space.  Tiles of one colour share no vertex.
"""

from __future__ import annotations

from itertools import permutations
from typing import NamedTuple

import numpy as np

from pliant.geometry.adjacency import vertex_elements
from pliant.geometry.colouring import colour_vertices
from pliant.geometry.links import neighbours_across_faces
from pliant.geometry.ordering import spatial_order
from pliant.lanes.entry import entry
from pliant.lanes.inner import inner
from pliant.sparse import sp

LONGEST = 4  # tets of a strip. Longer ones are found too seldom to fill the lanes of a pack.
_ORDERS = np.array(list(permutations(range(4))), np.int64)


class Strips(NamedTuple):
    """Strips of elements with k corners, one after another."""

    start: np.ndarray  # (strips + 1,) first element of each strip
    element: np.ndarray  # (m,) every element once
    vertex: np.ndarray  # (m + (k - 1) strips,) strip s begins at start[s] + (k - 1) s


def tiles_of_elements(elements: np.ndarray, points: np.ndarray, size: int) -> tuple[np.ndarray, np.ndarray]:
    """A walk through space (m,) over elements (m, k) with vertices at points, and each element's tile of `size`."""
    walk = spatial_order(points[elements].mean(axis=1))
    tile = np.empty(len(elements), np.int64)
    tile[walk] = np.arange(len(elements)) // size
    return walk, tile


def colour_tiles(elements: np.ndarray, tile: np.ndarray, n_vertices: int) -> np.ndarray:
    """Colours (tiles,) such that no two tiles of one colour share a vertex."""
    count = int(tile.max(initial=-1)) + 1
    places = (np.repeat(tile, elements.shape[1]), elements.ravel())
    touches = sp.csr_array((np.ones(elements.size), places), shape=(count, n_vertices))
    graph = sp.csr_array(touches @ touches.T)
    graph.setdiag(0)
    graph.eliminate_zeros()
    return colour_vertices(graph.indptr, graph.indices)


def single_strips(elements: np.ndarray, walk: np.ndarray) -> Strips:
    """Every element alone, its corners as they are."""
    return Strips(np.arange(len(elements) + 1), walk, elements[walk].ravel())


def tet_strips(tets: np.ndarray, walk: np.ndarray, tile: np.ndarray, n_vertices: int) -> Strips:
    """Strips of at most LONGEST tets of one tile, each as long as possible, begun in the order of `walk`."""
    tets = np.ascontiguousarray(tets, np.int64)
    first, members = vertex_elements([tets], n_vertices)
    across = neighbours_across_faces(tets, first, members)
    return Strips(*_cover(tets, across, walk, tile, _ORDERS, LONGEST))


@inner()
def _grow(tets, across, tile, is_used, begin, order, longest, strip, vertices):
    """Follow the strip that begins with the corners of a tet in this order: how many tets it has."""
    strip[0] = begin
    for i in range(4):
        vertices[i] = tets[begin, order[i]]
    length = 1
    while length < longest:
        last, leaves, following = strip[length - 1], vertices[length - 1], -1
        for i in range(4):
            if tets[last, i] == leaves:
                following = across[last, i]
        if following < 0 or is_used[following] or tile[following] != tile[begin] or following in strip[:length]:
            break
        for i in range(4):
            v = tets[following, i]
            if v not in vertices[length : length + 3]:
                vertices[length + 3] = v
        strip[length] = following
        length += 1
    return length


@entry()
def _cover(tets, across, walk, tile, orders, longest):
    """start, element and vertex of Strips that hold every tet once."""
    is_used = np.zeros(len(tets), np.bool_)
    strip, vertices = np.empty(longest, np.int64), np.empty(longest + 3, np.int64)
    start, element = np.zeros(len(tets) + 1, np.int64), np.empty(len(tets), np.int64)
    vertex = np.empty(4 * len(tets), np.int64)
    count = done = 0
    for begin in walk:
        if is_used[begin]:
            continue
        best, length = 0, 0
        for k in range(len(orders)):
            found = _grow(tets, across, tile, is_used, begin, orders[k], longest, strip, vertices)
            if found > length:
                best, length = k, found
            if length == longest:
                break
        _grow(tets, across, tile, is_used, begin, orders[best], longest, strip, vertices)
        first = done + 3 * count
        vertex[first : first + length + 3] = vertices[: length + 3]
        element[done : done + length] = strip[:length]
        for j in range(length):
            is_used[strip[j]] = True
        done, count = done + length, count + 1
        start[count] = done
    return start[: count + 1], element, vertex[: done + 3 * count]

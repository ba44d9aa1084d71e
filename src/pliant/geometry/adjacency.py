"""Which vertices share an element, as a graph in compressed rows, and which elements meet at a vertex.

Importing this module loads Numba. Compiled functions call only compiled functions of this file.
"""

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from pliant.errors import MeshError
from pliant.lanes.entry import entry


def vertex_graph(
    elements: Sequence[NDArray[np.integer]], n_vertices: int
) -> tuple[NDArray[np.int64], NDArray[np.int32]]:
    """Neighbours of every vertex: two vertices are neighbours when some element holds both.

    elements is a list of index arrays (m, k), k may differ: tets, triangles, hinges, springs together.
    Returns (indptr (n + 1,), indices): the neighbours of vertex v are indices[indptr[v]:indptr[v + 1]],
    ascending, without v itself. A vertex in no element has none.
    """
    starts, corners = _flattened(elements, n_vertices)
    first, members = _incidence(starts, corners, n_vertices)
    return _neighbours(starts, corners, first, members)


def vertex_elements(
    elements: Sequence[NDArray[np.integer]], n_vertices: int
) -> tuple[NDArray[np.int64], NDArray[np.int32]]:
    """Elements at every vertex, ascending: (indptr (n + 1,), indices), numbered through the whole list."""
    starts, corners = _flattened(elements, n_vertices)
    return _incidence(starts, corners, n_vertices)


def _flattened(elements: Sequence[NDArray[np.integer]], n_vertices: int) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """Corners of all elements in one row, and where each element starts in it."""
    arrays = [np.asarray(array) for array in elements]
    for i, array in enumerate(arrays):
        if array.ndim != 2 or (array.size and array.dtype.kind not in "iu"):
            raise MeshError(
                f"Element array {i} has type {array.dtype} and shape {array.shape}; pass whole vertex indices (m, k)."
            )
        if array.size and (array.min() < 0 or array.max() >= n_vertices):
            raise MeshError(
                f"Element array {i} has vertex indices from {array.min()} to {array.max()}, but there are "
                f"{n_vertices} vertices. Correct the indices."
            )
    sizes = [np.full(len(array), array.shape[1], dtype=np.int64) for array in arrays]
    starts = np.concatenate([np.zeros(1, dtype=np.int64), *sizes]).cumsum()
    flat = [array.astype(np.int64).ravel() for array in arrays]
    return starts, np.concatenate([np.zeros(0, dtype=np.int64), *flat])


@entry()
def _incidence(starts, corners, n_vertices):  # type: ignore[no-untyped-def]
    """Elements at each vertex by counting sort."""
    first = np.zeros(n_vertices + 1, np.int64)
    for v in corners:
        first[v + 1] += 1
    for v in range(n_vertices):
        first[v + 1] += first[v]
    members = np.empty(len(corners), np.int32)
    place = first[:-1].copy()
    for element in range(len(starts) - 1):
        for k in range(starts[element], starts[element + 1]):
            v = corners[k]
            members[place[v]] = element
            place[v] += 1
    return first, members


@entry()
def _neighbours(starts, corners, first, members):  # type: ignore[no-untyped-def]
    """Rows of the vertex graph: count, then fill. `seen[u] == v` says u is already in v's row."""
    n = len(first) - 1
    indptr = np.zeros(n + 1, np.int64)
    seen = np.full(n, -1, np.int64)
    for v in range(n):
        seen[v] = v
        degree = 0
        for m in range(first[v], first[v + 1]):
            element = members[m]
            for k in range(starts[element], starts[element + 1]):
                u = corners[k]
                if seen[u] != v:
                    seen[u] = v
                    degree += 1
        indptr[v + 1] = indptr[v] + degree
    indices = np.empty(indptr[n], np.int32)
    place = indptr[:-1].copy()
    seen[:] = -1
    # Writing v into its neighbours' rows, v ascending, leaves every row sorted: no sort is needed.
    for v in range(n):
        seen[v] = v
        for m in range(first[v], first[v + 1]):
            element = members[m]
            for k in range(starts[element], starts[element + 1]):
                u = corners[k]
                if seen[u] != v:
                    seen[u] = v
                    indices[place[u]] = v
                    place[u] += 1
    return indptr, indices


@entry()
def elements_at(elements, is_chosen):  # type: ignore[no-untyped-def]
    """Numbers of the elements (m, k) that have a chosen vertex, is_chosen (n,)."""
    found, count = np.empty(len(elements), np.int64), 0
    for e in range(len(elements)):
        for v in elements[e]:
            if is_chosen[v]:
                found[count] = e
                count += 1
                break
    return found[:count]

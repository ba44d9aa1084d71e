"""Where sheets and rods bend: hinges between two triangles, bends between two edges; and the rim of a sheet."""

import numpy as np
from numpy.typing import NDArray

from pliant.errors import MeshError

IntArray = NDArray[np.int64]


def hinges(triangles: IntArray, n_vertices: int) -> IntArray:
    """Hinges (h, 4) of triangles (m, 3): every edge that two triangles share, as edge start, edge end, two wings.

            wing 2            The edge runs from 0 to 1 as in the triangle that holds wing 2 (the one listed first), so
             /  \\             that (0, 1, 2) is oriented as that triangle is. The other one holds wing 3, whatever
            0 -> 1            its own orientation: a sheet with one side (Moebius) is bent like any other.
             \\  /
            wing 3            Sorted by the edge's vertices.

    Raises MeshError when three or more triangles share an edge: no angle is defined there.
    """
    return triangles.ravel()[hinge_corners(triangles, n_vertices)[:, :4]]


def hinge_corners(triangles: IntArray, n_vertices: int) -> IntArray:
    """Corners 3 t + c of triangles (m, 3) that make the hinges (h, 6): edge start and end in the first triangle, the
    two wings, and edge start and end in the second.
    """
    edges, order, first, count = _ranked_edges(triangles, n_vertices)
    shared = first[count == 2]
    one, two = order[shared], order[shared + 1]
    start, end = two, next_corner(two)
    is_reversed = (edges[shared] != edges[shared + 1]).any(axis=1)
    twins = np.where(is_reversed, end, start), np.where(is_reversed, start, end)
    return np.column_stack((one, next_corner(one), next_corner(one, 2), next_corner(two, 2), *twins))


def next_corner(corner: IntArray, steps: int = 1) -> IntArray:
    """The corner so many steps on in the same triangle."""
    return corner - corner % 3 + (corner + steps) % 3


def boundary_edges(triangles: IntArray, n_vertices: int) -> IntArray:
    """Edges (k, 2) that belong to one triangle only, directed as in it, sorted. Raises MeshError as `hinges` does."""
    edges, _, first, count = _ranked_edges(triangles, n_vertices)
    return edges[first[count == 1]]


def rod_bends(edges: IntArray, n_vertices: int) -> IntArray:
    """Bends (j, 3) of a rod or ring of edges (m, 2): neighbour, vertex, neighbour, for every vertex with two edges.

    Sorted by the vertex. Raises MeshError where three or more edges meet: the turn is not defined there.
    """
    ends = edges.ravel()
    others = edges[:, ::-1].ravel()
    order = np.argsort(ends, kind="stable")
    ends, others = ends[order], others[order]
    valence = np.bincount(ends, minlength=n_vertices)
    if valence.size and valence.max() > 2:
        v = int(np.argmax(valence > 2))
        raise MeshError(
            f"Vertex {v} has {valence[v]} edges, so the rod has no single direction there. "
            "Bend only unbranched rods: pass the edges of each branch on its own."
        )
    place = np.concatenate(([0], np.cumsum(valence)))[:-1]
    middle = np.flatnonzero(valence == 2)
    return np.column_stack((others[place[middle]], middle, others[place[middle] + 1]))


def _ranked_edges(triangles: IntArray, n_vertices: int) -> tuple[IntArray, IntArray, IntArray, IntArray]:
    """All directed edges (3m, 2), equal edges together, and the corners 3 t + c they start from; where each begins, how
    many there are.
    """
    edges = triangles[:, ((0, 1), (1, 2), (2, 0))].reshape(-1, 2)
    key = edges.min(axis=1) * n_vertices + edges.max(axis=1)
    order = np.argsort(key, kind="stable")
    _, first, count = np.unique(key[order], return_index=True, return_counts=True)
    crowded = np.flatnonzero(count > 2)
    if crowded.size:
        k = first[crowded[0]]
        owners = order[k : k + count[crowded[0]]] // 3
        a, b = (int(v) for v in np.sort(edges[order[k]]))
        raise MeshError(
            f"The edge ({a}, {b}) belongs to {len(owners)} triangles ({', '.join(str(t) for t in owners[:4])}), but "
            "only two can bend about an edge. Give the extra triangles vertices of their own and attach these."
        )
    return edges[order], order, first, count

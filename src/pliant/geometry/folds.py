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
    start, end = two, _next_corner(two)
    is_reversed = (edges[shared] != edges[shared + 1]).any(axis=1)
    twins = np.where(is_reversed, end, start), np.where(is_reversed, start, end)
    return np.column_stack((one, _next_corner(one), _next_corner(one, 2), _next_corner(two, 2), *twins))


def fold_pairs(triangles: IntArray, n_vertices: int) -> tuple[IntArray, IntArray, IntArray]:
    """Pairs of hinges that share a triangle (m, 3): corners 3 t + c (f, 11), hinges (f, 2), triangles (f,).

            4 - 2         Corners 0 to 4: the triangle (0, 1, 2), oriented as it is, with the vertex 0 that both edges
             \\ / \\        have; wing 3 beyond the edge 01, wing 4 beyond the edge 20.
              0 - 1       Corners 5 to 10: the five again, 0 and 1 as the triangle of wing 3 has them and 2 as that of
               \\ /        wing 4; then 0 as that of wing 4. Where one differs, the sheet is torn between them.
                3
    Hinges are numbered as by `hinges`: first that of the edge 01, then that of the edge 20. Where both wings are the
    same vertex, as around one with three triangles, there is no pair.
    """
    sides = hinge_corners(triangles, n_vertices)
    count, m = len(sides), len(triangles)
    # Each hinge as each of its triangles sees it: the edge's ends, the other wing, and the ends on the other side.
    seen = np.concatenate((sides[:, [0, 1, 3, 4, 5]], sides[:, [4, 5, 2, 0, 1]]))
    is_forward = _next_corner(seen[:, 0]) == seen[:, 1]
    seen = np.where(is_forward[:, None], seen, seen[:, [1, 0, 2, 4, 3]])  # ends as the triangle runs round
    number = np.full(3 * m, -1)
    number[seen[:, 0]] = np.arange(2 * count)
    zero = np.arange(3 * m)  # corner 0: its edges to the next corner and from the one before
    both = np.column_stack((number, number[_next_corner(zero, 2)]))
    zero, both = zero[(both >= 0).all(axis=1)], both[(both >= 0).all(axis=1)]
    first, second = seen[both[:, 0]], seen[both[:, 1]]
    wings = first[:, 2], second[:, 2]
    own = zero, _next_corner(zero), _next_corner(zero, 2)
    corners = np.column_stack((*own, *wings, first[:, 3], first[:, 4], second[:, 3], *wings, second[:, 4]))
    wing_vertices = triangles.ravel()[corners[:, 3:5]]
    is_proper = wing_vertices[:, 0] != wing_vertices[:, 1]
    return corners[is_proper], both[is_proper] % max(count, 1), zero[is_proper] // 3


def _next_corner(corner: IntArray, steps: int = 1) -> IntArray:
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

"""What bounds and joins elements: boundary triangles of tets, unique edges, and vertex compaction.

Everything works on index arrays, so it serves meshes, scenes and plain user arrays alike.
"""

from itertools import combinations

import numpy as np
from numpy.typing import NDArray

from pliant.errors import MeshError

IntArray = NDArray[np.int64]

#: Faces of a positively oriented tet, counter-clockwise seen from outside.
TET_FACES = ((0, 2, 1), (0, 1, 3), (0, 3, 2), (1, 2, 3))


def boundary_triangles(tets: IntArray, n_vertices: int) -> IntArray:
    """Triangles (k, 3) that belong to one tet only, outward oriented, in the order of the tets.

    Raises MeshError when three or more tets share a face: such tets overlap or are listed twice.
    """
    return boundary_faces(tets, n_vertices)[0]


def boundary_faces(tets: IntArray, n_vertices: int) -> tuple[IntArray, IntArray]:
    """The boundary triangles (k, 3) and the tet (k,) that each belongs to."""
    faces = tets[:, TET_FACES].reshape(-1, 3)
    key = _face_keys(faces, n_vertices)
    order = np.argsort(key, kind="stable")
    ranked = key[order]
    crowded = np.flatnonzero(ranked[2:] == ranked[:-2])
    if crowded.size:
        owners = order[ranked == ranked[crowded[0]]] // 4
        a, b, c = (int(v) for v in faces[order[crowded[0]]])
        raise MeshError(
            f"The face ({a}, {b}, {c}) belongs to {owners.size} tets ({_listed(owners)}), but a face can "
            "separate at most two. Remove tets that overlap or are listed twice."
        )
    new = np.concatenate(([True], ranked[1:] != ranked[:-1], [True]))
    single = np.sort(order[new[:-1] & new[1:]])
    return faces[single], single // 4


def _face_keys(faces: IntArray, n_vertices: int) -> IntArray:
    """One integer (k,) a face, equal for equal vertex sets whatever their order."""
    x, y, z = faces.T
    low = np.minimum(np.minimum(x, y), z)
    high = np.maximum(np.maximum(x, y), z)
    middle = x + y + z - low - high
    pair = low * n_vertices + middle
    if n_vertices > 2_000_000:  # n^3 would overflow 64 bits: number the pairs densely first
        pair = np.unique(pair, return_inverse=True)[1]
    return pair * n_vertices + high


def unique_edges(elements: IntArray, n_vertices: int) -> IntArray:
    """Edges (k, 2), smaller vertex first, sorted, each once: all pairs of vertices that share an element."""
    keys = []
    for i, j in combinations(range(elements.shape[1]), 2):
        a, b = elements[:, i], elements[:, j]
        keys.append(np.minimum(a, b) * n_vertices + np.maximum(a, b))
    key = np.unique(np.concatenate(keys))
    return np.stack((key // n_vertices, key % n_vertices), axis=1)


def is_closed_surface(triangles: IntArray, n_vertices: int) -> bool:
    """Whether every directed edge is matched by its reverse, each once: closed, manifold, one orientation."""
    start = triangles.ravel()
    end = np.roll(triangles, -1, axis=1).ravel()
    forward = np.sort(start * n_vertices + end)
    backward = np.sort(end * n_vertices + start)
    return bool(np.all(forward[1:] != forward[:-1]) and np.array_equal(forward, backward))


def unmatched_edge(triangles: IntArray, n_vertices: int) -> tuple[int, int] | None:
    """An edge (start, end) that triangles run along more often in one direction than in the other; None if closed and
    of one orientation.

    Unlike `is_closed_surface` it allows surfaces that touch themselves along an edge: they enclose a volume too.
    """
    start, end = triangles.ravel(), np.roll(triangles, -1, axis=1).ravel()
    low, high = np.minimum(start, end), np.maximum(start, end)
    key, edge_of = np.unique(low * n_vertices + high, return_inverse=True)
    excess = np.bincount(edge_of, np.where(start < end, 1, -1), minlength=len(key))
    unmatched = np.flatnonzero(excess)
    if unmatched.size == 0:
        return None
    first = key[unmatched[0]]
    edge = int(first // n_vertices), int(first % n_vertices)
    return edge if excess[unmatched[0]] > 0 else edge[::-1]


def enclosed_volume(points: NDArray[np.float64], triangles: IntArray) -> float:
    """Volume [m^3] inside a closed surface, negative if its triangles face inwards."""
    corner = (points - points.mean(axis=0))[triangles]
    return float(np.einsum("ma,ma->", corner[:, 0], np.cross(corner[:, 1], corner[:, 2]))) / 6


def compact(elements: IntArray, n_vertices: int) -> tuple[IntArray, IntArray]:
    """Renumber so that only used vertices remain, in their old order.

    Returns the renumbered elements and `kept`, the old index of each new vertex: `points[kept]` goes with
    them.
    """
    used = np.zeros(n_vertices, dtype=bool)
    used[elements] = True
    new_index = np.cumsum(used) - 1
    return new_index[elements], np.flatnonzero(used)


def _listed(indices: IntArray) -> str:
    """The first few indices as words."""
    shown = ", ".join(str(int(i)) for i in indices[:4])
    return shown + (", ..." if indices.size > 4 else "")

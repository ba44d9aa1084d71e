"""Tets divided into patches of neighbours with few vertices."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from pliant.lanes.entry import entry


def patches_of_tets(tets: NDArray[np.integer], most: int) -> NDArray[np.int64]:
    """The patch (m,) of each tet (m, 4): connected by faces, with at most so many vertices.

    Where the first tet and its four neighbours, the next that is left and its four, and so on are all of the mesh, as
    the cells of `shapes.box` are, these are the patches; where each four that follow each other close around an edge,
    as body-centred ones do, these are. Else they grow one after another, from the first tet that is left: by the
    neighbour that adds the fewest vertices, then shares the most faces, then has the fewest neighbours left, so that no
    tet stays alone where that can be avoided.
    """
    patch = np.full(len(tets), -1, np.int64)
    if len(tets) and most >= 6 and _are_rings(tets):
        return np.arange(len(tets)) // 4
    neighbours = face_neighbours(tets)
    if len(tets) and not (most >= 8 and _stars(neighbours, patch)):
        patch[:] = -1
        _grow(np.ascontiguousarray(tets, np.int64), neighbours, most, patch)
    return patch


def _are_rings(tets: NDArray[np.integer]) -> bool:
    """Whether each four tets that follow each other share an edge and have six vertices together."""
    if len(tets) % 4:
        return False
    rings = np.sort(np.asarray(tets).reshape(-1, 16), axis=1)
    is_new = np.diff(rings, axis=1, prepend=-1) > 0
    return bool((is_new.sum(axis=1) == 6).all() and ((rings[:, 3:] == rings[:, :-3]).sum(axis=1) == 2).all())


def face_neighbours(tets: NDArray[np.integer]) -> NDArray[np.int64]:
    """(m, 4) the tet across the face opposite to each corner, -1 where there is none."""
    m = len(tets)
    opposite = np.array([[1, 2, 3], [0, 2, 3], [0, 1, 3], [0, 1, 2]])
    faces = np.sort(np.asarray(tets)[:, opposite].reshape(-1, 3), axis=1)
    order = np.lexsort(faces.T)
    same = np.flatnonzero((faces[order[1:]] == faces[order[:-1]]).all(axis=1))
    one, other = order[same], order[same + 1]
    neighbours = np.full(4 * m, -1, np.int64)
    neighbours[one], neighbours[other] = other // 4, one // 4
    return neighbours.reshape(m, 4)


@entry()
def _stars(neighbours, patch):
    """Write patches of a tet and its four neighbours: True if they are all of the mesh; patch (m,) is -1 before."""
    count = 0
    for t in range(len(neighbours)):
        if patch[t] >= 0:
            continue
        for k in range(4):
            n = neighbours[t, k]
            if n < 0 or patch[n] >= 0:
                return False
        patch[t] = count
        for k in range(4):
            patch[neighbours[t, k]] = count
        count += 1
    return True


@entry()
def _grow(tets, neighbours, most, patch):
    """Write the patch of each tet; patch (m,) is -1 at the start."""
    count = 0
    vertices = np.empty(most, np.int64)
    members = np.empty(len(tets), np.int64)
    for start in range(len(tets)):
        if patch[start] >= 0:
            continue
        size, has = 1, 4
        members[0] = start
        patch[start] = count
        for k in range(4):
            vertices[k] = tets[start, k]
        while True:
            best, best_key = -1, (0, 0, 0)
            for i in range(size):
                for k in range(4):
                    t = neighbours[members[i], k]
                    if t < 0 or patch[t] >= 0:
                        continue
                    added, shared, left = 0, 0, 0
                    for j in range(4):
                        is_new = True
                        for v in range(has):
                            if vertices[v] == tets[t, j]:
                                is_new = False
                        added += 1 if is_new else 0
                        n = neighbours[t, j]
                        if n >= 0:
                            shared += 1 if patch[n] == count else 0
                            left += 1 if patch[n] < 0 else 0
                    key = (added, -shared, left)
                    if has + added <= most and (best < 0 or key < best_key or (key == best_key and t < best)):
                        best, best_key = t, key
            if best < 0:
                break
            patch[best] = count
            members[size] = best
            size += 1
            for j in range(4):
                is_new = True
                for v in range(has):
                    if vertices[v] == tets[best, j]:
                        is_new = False
                if is_new:
                    vertices[has] = tets[best, j]
                    has += 1
        count += 1

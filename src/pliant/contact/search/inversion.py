"""Parts of a surface that belong to one tet: they pass each other when the tet turns inside out.

A tet's corner is on the inner side of the opposite face, and opposite edges keep their sides, exactly as long as the
volume is positive.  So when they meet it is no contact but the inversion of the tet, which its material undoes.  As a
contact, the way back would be stopped: a corner leaves through its face from inside, and returns from outside.
"""

from __future__ import annotations

import numpy as np

from pliant.contact.search.broad_phase import Surface
from pliant.contact.search.solid import Solid

OPPOSITE = (((0, 1), (2, 3)), ((0, 2), (1, 3)), ((0, 3), (1, 2)))  # edges of a tet


def apexes(solid: Solid) -> np.ndarray:
    """(f,) int32: the vertex of its tet that a boundary face has not."""
    corners = solid.tets[solid.tet_of_face].astype(np.int64)
    return (corners.sum(axis=1) - solid.faces.sum(axis=1, dtype=np.int64)).astype(np.int32)


def opposite_edges(solid: Solid, surface: Surface, n_vertices: int) -> np.ndarray:
    """(k,) ascending: pairs of surface edges (i, j), i < j, that are opposite in a tet, as i e + j for e edges."""
    known, e = surface.edges.astype(np.int64) @ (n_vertices, 1), len(surface.edges)
    if not e:
        return np.zeros(0, np.int64)
    pairs = []
    for ends in OPPOSITE:
        keys = [np.sort(solid.tets[:, pair].astype(np.int64), axis=1) @ (n_vertices, 1) for pair in ends]
        places = np.sort([np.minimum(np.searchsorted(known, key), e - 1) for key in keys], axis=0)
        is_surface = np.isin(keys[0], known) & np.isin(keys[1], known)
        pairs.append((places[0] * e + places[1])[is_surface])
    return np.unique(np.concatenate(pairs))


def are_opposite(pairs: np.ndarray, e: int, first: np.ndarray, second: np.ndarray) -> np.ndarray:
    """(k,) bool: which edges first < second (k,) of e are among the pairs of `opposite_edges`."""
    if not len(pairs):
        return np.zeros(len(first), bool)
    key = first.astype(np.int64) * e + second
    return pairs[np.minimum(np.searchsorted(pairs, key), len(pairs) - 1)] == key

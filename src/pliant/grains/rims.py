"""One contact for a place that several triangles of a surface share."""

from __future__ import annotations

import numpy as np

from pliant.lanes.compiled import inlined
from pliant.lanes.entry import entry

ROUNDING = 1e-12  # a weight below is of a corner that the closest point does not see


def nearest_features(
    vertices: np.ndarray, weights: np.ndarray, gaps: np.ndarray, is_behind: np.ndarray, body: np.ndarray
) -> np.ndarray:
    """(k,) bool: which contacts of spheres with triangles to keep; those of a sphere follow each other.

    A closest point on a rim belongs to the neighbour too. Where the neighbour has a nearer one, or the same, that one
    counts alone: on a plane of many triangles a sphere rests on one of them, without bumps at the edges. Of triangles
    of a body, by the bodies (n,) of the vertices, whose outer side the centre is behind (k,), none counts but the
    nearest of all: without it the centre is outside, and sees them through the body.
    """
    keep = np.ones(len(vertices), bool)
    mark_nearest(vertices, weights, gaps, is_behind, body, keep)
    return keep


@entry(nogil=True, error_model="numpy")
def mark_nearest(vertices, weights, gaps, is_behind, body, keep):
    """Mark what is to be kept."""
    first = 0
    for c in range(len(keep)):
        if vertices[c, 0] != vertices[first, 0]:
            first = c
        other = first
        while other < len(keep) and vertices[other, 0] == vertices[c, 0]:
            is_nearer = gaps[other] < gaps[c] or (gaps[other] == gaps[c] and other < c)
            is_same = is_behind[c] and body[vertices[c, 1]] == body[vertices[other, 1]]
            if other != c and is_nearer and (is_same or has_place(vertices, weights, c, other)):
                keep[c] = False
            other += 1


@inlined
def has_place(vertices, weights, c, other):
    """Whether the closest point of contact c is one of the other's triangle too."""
    for i in range(1, 4):
        if abs(weights[c, i]) > ROUNDING:
            is_there = False
            for j in range(1, 4):
                is_there |= vertices[c, i] == vertices[other, j]
            if not is_there:
                return False
    return True

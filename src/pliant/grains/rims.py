"""One contact for a place that several triangles of a surface share."""

from __future__ import annotations

import numpy as np

from pliant.constraints.rows import Rows
from pliant.lanes.compiled import inlined
from pliant.lanes.entry import entry

ROUNDING = 1e-12  # a weight below is of a corner that the closest point does not see
LATER = 1e6  # [m] stands before the time of an impact: nearer is whatever touches now


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


def drop_rims(rows: Rows, base: int, count: int) -> int:
    """Take contacts with triangles that `nearest_features` does not keep out of rows from `base` to `count`, as they
    were detected; how many rows are left. Of what is hit on the way the first hit counts as the nearest.
    """
    faces = base + np.flatnonzero(rows.vertices[base:count, 2] >= 0)
    if not len(faces):
        return count
    time = rows.bias[faces].astype(float)
    distance = np.einsum("ka,ka->k", rows.normal[faces].astype(float), rows.separation[faces].astype(float))
    gaps = np.where(time > 0, LATER + time, distance)
    weights = np.column_stack([np.ones(len(faces)), -rows.weights[faces].astype(float)])
    keep = np.ones(count - base, bool)
    nobody = np.zeros(int(rows.vertices[faces].max()) + 1, np.int64)
    keep[faces - base] = nearest_features(rows.vertices[faces], weights, gaps, np.zeros(len(faces), bool), nobody)
    left = base + int(np.count_nonzero(keep))
    if left < count:
        for array in rows:
            if len(array):
                array[base:left] = array[base:count][keep]
    return left


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

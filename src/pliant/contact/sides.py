"""Memory of sides: a sheet has no inside, so a vertex that has gone through it is pushed back to where it was
before.
"""

from __future__ import annotations

import numpy as np

from pliant.contact.compiled import cached, compiled
from pliant.contact.contacts import Contacts, contacts_of_vertices
from pliant.contact.distances import VERTEX_TRIANGLE, row
from pliant.contact.pair import is_inner
from pliant.lanes.vectors import dot

OPPOSITE = -0.5  # at the rim of a sheet, a side is only kept if the direction has clearly turned round


def keep_sides(contacts: Contacts, previous: Contacts, has_side: np.ndarray) -> None:
    """Turn normals of contacts to the side on which the same pair was in `previous`, in place.

    A vertex that has slid on to another triangle is known by a triangle that shares a corner with the new one.
    has_side (k,): contacts whose second primitive is outward oriented, which need no memory.
    """
    n_vertices = int(max(contacts.vertices.max(initial=-1), previous.vertices.max(initial=-1))) + 1
    start, entries = contacts_of_vertices(previous, n_vertices)
    cached(turn_normals)(contacts, previous, has_side, start, entries)


@compiled
def turn_normals(contacts, previous, has_side, start, entries):
    normals = contacts.normals
    for c in range(len(contacts.kind)):
        if has_side[c]:
            continue
        v = contacts.vertices[c, 0]
        known, likeness = -1, 0
        for e in range(start[v], start[v + 1]):
            p, corner = entries[e] // 4, entries[e] % 4
            if corner != 0 or previous.kind[p] != contacts.kind[c]:
                continue
            same = common_corners(previous.vertices, p, contacts.vertices, c)
            is_candidate = same == 3 or (same > 0 and contacts.kind[c] == VERTEX_TRIANGLE)
            if is_candidate and same > likeness:
                known, likeness = p, same
        if known < 0:
            continue
        cosine = dot(row(normals, c), row(previous.normals, known))
        w = contacts.weights[c]
        if cosine < (0.0 if is_inner(contacts.kind[c], (w[0], w[1], w[2], w[3])) else OPPOSITE):
            for k in range(3):
                normals[c, k] = -normals[c, k]


@compiled
def common_corners(vertices_a, a, vertices_b, b):
    """How many of the last three vertices of contact a are among those of contact b."""
    count = 0
    for i in range(1, 4):
        for j in range(1, 4):
            if vertices_a[a, i] == vertices_b[b, j]:
                count += 1
    return count

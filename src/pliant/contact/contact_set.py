"""Lists of contacts: what penalty energies and solvers read."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from pliant.elements.closest import VERTEX_TRIANGLE, closest_vertex_triangle, row
from pliant.lanes.compiled import cached, compiled, inlined
from pliant.lanes.vectors import cross, dot, subtract


class Contacts(NamedTuple):
    """Contacts of four vertices each: a vertex and a triangle, or the ends of two edges.

    With the signed weights w the first primitive is at r = sum_i w_i x_i = x_a - x_b from the second, and the contact
    is d = max(0, gap - r . n) deep (VBD Equation 12, where the gap is 0).
    """

    kind: np.ndarray  # (k,) int8 VERTEX_TRIANGLE or EDGE_EDGE
    vertices: np.ndarray  # (k, 4) int32 vertices of the scene
    weights: np.ndarray  # (k, 4) signed weights of the contact points, sum 0
    normals: np.ndarray  # (k, 3) unit vector n from the second primitive to the first
    gap: np.ndarray  # (k,) distance to be kept [m]
    is_discrete: np.ndarray  # (k,) bool: penetrates already, so the closest point moves with the vertices (`refresh`)


def no_contacts() -> Contacts:
    """An empty list."""
    return Contacts(
        np.zeros(0, np.int8),
        np.zeros((0, 4), np.int32),
        np.zeros((0, 4)),
        np.zeros((0, 3)),
        np.zeros(0),
        np.zeros(0, bool),
    )


def joined(*lists: Contacts) -> Contacts:
    """One list after another."""
    full = [contacts for contacts in lists if len(contacts.kind)]
    if len(full) == 1:
        return full[0]
    return Contacts(*(np.concatenate(arrays) for arrays in zip(*(full or lists), strict=True)))


def depths(contacts: Contacts, x: np.ndarray) -> np.ndarray:
    """Penetration d (k,) [m] of contacts at positions x (n, 3)."""
    d = np.empty(len(contacts.kind))
    cached(measure_depths)(contacts, x, d)
    return d


@compiled
def measure_depths(contacts, x, d):
    for c in range(len(d)):
        v, w = contacts.vertices[c], contacts.weights[c]
        along = 0.0
        for a in range(3):
            r = w[0] * x[v[0], a] + w[1] * x[v[1], a] + w[2] * x[v[2], a] + w[3] * x[v[3], a]
            along += r * contacts.normals[c, a]
        d[c] = max(0.0, contacts.gap[c] - along)


def contacts_of_vertices(contacts: Contacts, n_vertices: int) -> tuple[np.ndarray, np.ndarray]:
    """Which contacts a vertex takes part in, and as which of the four.

    Returns (start (n + 1,), entries): those of vertex v are entries[start[v]:start[v + 1]], each 4 contact + corner,
    ascending.
    """
    start = np.zeros(n_vertices + 1, np.int64)
    entries = np.empty(contacts.vertices.size, np.int64)
    cached(sort_by_vertex)(contacts.vertices, start, entries)
    return start, entries


@compiled
def sort_by_vertex(vertices, start, entries):
    """Counting sort: start[v + 1] first counts, then is where v's next entry goes, then where v ends."""
    for c in range(len(vertices)):
        for k in range(4):
            start[vertices[c, k] + 1] += 1
    total = 0
    for v in range(1, len(start)):
        count = start[v]
        start[v] = total
        total += count
    for c in range(len(vertices)):
        for k in range(4):
            place = start[vertices[c, k] + 1]
            entries[place] = 4 * c + k
            start[vertices[c, k] + 1] = place + 1


def refresh(contacts: Contacts, x: np.ndarray) -> None:
    """Recompute closest points and normals of discrete vertex-triangle contacts at positions x (n, 3), in place
    (VBD 3.5).
    """
    cached(refresh_all)(contacts, x)


@compiled
def refresh_all(contacts, x):
    kind, vertices, weights, normals = contacts.kind, contacts.vertices, contacts.weights, contacts.normals
    for c in range(len(kind)):
        if contacts.is_discrete[c] and kind[c] == VERTEX_TRIANGLE:
            v = vertices[c]
            y = (row(x, v[0]), row(x, v[1]), row(x, v[2]), row(x, v[3]))
            w, n = refreshed(y, row(normals, c))
            weights[c, 0], weights[c, 1], weights[c, 2], weights[c, 3] = w
            normals[c, 0], normals[c, 1], normals[c, 2] = n


@inlined
def refreshed(y, n):
    """Signed weights of a vertex and a triangle and their normal now; n, the one before, keeps the side.

    Over the triangle the normal is the triangle's; beside it, where the closest point is on the rim, it stays.
    """
    w = closest_vertex_triangle(y)
    if w[1] < 0.0 and w[2] < 0.0 and w[3] < 0.0:
        m = cross(subtract(y[2], y[1]), subtract(y[3], y[1]))
        size = dot(m, m) ** 0.5
        if size > 0.0:
            sign = 1.0 if dot(m, n) >= 0.0 else -1.0
            return w, (sign * m[0] / size, sign * m[1] / size, sign * m[2] / size)
    return w, n


def without(contacts: Contacts, others: Contacts) -> Contacts:
    """Those contacts whose pairs are not among others."""
    if not len(contacts.kind) or not len(others.kind):
        return contacts
    keys = [np.column_stack([c.kind, c.vertices]).astype(np.int32) for c in (others, contacts)]
    _, place = np.unique(np.concatenate(keys), axis=0, return_inverse=True)
    is_new = ~np.isin(place.ravel()[len(others.kind) :], place.ravel()[: len(others.kind)])
    return Contacts(*(array[is_new] for array in contacts))

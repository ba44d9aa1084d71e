"""Contacts of the same place, listed once.

Neighbouring triangles that see a vertex at their common edge, and edges that are closest at an end, are the same
contact of that vertex with that edge or vertex: what counts is which vertices have a weight, on either side.
"""

from __future__ import annotations

import numpy as np

from pliant.contact.contact_set import ContactSet, chosen
from pliant.contact.tracking.identity import hash_of, is_same, table_size
from pliant.lanes.compiled import cached, compiled, inlined

ROUNDING = 1e-12  # a weight below is of a corner that the closest point does not see
SIDES = 6  # numbers that name a contact: up to three vertices of each side


def without_duplicates(contacts: ContactSet) -> ContactSet:
    """The first of each contact, in their order; no pair of primitives is listed twice."""
    k = len(contacts.kind)
    if not k:
        return contacts
    names, is_first = np.empty((k, SIDES), np.int32), np.empty(k, bool)
    table = np.full(table_size(k), -1, np.int32)
    cached(mark_first)(contacts.vertices, contacts.weights, names, table, is_first)
    return chosen(contacts, is_first)


@compiled
def mark_first(vertices, weights, names, table, is_first):
    """Each name is looked up in a hash table of contacts; one that is not there is put in."""
    last = len(table) - 1
    for k in range(len(vertices)):
        is_first[k] = True
        if sees_all(weights, np.uint64(k)):
            continue
        write_name(vertices[k], weights[k], names[k])
        place = hash_of(names[k]) & last
        while table[place] >= 0 and not is_same(names[table[place]], names[k]):
            place = (place + 1) & last
        is_first[k] = table[place] < 0
        if is_first[k]:
            table[place] = k


@inlined
def sees_all(weights, k):
    """Whether all four corners of a contact have a weight: then no other pair is the same."""
    least = min(min(abs(weights[k, 0]), abs(weights[k, 1])), min(abs(weights[k, 2]), abs(weights[k, 3])))
    return least > ROUNDING


@inlined
def write_name(vertices, weights, name):
    """Vertices of one side, descending, then of the other, -1 for none.

    The side with fewer vertices comes first, and of two equal ones that with the lower vertices.
    """
    ours, theirs, our_largest, their_largest = 0, 0, -1, -1
    for i in range(4):
        if weights[i] > ROUNDING:
            ours, our_largest = ours + 1, max(our_largest, vertices[i])
        if weights[i] < -ROUNDING:
            theirs, their_largest = theirs + 1, max(their_largest, vertices[i])
    swap = ours > theirs or (ours == theirs and our_largest > their_largest)
    half = SIDES // 2
    for i in range(SIDES):
        name[i] = -1
    for i in range(4):
        if abs(weights[i]) > ROUNDING:
            insert(vertices[i], name, half if (weights[i] < 0.0) != swap else 0)


@inlined
def insert(vertex, name, start):
    """Put a vertex among those of its side, the largest first."""
    place = start
    while name[place] > vertex:
        place += 1
    carried = vertex
    while carried >= 0:
        name[place], carried = carried, name[place]
        place += 1

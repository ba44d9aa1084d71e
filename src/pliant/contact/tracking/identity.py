"""Who a contact is: ids that last from step to step, and finding contacts again by them.

An id is the kind of a contact and the vertices of its features, sorted: it does not depend on the order in which
detection names the corners of a triangle or the ends of an edge.

    vertex-triangle   (kind, vertex, a, b, c)   a < b < c
    edge-edge         (kind, a, b, c, d)        a < b, c < d, a < c or (a = c and b < d)
    vertex-obstacle   (kind, vertex, obstacle, -1, -1)
    face-obstacle     (kind, a, b, c, obstacle)  as the triangle names them; c = -1 for an edge

Numbers of vertices never change; what tearing adds comes last (model.topology).  A vertex that slides from one
triangle to the next begins a new contact.
"""

from __future__ import annotations

import numpy as np

from pliant.contact.contact_set import ContactSet
from pliant.elements.closest import EDGE_EDGE, FACE_OBSTACLE
from pliant.lanes.compiled import cached, compiled, inlined

ID = 5  # numbers of an id


def contact_ids(contacts: ContactSet) -> np.ndarray:
    """(k, 5) int32."""
    ids = np.empty((contacts.size, ID), np.int32)
    cached(write_ids)(contacts.kind, contacts.vertices, contacts.obstacle, ids)
    return ids


@compiled
def write_ids(kind, vertices, obstacle, ids):
    for k in range(len(kind)):
        write_id(k, k, kind, vertices, obstacle, ids)


@inlined
def write_id(c, k, kind, vertices, obstacle, ids):
    """Of contact c, as number k of the ids."""
    ids[k, 0] = kind[c]
    for i in range(4):
        ids[k, 1 + i] = vertices[c, i]
    if kind[c] == FACE_OBSTACLE:
        ids[k, 4] = obstacle[c]
    elif obstacle[c] >= 0:
        ids[k, 2] = obstacle[c]
    elif kind[c] == EDGE_EDGE:
        sort_two(ids[k], 1, 2)
        sort_two(ids[k], 3, 4)
        if ids[k, 1] > ids[k, 3] or (ids[k, 1] == ids[k, 3] and ids[k, 2] > ids[k, 4]):
            ids[k, 1], ids[k, 3] = ids[k, 3], ids[k, 1]
            ids[k, 2], ids[k, 4] = ids[k, 4], ids[k, 2]
    else:
        sort_two(ids[k], 2, 3)
        sort_two(ids[k], 3, 4)
        sort_two(ids[k], 2, 3)


@inlined
def sort_two(numbers, i, j):
    if numbers[i] > numbers[j]:
        numbers[i], numbers[j] = numbers[j], numbers[i]


def places_among(ids: np.ndarray, known: np.ndarray) -> np.ndarray:
    """(k,) where each of ids (k, m) is among the known (l, m), -1 where it is not.

    Each place is given once: of equal ids the first gets the first place, the second the second.
    """
    places = np.full(len(ids), -1, np.int64)
    if len(ids) and len(known):
        table = np.full(table_size(len(known)), -1, np.int32)
        cached(find_places)(ids, known, table, places)
    return places


def table_size(k: int) -> int:
    """A power of two of which at least half stays empty with k entries."""
    return int(2 ** max(4, (2 * k).bit_length()))


@compiled
def find_places(ids, known, table, places):
    """Put what is known into a hash table (open addressing), then take each id out of it."""
    fill_table(known, table)
    for k in range(len(ids)):
        places[k] = take_place(ids, k, known, table)


@inlined
def fill_table(known, table):
    last = len(table) - 1
    for k in range(len(known)):
        place = hash_of(known[k]) & last
        while table[place] != -1:
            place = (place + 1) & last
        table[place] = k


@inlined
def take_place(ids, k, known, table):
    """Where id k is among what is known, -1 if nowhere; it is in the table no more."""
    last, taken = len(table) - 1, -2
    place = hash_of(ids[k]) & last
    while table[place] != -1 and (table[place] == taken or not is_same(known[table[place]], ids[k])):
        place = (place + 1) & last
    found = table[place]
    if found >= 0:
        table[place] = taken
    return np.int64(found)


@inlined
def hash_of(numbers):
    """Of a row of numbers (Fowler, Noll and Vo), not negative."""
    h = np.uint64(1469598103934665603)
    for i in range(len(numbers)):
        h = (h ^ np.uint64(np.uint32(numbers[i]))) * np.uint64(1099511628211)
    return np.int64((h ^ (h >> np.uint64(29))) & np.uint64(0x7FFFFFFFFFFFFFFF))


@inlined
def is_same(a, b):
    for i in range(len(a)):  # noqa: SIM110 (a loop compiles, all() over a generator does not)
        if a[i] != b[i]:
            return False
    return True

"""Which vertices were in contact with which bodies and obstacles in the step before, and how deep they pressed.

A vertex that slides from triangle to triangle of a body stays in contact with that body. What penetrates without having
been known begins to press from zero: its depth is its offset, which falls by as much as it may be pushed out in a step
(decision 0024).
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from pliant.contact.contact_set import ContactSet
from pliant.elements.closest import (
    FACE_OBSTACLE,
    VERTEX_OBSTACLE,
    VERTEX_TRIANGLE,
    closest_separation,
    positions_of,
    row,
)
from pliant.lanes.compiled import cached, compiled, inlined, lower_bound
from pliant.lanes.vectors import add, dot

HELD_PUSH = 0.1  # of a push: for what presses by one already


class Pressing(NamedTuple):
    """Pairs of a vertex and a body or an obstacle that it was in contact with, sorted, each once."""

    keys: np.ndarray  # (m,) int64 vertex * parties + party (`pair_key`)
    depths: np.ndarray  # (m,) the largest with which it pressed at the end of the step [m]


class Parties(NamedTuple):
    """Who takes part: bodies first, then obstacles with formulas at vertices, then the same at edges and triangles."""

    body: np.ndarray  # (n,) int32 of each vertex
    bodies: int
    size: int  # how many of both


def pressing_of(contacts: ContactSet, d: np.ndarray, parties: Parties) -> Pressing:
    """For contacts that press with depths d (k,) [m]; corners of weight 0 do not take part."""
    keys = np.empty(contacts.vertices.shape, np.int64)
    cached(write_pair_keys)(contacts, parties, keys)
    takes_part = contacts.weights != 0
    keys, d = keys[takes_part], np.broadcast_to(d[:, None], takes_part.shape)[takes_part]
    order = np.argsort(keys, kind="stable")
    keys, d = keys[order], d[order]
    first = np.flatnonzero(np.r_[True, keys[1:] != keys[:-1]][: len(keys)])
    return Pressing(keys[first], np.maximum.reduceat(d, first) if len(first) else d)


def pressed_before(contacts: ContactSet, parties: Parties, known: Pressing | None) -> tuple[np.ndarray, np.ndarray]:
    """Whether contacts were known (k,) and how deep they pressed (k,) [m]: those of a vertex that touched that body or
    obstacle, and of edges of which an end did.
    """
    is_known, d = np.zeros(contacts.size, bool), np.zeros(contacts.size)
    if known is not None:
        cached(look_up)(contacts, parties, known, is_known, d)
    return is_known, d


@inlined
def pair_key(c, i, contacts, parties):
    """A number for corner i of a contact and who is on the other side."""
    vertices, body = contacts.vertices, parties.body
    if contacts.kind[c] == FACE_OBSTACLE:
        shapes = (parties.size - parties.bodies) // 2
        return vertices[c, i] * np.int64(parties.size) + parties.bodies + shapes + contacts.obstacle[c]
    if contacts.obstacle[c] >= 0:
        return vertices[c, i] * np.int64(parties.size) + parties.bodies + contacts.obstacle[c]
    is_first = i == 0 or (i == 1 and contacts.kind[c] != VERTEX_TRIANGLE)
    return vertices[c, i] * np.int64(parties.size) + body[vertices[c, 2] if is_first else vertices[c, 0]]


@compiled
def write_pair_keys(contacts, parties, keys):
    for c in range(len(keys)):
        for i in range(4):
            keys[c, i] = pair_key(c, i, contacts, parties)


@compiled
def look_up(contacts, parties, known, is_known, d):
    for c in range(len(is_known)):
        is_of_one = contacts.kind[c] == VERTEX_TRIANGLE or contacts.kind[c] == VERTEX_OBSTACLE
        for i in range(1 if is_of_one else 4):
            number = pair_key(c, i, contacts, parties)
            place = lower_bound(known.keys, number)
            if place < len(known.keys) and known.keys[place] == number and contacts.weights[c, i] != 0.0:
                is_known[c], d[c] = True, max(d[c], known.depths[place])


def start_with_offset(
    contacts: ContactSet, x: np.ndarray, pressed: np.ndarray, push: np.ndarray, kept: float = 0.0
) -> None:
    """Let contacts press at the start of a step, at x (n, 3) [m], with no more than what they pressed with before (k,)
    and what they may be pushed out by (k,) [m]; of the rest, a part `kept` of the penetration stays for later steps.

    What is pushed and does not yield is held by something: it is pushed further at a small part of the speed alone, so
    that contacts which contradict each other (a fold that is caught) do not store ever more energy.
    """
    cached(write_offsets)(contacts, x, pressed, push, kept)


@compiled
def write_offsets(contacts, x, pressed, push, kept):
    for place in range(len(pressed)):
        c = np.uint64(place)
        s = add(closest_separation(c, positions_of(c, contacts, x), contacts), row(contacts.motions, c))
        d = contacts.thickness[c] - dot(s, row(contacts.normals, c))
        further = push[c] * max(1.0 - pressed[c] / push[c], HELD_PUSH) if push[c] > 0.0 else 0.0
        contacts.offset[c] = max(0.0, d - (pressed[c] + further), kept * (d - pressed[c]))
        contacts.thickness[c] -= contacts.offset[c]

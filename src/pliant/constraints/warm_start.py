"""Impulses of the step before, found again by who touches whom."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from pliant.constraints.one_row import in_space
from pliant.constraints.rows import CONTACT, ENTRY_BITS
from pliant.elements.closest import row
from pliant.kernels.threads import share
from pliant.lanes.compiled import inlined
from pliant.lanes.entry import entry
from pliant.lanes.integers import find_number
from pliant.lanes.vectors import cross, dot


class Kept(NamedTuple):
    """Impulses of k contacts and of all distances."""

    first: np.ndarray  # (k,) int32 vertex of the sphere
    source: np.ndarray  # (k,) int32 what it touches
    normal: np.ndarray  # (k,) [N s]
    vector: np.ndarray  # (k, 3) the whole impulse in space [N s]
    distances: np.ndarray  # (m,) [N s]
    roll: np.ndarray  # (k, 3) of rolling resistance [N s]; (0, 3) if nothing resists


def kept_room(contacts: int, distances: int, has_rolling: bool, dtype: type | np.dtype) -> Kept:
    """For so many, in the solver's precision; what it holds is to be written."""
    first, source = (np.empty(contacts, np.int32) for _ in range(2))
    roll = np.empty((contacts if has_rolling else 0, 3), dtype)
    return Kept(
        first, source, np.empty(contacts, dtype), np.empty((contacts, 3), dtype), np.empty(distances, dtype), roll
    )


def with_vertices(kept: Kept, of: np.ndarray) -> Kept:
    """The same with other numbers of vertices, `of` (n,); sources from n on are none (constraints.numbering)."""
    source = kept.source.copy()
    own = source < len(of)
    source[own] = of[source[own]]
    return kept._replace(first=of[kept.first], source=source)


def as_lists(kept: Kept, vertices: np.ndarray) -> dict[str, Any]:
    """For a checkpoint, with the scene's vertices (n,)."""
    return {name: array.tolist() for name, array in with_vertices(kept, vertices)._asdict().items()}


def from_lists(state: dict[str, Any], like: Kept, numbers: np.ndarray) -> Kept:
    """What `as_lists` gave, in the precision of `like`, with the problem's numbers (n,) of the scene's vertices."""
    kinds = like._asdict()
    given = {name: state.get(name, []) for name in kinds}  # runs saved before there was rolling resistance lack it
    arrays = {name: np.array(given[name], kinds[name].dtype).reshape(-1, *kinds[name].shape[1:]) for name in kinds}
    return with_vertices(Kept(**arrays), numbers)


@entry(nogil=True, error_model="numpy")
def keep_impulses(thread, threads, barrier, rows, base, count, kept):
    """Copy the impulses of rows from `base` to `count`, and of the distances before them."""
    first, last = share(0, base, thread, threads)
    for i in range(first, last):
        kept.distances[i] = rows.impulse[i, 0]
    first, last = share(base, count, thread, threads)
    for contact in range(first, last):
        at, k = np.uint64(contact), np.uint64(contact - base)
        kept.first[k], kept.source[k] = rows.vertices[at, 0], rows.source[at]
        kept.normal[k] = rows.impulse[at, 0]
        kept.vector[k, 0], kept.vector[k, 1], kept.vector[k, 2] = in_space(rows, at, row(rows.impulse, at))
        for axis in range(3 if len(kept.roll) > 0 else 0):
            kept.roll[k, axis] = rows.roll[at, axis]


@entry(nogil=True, error_model="numpy")
def list_kept(base, kept, start, entries, sources):
    """Lists of vertices, as constraints.lists makes them, of kept contacts alone: what a run that was saved lacks."""
    start[:] = 0
    for k in range(len(kept.first)):
        start[kept.first[k] + 1] += 1
    for vertex in range(len(start) - 1):
        start[vertex + 1] += start[vertex]
    for k in range(len(kept.first) - 1, -1, -1):
        vertex = kept.first[k]
        start[vertex + 1] -= 1
        entries[start[vertex + 1]] = (base + k) << ENTRY_BITS
        sources[start[vertex + 1]] = kept.source[k]
    for vertex in range(len(start) - 2):  # the loop above has moved each end to its list's begin
        start[vertex + 1] = start[vertex + 2]
    start[len(start) - 1] = len(kept.first)


@entry(nogil=True, error_model="numpy")
def restore_impulses(thread, threads, barrier, rows, base, count, kept, part, start, entries, sources):
    """Begin with `part` of the kept impulses; start (n + 1,), entries and sources: lists of vertices of the step before
    (constraints.rows), which are longer than their entries by MARGIN.
    """
    first, last = share(0, min(base, len(kept.distances)), thread, threads)
    for i in range(first, last):
        rows.impulse[i, 0] = part * kept.distances[i]
    first, last = share(base, count, thread, threads)
    for contact in range(first, last):
        at = np.uint64(contact)
        if rows.kind[at] == CONTACT:
            vertex = np.uint64(rows.vertices[at, 0])
            place = find_number(sources, start[vertex], start[vertex + np.uint64(1)], rows.source[at])
            if place >= 0:
                own = (entries[np.uint64(place)] >> ENTRY_BITS) - base
                take_over(rows, at, kept, np.uint64(own), part)


@inlined
def take_over(rows, at, kept, own, part):
    """Begin a contact with `part` of a kept one."""
    rows.impulse[at, 0] = part * kept.normal[own]
    if rows.friction[at] > 0.0:
        vector, n, t = row(kept.vector, own), row(rows.normal, at), row(rows.tangent, at)
        rows.impulse[at, 1] = part * dot(vector, t)
        rows.impulse[at, 2] = part * dot(vector, cross(n, t))
    for axis in range(3 if len(kept.roll) > 0 else 0):
        rows.roll[at, axis] = part * kept.roll[own, axis]

"""Elements around the vertices of a pack, as plain lists: for each element the other vertices and its constants.

Tets have link walks instead (kernels.links), because they are many and share faces.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from pliant.kernels.packs import Packs
from pliant.lanes import gather3, load, width_of
from pliant.lanes.aligned import aligned
from pliant.lanes.entry import entry
from pliant.lanes.inner import inner
from pliant.lanes.vectors import physics, subtract


class Lists(NamedTuple):
    """Lists by pack: entry k of pack p's list is one element for each lane."""

    start: np.ndarray  # (packs + 1,) first entry of each pack
    others: np.ndarray  # flat (entries, others, width) rows of the other vertices; the vertex itself in padding
    constants: np.ndarray  # flat (entries, constants, width); zero in padding


class Incidences(NamedTuple):
    """Elements as each of their vertices sees them."""

    owner: np.ndarray  # (i,) the vertex
    others: np.ndarray  # (i, k) the other vertices of the element, in the order its function expects
    constants: np.ndarray  # (i, c)


@physics
def other(x, xi, lists, k, j, count):
    """Position of the other vertex number j of `count` in entry k, relative to the vertex itself."""
    return subtract(gather3(x, lists.others, (k * count + j) * width_of(xi[0]), xi[0]), xi)


@physics
def list_constant(lists, k, i, count, like):
    """Number i of the `count` constants of entry k."""
    return load(lists.constants, (k * count + i) * width_of(like), like)


def list_lengths(owner: np.ndarray, wide: np.ndarray, width: int) -> np.ndarray:
    """(n,) entries each vertex needs: those of a wide pack are dealt out over its lanes."""
    counts = np.bincount(owner, minlength=len(wide))
    return np.where(wide, -(-counts // width), counts)


def place_in_lists(packs: Packs, owner: np.ndarray) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """First entries of the packs (packs + 1,); entry and lane of every incidence."""
    order = np.argsort(owner, kind="stable")
    counts = np.bincount(owner, minlength=len(packs.row_of_vertex))
    rank = np.empty(len(owner), np.int64)
    rank[order] = np.arange(len(owner)) - np.repeat(np.cumsum(counts) - counts, counts)
    pack, lane = np.divmod(packs.row_of_vertex[owner], packs.width)
    wide = packs.is_wide[pack] == 1
    entry = np.where(wide, rank // packs.width, rank)
    lane = np.where(wide, rank % packs.width, lane)
    lengths = np.zeros(packs.pack_count, np.int64)
    np.maximum.at(lengths, pack, entry + 1)
    _leave_room(packs, lengths)
    start = np.concatenate([[0], np.cumsum(lengths)])
    return start, entry + start[pack], lane


def build_lists(packs: Packs, incidences: Incidences, dtype) -> Lists:
    """Sort incidences into the lists of their owners' packs."""
    start, entry, lane = place_in_lists(packs, incidences.owner)
    k, c = incidences.others.shape[1], incidences.constants.shape[1]
    own = np.repeat(np.arange(packs.pack_count), np.diff(start))[:, None] * packs.width + np.arange(packs.width)
    others = np.repeat(own[:, None, :], k, axis=1).astype(np.uint32)
    constants = np.zeros((start[-1], c, packs.width), dtype)
    others[entry, :, lane] = packs.row_of_vertex[incidences.others]
    constants[entry, :, lane] = incidences.constants
    return Lists(start, aligned(others, np.uint32), aligned(constants, dtype))


def _leave_room(packs: Packs, lengths: np.ndarray) -> None:
    """Make lists of spare packs as long as the longest of their colour, lengths (packs,)."""
    narrow = np.where(packs.is_wide == 1, 0, lengths)
    for first, end, last in zip(packs.colour_start[:-1], packs.colour_end, packs.colour_start[1:], strict=True):
        if end < last:
            lengths[end:last] = narrow[first:end].max(initial=0)


def rewrite_lists(packs: Packs, lists: Lists, incidences: Incidences, owners: np.ndarray) -> bool:
    """Replace the lists of some vertices by the incidences that are theirs; whether there is room.

    incidences: all of the vertices `owners` (k,), and of no others.
    """
    width, entries = packs.width, int(lists.start[-1])
    others = lists.others.reshape(entries, incidences.others.shape[1], width)
    constants = lists.constants.reshape(entries, incidences.constants.shape[1], width)
    _clear(packs.row_of_vertex[owners], packs.is_wide, lists.start, others, constants)
    order = np.argsort(incidences.owner, kind="stable")
    rows = packs.row_of_vertex[incidences.owner[order]]
    other_rows, numbers = packs.row_of_vertex[incidences.others[order]], incidences.constants[order]
    return _fill(rows, other_rows, numbers, packs.is_wide, lists.start, others, constants)


def edit_lists(packs: Packs, lists: Lists, was: Incidences, becomes: Incidences, chosen: np.ndarray) -> bool:
    """Find incidences in the lists of their owners and give them other vertices, or drop them where the owner becomes
    -1; whether all were found. Only those that are `chosen` (i,) are edited, whose owners stay or become -1.
    """
    width, entries = packs.width, int(lists.start[-1])
    rows = packs.row_of_vertex
    return _edit(
        rows[was.owner[chosen]],
        rows[was.others[chosen]],
        rows[becomes.others[chosen]],
        becomes.owner[chosen] >= 0,
        packs.is_wide,
        lists.start,
        lists.others.reshape(entries, was.others.shape[1], width),
        lists.constants.reshape(entries, was.constants.shape[1], width),
    )


@inner()
def _place(rank, row, is_wide, start, width):
    """Entry and lane of the how many-th element of the vertex in a row."""
    pack = row // width
    if is_wide[pack]:
        return start[pack] + rank // width, rank % width
    return start[pack] + rank, row % width


@inner()
def _find(row, wanted, room, is_wide, start, others):
    """The how many-th element of the vertex in a row has the `wanted` other rows (k,); `room` if none has."""
    for rank in range(room):
        entry, lane = _place(rank, row, is_wide, start, others.shape[2])
        is_same = True
        for k in range(len(wanted)):
            is_same = is_same and others[entry, k, lane] == wanted[k]
        if is_same:
            return rank
    return room


@entry()
def _edit(rows, old, new, is_left, is_wide, start, others, constants):
    """Entry by entry: replace, or drop and let the following ones move up."""
    width = others.shape[2]
    for i in range(len(rows)):
        pack = rows[i] // width
        room = (start[pack + 1] - start[pack]) * (width if is_wide[pack] else 1)
        rank = _find(rows[i], old[i], room, is_wide, start, others)
        if rank == room:
            return False
        entry, lane = _place(rank, rows[i], is_wide, start, width)
        if is_left[i]:
            others[entry, :, lane] = new[i]
            continue
        for follower in range(rank + 1, room):
            source, from_lane = _place(follower, rows[i], is_wide, start, width)
            others[entry, :, lane] = others[source, :, from_lane]
            constants[entry, :, lane] = constants[source, :, from_lane]
            entry, lane = source, from_lane
        others[entry, :, lane] = pack * width + lane
        constants[entry, :, lane] = 0
    return True


@entry()
def _clear(rows, is_wide, start, others, constants):
    """Make the lists of the vertices in these rows all padding."""
    width = others.shape[2]
    for row in rows:
        pack, lane = row // width, row % width
        for own in range(width) if is_wide[pack] else range(lane, lane + 1):  # a wide pack's vertex owns all lanes
            for k in range(start[pack], start[pack + 1]):
                others[k, :, own] = pack * width + own
                constants[k, :, own] = 0


@entry()
def _fill(rows, other_rows, numbers, is_wide, start, others, constants):
    """Append incidences to the lists of their owners' rows, sorted by these; whether there was room."""
    width, rank, previous = others.shape[2], 0, -1
    for i in range(len(rows)):
        rank = rank + 1 if rows[i] == previous else 0
        previous = rows[i]
        entry, lane = _place(rank, rows[i], is_wide, start, width)
        if entry >= start[rows[i] // width + 1]:
            return False
        others[entry, :, lane] = other_rows[i]
        constants[entry, :, lane] = numbers[i]
    return True

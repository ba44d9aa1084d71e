"""Groups of vertices that follow each other within a colour, with all their neighbours: what a packed work-group holds.

A group has up to 32 vertices and 128 neighbours; it ends earlier where one more vertex would bring too many.
"""

from __future__ import annotations

from itertools import pairwise
from typing import NamedTuple

import numpy as np

from pliant.device.lists import DeviceList


class Groups(NamedTuple):
    """Packed groups, colour after colour."""

    colour_start: np.ndarray  # (colours + 1,) first group of each colour
    rows: np.ndarray  # flat (groups, 2) first row of each group, and the one after its last
    neighbour_start: np.ndarray  # (groups + 1,)
    neighbours: np.ndarray  # rows of the neighbours, group after group
    others: tuple[np.ndarray, ...]  # of each list, as sorted_others: places among the group's neighbours


def neighbours_of(lists: tuple[DeviceList, ...], rows: int) -> tuple[np.ndarray, np.ndarray]:
    """All rows that a vertex's elements have beside it, sorted and once: first of each row (rows + 1,), and them."""
    pairs = [np.column_stack([np.repeat(one.owner, one.others.shape[1]), one.others.ravel()]) for one in lists]
    unique = np.unique(np.concatenate([np.empty((0, 2), np.int64), *pairs]), axis=0)
    start = np.concatenate([[0], np.cumsum(np.bincount(unique[:, 0].astype(np.int64), minlength=rows))])
    return start, unique[:, 1].astype(np.int64)


def pack_groups(
    lists: tuple[DeviceList, ...], colours: list[tuple[int, int]], rows: int, group: int, staged: int
) -> Groups:
    """Groups of the rows first..last of each colour, whose vertices have at most `staged` neighbours each."""
    start, neighbours = neighbours_of(lists, rows)
    begins, ends, members, first_of_colour = [], [], [], [0]
    for first, last in colours:
        row = first
        while row < last:
            end, known = _extend(row, last, start, neighbours, group, staged)
            begins.append(row)
            ends.append(end)
            members.append(np.sort(np.fromiter(known, np.int32, len(known))))
            row = end
        first_of_colour.append(len(begins))
    counts = np.array([len(own) for own in members], np.int64)
    group_of_row = np.full(rows, -1)
    for g, (first, last) in enumerate(zip(begins, ends, strict=True)):
        group_of_row[first:last] = g
    return Groups(
        np.array(first_of_colour),
        np.array([begins, ends], np.int32).T.ravel(),
        np.concatenate([[0], np.cumsum(counts)]).astype(np.int32),
        np.concatenate([np.empty(0, np.int32), *members]).astype(np.int32),
        tuple(_places(one, group_of_row, members) for one in lists),
    )


def _extend(
    row: int, last: int, start: np.ndarray, neighbours: np.ndarray, group: int, staged: int
) -> tuple[int, set[int]]:
    """The end of the group that begins at a row, and its neighbours."""
    known: set[int] = set()
    end = row
    while end < min(row + group, last):
        more = known.union(neighbours[start[end] : start[end + 1]].tolist())
        if len(more) > staged:
            break
        known, end = more, end + 1
    return end, known


def _places(one: DeviceList, group_of_row: np.ndarray, members: list[np.ndarray]) -> np.ndarray:
    """The others of a list (k, m) as places among the neighbours of the group of their vertex; 0 outside of groups."""
    others, owner = one.others[one.order], one.owner[one.order]
    places = np.zeros(others.shape, np.uint8)
    group = group_of_row[owner]
    bounds = np.flatnonzero(np.diff(group, prepend=-2, append=-2))
    for first, last in pairwise(bounds):
        if group[first] >= 0:
            places[first:last] = np.searchsorted(members[group[first]], others[first:last])
    return np.ascontiguousarray(places.T)
